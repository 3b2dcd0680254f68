// From a scenario's dataset section to images or texts in memory.
//
//   built-in-images  generated, no files (built_in_images.hpp)
//   built-in-text    generated, no files (built_in_text.hpp)
//   cifar10          data_batch_1.bin … data_batch_5.bin, test_batch.bin      (the "binary version")
//   cifar100         train.bin, test.bin; the 100 fine labels
//   mnist            train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte,
//                    t10k-labels-idx1-ubyte; 28x28 grey padded by 2 to 32x32, the same in all three channels
//
// Every loader takes the first `train_samples` and `test_samples` in the order of the files and refuses, with
// a UserError that names the file: missing files, files of another size or format, labels out of range, and
// asking for more samples than there are.
#pragma once

#include "kernels/data/dataset.hpp"
#include "sim/learning/network_learner.hpp"

namespace paceline::kernels {

[[nodiscard]] TrainAndTest load_dataset(const DatasetSource& source);

// The loaders behind it.
[[nodiscard]] TrainAndTest load_cifar10(const DatasetSource& source);
[[nodiscard]] TrainAndTest load_cifar100(const DatasetSource& source);
[[nodiscard]] TrainAndTest load_mnist(const DatasetSource& source);

}  // namespace paceline::kernels
