#include <cstdint>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "kernels/data/dataset_source.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace paceline;
using namespace paceline::kernels;

namespace {

class Folder {
 public:
  void write(const std::string& name, const std::string& content) const {
    write_file_atomically(path() / name, content);
  }
  [[nodiscard]] DatasetSource source(const char* kind, std::int64_t train, std::int64_t test) const {
    return {.kind = kind, .path = path().string(), .train_samples = train, .test_samples = test};
  }
  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }

 private:
  test::TemporaryFolder folder_;
};

void refused(const DatasetSource& source, const char* because) {
  CHECK_THROWS_WITH_AS(static_cast<void>(load_dataset(source)), doctest::Contains(because), UserError);
}

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text += static_cast<char>(value);
  return text;
}

std::string big_endian(std::uint32_t value) {
  std::string text;
  for (const unsigned shift : {24U, 16U, 8U, 0U}) text += static_cast<char>((value >> shift) & 0xffU);
  return text;
}

// Channel planes of 1024 bytes: value, value + 1, value + 2.
std::string cifar_image(int value) {
  return std::string(1024, static_cast<char>(value)) + std::string(1024, static_cast<char>(value + 1)) +
         std::string(1024, static_cast<char>(value + 2));
}

// Two records in each of the five training files, with labels 0 … 9 in order; one test record.
void write_cifar10(const Folder& folder) {
  for (int file = 0; file < 5; ++file) {
    folder.write(
        fmt::format("data_batch_{}.bin", file + 1),
        bytes({2 * file}) + cifar_image(10 * file) + bytes({2 * file + 1}) + cifar_image(10 * file + 5));
  }
  folder.write("test_batch.bin", bytes({7}) + cifar_image(200));
}

std::string idx_images(std::uint32_t count, std::uint32_t rows, std::uint32_t columns,
                       const std::string& pixels) {
  return big_endian(2051) + big_endian(count) + big_endian(rows) + big_endian(columns) + pixels;
}

std::string idx_labels(std::uint32_t count, const std::string& labels) {
  return big_endian(2049) + big_endian(count) + labels;
}

void write_mnist(const Folder& folder) {
  std::string digit(784, '\0');
  digit[0] = bytes({9})[0];
  digit[783] = bytes({250})[0];
  folder.write("train-images-idx3-ubyte", idx_images(2, 28, 28, digit + digit));
  folder.write("train-labels-idx1-ubyte", idx_labels(2, bytes({3, 9})));
  folder.write("t10k-images-idx3-ubyte", idx_images(1, 28, 28, digit));
  folder.write("t10k-labels-idx1-ubyte", idx_labels(1, bytes({0})));
}

}  // namespace

TEST_CASE("CIFAR-10: labels and planes arrive in the order of the files") {
  const Folder folder;
  write_cifar10(folder);
  const TrainAndTest data = load_dataset(folder.source("cifar10", 10, 1));
  CHECK(data.train.classes() == 10);
  REQUIRE(data.train.sample_count() == 10);
  for (std::uint32_t i = 0; i < 10; ++i) CHECK(data.train.label(i) == i);
  CHECK(data.train.bytes(3)[0] == 15);
  CHECK(data.train.bytes(3)[1024] == 16);
  CHECK(data.train.bytes(3)[3071] == 17);
  CHECK(data.test.label(0) == 7);
  CHECK(load_dataset(folder.source("cifar10", 3, 1)).train.sample_count() == 3);
}

TEST_CASE("CIFAR-10: missing, truncated, foreign and mislabelled files are refused by name") {
  const Folder folder;
  write_cifar10(folder);
  refused(folder.source("cifar10", 11, 1), "at most 10");
  refused(folder.source("cifar10", 10, 2), "2 test samples asked for");
  SUBCASE("truncated, in a part that is not even needed") {
    folder.write("data_batch_5.bin", bytes({8}) + cifar_image(0).substr(1));
    refused(folder.source("cifar10", 1, 1), "data_batch_5.bin: its 3072 bytes");
  }
  SUBCASE("empty") {
    folder.write("data_batch_2.bin", "");
    refused(folder.source("cifar10", 10, 1), "data_batch_2.bin: its 0 bytes");
  }
  SUBCASE("label out of range") {
    folder.write("data_batch_2.bin", bytes({10}) + cifar_image(0));
    refused(folder.source("cifar10", 9, 1), "data_batch_2.bin: record 0 has the label 10");
  }
  SUBCASE("missing") {
    std::filesystem::remove(folder.path() / "test_batch.bin");
    refused(folder.source("cifar10", 10, 1), "test_batch.bin: there is no such file");
    refused(folder.source("cifar10", 10, 1), "records of 3073 bytes");
  }
  SUBCASE("a folder in place of the file") {
    std::filesystem::remove(folder.path() / "test_batch.bin");
    std::filesystem::create_directory(folder.path() / "test_batch.bin");
    refused(folder.source("cifar10", 10, 1), "not a regular file");
  }
}

