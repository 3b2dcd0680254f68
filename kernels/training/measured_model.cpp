#include "kernels/training/measured_model.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include <ATen/ops/zeros.h>

#include "kernels/networks/parameter_layout.hpp"
#include "sim/base/random.hpp"

namespace paceline::kernels {
namespace {

std::vector<std::int64_t> shape_of(const ImageInput& image) {
  return {3, image.size, image.size};
}
std::vector<std::int64_t> shape_of(const TokenInput& tokens) {
  return {tokens.length};
}

// Values of the right size are enough for measuring; drawing a hundred million of them would take longer than
// the measurement.
constexpr std::size_t drawn_values = 1 << 16;

class ListedModel final : public MeasuredModel {
 public:
  explicit ListedModel(const NetworkDefinition& definition)
      : definition_(definition), declarations_(declare(definition, definition.classes)) {
    flat_parameters = at::zeros({total_size(declarations_)});
    parameter_views = views_of(flat_parameters, declarations_);
    fill();
    for (at::Tensor& view : parameter_views) view.requires_grad_(true);
  }

  at::Tensor logits(const at::Tensor& input) override {
    ServingSource source(parameter_views);
    return definition_.forward(source, input, definition_.classes);
  }

  [[nodiscard]] NetworkFacts facts() const override {
    return {.name = std::string(definition_.name),
            .description = std::string(definition_.description),
            .input_shape = std::visit([](const auto& input) { return shape_of(input); }, definition_.input),
            .classes = definition_.classes,
            .parameter_count = flat_parameters.numel()};
  }

 private:
  void fill() {
    RandomStream stream(Seed{}, Purpose::parameter_initialization);
    std::vector<float> normal(drawn_values);
    std::ranges::generate(normal, [&] { return static_cast<float>(stream.normal(0.0, 1.0)); });
    float* value = flat_parameters.data_ptr<float>();
    std::size_t next = 0;
    for (const ParameterDeclaration& declaration : declarations_) {
      const auto mean = static_cast<float>(declaration.initial_mean);
      const auto deviation = static_cast<float>(declaration.initial_standard_deviation);
      for (std::int64_t i = 0; i < size_of(declaration); ++i)
        *value++ = mean + deviation * normal[next++ % drawn_values];
    }
  }

  const NetworkDefinition& definition_;
  std::vector<ParameterDeclaration> declarations_;
};

}  // namespace

std::unique_ptr<MeasuredModel> load_model(const NetworkChoice& choice) {
  if (choice.is_file()) return load_torchscript(choice);
  return std::make_unique<ListedModel>(find_network(choice.name));
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
