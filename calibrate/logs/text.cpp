#include "calibrate/logs/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace paceline::calibrate {

std::string duration_text(double seconds) {
  if (seconds >= 1.0) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3g} ms", 1e3 * seconds);
  return fmt::format("{:.3g} us", 1e6 * seconds);
}

std::string profile_file_text(const nlohmann::ordered_json& profile) {
  std::string text = "{";
  for (const auto& [name, value] : profile.items()) {
    text += fmt::format("{}\n  {}: ", text.size() == 1 ? "" : ",", nlohmann::ordered_json(name).dump());
    if (name != "samples") {
      text += value.dump();
      continue;
    }
    std::string lines;
    for (const nlohmann::ordered_json& sample : value)
      lines += fmt::format("{}\n    {}", lines.empty() ? "" : ",", sample.dump());
    text += "[" + lines + "\n  ]";
  }
  return text + "\n}\n";
}

}  // namespace paceline::calibrate
