#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/networks/network_definition.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::kernels {

std::vector<std::int64_t> shape_of(const NetworkInput& input) {
  if (const auto* image = std::get_if<ImageInput>(&input)) return {3, image->size, image->size};
  return {std::get<TokenInput>(input).length};
}

const std::vector<NetworkDefinition>& network_registry() {
  static const std::vector<NetworkDefinition> registry = [] {
    std::vector<NetworkDefinition> all;
    for (const auto& family : {plain_networks(), residual_networks(), transformers()})
      all.insert(all.end(), family.begin(), family.end());
    return all;
  }();
  return registry;
}

const NetworkDefinition& find_network(const std::string& name) {
  std::vector<std::string> names;
  for (const NetworkDefinition& definition : network_registry()) {
    if (definition.name == name) return definition;
    names.emplace_back(definition.name);
  }
  const auto likely = closest(name, names);
  throw UserError(fmt::format("unknown network `{}`", name),
                  likely ? fmt::format("did you mean `{}`?", *likely)
                         : fmt::format("networks: {}", fmt::join(names, ", ")));
}

}  // namespace paceline::kernels
