// Which network a profile or a learner is of, and which data set it was trained on.
//
// Assumptions: a network is told by its name and the number of its parameters, a data set by its name and its
//              classes. What is absent is not known, and differs from nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace paceline {

class JsonField;

struct Identity {
  std::optional<std::string> network{};
  std::optional<std::int64_t> parameter_count{};
  std::optional<std::string> dataset{};
  std::optional<std::int64_t> classes{};
};

// Members of a file: network {name, parameter_count} and dataset {name, classes}. Null, and in a data set
// also absent: not known.
[[nodiscard]] Identity read_identity(const JsonField& root);

// "resnet32 (464154 parameters) on cifar10 (10 classes)"
[[nodiscard]] std::string to_text(const Identity& identity);

// Whether something that is known of both differs.
[[nodiscard]] bool differ(const Identity& a, const Identity& b);

}  // namespace paceline
