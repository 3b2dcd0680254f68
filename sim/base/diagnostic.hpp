// What a user got wrong, where, and what to do about it.
//
// Rendered as
//   scenario.yaml:12:15: error: unknown key `bandwith`
//     12 |   network: {bandwith: 10 Gbit/s}
//        |             ^
//   hint: did you mean `bandwidth`?
// Lines and columns count from 1; a column is a character, not a byte. A place without a line names a whole
// file or a command-line argument.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

struct Place {
  std::string source;  // a file path, or "--set key=value"
  int line = 0;        // 0: the whole source
  int column = 0;
};

enum class Severity { error, warning };

struct Diagnostic {
  Severity severity = Severity::error;
  Place place;
  std::string message;
  std::string hint;  // empty: none
};

// "file:line:column", or the source alone when it has no lines.
[[nodiscard]] std::string to_text(const Place& place);

// The text of one diagnostic. Control characters of the source are shown as `?`. `source_line` is the line it
// points at, empty when there is none to show.
[[nodiscard]] std::string render(const Diagnostic& diagnostic, std::string_view source_line);

// A user's mistake: the program ends with exit code 2 and these diagnostics, already rendered.
class UserError : public std::runtime_error {
 public:
  explicit UserError(const std::string& rendered) : std::runtime_error(rendered) {}
  // A mistake with no place in a file, such as a wrong argument or an unreadable path.
  UserError(std::string_view message, std::string_view hint);
};

// Mistakes that are looked for one after the other and thrown together, each once.
class UserErrors {
 public:
  // What follows from a mistake is left out by whoever asks: false.
  template <class Work>
  bool attempt(const Work& work) {
    try {
      work();
      return true;
    } catch (const UserError& error) {
      add(error.what());
      return false;
    }
  }
  void throw_if_any() const;

 private:
  void add(const std::string& rendered);
  std::vector<std::string> rendered_;
};

// The candidate closest to `word`, if it is close enough to be a likely typing mistake.
[[nodiscard]] std::optional<std::string> closest(std::string_view word,
                                                 std::span<const std::string> candidates);

}  // namespace paceline
