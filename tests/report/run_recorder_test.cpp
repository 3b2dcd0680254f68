#include "sim/report/recording/run_recorder.hpp"

#include <limits>

#include <doctest/doctest.h>

using namespace paceline;

TEST_CASE("a diverged run never counts as having reached its target, whatever its accuracy says") {
  // A network full of NaN answers class 0 everywhere, and so is right on class 0's share of the test set.
  RunRecorder recorder(Seed{1, 0});
  recorder.on_action(Seconds{1.0}, Evaluate{.updates = 4, .samples = 40});
  recorder.on_event(Seconds{1.0}, Evaluated{4, Evaluation{std::numeric_limits<double>::quiet_NaN(), 0.2}});
  recorder.on_action(Seconds{1.0}, Stop{EndReason::diverged, std::nullopt});
  const RunResult result = recorder.finish(Seconds{1.0}, std::nullopt);
  CHECK(result.end_reason == "diverged");
  CHECK_FALSE(result.time_to_accuracy.has_value());
}

TEST_CASE("the time to accuracy is when the snapshot was taken, not when its accuracy was known") {
  RunRecorder recorder(Seed{1, 0});
  recorder.on_action(Seconds{1.0}, Evaluate{.updates = 4, .samples = 40});
  recorder.on_event(Seconds{3.0}, Evaluated{4, Evaluation{0.5, 0.9}});
  recorder.on_action(Seconds{3.0}, Stop{EndReason::target_reached, 4});
  CHECK(recorder.finish(Seconds{3.0}, std::nullopt).time_to_accuracy->value() == 1.0);
}

TEST_CASE("two evaluations may be under way at once, as after two updates at one time") {
  RunRecorder recorder(Seed{1, 0});
  recorder.on_action(Seconds{2.0}, Evaluate{.updates = 1, .samples = 10});
  recorder.on_action(Seconds{2.0}, Evaluate{.updates = 2, .samples = 20});
  recorder.on_event(Seconds{2.0}, Evaluated{1, Evaluation{0.5, 0.3}});
  recorder.on_event(Seconds{2.0}, Evaluated{2, Evaluation{0.4, 0.4}});
  const RunResult result = recorder.finish(Seconds{2.0}, std::nullopt);
  REQUIRE(result.curve.size() == 2);
  CHECK(result.curve[0].samples == 10);
  CHECK(result.curve[1].accuracy == 0.4);
}

TEST_CASE("every judgement is a window of a worker, and those that were slow are counted") {
  RunRecorder recorder(Seed{1, 0});
  const auto judged = [](std::vector<bool> slow) {
    Judge judge;
    for (std::uint64_t w = 0; w < slow.size(); ++w)
      judge.judgements.push_back({.worker = WorkerId{w}, .is_slow = slow[w]});
    return judge;
  };
  recorder.on_action(Seconds{1.0}, judged({false, true, false}));
  recorder.on_action(Seconds{2.0}, judged({false, true, true, false}));
  const RunResult result = recorder.finish(Seconds{2.0}, std::nullopt);
  CHECK(result.windows_judged == 7);
  CHECK(result.slow_windows == 3);
}
