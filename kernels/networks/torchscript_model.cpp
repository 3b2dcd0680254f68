// A network of the user's own, as a TorchScript file (torch.jit.script(model).save("model.pt")).
//
// Models:      averages that the module keeps by itself (batch normalization's) are taken from it for
//              each batch and given back for an evaluation: whose batches they follow, the learner decides.
// Equation:    a training pass makes r' = (1 − m)·r + m·b of an average r and what the batch b shows;
//              with r = 0 and r = 1 before two passes over the same batch, m = 1 − (r'_1 − r'_0), and b =
//              r'/m where r was 0.
// Assumptions: every average of the module is updated so, m being its own; other buffers stay as they are.
#include <algorithm>
#include <filesystem>

#include <ATen/Context.h>
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
    "--input 3,32,32 --classes 10";

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
    // Before any pass: each moves the averages.
    for (const at::Tensor& buffer : module_.buffers())
      if (buffer.scalar_type() == at::kFloat && buffer.numel() > 0)
        buffers_.push_back({buffer, buffer.clone()});
  }

  using MeasuredModel::logits;
  at::Tensor logits(const at::Tensor& input, const at::Tensor& statistics, bool training) override {
    if (!statistics.defined()) return forward(input);
    if (!training) {
      read_averages(statistics);
      module_.eval();
      const at::Tensor output = forward(input);
      module_.train();
      return output;
    }
    {
      const at::NoGradGuard no_gradient;
      for (Average& average : averages_) average.buffer.zero_();
    }
    const at::Tensor output = forward(input);
    const at::NoGradGuard no_gradient;
    std::int64_t position = 0;
    for (const Average& average : averages_) {
      const std::int64_t size = average.buffer.numel();
      statistics.slice(0, position, position + size).copy_(average.buffer.flatten().div(average.share));
      position += size;
    }
    return output;
  }

  [[nodiscard]] std::vector<float> initial_statistics() override {
    if (!are_averages_known_) find_averages();
    std::vector<float> values;
    for (const Average& average : averages_) {
      const float* first = average.initial.data_ptr<float>();
      values.insert(values.end(), first, first + average.initial.numel());
    }
    return values;
  }

  void initialize(std::span<float> parameters, Seed seed) const override {
    std::copy_n(flat_parameters.data_ptr<float>(), parameters.size(), parameters.begin());
    at::manual_seed(RandomStream(seed, Purpose::parameter_initialization).below(1ULL << 62U));
  }

  [[nodiscard]] NetworkFacts facts() const override {
    return {.name = std::filesystem::path(choice_.name).stem().string(),
            .description = "TorchScript",
            .input_shape = choice_.input_shape,
            .classes = choice_.classes,
            .parameter_count = flat_parameters.numel(),
            .variables = variables()};
  }

 private:
  struct Buffer {
    at::Tensor buffer;
    at::Tensor initial;
  };
  struct Average : Buffer {
    double share = 1.0;  // of the newest batch
  };

  at::Tensor forward(const at::Tensor& input) {
    const at::Tensor output = module_.forward({input}).toTensor();
    return output.dim() > 2 ? output.reshape({-1, output.size(-1)}) : output;
  }

  void read_averages(const at::Tensor& statistics) {
    std::int64_t position = 0;
    for (Average& average : averages_) {
      const std::int64_t size = average.buffer.numel();
      average.buffer.copy_(statistics.slice(0, position, position + size).view(average.buffer.sizes()));
      position += size;
    }
  }

  void find_averages() {
    const at::NoGradGuard no_gradient;
    std::vector<int64_t> shape = {2};
    shape.insert(shape.end(), choice_.input_shape.begin(), choice_.input_shape.end());
    const at::Tensor input = at::zeros(shape);
    std::vector<std::vector<double>> after;
    for (const double before : {0.0, 1.0}) {
      for (const Buffer& one : buffers_) one.buffer.fill_(before);
      static_cast<void>(forward(input));
      after.emplace_back();
      for (const Buffer& one : buffers_) after.back().push_back(one.buffer.flatten()[0].item<double>());
    }
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      buffers_[i].buffer.copy_(buffers_[i].initial);
      const double share = 1.0 - (after[1][i] - after[0][i]);
      if (after[0][i] != 0.0 || after[1][i] != 1.0) averages_.push_back({buffers_[i], share});
    }
    are_averages_known_ = true;
  }

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
  std::vector<Buffer> buffers_;    // of floats
  std::vector<Average> averages_;  // those of them that training moves
  bool are_averages_known_ = false;
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
