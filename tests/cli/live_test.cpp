// `paceline live` as a person at a terminal meets it.
#ifdef PACELINE_WITH_KERNELS
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/base/atomic_file.hpp"
#include "tests/cli/throughput_workplace.hpp"
#include "tests/support/text.hpp"

using paceline::Process;
using paceline::read_file;
using paceline::test::contains;
using paceline::test::ProgramResult;
using paceline::test::throughput_profile;
using paceline::test::throughput_scenario;
using paceline::test::Workplace;
namespace fs = std::filesystem;

namespace {

Workplace live_workplace() {
  return Workplace(PACELINE_PROGRAM,
                   {{"profile.json", throughput_profile}, {"scenario.yaml", throughput_scenario}});
}

// Two workers for a second or two.
std::vector<std::string> live_arguments(const std::string& epochs) {
  return {"live",
          "scenario.yaml",
          "--accept-load",
          "--set",
          "learner.kind=network",
          "--set",
          "replications=1",
          "--set",
          "stop.epochs=" + epochs,
          "-o",
          "out"};
}

bool has_live_workers(const fs::path& place) {
  for (const fs::directory_entry& process : fs::directory_iterator("/proc")) {
    std::error_code ignored;
    if (fs::read_symlink(process.path() / "cwd", ignored) == place) return true;
  }
  return false;
}

// Sends the signal once the store has kept a run: ids stand in its pages, or its log, as they are.
void end_when_kept(Process& live, const fs::path& store, const std::string& run, int signal) {
  const auto is_kept = [&] {
    for (const char* log : {"", "-wal"})
      if (const fs::path file = store.string() + log; fs::exists(file) && contains(read_file(file), run))
        return true;
    return false;
  };
  for (int waits = 0; waits < 10'000 && !is_kept(); ++waits)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  kill(live.id(), signal);
  CHECK(live.wait() == 128 + signal);
}

}  // namespace

TEST_CASE("a live job writes the results folder of a run, and says that it was real") {
  const Workplace place = live_workplace();
  const ProgramResult live = place.paceline(live_arguments("0.5"));
  INFO(live.err);
  CHECK(live.exit_code == 0);
  CHECK(contains(live.out, "Times are real"));
  CHECK(contains(live.err, "messages took processor time"));
  CHECK(contains(live.err, "note: the job had "));
  const nlohmann::json manifest = nlohmann::json::parse(read_file(place.path() / "out" / "manifest.json"));
  CHECK(manifest.at("engine") == "live");
  for (const char* file : {"summary.json", "curve.csv", "staleness.csv", "attribution.csv"})
    CHECK(fs::exists(place.path() / "out" / file));
  CHECK_FALSE(has_live_workers(place.path()));
}

TEST_CASE("what a live job cannot do is refused before anything starts, all at once, each at its key") {
  const Workplace place = live_workplace();
  const ProgramResult refused =
      place.paceline({"live", "scenario.yaml", "--set", "synchronization=[{policy: bsp, transport: tree}]",
                      "--set", "cluster.workers.1.speed=2", "--set",
                      "heterogeneity.schedule=[{at: 1 epochs, speed: [1.5, 0.4]}]", "-o", "out"});
  CHECK(refused.exit_code == 2);
  CHECK(contains(refused.err, "workers of a live job sum their gradients in a ring"));
  CHECK(contains(refused.err, "cluster.workers.1.speed"));
  CHECK(contains(refused.err, "worker 0 would have a speed of 1.5: a live worker cannot be made faster"));
  CHECK(contains(refused.err, "a live job really trains its network"));
  CHECK_FALSE(fs::exists(place.path() / "out"));
}

TEST_CASE("a machine that the workers of a live job share is this one, and a slow worker rests") {
  const Workplace place = live_workplace();
  const ProgramResult refused =
      place.paceline({"live", "scenario.yaml", "--set", "learner.kind=network", "--set",
                      "cluster.machines=[{cores: 2, shared: true, workers: [0]}]", "-o", "out"});
  CHECK(refused.exit_code == 2);
  CHECK(contains(refused.err, "all workers of a live job run on this machine"));
  CHECK(contains(refused.err, "the server of a live job runs on this machine, too"));
  CHECK(contains(refused.err, "a worker of a live job is slower than this machine by resting"));
  // Where all is said, it runs, and its manifest says how fast processes were beside each other.
  std::vector<std::string> arguments = live_arguments("0.5");
  arguments.insert(
      arguments.end(),
      {"--set", "cluster.machines=[{cores: 2, shared: true, servers: true, slow_workers: rest}]"});
  const ProgramResult live = place.paceline(arguments);
  INFO(live.err);
  CHECK(live.exit_code == 0);
  CHECK(contains(read_file(place.path() / "out/manifest.json"), "before the job an iteration took"));
}

TEST_CASE("an interrupted live job leaves neither results nor processes") {
  const Workplace place = live_workplace();
  Process live = place.start(live_arguments("2000"));
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));  // wherever it is by then
  kill(live.id(), SIGINT);
  CHECK(live.wait() == 128 + SIGINT);
  CHECK_FALSE(fs::exists(place.path() / "out"));
  CHECK_FALSE(has_live_workers(place.path()));
}

