#include "kernels/networks/parameter_layout.hpp"

#include <utility>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include "sim/base/diagnostic.hpp"

namespace paceline::kernels {
namespace {

class RecordingSource final : public ParameterSource {
 public:
  at::Tensor next(const ParameterDeclaration& declaration) override {
    declarations.push_back(declaration);
    return at::zeros(declaration.shape);
  }
  std::vector<ParameterDeclaration> declarations;
};

at::Tensor zero_sample(const ImageInput& image) {
  return at::zeros({1, 3, image.size, image.size});
}
at::Tensor zero_sample(const TokenInput& tokens) {
  return at::zeros({1, tokens.length}, at::kLong);
}

}  // namespace

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

std::vector<ParameterDeclaration> declare(const NetworkDefinition& definition, std::int64_t classes) {
  const at::NoGradGuard no_gradient;
  RecordingSource source;
  const at::Tensor sample =
      std::visit([](const auto& input) { return zero_sample(input); }, definition.input);
  definition.forward(source, sample, classes);
  return std::move(source.declarations);
}

std::int64_t size_of(const ParameterDeclaration& declaration) {
  std::int64_t size = 1;
  for (const std::int64_t extent : declaration.shape) size *= extent;
  return size;
}

std::int64_t total_size(const std::vector<ParameterDeclaration>& declarations) {
  std::int64_t size = 0;
  for (const ParameterDeclaration& declaration : declarations) size += size_of(declaration);
  return size;
}

std::vector<at::Tensor> views_of(const at::Tensor& flat,
                                 const std::vector<ParameterDeclaration>& declarations) {
  std::vector<at::Tensor> views;
  float* position = flat.data_ptr<float>();
  for (const ParameterDeclaration& declaration : declarations) {
    views.push_back(at::from_blob(position, declaration.shape));
    position += size_of(declaration);
  }
  return views;
}

}  // namespace paceline::kernels
