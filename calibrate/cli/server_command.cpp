// `paceline calibrate server`: what a request at a parameter server on this machine takes.
#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "calibrate/cli/commands.hpp"
#include "calibrate/cli/fitted_text.hpp"
#include "calibrate/cli/own_loop.hpp"
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

constexpr const char* own_program = "/proc/self/exe";
constexpr const char* sending = "sends: sockets";  // as where waits are found, live/message_wait.hpp

// What several workers at once cost one another, and what their messages take of processors.
struct AtOnce {
  std::uint32_t workers = 2;
  std::vector<RequestPass> passes{};
  std::vector<live::Disturbances> by_size{};

  [[nodiscard]] double middle_s(std::size_t size, Seconds RequestTime::*part) const {
    return median(live::part_of(passes, part)[size].seconds);
  }
  [[nodiscard]] std::vector<double> waits_s(std::size_t size) const {
    std::vector<double> seconds;
    for (const live::Disturbance& one : by_size[size].of_pass) seconds.push_back(one.wait.value());
    return seconds;
  }
  [[nodiscard]] std::vector<double> each(std::size_t size, double live::Disturbance::*part) const {
    std::vector<double> values;
    for (const live::Disturbance& one : by_size[size].of_pass) values.push_back(one.*part);
    return values;
  }
};

struct Requests {
  std::vector<RequestPass> one;
  std::vector<AtOnce> several;
  Json steadiness;
};
Requests measure(live::RequestPlan plan, const std::vector<int>& workers) {
  plan.workers.insert(plan.workers.end(), workers.begin(), workers.end());
  Progress progress("measuring requests");
  const live::TimedPasses timed = live::time_passes(own_program, plan, [&](double share) {
    progress.update(share, fmt::format("{} passes", plan.passes));
  });
  say_if_unsteady(timed.steady);
  const std::vector<std::vector<RequestPass>>& passes = timed.of_number;
  Requests measured{.one = passes.front(), .several = {}, .steadiness = steadiness_json(timed.steady)};
  for (std::size_t n = 1; n < passes.size(); ++n)
    measured.several.push_back({.workers = plan.workers[n],
                                .passes = passes[n],
                                .by_size = live::disturbances(measured.one, passes[n], plan.workers[n], plan,
                                                              live::usable_cores())});
  return measured;
}

// What a server does besides ours that takes so long for each request of one worker, by size. It rests
// between requests, and takes longer than undisturbed for the same work.
std::vector<live::MemoryWork> served_besides(const live::RequestPlan& asked, Seconds serving) {
  live::RequestPlan plan = asked;
  plan.passes = 1;
  const auto times = [&] {
    std::vector<Seconds> of_size;
    const live::TimedPasses passes = live::time_passes(own_program, plan);
    for (const RequestTime& time : passes.of_number.front().front())
      of_size.push_back(time.server + time.applying);
    return of_size;
  };
  const std::vector<Seconds> ours = times();
  for (const Seconds our : ours)
    plan.serving.push_back(live::memory_work_of(std::max(Seconds{}, serving - our)));
  const std::vector<Seconds> with = times();
  for (std::size_t i = 0; i < ours.size(); ++i) {
    live::MemoryWork& work = plan.serving[i];
    const double longer = (with[i] - ours[i]) / work.undisturbed;
    if (work.pieces > 0 && longer > 1.0)
      work.pieces = static_cast<std::uint64_t>(static_cast<double>(work.pieces) / longer);
  }
  return plan.serving;
}

// Medians over the passes.
std::vector<double> slowdowns_of_workers(const live::Disturbances& disturbances) {
  std::vector<double> middles;
  for (std::size_t w = 0; w < disturbances.of_pass.front().of_worker.size(); ++w) {
    std::vector<double> of_pass;
    for (const live::Disturbance& one : disturbances.of_pass) of_pass.push_back(one.of_worker.at(w));
    middles.push_back(median(std::move(of_pass)));
  }
  return middles;
}

std::string by_order_text(const live::Disturbances& disturbances) {
  const std::vector<double> slowdowns = slowdowns_of_workers(disturbances);
  if (std::ranges::adjacent_find(slowdowns, std::ranges::not_equal_to{}) == slowdowns.end()) return "";
  return fmt::format(" (in the order in which they are sent parameters {:.3g})", fmt::join(slowdowns, ", "));
}

// Below it several workers seem to compute faster than one by more than chance.
constexpr double least_slowdown = 0.95;

