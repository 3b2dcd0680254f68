#include "calibrate/validation/gate_figures.hpp"

#include <cmath>
#include <iterator>

#include <nlohmann/json.hpp>

#include "sim/base/check.hpp"

namespace paceline {

void state(GateFigures& figures, const std::string& words) {
  figures.stated += figures.stated.empty() ? words : ", " + words;
}

double factor_of(const BesideOthers& beside, std::int64_t batch) {
  check(!beside.empty(), "a batch was timed beside others, or stands for none");
  const auto above = beside.lower_bound(batch);
  if (above == beside.end()) return beside.rbegin()->second;
  if (above == beside.begin()) return above->second;
  const auto below = std::prev(above);
  const auto distance = [&](std::int64_t to) {
    return std::log(static_cast<double>(to) / static_cast<double>(below->first));
  };
  return std::lerp(below->second, above->second, distance(batch) / distance(above->first));
}

BesideOthers held_against(const BesideOthers& before, const TogetherTime& own, const TogetherTime* small) {
  const auto now = [&](const TogetherTime& time) {
    return factor_of(before, time.batch_samples) * (time.measured.iteration / time.predicted.iteration);
  };
  BesideOthers held{{own.batch_samples, now(own)}};
  if (small != nullptr && small->batch_samples < own.batch_samples) held[small->batch_samples] = now(*small);
  return held;
}

nlohmann::ordered_json gate_json(const GateFigures& figures) {
  nlohmann::ordered_json json;
  for (std::size_t w = 0; w < figures.alone.size(); ++w)
    for (const live::AloneTime& own : figures.alone[w])
      json["iterations_alone"].push_back({{"worker", w},
                                          {"batch", own.computing.batch},
                                          {"measured_s", own.measured.value()},
                                          {"calibrated_s", own.modelled.value()}});
  const auto add_together = [&](const char* key, const std::vector<TogetherTime>& times) {
    for (std::size_t w = 0; w < times.size(); ++w)
      json[key].push_back({{"worker", w},
                           {"batch", times[w].batch_samples},
                           {"measured_s", times[w].measured.iteration.value()},
                           {"predicted_s", times[w].predicted.iteration.value()},
                           {"between_measured_s", times[w].measured.between.value()},
                           {"between_predicted_s", times[w].predicted.between.value()}});
  };
  add_together("iterations_together", figures.together);
  add_together("iterations_waiting_for_all", figures.waiting);
  add_together("iterations_together_smallest_batch", figures.together_small);
  add_together("iterations_waiting_for_all_smallest_batch", figures.waiting_small);
  if (!figures.slowness.empty()) json["machine_slower_by_round"] = figures.slowness;
  if (figures.sharing)
    json["sharing"] = {{"cores", figures.sharing->cores},
                       {"iteration_without_messages_s", figures.sharing->alone.value()},
                       {"speeds_of_busy_processes", figures.sharing->speeds}};
  if (!figures.stated.empty()) json["stated"] = figures.stated;
  for (const std::string& one : figures.deviations) json["accepted"].push_back(one);
  return json;
}

void adopt_communication(Scenario& scenario, const live::CommunicationFit& fit, GateFigures& figures) {
  scenario.communication = cost_of(fit);
  scenario.cluster.servers.sends = ServerSends::sockets;
  state(figures, live::scenario_words(*scenario.communication) + ", servers: {sends: sockets}");
}

}  // namespace paceline