TEST_CASE("a live job that was interrupted, and then killed, goes on with the replications that had ended") {
  const Workplace place = live_workplace();
  std::vector<std::string> arguments = live_arguments("0.5");
  arguments.insert(arguments.end(), {"--set", "replications=4"});
  const fs::path kept = place.path() / "out.unfinished.sqlite";
  // Ends the job by a signal once it has kept this replication.
  const auto end_after = [&](const std::string& run, int signal) {
    Process live = place.start(arguments);
    end_when_kept(live, kept, run, signal);
    CHECK_FALSE(fs::exists(place.path() / "out"));
    return live.errors();
  };
  const std::string said = end_after("real 0 job", SIGINT);
  CHECK(contains(said, " of 4 replications are kept in out.unfinished.sqlite; the same command carries out"));
  CHECK_FALSE(has_live_workers(place.path()));
  end_after("real 2 job", SIGKILL);

  const auto refused = [&](const std::vector<std::string>& command) {
    const ProgramResult result = place.paceline(command);
    CHECK(result.exit_code == 2);
    CHECK(contains(result.err, "out.unfinished.sqlite holds an unfinished live job "));
    CHECK(contains(result.err, "--force begins anew"));
    return result.err;
  };
  std::vector<std::string> other = arguments;
  other.insert(other.end(), {"--set", "seed=7"});
  CHECK(contains(refused(other), "by another command: paceline live scenario.yaml"));
  std::string changed = throughput_scenario;
  changed.replace(changed.find("0.01"), 4, "0.02");
  place.write("scenario.yaml", changed);
  CHECK(contains(refused(arguments), "the scenario, or a file that it names, has changed"));
  place.write("scenario.yaml", throughput_scenario);

  const ProgramResult resumed = place.paceline(arguments);
  INFO(resumed.err);
  CHECK(resumed.exit_code == 0);
  CHECK(contains(resumed.err, "3 of 4 replications are there already"));
  CHECK(contains(resumed.err, "carried out in "));
  CHECK_FALSE(fs::exists(kept));
  CHECK(place.paceline(arguments).exit_code == 2);  // results are not replaced
  // Folder and columns are those of a job that nobody interrupted.
  std::ranges::replace(arguments, std::string("out"), std::string("whole"));
  REQUIRE(place.paceline(arguments).exit_code == 0);
  for (const fs::directory_entry& file : fs::directory_iterator(place.path() / "whole")) {
    const fs::path own = place.path() / "out" / file.path().filename();
    CAPTURE(own);
    REQUIRE(fs::exists(own));
    if (own.extension() != ".csv") continue;
    const std::string text = read_file(own);
    const std::string whole = read_file(file.path());
    CHECK(text.substr(0, text.find('\n')) == whole.substr(0, whole.find('\n')));
  }
  const std::string summary = read_file(place.path() / "out/summary.csv");
  for (const char* row : {"\n0,", "\n1,", "\n2,", "\n3,"}) CHECK(contains(summary, row));
}

TEST_CASE("--force begins an unfinished live job anew, which then goes on without it") {
  const Workplace place = live_workplace();
  std::vector<std::string> arguments = live_arguments("0.5");
  arguments.insert(
      arguments.end(),
      {"--set", "cluster.machines=[{cores: 2, shared: true, servers: true, slow_workers: rest}]"});
  REQUIRE(place.paceline(arguments).exit_code == 0);
  arguments.insert(arguments.end(), {"--set", "replications=2", "--force"});
  const fs::path kept = place.path() / "out.unfinished.sqlite";
  const std::string old = read_file(place.path() / "out/summary.csv");
  const auto kill_after_first = [&] {
    Process live = place.start(arguments);
    end_when_kept(live, kept, "real 0 job", SIGKILL);
    CHECK_FALSE(contains(live.errors(), "are there already"));
  };
  kill_after_first();
  kill_after_first();
  CHECK(read_file(place.path() / "out/summary.csv") == old);  // till there are others
  arguments.pop_back();
  const ProgramResult resumed = place.paceline(arguments);
  INFO(resumed.err);
  CHECK(resumed.exit_code == 0);
  CHECK(contains(resumed.err, "1 of 2 replications are there already"));
  CHECK(contains(read_file(place.path() / "out/summary.csv"), "\n1,"));
  // Each sitting times the processes beside each other, and no two notes of it sound alike.
  const std::string manifest = read_file(place.path() / "out/manifest.json");
  const std::size_t first = manifest.find("before the job an iteration took");
  REQUIRE(first != std::string::npos);
  CHECK(manifest.find("before the job an iteration took", first + 1) == std::string::npos);
  CHECK(contains(manifest, "before sitting 2 an iteration took"));
}

