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

// The same machine as version 2 says it.
inline nlohmann::json example_profile_2() {
  nlohmann::json profile = example_profile();
  profile.merge_patch(nlohmann::json::parse(R"({
    "version": 2, "origin": "measured", "sources": [],
    "fits": {"core_scaling": {"law": "amdahl", "serial_share": 0.1, "leave_one_out_error": null,
                              "cores_min": 1, "cores_max": 2},
             "memory": {"base_bytes": 1e8, "bytes_per_sample": 1e6},
             "ensemble": [[[1, 0.004, 0.001, 0, 0], [2, 0.003, 0.0005, 64, 0.0001]],
                          [[1, 0.005, 0.0011, 0, 0], [2, 0.0031, 0.0006, 64, 0.0003]]]},
    "jitter": {"process_cv": 0.02, "run_cv_upper": 0.05, "iteration_law": "empirical",
               "iteration_quantiles": [0.9, 1.0, 1.1]}
  })"));
  // merge_patch drops members that are null, so these are set one by one.
  profile["fits"]["core_scaling"]["leave_one_out_error"] = nullptr;
  for (nlohmann::json& fit : profile["fits"]["compute"]) {
    fit["knee"] = nullptr;
    fit["relative_half_width"] = 0.03;
  }
  profile["fits"]["compute"][0]["knee"] = {{"at_samples", 64}, {"extra_slope_s_per_sample", 0.0002}};
  return profile;
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
