// Whatever a file holds, it is accepted or refused with a UserError: no crash, no other exception.
//
// Mutants of the good example (lines and characters deleted, doubled, swapped, replaced) are drawn from a
// keyed stream, so that a failure names the mutant that caused it.
#include <set>

#include <doctest/doctest.h>

#include "sim/base/diagnostic.hpp"
#include "sim/base/random.hpp"
#include "sim/scenario/sweep/study_plan.hpp"
#include "tests/scenario/good_example.hpp"

namespace paceline::test {
namespace {

constexpr std::uint64_t mutant_count = 1500;
constexpr std::string_view troublesome = "{}[],:#&*!|>'\"%@`-? \t\n\r\\~0.eé\x01";

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size() - 1) + 1;
    lines.emplace_back(text.substr(start, end - start));
    start = end;
  }
  return lines;
}

void mutate_line(std::string& text, RandomStream& random) {
  std::vector<std::string> lines = lines_of(text);
  if (lines.empty()) return;
  const std::size_t a = random.below(lines.size());
  const std::size_t b = random.below(lines.size());
  switch (random.below(3)) {
    case 0:
      lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(a));
      break;
    case 1:
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(b), std::string(lines[a]));
      break;
    default:
      std::swap(lines[a], lines[b]);
  }
  text.clear();
  for (const std::string& line : lines) text += line;
}

void mutate_character(std::string& text, RandomStream& random) {
  if (text.empty()) return;
  const std::size_t a = random.below(text.size());
  const std::size_t b = random.below(text.size());
  switch (random.below(5)) {
    case 0:
      text.erase(a, 1);
      break;
    case 1:
      text.insert(b, 1, text[a]);
      break;
    case 2:
      std::swap(text[a], text[b]);
      break;
    case 3:
      text[a] = troublesome[random.below(troublesome.size())];
      break;
    default:
      text.resize(a);
  }
}

std::string mutant(std::string_view original, std::uint64_t index) {
  RandomStream random({20, 0}, Purpose::test, 0, index);
  std::string text(original);
  for (std::uint64_t edits = 1 + random.below(3); edits > 0; --edits)
    random.below(2) == 0 ? mutate_line(text, random) : mutate_character(text, random);
  return text;
}

enum class Outcome { accepted, refused, failed };

template <class Load>
Outcome outcome(const Load& load) {
  try {
    load();
    return Outcome::accepted;
  } catch (const UserError& error) {
    const std::string_view said = error.what();
    // Every refusal names a place and ends with the count.
    return said.find(": error: ") != said.npos && said.ends_with("scenario.yaml\n") ? Outcome::refused
                                                                                    : Outcome::failed;
  } catch (...) {
    return Outcome::failed;
  }
}

TEST_CASE("mutants of a scenario are accepted or refused, nothing else") {
  const Folder folder;
  std::size_t accepted = 0;
  std::size_t refused = 0;
  for (std::uint64_t i = 0; i < mutant_count; ++i) {
    const std::string text = mutant(good_example, i);
    const auto file = folder.write("scenario.yaml", text);
    const Outcome result = outcome([&] { (void)load_scenario(file, {}); });
    CAPTURE(i);
    CAPTURE(text);
    CHECK(result != Outcome::failed);
    ++(result == Outcome::accepted ? accepted : refused);
  }
  // Both ways are really taken.
  CHECK(accepted > mutant_count / 50);
  CHECK(refused > mutant_count / 2);
}

TEST_CASE("mutants of a study are accepted or refused, nothing else") {
  constexpr std::string_view study =
      "study: s\nbase: base.yaml\nvariants:\n  - name: a\n    set: {seed: 3}\n"
      "  - {name: b, set: {cluster.workers[1]: {cores: 2}, stop.epochs: 9}}\n";
  const Folder folder;
  (void)folder.write("base.yaml", good_example);
  for (std::uint64_t i = 0; i < mutant_count / 3; ++i) {
    const std::string text = mutant(study, i);
    const auto file = folder.write("scenario.yaml", text);
    CAPTURE(text);
    CHECK(outcome([&] { (void)load_study(file, {}); }) != Outcome::failed);
  }
}

TEST_CASE("mutants of an override are accepted or refused, nothing else") {
  const Folder folder;
  const auto file = folder.write("scenario.yaml", good_example);
  for (std::uint64_t i = 0; i < mutant_count / 3; ++i) {
    const std::vector<std::string> overrides{mutant("cluster.workers[1]={cores: 2, speed: 0.5}", i)};
    CAPTURE(overrides[0]);
    CHECK(outcome([&] { (void)load_scenario(file, overrides); }) != Outcome::failed);
  }
}

}  // namespace
}  // namespace paceline::test
