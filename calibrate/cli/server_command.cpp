// `paceline calibrate server`: what a request at a parameter server on this machine takes.
#include <algorithm>

#include <fmt/format.h>

#include "calibrate/cli/commands.hpp"
#include "calibrate/cli/fitted_text.hpp"
#include "calibrate/live/communication_fit.hpp"
#include "calibrate/live/machine_load.hpp"
#include "calibrate/live/sharing_timing.hpp"
#include "calibrate/logs/text.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/json.hpp"
#include "sim/base/order_statistics.hpp"
#include "sim/base/progress.hpp"

namespace paceline::calibrate {
namespace {

using Json = nlohmann::ordered_json;
using live::FittedTime;
using live::RequestPass;
using live::RequestTime;

const std::vector<std::int64_t> usual_sizes = {1'000, 10'000, 100'000, 1'000'000};
const std::vector<std::int64_t> quick_sizes = {1'000, 30'000, 300'000};

std::vector<RequestPass> measure_passes(const live::RequestPlan& plan) {
  Progress progress("measuring requests");
  return live::time_passes("/proc/self/exe", plan, [&](double share) {
    progress.update(share, fmt::format("{} passes, {} at once", plan.passes, plan.workers));
  });
}

// How long messages of so many workers wait for a processor, and what they take of processors.
struct Waits {
  std::uint32_t workers = 2;
  std::vector<live::MessageWait> by_size;
  std::vector<RequestPass> passes;

  [[nodiscard]] double middle_s(std::size_t size, Seconds RequestTime::*part) const {
    return median(live::part_of(passes, part)[size].seconds);
  }
};

std::string waits_text(const std::vector<Waits>& all) {
  std::string text;
  for (const Waits& waits : all)
    for (const live::MessageWait& wait : waits.by_size) {
      const auto [least, most] = std::ranges::minmax(wait.seconds);
      text += fmt::format(
          "{} workers at once: a message of {:.0f} parameters waits for a processor for {:.3g} us ({:.3g} to "
          "{:.3g}): `jitter: {{message: {:.3g} us}}`\n",
          waits.workers, wait.bytes.value() / sizeof(float), 1e6 * median(wait.seconds), 1e6 * least,
          1e6 * most, 1e6 * median(wait.seconds));
    }
  return text;
}

Json waits_json(const std::vector<Waits>& all) {
  Json rows = Json::array();
  for (const Waits& waits : all)
    for (std::size_t size = 0; size < waits.by_size.size(); ++size) {
      const live::MessageWait& wait = waits.by_size[size];
      rows.push_back({{"workers", waits.workers},
                      {"bytes", wait.bytes.value()},
                      {"median_s", median(wait.seconds)},
                      {"seconds", wait.seconds},
                      {"server_s", waits.middle_s(size, &RequestTime::server)},
                      {"worker_s", waits.middle_s(size, &RequestTime::worker)}});
    }
  return rows;
}

struct Part {
  const char* name;
  Seconds RequestTime::*time;
  std::optional<FittedTime> fit;
};
std::vector<Part> parts_of(const live::CommunicationFit& fit) {
  return {{"server", &RequestTime::server, fit.server},
          {"applying", &RequestTime::applying, fit.applying},
          {"worker", &RequestTime::worker, fit.worker},
          {"connection", &RequestTime::connection, fit.connection}};
}

std::string report_text(const std::vector<RequestPass>& passes, const live::CommunicationFit& fit) {
  const std::vector<Part> parts = parts_of(fit);
  std::string text = "time of a request, medians of the passes (line through them):\n   parameters";
  for (const Part& part : parts) text += fmt::format("  {:>22}", part.name);
  text += "\n";
  for (std::size_t i = 0; i < passes.front().size(); ++i) {
    const double bytes = passes.front()[i].bytes.value();
    text += fmt::format("{:>13.0f}", bytes / sizeof(float));
    for (const Part& part : parts) {
      const double measured = median(live::part_of(passes, part.time)[i].seconds);
      const std::string line = part.fit ? duration_text(part.fit->of(1.0, bytes)) : "-";
      text += fmt::format("  {:>22}", fmt::format("{} ({})", duration_text(measured), line));
    }
    text += "\n";
  }
  text += fmt::format(
      "processor time of the server, receiving and answering: {}\n"
      "processor time of the server, applying a gradient: {} (a profile brings its own rate)\n"
      "processor time of a worker, both messages: {}\n"
      "connection, rest of the wall-clock time, both ways: {}\n",
      fitted_text(fit.server), fitted_text(fit.applying), fitted_text(fit.worker),
      fit.connection ? fitted_text(*fit.connection) : "none, since both ends work at once");
  return text + fmt::format(
                    "in a scenario:\n  {}\nand under `cluster`, where all processes are on this machine:\n"
                    "  network: {{topology: star, {}}}\n",
                    live::scenario_words(cost_of(fit)), live::scenario_words(connection_of(fit)));
}

Json report_json(const std::vector<RequestPass>& passes, const live::CommunicationFit& fit, double load) {
  Json fits = Json::object();
  const std::vector<Part> parts = parts_of(fit);
  for (const Part& part : parts) fits[part.name] = part.fit ? fitted_json(*part.fit) : Json(nullptr);
  Json samples = Json::array();
  for (std::size_t p = 0; p < passes.size(); ++p)
    for (const RequestTime& time : passes[p]) {
      Json sample = {{"pass", p}, {"bytes", time.bytes.value()}};
      for (const Part& part : parts) sample[std::string(part.name) + "_s"] = (time.*part.time).value();
      samples.push_back(std::move(sample));
    }
  return {{"format", "paceline-server"},
          {"version", 1},
          {"other_load", load},
          {"fits", fits},
          {"scenario", live::scenario_words(cost_of(fit))},
          {"network", "topology: star, " + live::scenario_words(connection_of(fit))},
          {"samples", samples}};
}

}  // namespace

int run(const ServerArguments& arguments) {
  const std::vector<std::int64_t>& usual = arguments.quick ? quick_sizes : usual_sizes;
  std::vector<std::int64_t> sizes = arguments.parameters.empty() ? usual : arguments.parameters;
  std::ranges::sort(sizes);
  if (sizes.size() < 2 || std::ranges::adjacent_find(sizes) != sizes.end())
    throw UserError(
        "--parameters: at least 2 different sizes are needed: what is fixed and what each byte takes cannot "
        "be "
        "told apart otherwise",
        "for example --parameters 10000,100000");
  const double load = live::other_load(Seconds{0.5});
  warn_of_load(load);
  live::RequestPlan plan{.values = {sizes.begin(), sizes.end()},
                         .policy = arguments.policy,
                         .passes = arguments.passes.value_or(arguments.quick ? 3 : 5),
                         .for_each = Seconds{arguments.quick ? 0.1 : 0.3},
                         .busy = Seconds{arguments.computing_s},
                         .serving = Seconds{arguments.serving_s},
                         .links = links_of(arguments.links)};
  const std::vector<RequestPass> passes = measure_passes(plan);
  std::vector<Waits> waits;
  for (const int workers : arguments.workers) {
    plan.workers = static_cast<std::uint32_t>(workers);
    std::vector<RequestPass> of_several = measure_passes(plan);
    std::vector<live::MessageWait> by_size =
        live::message_waits(passes, of_several, plan, live::usable_cores());
    waits.push_back({plan.workers, std::move(by_size), std::move(of_several)});
  }
  const live::CommunicationFit fit = live::fit_communication(passes);
  if (arguments.json) {
    Json report = report_json(passes, fit, load);
    if (!waits.empty()) report["waits"] = waits_json(waits);
    fmt::print("{}\n", report.dump(2));
  } else {
    fmt::print("{}{}", report_text(passes, fit), waits_text(waits));
  }
  return exit_done;
}

}  // namespace paceline::calibrate
