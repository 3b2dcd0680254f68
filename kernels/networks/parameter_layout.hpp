// The parameters of a network as one flat vector: what its definition declares, where each tensor lies in it.
//
// Includes LibTorch: only for network.cpp and measured_model.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "kernels/networks/network_definition.hpp"

namespace paceline::kernels {

// Throws UserError naming the closest network when there is none of this name.
[[nodiscard]] const NetworkDefinition& find_network(const std::string& name);

// Runs the network once on one sample of zeros.
[[nodiscard]] std::vector<ParameterDeclaration> declare(const NetworkDefinition& definition,
                                                        std::int64_t classes);
[[nodiscard]] std::int64_t size_of(const ParameterDeclaration& declaration);
[[nodiscard]] std::int64_t total_size(const std::vector<ParameterDeclaration>& declarations);

// Tensors of the declared shapes that share the memory of `flat`.
[[nodiscard]] std::vector<at::Tensor> views_of(const at::Tensor& flat,
                                               const std::vector<ParameterDeclaration>& declarations);

// One that hands the tensors out in order.
class ServingSource final : public ParameterSource {
 public:
  explicit ServingSource(const std::vector<at::Tensor>& tensors) : tensors_(tensors) {}
  at::Tensor next(const ParameterDeclaration&) override { return tensors_.at(next_++); }

 private:
  const std::vector<at::Tensor>& tensors_;
  std::size_t next_ = 0;
};

}  // namespace paceline::kernels
