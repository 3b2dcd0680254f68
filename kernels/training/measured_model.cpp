#include "kernels/training/measured_model.hpp"

#include <algorithm>
#include <cstddef>

#include "kernels/networks/flat_network.hpp"
#include "sim/base/random.hpp"

namespace paceline::kernels {
namespace {

// Values of the right size are enough for measuring; drawing a hundred million of them would take longer than
// the measurement.
constexpr std::size_t drawn_values = 1 << 16;

class ListedModel final : public MeasuredModel {
 public:
  ListedModel(const NetworkDefinition& definition, std::int64_t classes)
      : network_(definition, classes), classes_(classes) {
    flat_parameters = network_.parameters;
    parameter_views = network_.views;
    fill();
  }

  using MeasuredModel::logits;
  at::Tensor logits(const at::Tensor& input, const at::Tensor& statistics, bool training) override {
    return network_.logits(input, statistics, training);
  }

  // Mean 0 and variance 1 for every channel.
  [[nodiscard]] std::vector<float> initial_statistics() override {
    std::vector<float> statistics;
    for (const std::int64_t layer : network_.normalized_channels) {
      statistics.insert(statistics.end(), static_cast<std::size_t>(layer), 0.0F);
      statistics.insert(statistics.end(), static_cast<std::size_t>(layer), 1.0F);
    }
    return statistics;
  }

  // Kaiming-normal; one stream for each parameter tensor.
  void initialize(std::span<float> parameters, Seed seed) const override {
    auto position = parameters.begin();
    std::uint32_t tensor = 0;
    for (const ParameterDeclaration& declaration : network_.declarations) {
      RandomStream stream(seed, Purpose::parameter_initialization, tensor++);
      const bool constant = declaration.initial_standard_deviation == 0.0;
      position = std::generate_n(position, size_of(declaration), [&] {
        return static_cast<float>(
            constant ? declaration.initial_mean
                     : stream.normal(declaration.initial_mean, declaration.initial_standard_deviation));
      });
    }
  }

  [[nodiscard]] NetworkFacts facts() const override {
    const NetworkDefinition& definition = network_.definition;
    return {.name = std::string(definition.name),
            .description = std::string(definition.description),
            .input_shape = shape_of(definition.input),
            .classes = classes_,
            .parameter_count = flat_parameters.numel(),
            .variables = variables()};
  }

 private:
  void fill() {
    RandomStream stream(Seed{}, Purpose::parameter_initialization);
    std::vector<float> normal(drawn_values);
    std::ranges::generate(normal, [&] { return static_cast<float>(stream.normal(0.0, 1.0)); });
    float* value = flat_parameters.data_ptr<float>();
    std::size_t next = 0;
    for (const ParameterDeclaration& declaration : network_.declarations) {
      const auto mean = static_cast<float>(declaration.initial_mean);
      const auto deviation = static_cast<float>(declaration.initial_standard_deviation);
      for (std::int64_t i = 0; i < size_of(declaration); ++i)
        *value++ = mean + deviation * normal[next++ % drawn_values];
    }
  }

  FlatNetwork network_;
  std::int64_t classes_;
};

}  // namespace

std::unique_ptr<MeasuredModel> load_model(const NetworkChoice& choice) {
  if (choice.is_file()) return load_torchscript(choice);
  const NetworkDefinition& definition = find_network(choice.name);
  return std::make_unique<ListedModel>(definition, choice.classes != 0 ? choice.classes : definition.classes);
}

std::vector<NetworkSummary> list_networks() {
  std::vector<NetworkSummary> networks;
  for (const NetworkDefinition& definition : network_registry())
    networks.push_back({std::string(definition.name), std::string(definition.description)});
  return networks;
}

NetworkFacts network_facts(const NetworkChoice& choice) {
  return load_model(choice)->facts();
}

NetworkFacts network_facts(const std::string& name) {
  return network_facts(NetworkChoice{name});
}

}  // namespace paceline::kernels
