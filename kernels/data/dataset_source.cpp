#include "kernels/data/dataset_source.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/data/built_in_images.hpp"
#include "kernels/data/built_in_text.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::kernels {
namespace {

struct DatasetKind {
  const char* name;
  TrainAndTest (*load)(const DatasetSource&);
};

template <TrainAndTest generate(std::int64_t train_samples, std::int64_t test_samples)>
TrainAndTest load_built_in(const DatasetSource& source) {
  if (!source.path.empty()) {
    throw UserError(fmt::format("built-in data is generated, but the path {} was given", source.path),
                    "leave the path out, or choose cifar10, cifar100 or mnist");
  }
  return generate(source.train_samples, source.test_samples);
}

constexpr std::array kinds{DatasetKind{"built-in-images", load_built_in<generate_built_in_images>},
                           DatasetKind{"built-in-text", load_built_in<generate_built_in_text>},
                           DatasetKind{"cifar10", load_cifar10}, DatasetKind{"cifar100", load_cifar100},
                           DatasetKind{"mnist", load_mnist}};

}  // namespace

TrainAndTest load_dataset(const DatasetSource& source) {
  if (source.train_samples < 1 || source.test_samples < 1) {
    throw UserError(fmt::format("a dataset needs training and test samples, not {} and {}",
                                source.train_samples, source.test_samples),
                    "give train_samples and test_samples of at least 1");
  }
  std::vector<std::string> names;
  for (const DatasetKind& kind : kinds) {
    if (source.kind == kind.name) return kind.load(source);
    names.emplace_back(kind.name);
  }
  const auto likely = closest(source.kind, names);
  throw UserError(
      fmt::format("unknown kind of dataset `{}`", source.kind),
      likely ? fmt::format("did you mean `{}`?", *likely) : fmt::format("kinds: {}", fmt::join(names, ", ")));
}

}  // namespace paceline::kernels
