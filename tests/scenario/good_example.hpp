// Helpers to load a scenario from text and to look at what is said about it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/reader.hpp"
#include "tests/scenario/good_example_text.hpp"

namespace paceline::test {

// A folder of its own for one test, removed at the end.
class Folder {
 public:
  Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder();

  [[nodiscard]] std::filesystem::path write(std::string_view name, std::string_view text) const;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// `text` with its only occurrence of `from` replaced; the test fails when it does not occur exactly once.
[[nodiscard]] std::string replaced(std::string_view text, std::string_view from, std::string_view to);

[[nodiscard]] LoadedScenario load_text(std::string_view text, const std::vector<std::string>& overrides = {});

// What the user is told, with the folder taken out of the paths: "scenario.yaml:3:4: error: …". Empty when
// the text is accepted. Anything but a UserError fails the test.
[[nodiscard]] std::string complaint(std::string_view text, const std::vector<std::string>& overrides = {});

// The resolved value under a key path; the test fails when there is none.
[[nodiscard]] ResolvedValue value_of(const LoadedScenario& loaded, std::string_view key);

}  // namespace paceline::test
