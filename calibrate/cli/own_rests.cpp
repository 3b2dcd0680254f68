// `paceline calibrate own --rests`: what a training loop takes longer after it has rested.
#include <fmt/format.h>

#include "calibrate/cli/own_loop.hpp"
#include "calibrate/logs/rest_cost.hpp"
#include "calibrate/logs/text.hpp"
#include "sim/base/json.hpp"

namespace paceline::calibrate {
namespace {

using Json = nlohmann::ordered_json;

const std::vector<Seconds> rests = {Seconds{1e-3}, Seconds{2e-3},  Seconds{4e-3},
                                    Seconds{8e-3}, Seconds{20e-3}, Seconds{80e-3}};

Json report_json(const std::vector<RestedIteration>& iterations) {
  Json rows = Json::array();
  for (const RestedIteration& one : iterations)
    rows.push_back(
        {{"rest_s", one.rest.value()}, {"processor_s", one.processor_time.value()}, {"stops", one.count}});
  return {{"format", "paceline-own-rests"},
          {"version", 1},
          {"scenario", scenario_words(resume_costs(iterations))},
          {"iterations", rows}};
}

std::string report_text(const std::vector<RestedIteration>& iterations) {
  std::string text = "      rest   stops   step, time of a core\n";
  for (const RestedIteration& one : iterations)
    text += fmt::format("{:>10}  {:>6}  {:>21}\n", duration_text(one.rest.value()), one.count,
                        duration_text(one.processor_time.value()));
  return text + fmt::format("in a scenario:\n  {}\n", scenario_words(resume_costs(iterations)));
}

}  // namespace

int run_rests(const OwnArguments& arguments) {
  const OwnLoop loop = run_stopping(arguments.command, rests);
  const std::vector<RestedIteration> iterations = rested_steps(
      loop.steps, static_cast<std::size_t>(arguments.warm_up), rests, arguments.cores, loop.source);
  fmt::print("{}", arguments.json ? report_json(iterations).dump(2) + "\n" : report_text(iterations));
  return exit_done;
}

}  // namespace paceline::calibrate