std::string at_once_text(const std::vector<AtOnce>& all) {
  std::string text;
  for (const AtOnce& several : all)
    for (std::size_t size = 0; size < several.by_size.size(); ++size) {
      const std::vector<double> waits_s = several.waits_s(size);
      const auto [least, most] = std::ranges::minmax(waits_s);
      const std::vector<double> slowdowns = several.each(size, &live::Disturbance::slowdown);
      const double slowdown = median(slowdowns);
      const double overlap = 100.0 * median(several.each(size, &live::Disturbance::overlap));
      const double variation = 100.0 * median(several.each(size, &live::Disturbance::variation));
      const auto [fastest, slowest] = std::ranges::minmax(slowdowns);
      // What the machine did meanwhile, or that processors fell asleep beside one worker.
      const char* const doubt =
          slowdown < least_slowdown ? " (faster than one worker alone: measure again, or take it for 1)" : "";
      text += fmt::format(
          "{} workers at once: a message of {:.0f} parameters waits for a processor for {:.3g} us ({:.3g} to "
          "{:.3g}): `jitter: {{message: {:.3g} us, iteration: {:.3g} %}}`; computing takes {:.3g} "
          "({:.3g} to {:.3g}) times as long{}{}: `speed: {:.3g}`{}\n",
          several.workers, several.by_size[size].bytes.value() / sizeof(float), 1e6 * median(waits_s),
          1e6 * least, 1e6 * most, 1e6 * median(waits_s), variation, slowdown, fastest, slowest,
          by_order_text(several.by_size[size]), doubt, 1.0 / slowdown,
          overlap > 0.0 ? fmt::format("; {:.3g} % of what messages take of processors costs no time besides: "
                                      "`server_overlap: {:.3g} %, worker_overlap: {:.3g} %`",
                                      overlap, overlap, overlap)
                        : "");
    }
  return text;
}

Json at_once_json(const std::vector<AtOnce>& all) {
  Json rows = Json::array();
  for (const AtOnce& several : all)
    for (std::size_t size = 0; size < several.by_size.size(); ++size)
      rows.push_back({{"workers", several.workers},
                      {"bytes", several.by_size[size].bytes.value()},
                      {"median_s", median(several.waits_s(size))},
                      {"seconds", several.waits_s(size)},
                      {"slowdown", median(several.each(size, &live::Disturbance::slowdown))},
                      {"slowdowns", several.each(size, &live::Disturbance::slowdown)},
                      {"slowdowns_of_workers", slowdowns_of_workers(several.by_size[size])},
                      {"overlap", median(several.each(size, &live::Disturbance::overlap))},
                      {"variation", median(several.each(size, &live::Disturbance::variation))},
                      {"variations", several.each(size, &live::Disturbance::variation)},
                      {"server_s", several.middle_s(size, &RequestTime::server) +
                                       several.middle_s(size, &RequestTime::applying)},
                      {"worker_s", several.middle_s(size, &RequestTime::worker)}});
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
                    "  network: {{topology: star, {}}}\n  servers: {{{}}}\n",
                    live::scenario_words(cost_of(fit)), live::scenario_words(connection_of(fit)), sending);
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
          {"servers", sending},
          {"samples", samples}};
}

}  // namespace

int run(const ServerArguments& arguments) {
  const std::vector<std::int64_t>& usual = arguments.quick ? quick_sizes : usual_sizes;
  const std::vector<std::int64_t>& sizes = arguments.parameters.empty() ? usual : arguments.parameters;
  if (sizes.size() < 2)
    throw UserError(
        "--parameters: at least 2 different sizes are needed: what is fixed and what each byte takes cannot "
        "be "
        "told apart otherwise",
        "for example --parameters 10000,100000");
  live::CoreWatch watch = watch_of(arguments.command, arguments.computing_s);
  const Seconds computing = computing_of(watch, arguments.computing_s);
  const double load = live::other_load(Seconds{0.5});
  warn_of_load(load);
  live::RequestPlan plan{.values = {sizes.begin(), sizes.end()},
                         .policy = arguments.policy,
                         .passes = arguments.passes.value_or(arguments.quick ? 3 : 5),
                         .for_each = Seconds{arguments.quick ? 0.1 : 0.3},
                         .busy = arguments.command.empty()
                                     ? live::memory_work_of(computing)
                                     : live::MemoryWork{.pieces = 0, .undisturbed = computing},
                         .loop = arguments.command,
                         .links = links_of(arguments.links),
                         .keeps_cores = false};
  if (arguments.serving_s > 0.0) plan.serving = served_besides(plan, Seconds{arguments.serving_s});
  plan.look = [&] { return watch.look(); };
  const Requests measured = measure(plan, arguments.workers);
  const live::CommunicationFit fit = live::fit_communication(measured.one);
  if (arguments.json) {
    Json report = report_json(measured.one, fit, load);
    report["machine"] = measured.steadiness;
    if (!measured.several.empty()) report["waits"] = at_once_json(measured.several);
    fmt::print("{}\n", report.dump(2));
  } else {
    fmt::print("{}{}", report_text(measured.one, fit), at_once_text(measured.several));
  }
  return exit_done;
}

}  // namespace paceline::calibrate
