#include "calibrate/learning/logs_file.hpp"

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace paceline;

namespace {

class LogsFolder {
 public:
  LogsFolder() {
    write_file_atomically(folder_.path() / "curve.csv",
                          "replication,samples,accuracy,loss\n0,320,0.3,2.0\n0,640,0.5,1.0\n1,320,0.4,1.9\n"
                          "1,640,0.6,0.9\n");
  }
  [[nodiscard]] std::filesystem::path write(const std::string& text) const {
    write_file_atomically(folder_.path() / "logs.yaml", text);
    return folder_.path() / "logs.yaml";
  }
  [[nodiscard]] std::string message_of(const std::string& text) const {
    try {
      static_cast<void>(read_logs_file(write(text), false));
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  }

 private:
  test::TemporaryFolder folder_;
};

std::string logs(const std::string& share, const std::string& runs) {
  return "name: small\nnetwork: mine\nparameters: 7\ndataset: my-images\nclasses: 10\n"
         "columns: {step: samples, accuracy: accuracy, loss: loss, run: replication}\n"
         "groups:\n"
         "  - {name: bsp, workers: 2, batch: 32, learning_rate: 0.1, momentum: 0.9, workload: 20,\n"
         "     phases: [{policy: bsp, share: " +
         share + "}], drops: [50 %], step: samples,\n     runs: [" + runs + "]}\n";
}

}  // namespace

TEST_CASE("checkpoints of the first worker are said in mini-batches and iterations") {
  const LogsFolder folder;
  const std::string run = "{accuracy: curve.csv, run: 0}";
  std::string text = logs("100 %", run);
  CHECK_FALSE(read_logs_file(folder.write(text), false).groups.front().plan().chief_pauses.has_value());
  text.replace(text.find("step: samples,\n"), 15,
               "step: samples, checkpoints: {every: 20, iterations: 7},\n");
  const TrainingLogs read = read_logs_file(folder.write(text), false);
  REQUIRE(read.groups.front().plan().chief_pauses.has_value());
  CHECK(read.groups.front().plan().chief_pauses->every_minibatches == 20.0);
  CHECK(read.groups.front().plan().chief_pauses->iterations == 7.0);
  text.replace(text.find("every: 20"), 9, "every: 0");
  CHECK(folder.message_of(text).find("every") != std::string::npos);
}

TEST_CASE("a results folder's curves are read as the runs of one group") {
  const LogsFolder folder;
  const TrainingLogs read = read_logs_file(
      folder.write(
          logs("100 %", "{accuracy: curve.csv, loss: curve.csv, run: 0}, {accuracy: curve.csv, run: 1}")),
      false);
  REQUIRE(read.groups.size() == 1);
  const RunGroup& group = read.groups.front();
  REQUIRE(group.runs.size() == 2);
  // 640 samples are 20 mini-batches of 32
  CHECK(group.runs[0].accuracy.back().minibatches == 20.0);
  CHECK(group.runs[0].final_accuracy == 0.5);
  CHECK(group.runs[1].final_accuracy == 0.6);
  CHECK(group.runs[0].loss.size() == 2);
  CHECK(group.runs[1].loss.empty());
  CHECK(group.plan().drops_minibatches == std::vector<double>{10.0});
}

TEST_CASE("a file of several runs whose runs are not named stands for all of them") {
  const LogsFolder folder;
  const TrainingLogs read =
      read_logs_file(folder.write(logs("100 %", "{accuracy: curve.csv, loss: curve.csv}")), false);
  const RunGroup& group = read.groups.front();
  REQUIRE(group.runs.size() == 2);
  CHECK(group.runs[0].final_accuracy == 0.5);
  CHECK(group.runs[1].final_accuracy == 0.6);
  CHECK(group.runs[1].loss.back().value == 0.9);
}

TEST_CASE("a file of several runs without any is refused by its name") {
  const LogsFolder folder;
  const auto logs_path = folder.write(logs("100 %", "{accuracy: empty.csv}"));
  write_file_atomically(logs_path.parent_path() / "empty.csv", "replication,samples,accuracy,loss\n");
  CHECK_THROWS_WITH_AS(static_cast<void>(read_logs_file(logs_path, false)),
                       doctest::Contains("empty.csv: has no usable row"), UserError);
}

TEST_CASE("mistakes in a logs file are said at their places") {
  const LogsFolder folder;
  CHECK(folder.message_of(logs("90 %", "{accuracy: curve.csv, run: 0}")).find("sum to 90 %, not to 100 %") !=
        std::string::npos);
  std::string unnamed = logs("100 %", "{accuracy: curve.csv, run: 0}");
  unnamed.replace(unnamed.find(", run: replication"), std::string(", run: replication").size(), "");
  CHECK(folder.message_of(unnamed).find("a run is named, but no `columns.run`") != std::string::npos);
  std::string twice = logs("100 %", "{accuracy: curve.csv, run: 0}");
  twice.replace(twice.find("[50 %]"), 6, "[50 %, 50 %]");
  CHECK(folder.message_of(twice).find("drops must ascend") != std::string::npos);
  CHECK(folder.message_of(logs("100 %, local_steps: 0", "{accuracy: curve.csv}")).find("local_steps") !=
        std::string::npos);
  std::string asynchronous = logs("100 %, local_steps: 4", "{accuracy: curve.csv}");
  asynchronous.replace(asynchronous.find("policy: bsp"), 11, "policy: asp");
  CHECK(folder.message_of(asynchronous).find("fitted under `policy: bsp` alone") != std::string::npos);
  CHECK(folder.message_of(logs("100 %", "{acuracy: curve.csv, run: 0}")).find("did you mean `accuracy`?") !=
        std::string::npos);
  CHECK(folder.message_of(logs("100 %", "{accuracy: none.csv, run: 0}")).find("cannot read") !=
        std::string::npos);
  CHECK(folder.message_of(logs("100 %", "{accuracy: curve.csv, run: 7}")).find("no usable row") !=
        std::string::npos);
}
