#include "calibrate/validation/gate_figures.hpp"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

namespace paceline {

void state(GateFigures& figures, const std::string& words) {
  figures.stated += figures.stated.empty() ? words : ", " + words;
}

double factor_of(const BesideOthers& beside, std::int64_t batch, std::int64_t smallest,
                 std::int64_t initial) {
  if (batch >= initial) return beside.initial;
  const auto distance = [&](std::int64_t to) {
    return std::log(static_cast<double>(to) / static_cast<double>(smallest));
  };
  return std::lerp(beside.smallest, beside.initial, std::max(0.0, distance(batch) / distance(initial)));
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
  scenario.cluster.servers.sends = ServerSends::in_turn;  // a message waits in one queue for the link
  state(figures, live::scenario_words(*scenario.communication) + ", servers: {sends: in-turn}");
}

}  // namespace paceline
