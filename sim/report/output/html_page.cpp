#include "sim/report/output/html_page.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/markup.hpp"

namespace paceline {
namespace {

constexpr auto style = R"(
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0; background: #fff; color: #1a1a1a; }
body { font: 16px/1.5 system-ui, "Liberation Sans", Arial, sans-serif; }
main { max-width: 66rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: .5rem 0; }
h2 { font-size: 1.25rem; margin: 2rem 0 .5rem; padding-top: .5rem; border-top: 1px solid #c8c8c8; }
h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
h1, h2, h3, p, li, figcaption, tbody th, th:first-child { overflow-wrap: anywhere; }
p, ul { margin: .5rem 0; max-width: 46rem; }
ul { padding-left: 1.25rem; }
nav a { display: inline-block; margin-right: 1rem; padding: .25rem 0; color: #0b5394; }
.question { font-size: 1.1rem; color: #444; }
.answer { font-size: 1.15rem; border-left: .25rem solid #0072b2; padding: .5rem 0 .5rem .75rem; }
.scroll { overflow-x: auto; margin: .75rem 0; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-size: .875rem; color: #444; padding-bottom: .25rem; }
th, td { padding: .25rem .6rem; text-align: right; vertical-align: top; border-bottom: 1px solid #e0e0e0; }
td { white-space: nowrap; }
th { background: #f3f4f6; }
tbody th { background: none; font-weight: normal; min-width: 9rem; }
th:first-child { text-align: left; }
.figures { display: grid; gap: 1.5rem; }
.figures { grid-template-columns: repeat(auto-fill, minmax(min(100%, 26rem), 1fr)); }
figure { margin: 0; break-inside: avoid; }
figure svg { display: block; width: 100%; height: auto; max-width: 32rem; }
figcaption { font-size: .875rem; color: #444; }
pre { background: #f3f4f6; padding: .6rem; margin: .5rem 0; font-size: .8125rem; white-space: pre-wrap; }
pre { overflow-wrap: anywhere; }
.many tbody th[colspan] { font-weight: 600; padding-top: .6rem; }
@page { margin: 12mm; }
@media print {
  body { font-size: 9.5pt; line-height: 1.35; }
  main { max-width: none; padding: 0; }
  nav { display: none; }
  .scroll { overflow: visible; }
  p, ul { max-width: none; }
  table { font-size: 7.5pt; line-height: 1.25; }
  th, td { padding: .1rem .3rem; white-space: normal; }
  tbody th { min-width: 6rem; }
  .figures { grid-template-columns: 1fr 1fr; gap: .75rem; }
  figcaption { font-size: 7.5pt; }
  caption { font-size: 8pt; }
  .many th { overflow-wrap: normal; }
  .many { columns: 2; column-gap: 5mm; }
  .many table { font-size: 6pt; line-height: 1.15; width: 100%; }
  .many th, .many td { padding: 0 .15rem; white-space: nowrap; }
  .many thead th { white-space: normal; vertical-align: bottom; }
  .many tbody th { min-width: 0; }
  .many tbody th[colspan] { padding-top: .3rem; white-space: normal; break-after: avoid; }
  tr, pre { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
}
)";

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

// The drawing alone, as wide as its place allows. Pages hold many: their names must not meet.
std::string inlined(std::string_view file, std::string_view description, int number) {
  std::string svg(file.substr(std::min(file.find("<svg"), file.size())));
  const std::size_t head_end = svg.find('>');
  if (head_end == svg.npos) return {};
  std::string head = svg.substr(0, head_end);
  svg.erase(0, head_end);
  for (const std::string_view name : {" width=\"", " height=\""})
    if (const std::size_t at = head.find(name); at != head.npos)
      head.erase(at, head.find('"', at + name.size()) + 1 - at);
  // gnuplot's names of its plots would show as hints.
  for (const std::string_view name : {"title", "desc"}) {
    const std::string end = fmt::format("</{}>", name);
    for (std::size_t at = svg.find(fmt::format("<{}>", name)); at != svg.npos;
         at = svg.find(fmt::format("<{}>", name), at)) {
      const std::size_t after = svg.find(end, at);
      svg.erase(at, after == svg.npos ? 0 : after + end.size() - at);
      if (after == svg.npos) break;
    }
  }
  const std::string prefix = fmt::format("f{}-", number);
  for (const std::string_view name : {"id=\"", "id='", "href='#", "href=\"#", "url(#"})
    replace_all(svg, name, fmt::format("{}{}", name, prefix));
  return fmt::format("{} role=\"img\" aria-label=\"{}\"{}", head, html_text(description), svg);
}

}  // namespace

void HtmlPage::question(std::string_view text) {
  body_ += fmt::format("<p class=\"question\">{}</p>\n", html_text(text));
}

void HtmlPage::section(std::string_view id, std::string_view title) {
  if (is_in_section_) body_ += "</section>\n";
  is_in_section_ = true;
  links_ += fmt::format("<a href=\"#{}\">{}</a>\n", id, html_text(title));
  body_ += fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", id, html_text(title));
}

void HtmlPage::subtitle(std::string_view text) {
  body_ += fmt::format("<h3>{}</h3>\n", html_text(text));
}

void HtmlPage::answer(std::string_view text) {
  body_ += fmt::format("<p class=\"answer\">{}</p>\n", html_text(text));
}

void HtmlPage::paragraph(std::string_view text) {
  if (!text.empty()) body_ += fmt::format("<p>{}</p>\n", html_text(text));
}

void HtmlPage::list(const std::vector<std::string>& items) {
  if (items.empty()) return;
  body_ += "<ul>\n";
  for (const std::string& item : items) body_ += fmt::format("<li>{}</li>\n", html_text(item));
  body_ += "</ul>\n";
}

void HtmlPage::code(std::string_view text) {
  body_ += "<pre><code>";
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    body_ += html_text(text.substr(at, end - at)) + (end < text.size() ? "\n" : "");
    at = end + 1;
  }
  body_ += "</code></pre>\n";
}

namespace {

// Wide tables scroll inside their own box, also with the keyboard.
std::string table_begin(std::string_view classes, std::string_view what) {
  return fmt::format(
      "<div class=\"{1}\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"{0}\">\n<table>\n<caption>{0}</caption>\n",
      html_text(what), classes);
}
constexpr auto table_end = "</table>\n</div>\n";

std::string head_row(const std::vector<std::string>& row) {
  std::string html = "<thead>\n<tr>";
  for (const std::string& cell : row) html += fmt::format("<th scope=\"col\">{}</th>", html_text(cell));
  return html + "</tr>\n</thead>\n";
}

// The first cell is the name of the row.
std::string body_row(const std::vector<std::string>& row) {
  std::string html = "<tr>";
  for (const std::string& cell : row)
    html += fmt::format(fmt::runtime(&cell == &row.front() ? "<th scope=\"row\">{}</th>" : "<td>{}</td>"),
                        html_text(cell));
  return html + "</tr>\n";
}

}  // namespace

void HtmlPage::table(const TextRows& rows, std::string_view what) {
  if (rows.size() < 2) return;
  body_ += table_begin("scroll", what) + head_row(rows.front()) + "<tbody>\n";
  for (std::size_t r = 1; r < rows.size(); ++r) body_ += body_row(rows[r]);
  body_ += "</tbody>\n";
  body_ += table_end;
}

void HtmlPage::table(const PaperTable& table, std::string_view what) {
  if (table.groups.empty()) return;
  body_ += table_begin("scroll many", what) + head_row(table.head);
  for (const PaperGroup& group : table.groups) {
    body_ += fmt::format("<tbody>\n<tr><th colspan=\"{}\" scope=\"rowgroup\">{}</th></tr>\n",
                         table.head.size(), html_text(group.title));
    for (const auto& row : group.rows) body_ += body_row(row);
    body_ += "</tbody>\n";
  }
  body_ += table_end;
}

void HtmlPage::figures(const std::vector<HtmlFigure>& figures) {
  if (figures.empty()) return;
  body_ += "<div class=\"figures\">\n";
  for (const HtmlFigure& figure : figures)
    body_ += fmt::format("<figure>\n{}\n<figcaption>{}</figcaption>\n</figure>\n",
                         inlined(figure.svg, figure.description, ++drawn_), html_text(figure.caption));
  body_ += "</div>\n";
}

std::string HtmlPage::text() const {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; img-src data:\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n"
      "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<main>\n<h1>{0}</h1>\n"
      "<nav aria-label=\"Sections\">\n{2}</nav>\n{3}{4}</main>\n</body>\n</html>\n",
      html_text(title_), style, links_, body_, is_in_section_ ? "</section>\n" : "");
}

}  // namespace paceline