TEST_CASE("CIFAR-100: the fine label counts, the coarse one is checked") {
  const Folder folder;
  folder.write("train.bin", bytes({19, 99}) + cifar_image(1) + bytes({0, 0}) + cifar_image(2));
  folder.write("test.bin", bytes({4, 42}) + cifar_image(3));
  const TrainAndTest data = load_dataset(folder.source("cifar100", 2, 1));
  CHECK(data.train.classes() == 100);
  CHECK(data.train.label(0) == 99);
  CHECK(data.test.label(0) == 42);
  SUBCASE("fine label out of range") {
    folder.write("test.bin", bytes({4, 100}) + cifar_image(3));
    refused(folder.source("cifar100", 2, 1), "test.bin: record 0 has the label 100");
  }
  SUBCASE("coarse label out of range") {
    folder.write("test.bin", bytes({20, 5}) + cifar_image(3));
    refused(folder.source("cifar100", 2, 1), "coarse label 20");
  }
  SUBCASE("a CIFAR-10 file under this name") {
    folder.write("train.bin", bytes({1}) + cifar_image(3));
    refused(folder.source("cifar100", 1, 1), "train.bin: its 3073 bytes");
  }
}

TEST_CASE("MNIST: digits are padded by two pixels and repeated in three channels") {
  const Folder folder;
  write_mnist(folder);
  const TrainAndTest data = load_dataset(folder.source("mnist", 2, 1));
  CHECK(data.train.label(0) == 3);
  CHECK(data.train.label(1) == 9);
  for (std::size_t channel = 0; channel < 3; ++channel) {
    // (row 0, column 0) -> (2, 2); (27, 27) -> (29, 29); the frame is black
    CHECK(data.train.bytes(1)[channel * 1024 + 2 * 32 + 2] == 9);
    CHECK(data.train.bytes(1)[channel * 1024 + 29 * 32 + 29] == 250);
    CHECK(data.train.bytes(1)[channel * 1024] == 0);
    CHECK(data.train.bytes(1)[channel * 1024 + 1023] == 0);
  }
}

TEST_CASE("MNIST: missing, truncated, foreign and inconsistent files are refused by name") {
  const Folder folder;
  write_mnist(folder);
  refused(folder.source("mnist", 3, 1), "at most 2");
  SUBCASE("missing") {
    std::filesystem::remove(folder.path() / "t10k-labels-idx1-ubyte");
    refused(folder.source("mnist", 2, 1), "t10k-labels-idx1-ubyte: there is no such file");
  }
  SUBCASE("truncated pixels") {
    folder.write("train-images-idx3-ubyte", idx_images(2, 28, 28, std::string(2 * 784 - 1, 'x')));
    refused(folder.source("mnist", 1, 1),
            "train-images-idx3-ubyte: it has 1583 bytes, its header promises 1584");
  }
  SUBCASE("truncated header") {
    folder.write("train-images-idx3-ubyte", big_endian(2051) + "ab");
    refused(folder.source("mnist", 1, 1), "train-images-idx3-ubyte: it ends after 6 bytes");
  }
  SUBCASE("labels in place of images") {
    folder.write("train-images-idx3-ubyte", idx_labels(2, bytes({3, 9})));
    refused(folder.source("mnist", 1, 1), "starts with 2049 instead of 2051");
  }
  SUBCASE("still compressed") {
    folder.write("train-images-idx3-ubyte", bytes({0x1f, 0x8b, 8, 8, 0, 0, 0, 0}));
    refused(folder.source("mnist", 1, 1), "still compressed");
  }
  SUBCASE("images of another size") {
    folder.write("train-images-idx3-ubyte", idx_images(1, 32, 32, std::string(1024, 'x')));
    refused(folder.source("mnist", 1, 1), "32x32, not 28x28");
  }
  SUBCASE("fewer labels than images") {
    folder.write("train-labels-idx1-ubyte", idx_labels(1, bytes({3})));
    refused(folder.source("mnist", 1, 1), "1 labels for the 2 images");
  }
  SUBCASE("label out of range") {
    folder.write("train-labels-idx1-ubyte", idx_labels(2, bytes({3, 10})));
    refused(folder.source("mnist", 2, 1), "sample 1 has the label 10");
  }
}

TEST_CASE("a dataset section that makes no sense is refused") {
  refused({.kind = "cifar11", .path = "", .train_samples = 1, .test_samples = 1}, "did you mean `cifar10");
  refused({.kind = "imagenet", .path = "", .train_samples = 1, .test_samples = 1}, "kinds: built-in-images");
  refused({.kind = "built-in-images", .path = "", .train_samples = 0, .test_samples = 1}, "0 and 1");
  refused({.kind = "built-in-images", .path = "", .train_samples = 1, .test_samples = -1}, "1 and -1");
  refused({.kind = "built-in-images", .path = "/data", .train_samples = 1, .test_samples = 1},
          "/data was given");
  refused({.kind = "mnist", .path = "/no/such/folder", .train_samples = 1, .test_samples = 1},
          "/no/such/folder");
}
