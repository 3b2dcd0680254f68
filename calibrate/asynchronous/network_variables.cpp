#include "calibrate/asynchronous/network_variables.hpp"

#include <algorithm>
#include <numeric>

namespace paceline {
namespace {

constexpr double bytes_of_a_parameter = 4.0;

class VariableList {
 public:
  void add(double parameters) { variables_.emplace_back(bytes_of_a_parameter * parameters); }
  void add_normalization(double channels) {
    for (const double parameters : {channels, channels, 0.0, 0.0}) add(parameters);
  }
  [[nodiscard]] std::vector<Bytes> take() { return std::move(variables_); }

 private:
  std::vector<Bytes> variables_;
};

std::vector<Bytes> residual_variables(int blocks) {
  constexpr double classes = 10.0;
  VariableList list;
  list.add(0.0);
  double channels = 16.0;
  list.add(7.0 * 7.0 * 3.0 * channels);
  list.add_normalization(channels);
  for (const double filters : {32.0, 64.0, 128.0})
    for (int block = 0; block < blocks; ++block) {
      list.add_normalization(channels);
      if (block == 0) {
        list.add(channels * filters);
        list.add_normalization(filters);
      }
      list.add(3.0 * 3.0 * channels * filters);
      list.add_normalization(filters);
      list.add(3.0 * 3.0 * filters * filters);
      channels = filters;
    }
  list.add(channels * classes);
  list.add(classes);
  return list.take();
}

}  // namespace

std::vector<Bytes> variables_of(const NetworkSize& network) {
  constexpr int most_blocks = 20;
  for (int blocks = 1; blocks <= most_blocks; ++blocks) {
    std::vector<Bytes> variables = residual_variables(blocks);
    const Bytes bytes = std::accumulate(variables.begin(), variables.end(), Bytes{});
    const auto tensors = static_cast<double>(
        std::ranges::count_if(variables, [](Bytes variable) { return variable > Bytes{}; }));
    if (network.bytes == bytes.value() && network.tensors == tensors) return variables;
  }
  return {};
}

}  // namespace paceline
