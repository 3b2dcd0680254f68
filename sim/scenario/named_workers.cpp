#include "sim/scenario/named_workers.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/diagnostic.hpp"
#include "sim/description/reading.hpp"

namespace paceline {
namespace {

bool is_scalar(const YamlNode* node) {
  return node != nullptr && node->kind == YamlNode::Kind::scalar;
}

// By number; empty: it has none.
std::vector<std::string> names_of_workers(const YamlNode& scenario) {
  std::vector<std::string> names;
  const YamlEntry* cluster = scenario.find("cluster");
  const YamlEntry* workers = cluster == nullptr ? nullptr : cluster->value.find("workers");
  if (workers == nullptr) return names;
  for (const YamlNode& worker : workers->value.items) {
    const YamlEntry* name = worker.find("name");
    names.push_back(name != nullptr && is_scalar(&name->value) ? name->value.text : "");
  }
  return names;
}

class WorkerNumbering {
 public:
  explicit WorkerNumbering(std::vector<std::string> names) : names_(std::move(names)) {}

  // What stands below these keys; a list on the way, or at their end, is gone through.
  void number(YamlNode& node, const std::string& here, std::vector<std::string> keys) {
    for (std::size_t i = 0; i < node.items.size(); ++i)
      number(node.items[i], join_path(here, std::to_string(i)), keys);
    if (!keys.empty()) {
      const std::string key = keys.front();
      YamlEntry* entry = node.find(key);
      keys.erase(keys.begin());
      if (entry != nullptr) number(entry->value, join_path(here, key), keys);
    } else if (is_scalar(&node)) {
      number_one(node, here);
    }
  }

  [[nodiscard]] std::vector<UnknownWorker> unknown() && { return std::move(unknown_); }

 private:
  void number_one(YamlNode& node, const std::string& path) {
    const bool is_number = node.text.find_first_not_of("0123456789") == node.text.npos;
    if (is_number && (!node.quoted || node.text.empty())) return;
    const auto found = std::ranges::find(names_, node.text);
    const bool is_name = found != names_.end();
    // A number with a mistake in it is the reader's to refuse.
    if (!is_name && !node.quoted && node.text.find_first_of("0123456789+-.") == 0) return;
    if (!is_name) unknown_.push_back({path, node.spot, node.text, hint_about(node.text)});
    node.text = is_name ? std::to_string(found - names_.begin()) : "0";
    node.quoted = false;
  }

  [[nodiscard]] std::string hint_about(const std::string& name) const {
    constexpr std::size_t most = 12;
    std::vector<std::string> known = names_;
    std::erase(known, "");
    if (known.empty()) return "no worker has a `name` here: give it its number, from 0";
    if (const std::optional<std::string> likely = closest(name, known))
      return fmt::format("did you mean `{}`?", *likely);
    const std::size_t more = known.size() - std::min(known.size(), most);
    known.resize(known.size() - more);
    return fmt::format("their names: {}{}", fmt::join(known, "; "),
                       more > 0 ? fmt::format("; and {} more", more) : "");
  }

  std::vector<std::string> names_;
  std::vector<UnknownWorker> unknown_;
};

}  // namespace

std::vector<UnknownWorker> number_named_workers(YamlNode& scenario) {
  WorkerNumbering numbering(names_of_workers(scenario));
  numbering.number(scenario, "", {"heterogeneity", "stragglers", "worker"});
  numbering.number(scenario, "", {"heterogeneity", "membership", "worker"});
  numbering.number(scenario, "", {"heterogeneity", "schedule", "workers"});
  numbering.number(scenario, "", {"cluster", "machines", "workers"});
  return std::move(numbering).unknown();
}

}  // namespace paceline
