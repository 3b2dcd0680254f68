#include "sim/description/yaml_tree.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "sim/base/atomic_file.hpp"
#include "sim/base/check.hpp"
#include "sim/base/utf8.hpp"

namespace paceline {
namespace {

// yaml-cpp counts lines and bytes from 0, and marks the end of the text as a line of its own. A command line
// argument has no lines.
Spot spot_of(const YAML::Mark& mark, const std::shared_ptr<const Source>& source) {
  const std::vector<std::string>& lines = source->lines;
  if (lines.empty()) return {source, 0, 0};
  const auto line = static_cast<std::size_t>(std::max(mark.line, 0));
  if (line >= lines.size())
    return {source, static_cast<int>(lines.size()), static_cast<int>(count_characters(lines.back())) + 1};
  const std::string_view before =
      std::string_view(lines[line]).substr(0, static_cast<std::size_t>(mark.column));
  return {source, static_cast<int>(line) + 1, static_cast<int>(count_characters(before)) + 1};
}

// Whether the quote that opens at `mark` closes. yaml-cpp takes the end of the text for the closing quote.
bool quote_closes(const std::vector<std::string>& lines, const YAML::Mark& mark) {
  auto line = static_cast<std::size_t>(mark.line);
  auto column = static_cast<std::size_t>(mark.column);
  const char quote = lines.at(line).at(column);
  for (++column; line < lines.size(); ++line, column = 0)
    for (; column < lines[line].size(); ++column) {
      const char c = lines[line][column];
      const bool doubled = quote == '\'' && lines[line].substr(column, 2) == "''";
      if (doubled || (quote == '"' && c == '\\'))
        ++column;
      else if (c == quote)
        return true;
    }
  return false;
}

class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view text, const std::shared_ptr<const Source>& source, Problems& problems)
      : lines_(split_lines(text)), source_(source), problems_(problems) {}

  void OnDocumentStart(const YAML::Mark& mark) override { start_ = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    YamlNode node = begin(YamlNode::Kind::null, mark, "", anchor);
    // yaml-cpp places what is not there at the next token, often on another line.
    if (!open_.empty() && open_.back().key) node.spot = open_.back().key->spot;
    place(std::move(node));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(mark, "aliases (`*name`) are not supported", "write the value out");
    place({YamlNode::Kind::null, spot_of(mark, source_), {}, false, {}, {}});
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node = begin(YamlNode::Kind::scalar, mark, tag, anchor);
    node.text = value;
    node.quoted = tag == "!";
    if (node.quoted && !is_block(mark) && !quote_closes(lines_, mark))
      refuse(mark, "not valid YAML: this quote is never closed", "close it where the text ends");
    place(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open_.push_back({begin(YamlNode::Kind::list, mark, tag, anchor), {}});
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open_.push_back({begin(YamlNode::Kind::map, mark, tag, anchor), {}});
  }
  void OnMapEnd() override { close(); }

  // Where the innermost list or map that is still open starts.
  [[nodiscard]] std::optional<Spot> open_spot() const {
    return open_.empty() ? std::nullopt : std::optional(open_.back().node.spot);
  }
  [[nodiscard]] const std::optional<YAML::Mark>& start() const { return start_; }
  [[nodiscard]] std::optional<YamlNode> take_root() { return std::exchange(root_, std::nullopt); }

 private:
  struct Open {
    YamlNode node;
    std::optional<YamlEntry> key;  // a key of the map whose value comes next
  };

  // Text after `|` or `>`, which needs no quotes.
  [[nodiscard]] bool is_block(const YAML::Mark& mark) const {
    const char first =
        lines_.at(static_cast<std::size_t>(mark.line)).at(static_cast<std::size_t>(mark.column));
    return first != '"' && first != '\'';
  }

  void refuse(const YAML::Mark& mark, std::string message, std::string hint) {
    problems_.error(spot_of(mark, source_), std::move(message), std::move(hint));
  }

  YamlNode begin(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor)
      refuse(mark, "anchors (`&name`) are not supported", "write the value out where it is used");
    if (!tag.empty() && tag != "?" && tag != "!")
      refuse(mark, "YAML tags (`!type`) are not supported", "remove it");
    return {kind, spot_of(mark, source_), {}, false, {}, {}};
  }

  void close() {
    YamlNode done = std::move(open_.back().node);
    open_.pop_back();
    place(std::move(done));
  }

