// Names of configurations, exchanges, and predictions from made records whose truth is known.
#include "calibrate/asynchronous/prediction.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <doctest/doctest.h>

#include "calibrate/asynchronous/exchange_model.hpp"
#include "calibrate/asynchronous/network_variables.hpp"
#include "sim/cost/shards.hpp"

namespace paceline {
namespace {

Configuration configuration(const std::string& name) {
  return *parse_configuration(name).configuration;
}

// One worker needs 100 ms, the server 40 ms: three workers wait, two do not. Accuracy falls by 0.01 for each
// unit of
// exposure.
AsynchronousRecords made_records() {
  AsynchronousRecords records;
  records.networks = {{"resnet32", 7.43e6, 104.0}};
  for (const int workers : {1, 2, 3})
    for (const double deviation : {-1.0, 1.0}) {
      const double rate = std::min(workers / 0.1, 1.0 / 0.04);
      TrainingRecord training;
      training.campaign = "made";
      training.configuration = configuration("k80x" + std::to_string(workers) + "-1ps");
      training.duration_s = training_updates / rate;
      training.final_accuracy = 0.93 - 0.01 * exposure_of(workers) + 0.001 * deviation;
      for (int k = 0; k <= 16; ++k)
        training.curve.push_back({0.0, k / 16.0, k <= 8 ? 0.8 : training.final_accuracy});
      records.trainings.push_back(training);
    }
  return records;
}

}  // namespace

TEST_CASE("asynchronous: a name tells workers, servers and places") {
  const Configuration mixed = configuration("v100x2+k80x1-2ps");
  CHECK(mixed.workers.size() == 3);
  CHECK(mixed.workers[2].gpu == "k80");
  CHECK(mixed.servers == 2);
  const Configuration placed = configuration("k80x4-1ps-3east+1central");
  CHECK(placed.workers[2].region.empty());
  CHECK(placed.workers[3].region == "central");
  CHECK(configuration("speed/resnet15/p100x3-1ps").network == "resnet15");
  CHECK(configuration("exchange/local-sgd-h8-200mbit").local_steps == 8);
  CHECK_FALSE(parse_configuration("k80-1ps").configuration);
  CHECK_FALSE(parse_configuration("k80x4-1ps-2east+1central").configuration);
}

TEST_CASE("asynchronous: the saturated server and the exposure are found in records made with them") {
  const AsynchronousRecords records = made_records();
  const AsynchronousPredictor predictor(records, {}, {.same_cluster = true, .draws = 40});
  const auto service = predictor.speed().service("resnet32");
  REQUIRE(service);
  CHECK(service->knowledge == ServiceKnowledge::measured);
  CHECK(service->seconds == doctest::Approx(0.04).epsilon(0.01));
  CHECK(predictor.accuracy().slope() == doctest::Approx(0.01).epsilon(0.01));
  // More workers do not make a saturated server faster.
  const AsynchronousPrediction eight = predictor.predict("k80x8-1ps");
  REQUIRE(eight.duration_s);
  CHECK(eight.duration_s->mean == doctest::Approx(training_updates * 0.04).epsilon(0.01));
  CHECK(eight.duration_s->low <= eight.duration_s->mean);
  CHECK(eight.accuracy->mean == doctest::Approx(0.93 - 0.01 * exposure_of(8)).epsilon(0.001));
  CHECK(eight.mean_staleness == doctest::Approx(7.0).epsilon(0.01));
}

TEST_CASE("asynchronous: the variables of a residual network are found by its size, and placed in turn") {
  // Of two blocks a group: convolutions, alternating, and pairs of a normalization. The last group has most
  // of the bytes: 3x3 convolutions of 73,728 and 3 · 147,456 parameters, 8,192 of a projection, 1,280 of the
  // linear layer. Its first is on the second of two servers, with the projection on the other.
  const std::vector<Bytes> variables = variables_of({"resnet15", 4.0 * 693'818, 50.0});
  REQUIRE(!variables.empty());
  const auto two = shards_of(Bytes{4.0 * 693'818}, variables, 2, ParameterSplit::whole_variables);
  CHECK((two[0].bytes + two[1].bytes).value() == 4.0 * 693'818);
  CHECK(two[0].variables + two[1].variables == 50.0);
  const double fuller = std::max(two[0].bytes, two[1].bytes).value() / (4.0 * 693'818);
  CHECK(fuller == doctest::Approx(0.545).epsilon(0.002));
  CHECK(variables_of({"other", 4.0 * 693'819, 50.0}).empty());
}

TEST_CASE("asynchronous: what several servers take adds up to what one takes, and a base for each") {
  AsynchronousRecords records = made_records();
  records.networks = {{"resnet32", 4.0 * 1'857'722, 104.0}, {"branches", 1e7, 100.0}};
  const AsynchronousPredictor predictor(records, {}, {.draws = 20});
  for (const int servers : {1, 2, 3, 4}) {
    CAPTURE(servers);
    const std::vector<double> services = predictor.speed().services_of("resnet32", servers, 0.04, 0.01);
    // Σ s_j = S · base + (s - base)
    CHECK(std::accumulate(services.begin(), services.end(), 0.0) == doctest::Approx(0.01 * servers + 0.03));
  }
  // Nothing known of the variables but bytes and number: 0.54 of the bytes on the fuller of two.
  const std::vector<double> assumed = predictor.speed().services_of("branches", 2, 0.04, 0.0);
  CHECK(assumed[0] > 0.5 * 0.04);
  CHECK(assumed[0] < 0.54 * 0.04);
}

TEST_CASE(
    "asynchronous: evaluations that fall far below now and then reach no accuracy before recorded runs do") {
  AsynchronousRecords records = made_records();
  // 0.88 until the drop of the rate, but 0.70 at one evaluation, another for each run.
  std::size_t low_at = 4;
  for (TrainingRecord& training : records.trainings)
    if (training.configuration.workers.size() == 1) {
      for (std::size_t k = 1; k <= 8; ++k) training.curve[k].accuracy = k == low_at ? 0.70 : 0.88;
      ++low_at;
    }
  const AsynchronousPredictor predictor(records, {}, {.same_cluster = true, .draws = 40});
  const AsynchronousPrediction alone = predictor.predict("k80x1-1ps");
  // After the drop, at 9 of 16 evaluations.
  CHECK(alone.reach_90 == doctest::Approx(1.0));
  CHECK(alone.to_90_s->low > 0.5 * alone.duration_s->high);
}

TEST_CASE("asynchronous: a worker that leaves or joins costs time, and spares staleness") {
  const AsynchronousRecords records = made_records();
  const AsynchronousPredictor predictor(records, {}, {.same_cluster = true, .draws = 40});
  const AsynchronousPrediction all = predictor.predict("k80x2-1ps");
  // Two workers of 10 updates/s, one of which leaves after 1,000 s: D = 64,000 / 10 - 1,000.
  Configuration leaving = configuration("k80x2-1ps");
  CHECK(set_times("1@1000", &AsynchronousWorker::leaves_s, leaving.workers).empty());
  const AsynchronousPrediction left = predictor.predict(leaving);
  CHECK(left.duration_s->mean == doctest::Approx(5'400.0).epsilon(0.01));
  // 20,000 of 64,000 updates are stale by one; the rate stays that of two workers.
  const double staleness = 20'000.0 / 64'000.0;
  CHECK(left.mean_staleness == doctest::Approx(staleness).epsilon(0.01));
  CHECK(left.accuracy->mean == doctest::Approx(0.93 - 0.01 * staleness / std::sqrt(2.0)).epsilon(0.001));
  CHECK(left.accuracy->mean > all.accuracy->mean);
  // 0.90 comes at the ninth of 16 evaluations, at 36,000 updates, when 1,000 + (36,000 - 20,000) / 10 s have
  // passed.
  CHECK(left.to_90_s->mean == doctest::Approx(2'600.0).epsilon(0.02));
  // What happens after it changes nothing until then.
  Configuration late = configuration("k80x2-1ps");
  CHECK(set_times("1@3000", &AsynchronousWorker::leaves_s, late.workers).empty());
  CHECK(predictor.predict(late).to_85_s->mean == doctest::Approx(all.to_85_s->mean).epsilon(0.01));
  // And after the job has ended, nothing at all, which is said.
  Configuration never = configuration("k80x2-1ps");
  CHECK(set_times("1@9000", &AsynchronousWorker::leaves_s, never.workers).empty());
  CHECK(predictor.predict(never).duration_s->mean == all.duration_s->mean);
  CHECK(predictor.predict(never).note.find("worker 1 joins or leaves after the job has ended") !=
        std::string::npos);
  // One that joins then instead: D = (64,000 / 10 + 1,000) / 2.
  Configuration joining = configuration("k80x2-1ps");
  CHECK(set_times("1@1000", &AsynchronousWorker::joins_s, joining.workers).empty());
  CHECK(predictor.predict(joining).duration_s->mean == doctest::Approx(3'700.0).epsilon(0.01));
}

TEST_CASE("asynchronous: who joins and leaves is a worker there is, once, at a time") {
  for (const char* wrong :
       {"2@600", "1", "1@0", "1@-5", "one@600", "1@600 1@700", "1@6.0.0", "1@600,2@700"}) {
    CAPTURE(wrong);
    std::vector<AsynchronousWorker> workers = configuration("k80x2-1ps").workers;
    CHECK_FALSE(set_times(wrong, &AsynchronousWorker::joins_s, workers).empty());
  }
  const AsynchronousRecords records = made_records();
  const AsynchronousPredictor predictor(records, {}, {.draws = 20});
  Configuration chief = configuration("k80x2-1ps");
  chief.workers[0].leaves_s = 600.0;
  CHECK(predictor.predict(chief).note.starts_with("refused: worker 0 is the chief"));
  Configuration speed = configuration("speed/resnet32/k80x2-1ps");
  speed.workers[1].joins_s = 600.0;
  CHECK(predictor.predict(speed).note.starts_with("refused: workers that join or leave"));
}

TEST_CASE("asynchronous: what no record tells is refused with a reason") {
  const AsynchronousRecords records = made_records();
  const AsynchronousPredictor predictor(records, {}, {.draws = 20});
  for (const char* name : {"tpux4-1ps", "k80x4-1ps-3east+1central", "exchange/ddp-h1-50mbit", "what"}) {
    const AsynchronousPrediction prediction = predictor.predict(name);
    CHECK_FALSE(prediction.duration_s);
    CHECK(prediction.note.starts_with("refused: "));
  }
}

TEST_CASE("asynchronous: without a saturated run the service time is only bounded") {
  AsynchronousRecords records = made_records();
  std::erase_if(records.trainings,
                [](const TrainingRecord& run) { return run.configuration.workers.size() == 3; });
  const AsynchronousPredictor predictor(records, {}, {.draws = 20});
  const auto service = predictor.speed().service("resnet32");
  REQUIRE(service);
  CHECK(service->knowledge == ServiceKnowledge::bounded);
  // The most that was seen, 20 updates/s, is credited to it.
  CHECK(service->seconds == doctest::Approx(0.05).epsilon(0.01));
  CHECK(predictor.predict("k80x4-1ps").note.find("below saturation") != std::string::npos);
}

TEST_CASE("asynchronous: an exchange keeps its overhead as a share of the ring") {
  const std::vector<ExchangeRecord> records{
      {configuration("exchange/local-sgd-h8-1000mbit"), 100e6, 1.9, 1.25}};
  // 2 · 3/4 · 100 MB at 1 Gbit/s is 1.2 s; a tenth of the rate takes ten times as long.
  CHECK(ring_seconds(100e6, 4, 1000.0) == doctest::Approx(1.2));
  const auto slow = predict_exchange(records, configuration("exchange/diloco-h8-100mbit"));
  REQUIRE(slow);
  CHECK(slow->seconds == doctest::Approx(12.5));
  CHECK(slow->low_s < 12.05);
  // A run with one exchange pays what only the first one costs.
  const auto first = predict_exchange(records, configuration("exchange/local-sgd-h128-1000mbit"));
  CHECK(first->seconds == doctest::Approx(1.9));
  CHECK_FALSE(predict_exchange(records, configuration("exchange/ddp-h1-50mbit")));
}

}  // namespace paceline
