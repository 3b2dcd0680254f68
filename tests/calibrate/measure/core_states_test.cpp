// Cores that a host moves while they are measured: the fits describe one state, and say what they left out.
#include "calibrate/measure/core_states.hpp"

#include <doctest/doctest.h>

#include "calibrate/fit/fit.hpp"
#include "calibrate/measure/measure.hpp"
#include "tests/calibrate/fit/synthetic_samples.hpp"

namespace paceline::calibrate {
namespace {

constexpr double near_s = 56e-9;
constexpr double far_s = 330e-9;
constexpr double far_slowdown = 1.6;

enum class Where { near, far, moved };

// Samples of a machine with known coefficients; two cores take longer where they are far apart.
template <class WhereOf>
std::vector<Sample> samples_where(const SyntheticMachine& machine, WhereOf where_of) {
  std::vector<Sample> samples = synthetic_samples(machine);
  std::vector<Sample> round_trips;
  for (Sample& sample : samples) {
    if (sample.cores != 2 || sample.operation != Operation::forward_backward) continue;
    const Where where = where_of(sample.process, sample.batch);
    if (where != Where::near)
      for (double& seconds : sample.seconds) seconds *= far_slowdown;
    const double before = where == Where::far ? far_s : near_s;
    const double after = where == Where::near ? near_s : far_s;
    round_trips.push_back(
        {2, sample.batch, sample.process, Operation::core_round_trip, {1.02 * before, 0.98 * after}});
  }
  samples.insert(samples.end(), round_trips.begin(), round_trips.end());
  return samples;
}

int count_aside(const std::vector<Sample>& samples) {
  int count = 0;
  for (const Sample& sample : samples)
    if (sample.set_aside && sample.operation == Operation::forward_backward) ++count;
  return count;
}

}  // namespace

TEST_CASE("points that saw the cores elsewhere are set aside, and the fit is that of one state") {
  // Process 1 is far apart throughout, process 2 is moved at batch 32; 5 processes and batches: 25 - 5 - 1 =
  // 19 count.
  SyntheticMachine machine;
  machine.processes = 5;
  std::vector<Sample> samples = samples_where(machine, [](int process, std::int64_t batch) {
    if (process == 1) return Where::far;
    return process == 2 && batch == 32 ? Where::moved : Where::near;
  });
  const std::vector<CoreStates> states = set_states_apart(samples);
  REQUIRE(states.size() == 1);
  CHECK(states[0].cores == 2);
  CHECK(states[0].told_apart());
  CHECK(states[0].main.points == 19);
  CHECK(states[0].main.round_trip_s == doctest::Approx(near_s).epsilon(0.001));
  REQUIRE(states[0].others.size() == 1);
  CHECK(states[0].others[0].points == 5);
  CHECK(states[0].others[0].slowdown.value() == doctest::Approx(far_slowdown));
  CHECK(states[0].moved_points == 1);
  CHECK(count_aside(samples) == 6);

  // Without noise the law of two cores is half that of one, exactly; with the points set aside mixed in it is
  // not.
  const Bytes parameters{4e6};
  const ProfileFits fits = fit_profile(samples, parameters);
  CHECK(fits.compute[1].slope_per_sample.value() ==
        doctest::Approx(machine.slope_s_per_sample / 2).epsilon(1e-9));
  CHECK_FALSE(fits.jitter.process_cv.has_value());
  for (Sample& sample : samples) sample.set_aside = false;
  CHECK(fit_profile(samples, parameters).jitter.process_cv.value_or(0.0) > 0.05);
}

TEST_CASE("the user is told where the cores were and what it cost") {
  std::vector<Sample> samples =
      samples_where({}, [](int process, std::int64_t) { return process == 1 ? Where::far : Where::near; });
  const std::vector<std::string> warnings = warnings_about(set_states_apart(samples));
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0] ==
        "the 2 cores moved nearer or apart while they were measured, as a host moves those of its guests. A "
        "cache "
        "line there and back took 56 ns at 10 points; 330 ns at 5 points, where steps took 1.6 times as "
        "long. The "
        "fits describe the first of these alone");
}

