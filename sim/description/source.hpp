// Where a value was written, and what is wrong with what was written.
//
// A Source is a text a user gave: a file, or one `--set key=value`. A Spot points into it and keeps it alive,
// so that a problem found long after reading can still show its line. Problems are collected, not thrown: a
// user sees all mistakes of a file at once.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostic.hpp"

namespace paceline {

struct Source {
  std::string name;                // the file's path as given, or "--set key=value"
  std::filesystem::path folder;    // relative paths written in this source start here
  std::vector<std::string> lines;  // empty for `--set`: there is no line to show
};

// Without line ends and without a byte order mark.
[[nodiscard]] std::vector<std::string> split_lines(std::string_view text);

// `text` split into lines, named after the file it came from.
[[nodiscard]] std::shared_ptr<const Source> file_source(const std::filesystem::path& file,
                                                        std::string_view text);
// An override on the command line; relative paths in it start at the working directory.
[[nodiscard]] std::shared_ptr<const Source> override_source(std::string_view assignment);

struct Spot {
  std::shared_ptr<const Source> source;
  int line = 0;
  int column = 0;

  [[nodiscard]] Place place() const;
  [[nodiscard]] std::string_view source_line() const;
};

struct Problem {
  Severity severity = Severity::error;
  Spot spot;
  std::string message;
  std::string hint;
  bool is_idle = false;  // a key without effect: of a study, only where it has none in any combination

  [[nodiscard]] std::string render() const;
};

class Problems {
 public:
  void add(Problem problem);
  void error(const Spot& spot, std::string message, std::string hint = {});
  void warning(const Spot& spot, std::string message, std::string hint = {});

  [[nodiscard]] bool has_errors() const;
  // In the order of the text: by source, line, column; once each, and once for all items written as one.
  [[nodiscard]] std::vector<Problem> sorted() const;
  [[nodiscard]] std::vector<std::string> rendered_warnings() const;
  // Throws one UserError that holds every problem and ends with their count, if any of them is an error.
  void throw_if_errors(std::string_view subject) const;

 private:
  std::vector<Problem> problems_;
};

}  // namespace paceline
