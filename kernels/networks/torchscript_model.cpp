// A network of the user's own, as a TorchScript file (torch.jit.script(model).save("model.pt")).
#include <filesystem>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include "kernels/training/measured_model.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::kernels {
namespace {

constexpr const char* file_hint =
    "save it with torch.jit.script(model).save(\"model.pt\"), and give one sample's shape and the classes: "
    "--input "
    "3,32,32 --classes 10";

// The library's messages go on with a trace of its own code.
std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

class ScriptModel final : public MeasuredModel {
 public:
  ScriptModel(torch::jit::Module module, NetworkChoice choice)
      : module_(std::move(module)), choice_(std::move(choice)) {
    module_.train();
    gather_parameters();
  }

  at::Tensor logits(const at::Tensor& input) override {
    const at::Tensor output = module_.forward({input}).toTensor();
    return output.dim() > 2 ? output.reshape({-1, output.size(-1)}) : output;
  }

  [[nodiscard]] NetworkFacts facts() const override {
    return {.name = std::filesystem::path(choice_.name).stem().string(),
            .description = "TorchScript",
            .input_shape = choice_.input_shape,
            .classes = choice_.classes,
            .parameter_count = flat_parameters.numel()};
  }

 private:
  // Moves every parameter into one flat vector, which optimizer and server work on.
  void gather_parameters() {
    std::int64_t size = 0;
    for (const at::Tensor& parameter : module_.parameters()) {
      if (parameter.scalar_type() != at::kFloat)
        throw UserError(fmt::format("{}: its parameters are not all 32-bit floats", choice_.name), file_hint);
      size += parameter.numel();
    }
    if (size == 0) throw UserError(fmt::format("{}: it has no parameters to train", choice_.name), file_hint);
    flat_parameters = at::zeros({size});
    std::int64_t position = 0;
    for (at::Tensor parameter : module_.parameters()) {
      const at::NoGradGuard no_gradient;
      const at::Tensor view =
          flat_parameters.slice(0, position, position + parameter.numel()).view(parameter.sizes());
      view.copy_(parameter);
      parameter.set_data(view);
      parameter.requires_grad_(true);
      parameter_views.push_back(parameter);
      position += parameter.numel();
    }
  }

  torch::jit::Module module_;
  NetworkChoice choice_;
};

torch::jit::Module load_file(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    throw UserError(fmt::format("{}: no such file", path), file_hint);
  try {
    return torch::jit::load(path);
  } catch (const std::exception& error) {
    throw UserError(fmt::format("{}: not a TorchScript file: {}", path, first_line(error.what())), file_hint);
  }
}

// One forward pass now instead of a failure in the middle of a measurement.
void try_once(MeasuredModel& model, const NetworkChoice& choice) {
  std::vector<std::int64_t> shape = {2};
  shape.insert(shape.end(), choice.input_shape.begin(), choice.input_shape.end());
  const bool is_tokens = choice.input_shape.size() == 1;
  std::int64_t rows = 2;
  if (is_tokens) rows *= choice.input_shape.front();
  at::Tensor logits;
  try {
    const at::NoGradGuard no_gradient;
    logits = model.logits(at::zeros(shape, is_tokens ? at::kLong : at::kFloat));
  } catch (const std::exception& error) {
    throw UserError(fmt::format("{}: it fails on an input of shape {}: {}", choice.name,
                                fmt::join(shape, "x"), first_line(error.what())),
                    file_hint);
  }
  if (logits.dim() != 2 || logits.size(0) != rows || logits.size(1) != choice.classes)
    throw UserError(
        fmt::format("{}: from an input of shape {} it makes {} values, not {}x{}", choice.name,
                    fmt::join(shape, "x"), fmt::join(logits.sizes().begin(), logits.sizes().end(), "x"), rows,
                    choice.classes),
        file_hint);
}

}  // namespace

std::unique_ptr<MeasuredModel> load_torchscript(const NetworkChoice& choice) {
  if (choice.input_shape.empty() || choice.classes < 2)
    throw UserError(fmt::format("{}: --input and --classes are needed for a TorchScript file", choice.name),
                    file_hint);
  auto model = std::make_unique<ScriptModel>(load_file(choice.name), choice);
  try_once(*model, choice);
  return model;
}

}  // namespace paceline::kernels