TEST_CASE("at a batch where the main state was not seen twice every point counts, and the user is told") {
  // 3 processes: batch 64 is far apart in two of them, batch 128 in one.
  std::vector<Sample> samples = samples_where({}, [](int process, std::int64_t batch) {
    return (process > 0 && batch == 64) || (process > 1 && batch == 128) ? Where::far : Where::near;
  });
  const std::vector<CoreStates> states = set_states_apart(samples);
  CHECK(states[0].mixed_batches == std::vector<std::int64_t>{64});
  CHECK(count_aside(samples) == 1);
  CHECK(warnings_about(states)[0].find("mix all at batch 64, where it was not seen twice") !=
        std::string::npos);
}

TEST_CASE("cores that stay where they are, and one core alone, leave nothing to say") {
  std::vector<Sample> samples = samples_where({}, [](int, std::int64_t) { return Where::near; });
  const std::vector<CoreStates> states = set_states_apart(samples);
  CHECK(states.size() == 1);
  CHECK(warnings_about(states).empty());
  CHECK(count_aside(samples) == 0);
  SyntheticMachine one_core;
  one_core.cores = {1};
  std::vector<Sample> alone = synthetic_samples(one_core);
  CHECK(set_states_apart(alone).empty());
}

TEST_CASE("a check asks for the state that the profile describes, even where it is the rarer one") {
  std::vector<Sample> samples =
      samples_where({}, [](int process, std::int64_t) { return process == 0 ? Where::near : Where::far; });
  set_states_apart(samples);
  CHECK(count_aside(samples) == 5);  // the near ones of process 0
  // One near process of three does not give two at every batch: all count.
  CHECK_FALSE(set_states_apart(samples, {{2, near_s}}).front().told_apart());
  CHECK(count_aside(samples) == 0);
  SyntheticMachine machine;
  machine.processes = 5;
  samples = samples_where(machine,
                          [](int process, std::int64_t) { return process < 2 ? Where::near : Where::far; });
  CHECK(set_states_apart(samples, {{2, near_s}}).front().told_apart());
  CHECK(count_aside(samples) == 15);
}

TEST_CASE("of two states that a profile's round trip could mean the nearer one is compared") {
  // 95 ns and 148 ns: a factor of 1.56 apart, each within 1.5 of 100 ns.
  std::vector<Sample> samples = synthetic_samples({});
  std::vector<Sample> round_trips;
  for (const Sample& sample : samples)
    if (sample.cores == 2 && sample.operation == Operation::forward_backward) {
      const double seconds = sample.process == 0 ? 148e-9 : 95e-9;
      round_trips.push_back(
          {2, sample.batch, sample.process, Operation::core_round_trip, {seconds, seconds}});
    }
  samples.insert(samples.end(), round_trips.begin(), round_trips.end());
  CHECK(set_states_apart(samples, {{2, 100e-9}}).front().main.round_trip_s == doctest::Approx(95e-9));
  CHECK(count_aside(samples) == 5);
}

TEST_CASE("what lies outside a batch's two round trips is never set aside") {
  // The server's operations are measured after all batches, and named after the last of them.
  SyntheticMachine machine;
  machine.cores = {2};
  std::vector<Sample> samples = samples_where(
      machine, [](int process, std::int64_t) { return process == 0 ? Where::far : Where::near; });
  set_states_apart(samples);
  CHECK(count_aside(samples) == 5);
  for (const Sample& sample : samples)
    if (sample.operation == Operation::server_step) CHECK_FALSE(sample.set_aside);
}

TEST_CASE("samples of a calibration that did not measure the distance count") {
  std::vector<Sample> samples = samples_where({}, [](int, std::int64_t) { return Where::near; });
  std::erase_if(samples, [](const Sample& sample) {
    return sample.operation == Operation::core_round_trip && sample.process == 0;
  });
  set_states_apart(samples);
  CHECK(count_aside(samples) == 0);
}

TEST_CASE("an interval is that of the points that count") {
  std::vector<Sample> samples =
      samples_where({}, [](int process, std::int64_t) { return process == 1 ? Where::far : Where::near; });
  CHECK(interval_half_width(samples) > 0.5);
  set_states_apart(samples);
  CHECK(interval_half_width(samples) == doctest::Approx(0.0));
}

}  // namespace paceline::calibrate