TEST_CASE(
    "a validation killed in the midst goes on with its prediction as sealed and its runs as they were") {
  const Workplace place = live_workplace();
  std::vector<std::string> arguments = live_arguments("0.5");
  arguments.insert(arguments.begin(), "validate");
  arguments.insert(arguments.end(), {"--runs", "3", "--wait", "0", "--no-figures", "--set",
                                     "batching.controller=uniform", "--set", "cluster.workers=[{cores: 1}]",
                                     "--set", "communication={server_request: 60 us, per_message: 30 us}"});
  const auto text = [&](const char* file) { return read_file(place.path() / "out" / file); };
  Process interrupted = place.start(arguments);
  std::optional<std::string> line = interrupted.read_line();
  while (line && !line->starts_with("sealed at ")) line = interrupted.read_line();
  REQUIRE(line);
  kill(interrupted.id(), SIGINT);
  CHECK(interrupted.wait() == 128 + SIGINT);
  CHECK(contains(interrupted.errors(), "interrupted: the sealed prediction and "));
  CHECK(
      contains(interrupted.errors(), " of 3 runs are kept in out; the same command carries out the others"));
  Process killed = place.start(arguments);
  const auto has_run = [&] { return contains(text("measured.csv"), "throughput,0,total time"); };
  for (int waits = 0; waits < 10'000 && !has_run(); ++waits)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  kill(killed.id(), SIGKILL);
  CHECK(killed.wait() == 128 + SIGKILL);
  REQUIRE(has_run());
  const std::string sealed = text("sealed.json");
  CHECK(contains(sealed, "\"machine\": \""));
  CHECK(contains(sealed, "resume: [{rest: "));  // measured, since the scenario does not say it
  const std::string predicted = text("prediction.csv");
  const std::string kept = text("measured.csv");
  REQUIRE_FALSE(contains(kept, "throughput,2,"));

  place.write("out/prediction.csv", predicted + " ");
  const ProgramResult tampered = place.paceline(arguments);
  CHECK(tampered.exit_code == 2);
  CHECK(contains(tampered.err, "prediction.csv is not what was sealed"));
  CHECK(contains(tampered.err, "--force begins anew"));
  place.write("out/prediction.csv", predicted);

  const ProgramResult other =
      place.paceline({"validate", "live", "scenario.yaml", "--set", "learner.kind=network", "-o", "out"});
  CHECK(other.exit_code == 2);
  CHECK(contains(other.err, "unfinished validation by another command"));

  const ProgramResult resumed = place.paceline(arguments);
  INFO(resumed.err);
  CHECK(resumed.exit_code == 0);
  CHECK(contains(resumed.err, " of 3 runs are there already"));
  CHECK(contains(resumed.err, "carried out in "));
  CHECK(text("sealed.json") == sealed);
  CHECK(text("prediction.csv") == predicted);
  CHECK(text("measured.csv").starts_with(kept));
  CHECK(contains(text("measured.csv"), "throughput,2,total time"));
  CHECK(contains(text("manifest.json"), " sittings: "));
  CHECK(contains(text("machine.csv"), "sitting,began,ended"));
  CHECK_FALSE(fs::exists(place.path() / "out/unfinished.sqlite"));
  CHECK(place.paceline(arguments).exit_code == 2);  // results are not replaced
}

TEST_CASE(
    "a live job trains on a user's files, and says before anything is measured that they are not there") {
  const Workplace place = live_workplace();
  const std::string scenario = std::string(PACELINE_SCENARIOS) + "/validation/asp-mnist.yaml";
  for (const std::vector<std::string>& command : {std::vector<std::string>{"live"}, {"validate", "live"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {scenario, "--set", "job.dataset.path=nowhere", "-o", "out"});
    const ProgramResult refused = place.paceline(arguments);
    CHECK(refused.exit_code == 2);
    CHECK(contains(refused.err, "nowhere is not a folder"));
    CHECK(refused.out.empty());
  }
  // IDX: magic number, extents, bytes; big-endian.
  const auto digits = [&](const std::string& prefix, char samples) {
    const std::string count = {0, 0, 0, samples};
    const std::string side = {0, 0, 0, 28};
    place.write("digits/" + prefix + "-images-idx3-ubyte",
                std::string{0, 0, 8, 3} + count + side + side +
                    std::string(static_cast<std::size_t>(samples) * 28 * 28, 'x'));
    place.write("digits/" + prefix + "-labels-idx1-ubyte",
                std::string{0, 0, 8, 1} + count + std::string(static_cast<std::size_t>(samples), 7));
  };
  fs::create_directory(place.path() / "digits");
  digits("train", 96);
  digits("t10k", 16);
  const ProgramResult live =
      place.paceline({"live", scenario, "--accept-load", "--set", "job.dataset.path=digits", "--set",
                      "job.dataset.train_samples=96", "--set", "job.dataset.test_samples=16", "--set",
                      "evaluation.every=64 samples", "--set", "cluster.machines=[]", "--set",
                      "replications=1", "-o", "out"});
  INFO(live.err);
  CHECK(live.exit_code == 0);
  CHECK(contains(live.out, "Times are real"));
}
#endif
