// An amount of training work as people write it: "400 updates", "4096 samples", "0.5 epochs".
#pragma once

namespace paceline {

enum class CountUnit { updates, samples, epochs };

struct Count {
  double value = 0.0;
  CountUnit unit = CountUnit::samples;
};

}  // namespace paceline
