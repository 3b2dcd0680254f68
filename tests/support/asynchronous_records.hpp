// A small folder of made-up records of asynchronous jobs, apart from what each test says of runs.
#pragma once

#include <map>
#include <string>

namespace paceline::test {

// Each file by its name, with the fewest rows that say something; runs.csv and curves.csv are the caller's.
inline std::map<std::string, std::string> asynchronous_records(const std::string& runs,
                                                               const std::string& evaluations) {
  return {
      {"runs.csv",
       "configuration,campaign,run,complete,duration_s,final_accuracy,time_to_85_s,time_to_90_s\n" + runs},
      {"curves.csv", "configuration,campaign,run,time_s,step,accuracy\n" + evaluations},
      {"speed.csv", "network,gpu,workers,servers,campaign,steps_per_s\nresnet32,k80,1,1,scaling,4.5\n"},
      {"networks.csv", "network,parameters,checkpoint_tensors\nresnet32,1857722,157\n"},
      {"exchange-runs.csv",
       "configuration,parameters,first_exchange_ms,blocked_median_ms\n"
       "exchange/ddp-h1-1000mbit,30846720,1894.6,\n"},
      {"checkpoint.csv", "network,bucket_s\nresnet32,3.8\n"},
      {"single-gpu-latency.csv", "network,gpu,latency_ms,step_s\nresnet32,k80,0.3,0.22\n"},
  };
}

}  // namespace paceline::test
