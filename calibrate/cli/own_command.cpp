// `paceline calibrate own`: a user's own training loop timed, and a profile corrected by it.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <future>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "calibrate/cli/commands.hpp"
#include "calibrate/live/cpu_budget.hpp"
#include "calibrate/live/sharing_timing.hpp"
#include "calibrate/logs/correction.hpp"
#include "calibrate/logs/text.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/json.hpp"
#include "sim/base/order_statistics.hpp"
#include "sim/base/process.hpp"
#include "sim/base/progress.hpp"
#include "sim/cost/quota_clock.hpp"

namespace paceline::calibrate {
namespace {

using Json = nlohmann::ordered_json;

struct OwnLoop {
  std::vector<OwnStep> steps;
  std::string source;
  std::vector<double> read_s;  // of a command: when it said each
};

OwnLoop read_log(const std::string& path) {
  std::ifstream file(path);
  if (!file || std::filesystem::is_directory(path))
    throw UserError(fmt::format("cannot read {}", path), "name a log with lines `step ...`");
  OwnLoop loop{{}, path, {}};
  int number = 0;
  for (std::string line; std::getline(file, line);)
    if (const auto step = parse_own_step(line, path, ++number)) loop.steps.push_back(*step);
  return loop;
}

// The last lines of what a program wrote.
std::string end_of(const std::string& text) {
  constexpr std::size_t most = 2000;
  return text.size() <= most ? text : "…" + text.substr(text.size() - most);
}

OwnLoop run_command(const std::vector<std::string>& words, const live::CpuBudget* budget = nullptr) {
  OwnLoop loop{{}, fmt::format("`{}`", fmt::join(words, " ")), {}};
  Process process({.words = words});
  if (budget != nullptr) budget->add(process.id());
  int number = 0;
  while (const std::optional<std::string> line = process.read_line()) {
    const std::chrono::duration<double> now = std::chrono::steady_clock::now().time_since_epoch();
    if (const auto step = parse_own_step(*line, "output of " + loop.source, ++number)) {
      loop.steps.push_back(*step);
      loop.read_s.push_back(now.count());
    }
  }
  const int status = process.wait();
  if (status == status_not_started)
    throw UserError(fmt::format("{} cannot be started: {}", loop.source, end_of(process.errors())),
                    "a program on the PATH, or a path to one, after `--`");
  if (status != 0)
    throw std::runtime_error(fmt::format("{} {}{}", loop.source, describe_status(status),
                                         process.errors().empty() ? "" : ":\n" + end_of(process.errors())));
  return loop;
}

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

struct QuotaPass {
  double free_s = 0.0;  // processor time of a sample
  double held_s = 0.0;  // the same under the quota
  Seconds resume;
};

QuotaPass quota_pass(const OwnArguments& arguments, const CpuQuota& quota) {
  const auto warm_up = static_cast<std::size_t>(arguments.warm_up);
  QuotaPass pass;
  const OwnLoop free = run_command(arguments.command);
  pass.free_s = mean_processor_per_sample(free.steps, warm_up, free.source);
  const live::CpuBudget budget(quota, 0);
  const OwnLoop held = run_command(arguments.command, &budget);
  pass.held_s = mean_processor_per_sample(held.steps, warm_up, held.source);
  pass.resume = allowance_of(quota, arguments.cores) * (1.0 - pass.free_s / pass.held_s);
  return pass;
}

int run_quota(const OwnArguments& arguments) {
  const CpuQuota quota{.cores = *arguments.quota};
  if (quota.cores >= arguments.cores)
    throw UserError(
        fmt::format("a quota of {:g} cores never holds up a loop on {}", quota.cores, arguments.cores),
        "--quota below --cores");
  const int passes = arguments.passes.value_or(9);
  Progress progress("timing under a quota");
  std::vector<QuotaPass> all;
  std::vector<double> resumes;
  for (int pass = 0; pass < passes; ++pass) {
    progress.update(static_cast<double>(pass) / passes, fmt::format("pass {} of {}", pass + 1, passes));
    all.push_back(quota_pass(arguments, quota));
    resumes.push_back(all.back().resume.value());
  }
  progress.update(1.0, fmt::format("{} passes", passes));
  // A machine that changes between two runs looks like a quota that costs, or pays.
  const Spread spread = spread_of(resumes);
  const double deviation_of_mean = spread.deviation / std::sqrt(static_cast<double>(passes));
  constexpr double deviations = 2.0;
  const bool is_told = passes > 1 && spread.mean > deviations * deviation_of_mean;
  if (arguments.json) {
    Json rows = Json::array();
    for (const QuotaPass& pass : all)
      rows.push_back({{"processor_s_per_sample", pass.free_s},
                      {"processor_s_per_sample_under_quota", pass.held_s},
                      {"resume_s", pass.resume.value()}});
    Json json = {{"format", "paceline-own-quota"},
                 {"version", 1},
                 {"quota_cores", quota.cores},
                 {"period_s", quota.period.value()},
                 {"resume_s", nullptr},
                 {"resume_deviation_s", deviation_of_mean},
                 {"passes", rows}};
    if (is_told) json["resume_s"] = spread.mean;
    fmt::print("{}\n", json.dump(2));
  } else {
    fmt::print("processor time of a sample\n    at will   under the quota   longer in each period\n");
    for (const QuotaPass& pass : all)
      fmt::print("{:>9}  {:>16}  {:>20.2f} ms\n", duration_text(pass.free_s), duration_text(pass.held_s),
                 1e3 * pass.resume.value());
    if (is_told)
      fmt::print(
          "in a scenario, of workers like this one (± {:.2g} ms):\n  quota: {{cores: {:g}, resume: {:.3g} "
          "ms}}\n",
          1e3 * deviation_of_mean, quota.cores, 1e3 * spread.mean);
  }
  if (!is_told)
    fmt::print(
        stderr,
        "note: {:.2g} ± {:.2g} ms cannot be told from nothing: more --passes, on a machine whose speed "
        "changes less\n",
        1e3 * spread.mean, 1e3 * deviation_of_mean);
  return exit_done;
}

std::string with_interval(const MeasuredMedian& time) {
  return fmt::format("{} ± {}", duration_text(time.seconds), duration_text(time.half_width_s));
}

std::string times_text(const OwnLoop& loop, const OwnTimes& times, std::size_t warm_up) {
  std::string text = fmt::format("{} steps of {}, the first {} left out; medians with 95 % intervals\n",
                                 loop.steps.size(), loop.source, warm_up);
  text += " batch   steps             wall-clock time              processor time   processor/wall\n";
  for (const OwnBatchTime& time : times.batches)
    text += fmt::format("{:>6}  {:>6}  {:>26}  {:>26}  {:>15.2f}\n", time.batch, time.steps,
                        with_interval(time.wall), with_interval(time.processor),
                        time.processor.seconds / time.wall.seconds);
  for (const std::string& left_out : times.left_out) text += fmt::format("left out: {}\n", left_out);
  if (const auto variation = variation_of(loop.steps, warm_up))
    text += fmt::format("in a scenario: `jitter: {{{}}}`\n", scenario_words(*variation));
  return text;
}

std::string correction_text(const Profile& profile, const Correction& correction) {
  std::string text =
      fmt::format("against {} on {} core{}:\n batch     measured      profile    corrected     error\n",
                  profile.path, correction.request.cores, correction.request.cores == 1 ? "" : "s");
  for (const CorrectedPoint& point : correction.points)
    text +=
        fmt::format("{:>6}  {:>11}  {:>11}  {:>11}  {:>+6.1f} %\n", point.own.batch,
                    duration_text(point.measured_s), duration_text(point.profile_s),
                    duration_text(point.corrected_s), 100.0 * (point.corrected_s / point.measured_s - 1.0));
  return text;
}

std::vector<std::string> notes_about(const OwnTimes& times, const OwnArguments& arguments) {
  constexpr double waiting_share = 0.1;
  constexpr double wide = 0.05;
  std::vector<std::string> notes;
  for (const OwnBatchTime& time : times.batches) {
    const double busy = time.processor.seconds / time.wall.seconds;
    if (!arguments.processor_clock && busy < 1.0 - waiting_share)
      notes.push_back(fmt::format(
          "batch {}: the loop waits for {:.0f} % of its time: for data, a quota or other programs, which a "
          "simulated worker would not; --processor-time leaves that out",
          time.batch, 100.0 * (1.0 - busy)));
    if (time.wall.half_width_s > wide * time.wall.seconds)
      notes.push_back(fmt::format("batch {}: its median is known to ± {:.0f} % only", time.batch,
                                  100.0 * time.wall.half_width_s / time.wall.seconds));
  }
  return notes;
}

Json times_json(const OwnLoop& loop, const OwnTimes& times, std::size_t warm_up) {
  Json batches = Json::array();
  for (const OwnBatchTime& time : times.batches)
    batches.push_back({{"batch", time.batch},
                       {"steps", time.steps},
                       {"wall_s", time.wall.seconds},
                       {"wall_half_width_s", time.wall.half_width_s},
                       {"processor_s", time.processor.seconds},
                       {"processor_half_width_s", time.processor.half_width_s}});
  Json json = {{"format", "paceline-own-loop"}, {"version", 1},       {"source", loop.source},
               {"steps", loop.steps.size()},    {"warm_up", warm_up}, {"batches", batches}};
  if (const auto variation = variation_of(loop.steps, warm_up)) json["jitter"] = scenario_words(*variation);
  return json;
}

void check_output(const OwnArguments& arguments) {
  if (arguments.profile.empty() != arguments.output.empty())
    throw UserError("--profile and --output go together: one is corrected, the other is written",
                    "for example --profile measured.json -o corrected.json");
  std::error_code status;
  if (!arguments.output.empty() && std::filesystem::exists(arguments.output, status) && !arguments.force)
    throw UserError(fmt::format("{} exists", arguments.output),
                    "choose another file with --output, or replace it with --force");
}

}  // namespace

int run(const OwnArguments& arguments) {
  if (arguments.log.empty() == arguments.command.empty())
    throw UserError("either a command or a log is needed",
                    "paceline calibrate own -- python3 train.py, or paceline calibrate own --log FILE");
  if (arguments.passes && arguments.copies == 1 && !arguments.quota)
    throw UserError("--passes goes with --copies or --quota", "leave it out");
  if (arguments.copies > 1) return run_copies(arguments);
  if (arguments.quota) return run_quota(arguments);
  check_output(arguments);
  std::optional<Profile> profile;
  if (!arguments.profile.empty()) profile = read_profile(arguments.profile);
  const OwnLoop loop = arguments.log.empty() ? run_command(arguments.command) : read_log(arguments.log);
  const auto warm_up = static_cast<std::size_t>(arguments.warm_up);
  const OwnTimes times = own_times(loop.steps, warm_up, loop.source);
  for (const std::string& note : notes_about(times, arguments)) fmt::print(stderr, "note: {}\n", note);
  Json json = times_json(loop, times, warm_up);
  std::string text = times_text(loop, times, warm_up);
  if (profile) {
    const Correction correction =
        correct(*profile, times.batches,
                {.cores = arguments.cores,
                 .clock = arguments.processor_clock ? StepClock::processor : StepClock::wall,
                 .by = arguments.by,
                 .with_optimizer_step = !arguments.without_optimizer_step});
    const std::string date = fmt::format("{:%FT%TZ}", fmt::gmtime(std::chrono::system_clock::now()));
    write_file_atomically(arguments.output, corrected_profile_text(arguments.profile, correction,
                                                                   {loop.source, date, warm_up}));
    json["factor"] = correction.factor;
    json["offset_s"] = correction.offset_s;
    json["profile"] = arguments.output;
    text += fmt::format("\n{}corrected {}\nwrote {}\n", correction_text(*profile, correction),
                        correction_words(correction, loop.source), arguments.output);
  }
  fmt::print("{}", arguments.json ? json.dump(2) + "\n" : text);
  return exit_done;
}

}  // namespace paceline::calibrate
