#include "plots/page/page_words.hpp"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/diagnostic.hpp"
#include "sim/base/number_text.hpp"
#include "sim/base/process.hpp"

namespace paceline::plots {
namespace {

struct Style {
  std::string_view word;
  double width_in;
  double text_pt;
  const char* font;
};
// Sources: acmart.cls 2.x, sigconf (columns of 241 pt); IEEEtran.cls (3.5 in; its guide asks for 8 to 10 pt).
constexpr std::array<Style, 2> styles{
    {{"acm", 3.33, 8.0, "Liberation Sans"}, {"ieee", 3.5, 8.0, "Liberation Serif"}}};

struct LengthUnit {
  std::string_view word;
  double inches;
};
constexpr std::array<LengthUnit, 4> length_units{
    {{"in", 1.0}, {"mm", 1.0 / 25.4}, {"cm", 1.0 / 2.54}, {"pt", 1.0 / 72.0}}};

std::optional<double> inches_of(const std::string& text) {
  const auto split = split_number(text);
  if (!split) return std::nullopt;
  const std::string_view word = std::string_view(split->unit).substr(split->unit.starts_with(' ') ? 1 : 0);
  const auto unit = std::ranges::find(length_units, word, &LengthUnit::word);
  return unit == length_units.end() ? std::nullopt : std::optional(split->number * unit->inches);
}

// Fontconfig answers an unknown family with the one it has for anything.
bool is_font_known(const std::string& font) {
  const auto family_of = [](const std::string& name) {
    return run_process({.words = {"fc-match", "--format=%{family}", name}});
  };
  const ProcessResult found = family_of(font);
  if (found.status != 0) return true;  // nobody to ask
  const std::string any = family_of("no font has this name").output;
  return found.output != any || any.find(font) != std::string::npos;
}

class Mistakes {
 public:
  void add(std::string_view message, std::string_view hint) { text_ += UserError(message, hint).what(); }
  void report() const {
    if (!text_.empty()) throw UserError(text_);
  }

 private:
  std::string text_;
};

void read_length(const std::string& word, const char* option, double least_in, double most_in,
                 const char* hint, double& length_in, Mistakes& mistakes) {
  if (word.empty()) return;
  const std::optional<double> inches = inches_of(word);
  if (inches && *inches >= least_in && *inches <= most_in) {
    length_in = *inches;
  } else {
    mistakes.add(fmt::format("{}: `{}` is no length it can have", option, word), hint);
  }
}

void read_formats(const std::string& word, std::vector<Format>& formats, Mistakes& mistakes) {
  if (word.empty()) return;
  formats.clear();
  for (std::size_t from = 0; from <= word.size();) {
    const std::size_t comma = std::min(word.find(',', from), word.size());
    const std::string one = word.substr(from, comma - from);
    from = comma + 1;
    const std::optional<Format> format = format_called(one);
    if (!format) {
      mistakes.add(fmt::format("--format: `{}` is no format", one), "one or several of pdf,svg,png,tex");
    } else if (std::ranges::count(formats, *format) == 0) {
      formats.push_back(*format);
    }
  }
}

void read_font(const std::string& word, PageOptions& page, Mistakes& mistakes) {
  if (!word.empty()) page.font = word;
  const bool is_plain = std::ranges::all_of(page.font, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ' ';
  });
  const bool is_set_here = page.draws(Format::pdf) || page.draws(Format::png);
  if (!is_plain || (!word.empty() && is_set_here && !is_font_known(word)))
    mistakes.add(fmt::format("--font: no font called `{}` is installed", page.font),
                 "`fc-list : family` names them");
}

}  // namespace

PageOptions page_options(const PageWords& words) {
  PageOptions page;
  Mistakes mistakes;
  page.title = words.title;
  page.has_footer = !words.no_footer;
  page.is_anonymous = words.anonymous;
  if (!words.style.empty()) {
    const auto style = std::ranges::find(styles, words.style, &Style::word);
    if (style == styles.end()) {
      mistakes.add(fmt::format("--style: there is no style `{}`", words.style), "acm or ieee");
    } else {
      page.width_in = style->width_in;
      page.text_pt = style->text_pt;
      page.font = style->font;
      page.has_footer = false;
    }
  }
  double text_in = page.text_pt / 72.0;
  read_length(words.width, "--width", 1.5, 20.0, "from 1.5in to 20in, as 3.33in, 85mm or 241pt",
              page.width_in, mistakes);
  read_length(words.size, "--size", 7.0 / 72.0, 24.0 / 72.0, "from 7pt to 24pt, as 8pt", text_in, mistakes);
  page.text_pt = text_in * 72.0;
  read_formats(words.format, page.formats, mistakes);
  read_font(words.font, page, mistakes);
  mistakes.report();
  return page;
}

}  // namespace paceline::plots
