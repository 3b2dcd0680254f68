// A learner of the network "big" that nobody fitted.
#pragma once

namespace paceline::test {

inline constexpr const char* assumed_learner = R"({
  "format": "paceline-learner", "version": 3, "name": "big", "source": "assumed", "fitted_on": [],
  "form": "power-law", "classes": 10,
  "parameters": {"ceiling": 0.9, "scale_samples": 4096, "exponent": 1.0, "staleness_discount": 0.1,
                 "noise_accuracy": 0.001, "noise_exponent": 1.0, "floor_loss": 0.01,
                 "reference_temperature": 0.0156},
  "spread": {"ceiling": 0.005, "staleness_penalty": 0, "speed": 0.05},
  "evaluation_noise": {"scale": 0.1, "exponent": 1.0, "least": 0.001},
  "validity": {"workers": [2, 4], "update_samples": [32, 128], "staleness_max": 3, "learning_rate_max": 0.2,
               "momentum": [0.9, 0.9], "samples_max": 1000000}
})";

}  // namespace paceline::test
