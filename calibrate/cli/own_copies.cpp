// `paceline calibrate own --copies`: how copies of a training loop slow each other down.
#include <algorithm>
#include <future>

#include <fmt/format.h>

#include "calibrate/cli/own_loop.hpp"
#include "calibrate/live/sharing_timing.hpp"
#include "calibrate/logs/text.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/json.hpp"
#include "sim/base/order_statistics.hpp"
#include "sim/base/progress.hpp"

namespace paceline::calibrate {
namespace {

using Json = nlohmann::ordered_json;

// So many at once: the mean time of a sample, turns on the cores included.
Seconds time_copies(const OwnArguments& arguments, int copies) {
  std::vector<std::future<OwnLoop>> running;
  for (int copy = 0; copy < copies; ++copy)
    running.push_back(
        std::async(std::launch::async, [&arguments] { return run_command(arguments.command); }));
  std::vector<ReadSteps> all;
  std::string source;
  for (std::future<OwnLoop>& copy : running) {
    OwnLoop loop = copy.get();
    source = std::move(loop.source);
    all.push_back({std::move(loop.steps), std::move(loop.read_s)});
  }
  const double turns = std::min(1.0, static_cast<double>(live::usable_cores()) / copies);
  return Seconds{mean_processor_at_once(all, static_cast<std::size_t>(arguments.warm_up), source) / turns};
}

std::string copies_text(const std::vector<live::SharingPass>& passes, const live::SharingTimes& times) {
  std::string text =
      fmt::format("time of a sample, medians of {} passes\ncopies         time     speed\n", passes.size());
  for (std::size_t m = 0; m < times.speeds.size(); ++m) {
    std::vector<double> seconds;
    for (const live::SharingPass& pass : passes) seconds.push_back(pass[m].value());
    text += fmt::format("{:>6}  {:>11}  {:>8.3g}\n", m + 1, duration_text(median(std::move(seconds))),
                        times.speeds[m]);
  }
  return text + fmt::format(
                    "in a scenario, under `cluster`, where workers share this machine:\n  machines: [{{{}, "
                    "shared: true}}]\n",
                    live::scenario_words(times));
}

Json copies_json(const std::vector<live::SharingPass>& passes, const live::SharingTimes& times) {
  Json samples = Json::array();
  for (const live::SharingPass& pass : passes) {
    Json seconds = Json::array();
    for (const Seconds time : pass) seconds.push_back(time.value());
    samples.push_back(std::move(seconds));
  }
  return {{"format", "paceline-own-copies"},
          {"version", 1},
          {"cores", times.cores},
          {"speeds", times.speeds},
          {"seconds_per_sample", samples}};
}

}  // namespace

int run_copies(const OwnArguments& arguments) {
  const int passes = arguments.passes.value_or(3);
  Progress progress("timing copies");
  const double runs = passes * arguments.copies;
  std::vector<live::SharingPass> all(static_cast<std::size_t>(passes));
  double done = 0.0;
  for (live::SharingPass& pass : all)
    for (int copies = 1; copies <= arguments.copies; ++copies) {
      progress.update(done++ / runs, fmt::format("{} at once", copies));
      pass.push_back(time_copies(arguments, copies));
    }
  progress.update(1.0, fmt::format("{} runs", runs));
  const live::SharingTimes times = live::sharing_of(all, live::usable_cores());
  fmt::print("{}", arguments.json ? copies_json(all, times).dump(2) + "\n" : copies_text(all, times));
  return exit_done;
}

}  // namespace paceline::calibrate
