// Folders of recorded asynchronous jobs: what is read, and what is refused with its place.
#include "calibrate/asynchronous/records.hpp"

#include <algorithm>
#include <map>
#include <string>

#include <doctest/doctest.h>

#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "tests/support/asynchronous_records.hpp"
#include "tests/support/temporary_folder.hpp"

namespace paceline::test {
namespace {

std::map<std::string, std::string> sound_files() {
  return asynchronous_records("k80x1-1ps,scaling,1,1,6300,0.92,900,\n", "k80x1-1ps,scaling,1,60,640,0.4\n");
}

AsynchronousRecords records_of(const std::map<std::string, std::string>& files) {
  const TemporaryFolder folder;
  for (const auto& [name, text] : files) write_file_atomically(folder.path() / name, text);
  return read_asynchronous_records(folder.path());
}

// What is said once `old` stands as `now` in a file; from the file's name on.
std::string refusal(const std::string& file, const std::string& old, const std::string& now) {
  std::map<std::string, std::string> files = sound_files();
  std::string& text = files.at(file);
  REQUIRE(text.find(old) != text.npos);
  text.replace(text.find(old), old.size(), now);
  try {
    static_cast<void>(records_of(files));
    return "nothing";
  } catch (const UserError& error) {
    const std::string told = error.what();
    return told.substr(std::min(told.find(file + ":"), told.size()));
  }
}

}  // namespace

TEST_CASE("asynchronous: a folder of records is read, empty cells left open") {
  const AsynchronousRecords records = records_of(sound_files());
  REQUIRE(records.trainings.size() == 1);
  CHECK(records.trainings[0].duration_s == 6300.0);
  CHECK(records.trainings[0].to_85_s == 900.0);
  CHECK_FALSE(records.trainings[0].to_90_s);
  REQUIRE(records.trainings[0].curve.size() == 1);
  CHECK(records.trainings[0].curve[0].progress == 640.0 / training_updates);
  CHECK(records.speeds[0].rate == 4.5);
  CHECK(records.network("resnet32")->bytes == 4.0 * 1857722.0);
  CHECK(records.exchanges[0].first_s == doctest::Approx(1.8946));
  CHECK(records.checkpoint_s == 3.8);
}

TEST_CASE("asynchronous: each file of a folder of records that is missing is named") {
  for (const auto& [missing, text] : sound_files()) {
    std::map<std::string, std::string> files = sound_files();
    files.erase(missing);
    CHECK_THROWS_WITH_AS(static_cast<void>(records_of(files)),
                         doctest::Contains(("there is no file " + missing).c_str()), UserError);
  }
}

TEST_CASE("asynchronous: times, rates and accuracies that cannot be are refused where they stand") {
  CHECK(refusal("runs.csv", "6300", "0").starts_with("runs.csv:2:23: `duration_s` must be above 0, is 0"));
  CHECK(refusal("runs.csv", "6300", "-6300")
            .starts_with("runs.csv:2:23: `duration_s` must be above 0, is -6300"));
  CHECK(refusal("runs.csv", "6300", "long")
            .starts_with("runs.csv:2:23: `long` in column `duration_s` is not a finite number"));
  CHECK(refusal("runs.csv", "6300", "inf").starts_with("runs.csv:2:23: `inf` in column `duration_s`"));
  CHECK(refusal("runs.csv", "0.92", "92")
            .starts_with("runs.csv:2:28: `final_accuracy` must be from 0 to 1, is 92"));
  CHECK(refusal("runs.csv", "900", "-1").starts_with("runs.csv:2:33: `time_to_85_s` must be above 0, is -1"));
  CHECK(refusal("runs.csv", "1,1,6300", "1,yes,6300")
            .starts_with("runs.csv:2:21: `yes` in column `complete` is not a whole number"));
  CHECK(refusal("runs.csv", "k80x1-1ps", "k80").starts_with("runs.csv:2: "));
  CHECK(refusal("runs.csv", "1,1,6300", "1,0,6300").starts_with("runs.csv:1: no training was completed"));
  CHECK(refusal("runs.csv", "6300,0.92,900,", "6300,0.92").starts_with("runs.csv:2: 6 cells, but 8 columns"));
  CHECK(refusal("runs.csv", "duration_s", "seconds")
            .starts_with("runs.csv:1: there is no column `duration_s`"));
  CHECK(refusal("curves.csv", "0.4", "-0.4")
            .starts_with("curves.csv:2:28: `accuracy` must be from 0 to 1, is -0.4"));
  CHECK(refusal("speed.csv", "4.5", "0").starts_with("speed.csv:2:26: `steps_per_s` must be above 0, is 0"));
  CHECK(
      refusal("networks.csv", "1857722", "0").starts_with("networks.csv:2:10: `parameters` must be above 0"));
  CHECK(refusal("exchange-runs.csv", "1894.6", "-1")
            .starts_with("exchange-runs.csv:2:35: `first_exchange_ms` must be above 0, is -1"));
  CHECK(refusal("checkpoint.csv", "3.8", "0").starts_with("checkpoint.csv:2:10: `bucket_s` must be above 0"));
  CHECK(refusal("checkpoint.csv", "resnet32", "resnet15")
            .starts_with("checkpoint.csv:1: no checkpoint of resnet32"));
  CHECK(refusal("single-gpu-latency.csv", "0.22", "0")
            .starts_with("single-gpu-latency.csv:2:18: `step_s` must be above 0, is 0"));
}

}  // namespace paceline::test
