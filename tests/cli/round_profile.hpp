// A profile in round numbers, for the programs as a user runs them: 1 ms + 0.1 ms a sample on one core.
#pragma once

#include <string>

namespace paceline::test {

[[nodiscard]] inline std::string round_profile(const std::string& network) {
  std::string text = R"({
  "format": "paceline-profile", "version": 1,
  "network": {"name": "NETWORK", "parameter_count": 11162, "parameter_bytes": 44648},
  "machine": {"cpu_model": "test", "logical_cores": 1, "memory_bytes": 1000000000, "governor": "none",
              "cpu_flags": []},
  "software": {"paceline": "test", "libtorch": "test", "blas": "test", "compiler": "test"},
  "measurement": {"command": "test", "processes": 3, "batches": [8, 128], "cores": [1]},
  "samples": [],
  "fits": {"compute": [{"cores": 1, "intercept_s": 0.001, "slope_s_per_sample": 0.0001, 
                        "leave_one_out_error": 0.01, "batch_min": 8, "batch_max": 128}],
           "optimizer_step": [{"cores": 1, "seconds": 1e-05}],
           "server_accumulate_bytes_per_s": 1e10, "server_step_bytes_per_s": 1e10},
  "jitter": {"iteration_cv": 0.05, "run_cv": 0.01, "processes": 3}
})";
  return text.replace(text.find("NETWORK"), 7, network);
}

}  // namespace paceline::test
