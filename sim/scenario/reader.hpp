// Scenario files: read strictly, checked completely, and with the origin of every value.
//
// All mistakes of a file and of the overrides are reported at once, in one UserError, each with its place,
// the line it is on and a hint; warnings come back with the scenario.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/description/reading.hpp"
#include "sim/scenario/scenario.hpp"

namespace paceline {

struct LoadedScenario {
  Scenario scenario;
  std::vector<ResolvedValue> values;
  std::vector<std::string> warnings;  // rendered
  bool is_sound = true;               // otherwise only what files it names may be asked
};

// Where a value was written: "file:line:column", "--set key=value" or "default".
[[nodiscard]] std::string origin_of(const LoadedScenario& loaded, std::string_view key);

// Reads a file, with `key.path=value` overrides applied in order. Throws UserError.
[[nodiscard]] LoadedScenario load_scenario(const std::filesystem::path& file,
                                           std::span<const std::string> overrides);

// The same for whoever has more to complain about: mistakes are added to the problems. Nothing when the file
// cannot be parsed.
[[nodiscard]] std::optional<LoadedScenario> read_scenario_file(const std::filesystem::path& file,
                                                               std::span<const std::string> overrides,
                                                               Problems& problems);

// Reads a tree that is already parsed, and its repeated workers expanded.
[[nodiscard]] LoadedScenario read_scenario(YamlNode root, const std::filesystem::path& file,
                                           Problems& problems);

// The JSON schema (draft-7) of a scenario file, for editors.
[[nodiscard]] std::string scenario_schema();
// The topologies a scenario may name.
struct TopologyWord {
  std::string_view word;
  Topology topology;
  std::string_view meaning;
};
[[nodiscard]] std::span<const TopologyWord> topology_words();

// Every key in Markdown, with a short valid example at the top.
[[nodiscard]] std::string scenario_reference();
[[nodiscard]] std::string_view scenario_example();

}  // namespace paceline