  void place(YamlNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
    } else if (Open& parent = open_.back(); parent.node.kind == YamlNode::Kind::list) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.key) {
      parent.key = as_key(std::move(node));
    } else {
      YamlEntry entry = *std::exchange(parent.key, std::nullopt);
      entry.value = std::move(node);
      add_entry(parent.node, std::move(entry));
    }
  }

  YamlEntry as_key(YamlNode node) {
    if (node.kind != YamlNode::Kind::scalar || node.text.empty())
      problems_.error(node.spot, "a key must be a word", "write `key: value`");
    else if (node.text == "<<")
      problems_.error(node.spot, "merge keys (`<<`) are not supported", "write the values out");
    return {std::move(node.text), node.spot, {}};
  }

  void add_entry(YamlNode& map, YamlEntry entry) {
    if (entry.key.empty() || entry.key == "<<") return;  // already refused
    if (const YamlEntry* first = map.find(entry.key)) {
      problems_.error(entry.spot, fmt::format("duplicate key `{}`", entry.key),
                      fmt::format("it is already given at {}", to_text(first->spot.place())));
      return;
    }
    map.entries.push_back(std::move(entry));
  }

  std::vector<std::string> lines_;
  std::shared_ptr<const Source> source_;
  Problems& problems_;
  std::vector<Open> open_;
  std::optional<YAML::Mark> start_;
  std::optional<YamlNode> root_;
};

bool is_text(std::string_view text, const std::shared_ptr<const Source>& source, Problems& problems) {
  const std::optional<std::size_t> bad = find_not_text(text);
  if (!bad) return true;
  const std::string_view before = text.substr(0, *bad);
  const std::size_t line_start = before.rfind('\n') + 1;  // 0 in the first line
  YAML::Mark mark;
  mark.line = static_cast<int>(std::ranges::count(before, '\n'));
  mark.column = static_cast<int>(*bad - line_start);
  problems.error(spot_of(mark, source), "not a UTF-8 text",
                 "save the file as UTF-8 without control characters");
  return false;
}

std::string syntax_hint(const Spot& spot) {
  const std::string_view line = spot.source_line();
  if (line.substr(0, line.find_first_not_of(" \t")).find('\t') != line.npos)
    return "indent with spaces: YAML forbids tabs there";
  if (line.find(": >") != line.npos)
    return "a value that begins with `>`, such as `> 0.9`, needs quotes: bare, it begins a folded text";
  return "check the indentation, and that brackets, braces and quotes are closed; put text with `: ` or ` #` "
         "in quotes";
}

}  // namespace

YamlEntry* YamlNode::find(std::string_view key) {
  const auto found = std::ranges::find(entries, key, &YamlEntry::key);
  return found == entries.end() ? nullptr : &*found;
}

const YamlEntry* YamlNode::find(std::string_view key) const {
  return const_cast<YamlNode*>(this)->find(key);
}

std::optional<YamlNode> parse_yaml(std::string_view text, const std::shared_ptr<const Source>& source,
                                   Problems& problems) {
  if (!is_text(text, source, problems)) return std::nullopt;
  std::istringstream stream{std::string(text)};
  TreeBuilder builder(text, source, problems);
  try {
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) return std::nullopt;
    Problems ignored;
    TreeBuilder next(text, source, ignored);
    if (parser.HandleNextDocument(next) && next.start())
      problems.error(spot_of(*next.start(), source), "a second YAML document starts here",
                     "a file holds one document");
  } catch (const YAML::Exception& mistake) {
    // A bracket that never closes is noticed at the end of the text; the mistake is where it opens.
    const bool unclosed = mistake.msg.ends_with("flow not found");
    const Spot spot = unclosed && builder.open_spot() ? *builder.open_spot() : spot_of(mistake.mark, source);
    problems.error(spot, fmt::format("not valid YAML: {}", mistake.msg), syntax_hint(spot));
    return std::nullopt;
  }
  return builder.take_root();
}

namespace {

// A file of the same folder that was probably meant.
std::optional<std::string> file_like(const std::filesystem::path& file) {
  std::vector<std::string> names;
  std::error_code ignored;
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".yaml" || entry.path().extension() == ".yml")
      names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return closest(file.filename().string(), names);
}

}  // namespace

std::optional<YamlNode> parse_yaml_file(const std::filesystem::path& file, Problems& problems) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    const std::optional<std::string> likely = file_like(file);
    throw UserError(fmt::format("cannot read {}: No such file or directory", file.string()),
                    likely ? fmt::format("did you mean {}?", (file.parent_path() / *likely).string()) : "");
  }
  const std::string text = read_file(file);
  const std::shared_ptr<const Source> source = file_source(file, text);
  std::optional<YamlNode> root = parse_yaml(text, source, problems);
  const bool empty = !root || root->kind == YamlNode::Kind::null;
  if (empty && !problems.has_errors()) {
    problems.error({source, 1, 1}, "the file is empty", "start from a file in scenarios/");
    return std::nullopt;
  }
  return root;
}

}  // namespace paceline
