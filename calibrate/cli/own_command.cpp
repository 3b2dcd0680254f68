// `paceline calibrate own`: a user's own training loop timed, and a profile corrected by it.
#include <algorithm>
#include <chrono>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "calibrate/cli/output_file.hpp"
#include "calibrate/cli/own_loop.hpp"
#include "calibrate/logs/correction.hpp"
#include "calibrate/logs/text.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/json.hpp"

namespace paceline::calibrate {
namespace {

using Json = nlohmann::ordered_json;

std::string with_interval(const MeasuredMean& time) {
  return fmt::format("{} ± {}", duration_text(time.seconds), duration_text(time.half_width_s));
}

std::string times_text(const OwnLoop& loop, const OwnTimes& times, std::size_t warm_up) {
  std::string text = fmt::format("{} steps of {}, the first {} left out; means with 95 % intervals\n",
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
      notes.push_back(fmt::format("batch {}: its mean is known to ± {:.0f} % only: let the loop train longer",
                                  time.batch, 100.0 * time.wall.half_width_s / time.wall.seconds));
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
  if (!arguments.output.empty()) check_output_file(arguments.output, arguments.force);
}

}  // namespace

int run(const OwnArguments& arguments) {
  if (arguments.log.empty() == arguments.command.empty())
    throw UserError("either a command or a log is needed",
                    "paceline calibrate own -- python3 train.py, or paceline calibrate own --log FILE");
  if (arguments.passes && arguments.copies == 1 && !arguments.quota)
    throw UserError("--passes goes with --copies or --quota", "leave it out");
  if (arguments.copies > 1 && arguments.cores > 1)
    throw UserError("--copies: copies of a loop cannot be told apart from its threads on several cores",
                    "let each compute on one core, without --cores");
  check_output(arguments);
  if (arguments.copies > 1) return run_copies(arguments);
  if (arguments.quota) return run_quota(arguments);
  if (arguments.rests) return run_rests(arguments);
  std::optional<Profile> profile;
  if (!arguments.profile.empty()) {
    profile = read_profile(arguments.profile);
    check_correctable(*profile, arguments.cores);  // before the loop trains for an hour
  }
  const OwnLoop loop = arguments.log.empty() ? run_command(arguments.command) : read_log(arguments.log);
  const auto warm_up = static_cast<std::size_t>(arguments.warm_up);
  const OwnTimes times = own_times(loop.steps, warm_up, loop.source);
  for (const std::string& note : notes_about(times, arguments)) fmt::print(stderr, "note: {}\n", note);
  Json json = times_json(loop, times, warm_up);
  std::string text = times_text(loop, times, warm_up);
  const auto print = [&] { fmt::print("{}", arguments.json ? json.dump(2) + "\n" : text); };
  if (profile) try {
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
    } catch (const std::exception&) {
      print();  // what was measured is not lost
      throw;
    }
  print();
  return exit_done;
}

}  // namespace paceline::calibrate
