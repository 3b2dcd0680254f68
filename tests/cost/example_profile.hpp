// A small valid profile as JSON, to be bent by each test, and the temporary file that holds it.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>
#include <unistd.h>

namespace paceline {

inline nlohmann::json example_profile() {
  return nlohmann::json::parse(R"({
    "format": "paceline-profile", "version": 1,
    "network": {"name": "small-cnn", "parameter_count": 1000, "parameter_bytes": 4000},
    "machine": {"cpu_model": "Test CPU"},
    "fits": {
      "compute": [
        {"cores": 2, "intercept_s": 0.003, "slope_s_per_sample": 0.0005, "leave_one_out_error": 0.02,
         "batch_min": 8, "batch_max": 128},
        {"cores": 1, "intercept_s": 0.004, "slope_s_per_sample": 0.001, "leave_one_out_error": 0.01,
         "batch_min": 8, "batch_max": 64}],
      "optimizer_step": [{"cores": 1, "seconds": 0.0002}, {"cores": 2, "seconds": 0.0001}],
      "server_accumulate_bytes_per_s": 4e9, "server_step_bytes_per_s": 2e9},
    "jitter": {"iteration_cv": 0.05, "run_cv": 0.01, "processes": 3}
  })");
}

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content) {
    std::string name = (std::filesystem::temp_directory_path() / "paceline-profile-XXXXXX").string();
    close(mkstemp(name.data()));
    path_ = name;
    std::ofstream(path_, std::ios::binary) << content;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove(path_); }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace paceline
