#include "sim/description/source.hpp"

#include <algorithm>
#include <regex>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace paceline {
namespace {

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// What is written once for several workers is wrong once: `cluster.workers.0.core` is ….1.core.
std::string unnumbered(const std::string& message) {
  static const std::regex index(R"(([a-z_])\.\d+)");
  return std::regex_replace(message, index, "$1");
}

auto order_key(const Problem& p) {
  return std::tie(p.spot.source->name, p.spot.line, p.spot.column);
}

}  // namespace

std::vector<std::string> split_lines(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return lines;
}

std::shared_ptr<const Source> file_source(const std::filesystem::path& file, std::string_view text) {
  return std::make_shared<const Source>(Source{file.string(), file.parent_path(), split_lines(text)});
}

std::shared_ptr<const Source> override_source(std::string_view assignment) {
  return std::make_shared<const Source>(Source{fmt::format("--set {}", assignment), {}, {}});
}

Place Spot::place() const {
  return {source->name, line, column};
}

std::string_view Spot::source_line() const {
  const auto index = static_cast<std::size_t>(line);
  if (line < 1 || index > source->lines.size()) return {};
  return source->lines[index - 1];
}

std::string Problem::render() const {
  return paceline::render({severity, spot.place(), message, hint}, spot.source_line());
}

void Problems::add(Problem problem) {
  problems_.push_back(std::move(problem));
}

void Problems::error(const Spot& spot, std::string message, std::string hint) {
  problems_.push_back({Severity::error, spot, std::move(message), std::move(hint)});
}

void Problems::warning(const Spot& spot, std::string message, std::string hint) {
  problems_.push_back({Severity::warning, spot, std::move(message), std::move(hint)});
}

bool Problems::has_errors() const {
  return std::any_of(problems_.begin(), problems_.end(),
                     [](const Problem& p) { return p.severity == Severity::error; });
}

std::vector<Problem> Problems::sorted() const {
  std::vector<Problem> ordered = problems_;
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const Problem& a, const Problem& b) { return order_key(a) < order_key(b); });
  std::set<std::tuple<std::string, int, int, Severity, std::string>> seen;
  std::erase_if(ordered, [&](const Problem& p) {
    return !seen.emplace(p.spot.source->name, p.spot.line, p.spot.column, p.severity, unnumbered(p.message))
                .second;
  });
  return ordered;
}

std::vector<std::string> Problems::rendered_warnings() const {
  std::vector<std::string> warnings;
  for (const Problem& p : sorted())
    if (p.severity == Severity::warning) warnings.push_back(p.render());
  return warnings;
}

void Problems::throw_if_errors(std::string_view subject) const {
  if (!has_errors()) return;
  std::string text;
  std::size_t errors = 0;
  std::size_t warnings = 0;
  for (const Problem& p : sorted()) {
    text += p.render();
    ++(p.severity == Severity::error ? errors : warnings);
  }
  text += counted(errors, "error");
  if (warnings > 0) text += ", " + counted(warnings, "warning");
  throw UserError(fmt::format("{} in {}\n", text, subject));
}

}  // namespace paceline
