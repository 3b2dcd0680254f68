#include "sim/scenario/repeated_workers.hpp"

#include <utility>
#include <variant>

#include <fmt/format.h>

#include "sim/scenario/sections/sections.hpp"

namespace paceline {
namespace {

// How often an item stands for a worker; 0 when that is not for us to say.
std::int64_t repetitions(const YamlNode& worker) {
  const YamlEntry* written = worker.find("repeat");
  if (written == nullptr || written->value.kind != YamlNode::Kind::scalar) return 0;
  const YamlNode& value = written->value;
  const Parsed<Plain> parsed = repeated_workers.parse({value.text, value.quoted, value.spot.source->folder});
  const auto* count = std::get_if<Plain>(&parsed);
  return count == nullptr ? 0 : std::get<std::int64_t>(*count);
}

}  // namespace

void expand_repeated_workers(YamlNode& scenario) {
  YamlEntry* cluster = scenario.find("cluster");
  YamlEntry* workers = cluster == nullptr ? nullptr : cluster->value.find("workers");
  if (workers == nullptr) return;
  std::vector<YamlNode> expanded;
  for (YamlNode& worker : workers->value.items) {
    const std::int64_t count = repetitions(worker);
    if (count > 0)
      std::erase_if(worker.entries, [](const YamlEntry& entry) { return entry.key == "repeat"; });
    for (std::int64_t i = 0; i < count; ++i) {
      expanded.push_back(worker);
      YamlEntry* name = expanded.back().find("name");
      if (name != nullptr && name->value.kind == YamlNode::Kind::scalar && count > 1)
        name->value.text += fmt::format(" {}", i + 1);
    }
    if (count == 0) expanded.push_back(std::move(worker));
  }
  workers->value.items = std::move(expanded);
}

void apply_to_scenario(const Assignment& assignment, YamlNode& scenario, Problems& problems) {
  if (assignment.path.starts_with("cluster.workers") && assignment.path.ends_with(".repeat"))
    return problems.error(assignment.spot,
                          "`repeat` cannot be set alone: workers are counted one by one here",
                          "set the whole list: `cluster.workers=[{repeat: 4, cores: 2}]`");
  apply(assignment, scenario, problems);
  expand_repeated_workers(scenario);
}

}  // namespace paceline
