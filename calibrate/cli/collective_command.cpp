// `paceline calibrate collective`: what an all-reduce among processes of this machine takes.
#include <algorithm>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "calibrate/cli/commands.hpp"
#include "calibrate/cli/fitted_text.hpp"
#include "calibrate/cli/own_loop.hpp"
#include "calibrate/collective/ring_fit.hpp"
#include "calibrate/live/cpu_budget.hpp"
#include "calibrate/live/machine_load.hpp"
#include "calibrate/live/sharing_timing.hpp"
#include "calibrate/live/steady_passes.hpp"
#include "calibrate/logs/text.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/json.hpp"
#include "sim/base/order_statistics.hpp"
#include "sim/base/progress.hpp"

namespace paceline::calibrate {
namespace {

using Json = nlohmann::ordered_json;

const std::vector<std::int64_t> usual_values = {1'000, 10'000, 100'000, 1'000'000};
const std::vector<std::int64_t> quick_values = {1'000, 30'000, 300'000};

std::optional<CpuQuota> quota_of(const CollectiveArguments& arguments) {
  if (!arguments.quota) return std::nullopt;
  return CpuQuota{.cores = *arguments.quota};
}

struct TimedRings {
  std::vector<RingPass> passes;
  Json steadiness;
};
TimedRings measure_rings(const CollectiveArguments& arguments, RingLibrary library,
                         const std::vector<std::int64_t>& values, Seconds computing, live::CoreWatch& watch) {
  const int passes = arguments.passes.value_or(arguments.quick ? 3 : 5);
  const std::optional<NetworkConfig> links = links_of(arguments.links);
  live::SteadyPasses steady(static_cast<std::size_t>(passes), [&] { return watch.look(); });
  Progress progress("measuring all-reduces");
  std::vector<RingPass> all;
  double done = 0.0;
  while (!steady.is_enough()) {
    RingPass pass;
    for (const int members : arguments.members) {
      progress.update(
          done / static_cast<double>(arguments.members.size() * steady.expected()),
          fmt::format("pass {} of {}, {} members", steady.taken() + 1, steady.expected(), members));
      for (RingTime& time : time_rings("/proc/self/exe", {.library = library,
                                                         .members = static_cast<std::size_t>(members),
                                                         .values = values,
                                                         .seconds_per_size = arguments.quick ? 0.1 : 0.3,
                                                         .busy = computing,
                                                         .loop = arguments.command,
                                                         .quota = quota_of(arguments),
                                                         .links = links}))
        pass.push_back(time);
      ++done;
    }
    all.push_back(std::move(pass));
    steady.end_pass();
  }
  progress.update(1.0, fmt::format("{} rings", done));
  say_if_unsteady(steady);
  return {steady.kept_of(all), steadiness_json(steady)};
}

double median_of(const std::vector<RingPass>& passes, std::size_t i, Seconds RingTime::*time) {
  std::vector<double> seconds;
  for (const RingPass& pass : passes) seconds.push_back((pass.at(i).*time).value());
  return median(std::move(seconds));
}

std::string network_words(const live::Connection& connection) {
  return fmt::format("network: {{topology: star, {}}}", live::scenario_words(connection));
}

std::string disturbance_text(const RingDisturbance& ring) {
  const auto [least, most] = std::ranges::minmax(ring.slowdowns);
  return fmt::format(
      "{} members that add up {:.0f} values: computing takes {:.3g} ({:.3g} to {:.3g}) times as long: "
      "`speed: {:.3g}`; a round {}{}: `{}`\n",
      ring.members, ring.bytes.value() / sizeof(float), ring.slowdown, least, most, 1.0 / ring.slowdown,
      duration_text(ring.round.value()), ring.carried == Seconds{} ? ", all of it taken for latency" : "",
      network_words(connection_of(ring)));
}

// Absent: it was never stopped. By chance it may come out below nothing.
std::optional<double> resume_s(const RingResume& resume) {
  if (resume.all.stops == 0) return std::nullopt;
  return std::max(0.0, resume.all.longer.value() / static_cast<double>(resume.all.stops));
}

Json disturbance_json(const RingDisturbance& ring) {
  return {{"members", ring.members},       {"bytes", ring.bytes.value()},
          {"slowdown", ring.slowdown},     {"slowdowns", ring.slowdowns},
          {"round_s", ring.round.value()}, {"network", network_words(connection_of(ring))}};
}

std::string resume_text(const RingResume& resume, double quota) {
  const std::optional<double> each_s = resume_s(resume);
  if (!each_s)
    return fmt::format(
        "{} members: a quota of {:g} cores never stopped the one under it, so what stops cost is not told: "
        "try a smaller one\n",
        resume.members, quota);
  const auto [least, most] = std::ranges::minmax(resume.seconds);
  return fmt::format(
      "{} members, one of which has a quota of {:g} cores: each of its {} stops costs it {:.3g} ms ({:.3g} "
      "to {:.3g}) of processor time: `quota: {{cores: {:g}, resume: {:.3g} ms}}`\n",
      resume.members, quota, resume.all.stops, 1e3 * *each_s, 1e3 * least, 1e3 * most, quota, 1e3 * *each_s);
}

Json resume_json(const RingResume& resume, double quota) {
  const std::optional<double> each_s = resume_s(resume);
  return {{"members", resume.members},
          {"quota_cores", quota},
          {"stops", resume.all.stops},
          {"resume_s", each_s ? Json(*each_s) : Json(nullptr)},
          {"resumes_s", resume.seconds}};
}

const char* library_word(RingLibrary library) {
  return library == RingLibrary::gloo ? "Gloo" : "a ring of paceline's own over TCP";
}

std::string report_text(const std::vector<RingPass>& passes, const CollectiveFit& fit, RingLibrary library,
                        unsigned cores, const CollectiveArguments& arguments) {
  std::string text = fmt::format(
      "an all-reduce by {}, medians of the passes\n members     values         wall-clock time   processor "
      "time "
      "(line through it)\n",
      library_word(library));
  for (std::size_t i = 0; i < passes.front().size(); ++i) {
    const RingTime& time = passes.front()[i];
    const auto n = static_cast<double>(time.members);
    const double predicted = fit.processor.of(4.0 * (n - 1.0), 4.0 * (n - 1.0) / n * time.bytes.value());
    text +=
        fmt::format("{:>8}  {:>9.0f}  {:>22}  {:>27}{}\n", time.members, time.bytes.value() / sizeof(float),
                    duration_text(median_of(passes, i, &RingTime::wall)),
                    fmt::format("{} ({})", duration_text(median_of(passes, i, &RingTime::processor)),
                                duration_text(predicted)),
                    time.members > cores ? "   more members than cores" : "");
  }
  text += fmt::format("processor time of a message: {}\n", fitted_text(fit.processor));
  text += fmt::format(
      "a round of the ring, besides: {}\n",
      fit.connection ? fitted_text(*fit.connection) : "no time of its own, or too few rings to tell");
  text += fmt::format("in a scenario:\n  {}\n", live::scenario_words(cost_of(fit)));
  if (fit.connection)
    text += fmt::format("and under `cluster`, where all processes are joined as these were:\n  {}\n",
                        network_words(connection_of(fit)));
  for (const RingDisturbance& ring : fit.disturbances) text += disturbance_text(ring);
  for (const RingResume& resume : fit.resumes) text += resume_text(resume, *arguments.quota);
  if (!arguments.command.empty() && fit.disturbances.empty())
    text += "the loop does not always say its processor time: how much longer members compute is not told\n";
  return text;
}

Json sample_json(std::size_t pass, const RingTime& time) {
  Json sample = {{"pass", pass},
                 {"members", time.members},
                 {"bytes", time.bytes.value()},
                 {"wall_s", time.wall.value()},
                 {"processor_s", time.processor.value()}};
  if (time.steps) {
    sample["step_alone_s"] = time.steps->alone.value();
    sample["step_beside_s"] = time.steps->beside.value();
    sample["step_variation"] = time.steps->variation;
    sample["update_s"] = time.steps->update.value();
  }
  return sample;
}

Json report_json(const std::vector<RingPass>& passes, const CollectiveFit& fit, RingLibrary library,
                 double load, std::optional<double> quota) {
  Json loops = Json::array();
  for (const RingDisturbance& ring : fit.disturbances) loops.push_back(disturbance_json(ring));
  Json resumes = Json::array();
  for (const RingResume& resume : fit.resumes) resumes.push_back(resume_json(resume, *quota));
  Json samples = Json::array();
  for (std::size_t p = 0; p < passes.size(); ++p)
    for (const RingTime& time : passes[p]) samples.push_back(sample_json(p, time));
  return {{"format", "paceline-collective"},
          {"version", 1},
          {"library", library == RingLibrary::gloo ? "gloo" : "own"},
          {"other_load", load},
          {"processor", fitted_json(fit.processor)},
          {"connection", fit.connection ? fitted_json(*fit.connection) : Json(nullptr)},
          {"scenario", live::scenario_words(cost_of(fit))},
          {"network", fit.connection ? Json(network_words(connection_of(fit))) : Json(nullptr)},
          {"loops", loops},
          {"resumes", resumes},
          {"samples", samples}};
}

}  // namespace

int run(const CollectiveArguments& arguments) {
  const std::vector<std::int64_t>& usual = arguments.quick ? quick_values : usual_values;
  const std::vector<std::int64_t>& values = arguments.parameters.empty() ? usual : arguments.parameters;
  if (values.size() < 2)
    throw UserError(
        "--parameters: at least 2 different sizes are needed: what is fixed and what each byte "
        "takes cannot be told apart otherwise",
        "for example --parameters 10000,100000");
  if (arguments.with == "gloo" && !has_gloo())
    throw UserError("this program was built without Gloo",
                    "install libgloo-dev and build again, or leave --with out");
  if (arguments.quota && arguments.command.empty())
    throw UserError("--quota stops a loop of your own", "name its command after `--`");
  if (const std::string reason = live::why_no_cpu_budget(); arguments.quota && !reason.empty())
    throw UserError(fmt::format("--quota: no limit of processor time: {}", reason), "run as root");
  const RingLibrary library = arguments.with == "own" || !has_gloo() ? RingLibrary::own : RingLibrary::gloo;
  live::CoreWatch watch = watch_of(arguments.command, arguments.computing_s);
  const Seconds computing = computing_of(watch, arguments.computing_s);
  const double load = live::other_load(Seconds{0.5});
  warn_of_load(load);
  const auto cores = static_cast<unsigned>(live::usable_cores());
  const auto [passes, steadiness] = measure_rings(arguments, library, values, computing, watch);
  const CollectiveFit fit = fit_collectives(passes, cores);
  if (arguments.json) {
    Json report = report_json(passes, fit, library, load, arguments.quota);
    report["machine"] = steadiness;
    fmt::print("{}\n", report.dump(2));
  } else {
    fmt::print("{}", report_text(passes, fit, library, cores, arguments));
  }
  return exit_done;
}

}  // namespace paceline::calibrate
