// CIFAR-10 and CIFAR-100, binary version: records of label byte(s) and 3072 pixel bytes, nothing else in the
// file. A record is 1 + 3072 bytes (CIFAR-10) or coarse label, fine label + 3072 bytes (CIFAR-100).
// Source: Krizhevsky, "Learning multiple layers of features from tiny images", 2009.
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/data/data_file.hpp"
#include "kernels/data/dataset_source.hpp"

namespace paceline::kernels {
namespace {

constexpr PixelScaling cifar10_scaling{.mean = {0.4914F, 0.4822F, 0.4465F},
                                       .deviation = {0.2470F, 0.2435F, 0.2616F}};
constexpr PixelScaling cifar100_scaling{.mean = {0.5071F, 0.4865F, 0.4409F},
                                        .deviation = {0.2673F, 0.2564F, 0.2762F}};

struct CifarFormat {
  const char* name;
  std::int64_t classes;
  std::int64_t label_bytes;  // the last one is the class
  PixelScaling scaling;
  std::vector<std::string> train_files;
  std::string test_file;
};

std::int64_t record_bytes(const CifarFormat& format) {
  return format.label_bytes + image_values;
}

void append_record(const CifarFormat& format, DataFile& file, std::int64_t record, Dataset& dataset) {
  const std::span<const std::uint8_t> labels = file.read(format.label_bytes);
  const std::uint8_t label = labels.back();
  if (label >= format.classes) {
    file.refuse(fmt::format("record {} has the label {}, {} goes from 0 to {}", record, label, format.name,
                            format.classes - 1));
  }
  // The coarse label of CIFAR-100 is not used, but tells a foreign file apart.
  if (format.label_bytes == 2 && labels.front() >= 20) {
    file.refuse(fmt::format("record {} has the coarse label {}, {} goes from 0 to 19", record, labels.front(),
                            format.name));
  }
  dataset.append(file.read(image_values), label);
}

// Every file is read and checked in size, even when its samples are not asked for, so that a damaged download
// does not go unnoticed until the day they are.
Dataset read_files(const CifarFormat& format, const std::filesystem::path& folder,
                   const std::vector<std::string>& files, const std::string& what, std::int64_t wanted) {
  Dataset dataset(format.classes, format.scaling);
  std::int64_t available = 0;
  for (const std::string& name : files) {
    DataFile file(folder / name,
                  fmt::format("{} in its binary version: records of {} bytes ({} label, 3072 pixels)",
                              format.name, record_bytes(format), format.label_bytes));
    if (file.size() == 0 || file.size() % record_bytes(format) != 0) {
      file.refuse(fmt::format("its {} bytes are not a whole number of records: truncated or another format",
                              file.size()));
    }
    const std::int64_t records = file.size() / record_bytes(format);
    available += records;
    for (std::int64_t record = 0; record < records && dataset.sample_count() < wanted; ++record) {
      append_record(format, file, record, dataset);
    }
  }
  require_samples(folder, what, wanted, available);
  return dataset;
}

TrainAndTest read_cifar(const CifarFormat& format, const DatasetSource& source) {
  return {.train = read_files(format, source.path, format.train_files, "training", source.train_samples),
          .test = read_files(format, source.path, {format.test_file}, "test", source.test_samples)};
}

}  // namespace

TrainAndTest load_cifar10(const DatasetSource& source) {
  return read_cifar({.name = "CIFAR-10",
                     .classes = 10,
                     .label_bytes = 1,
                     .scaling = cifar10_scaling,
                     .train_files = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                     "data_batch_4.bin", "data_batch_5.bin"},
                     .test_file = "test_batch.bin"},
                    source);
}

TrainAndTest load_cifar100(const DatasetSource& source) {
  return read_cifar({.name = "CIFAR-100",
                     .classes = 100,
                     .label_bytes = 2,
                     .scaling = cifar100_scaling,
                     .train_files = {"train.bin"},
                     .test_file = "test.bin"},
                    source);
}

}  // namespace paceline::kernels
