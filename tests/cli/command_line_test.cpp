// paceline as a person at a terminal meets it.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/base/atomic_file.hpp"
#include "tests/cli/round_profile.hpp"
#include "tests/support/text.hpp"
#include "tests/support/workplace.hpp"

using namespace paceline;
using paceline::test::contains;
using paceline::test::ProgramResult;
namespace fs = std::filesystem;

namespace {

const std::string profile_text = paceline::test::round_profile("small-cnn");

constexpr const char* scenario_text = R"(name: throughput
question: How fast?
replications: 4
job:
  network: small-cnn
  profile: profile.json
  dataset: {kind: built-in-images, train_samples: 4096, test_samples: 100}
  optimizer: {learning_rate: 0.01}
cluster:
  workers: [{cores: 1}, {cores: 1, speed: 0.5}]
  network: {topology: star, bandwidth: 10 Gbit/s, latency: 50 us}
synchronization: [{policy: asp, transport: server}]
batching: {controller: dynamic, initial: 32, minimum: 8, maximum: 128}
learner: {kind: none}
evaluation: {every: 1024 samples, who_pays: free}
stop: {epochs: 2}
)";

constexpr const char* study_text = R"(study: two
question: Which?
base: scenario.yaml
variants:
  - name: ASP
  - name: BSP
    set: {synchronization: [{policy: bsp, transport: ring}]}
)";

struct Workplace : test::Workplace {
  Workplace()
      : test::Workplace(
            PACELINE_PROGRAM,
            {{"profile.json", profile_text}, {"scenario.yaml", scenario_text}, {"study.yaml", study_text}}) {}
};

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(fs::relative(entry.path(), folder));
  std::sort(files.begin(), files.end());
  return files;
}

std::ptrdiff_t hidden_folders(const fs::path& folder) {
  const fs::directory_iterator entries(folder);
  return std::count_if(begin(entries), end(entries), [](const fs::directory_entry& entry) {
    return entry.path().filename().string().starts_with(".out.");
  });
}

// All files but run-info.json, which tells when and where.
void check_identical(const fs::path& a, const fs::path& b) {
  const std::vector<fs::path> files = files_below(a);
  REQUIRE(files == files_below(b));
  REQUIRE(files.size() >= 7);
  for (const fs::path& file : files) {
    if (file.filename() == "run-info.json") continue;
    INFO(file.string());
    CHECK(read_file(a / file) == read_file(b / file));
  }
}

}  // namespace

TEST_CASE("--version names commit, SimGrid and LibTorch") {
  const ProgramResult result = Workplace().paceline({"--version"});
  CHECK(result.exit_code == 0);
  CHECK(contains(result.out, "commit "));
  CHECK(contains(result.out, "SimGrid 3."));
#ifdef PACELINE_WITH_KERNELS
  CHECK(contains(result.out, "LibTorch 1."));
#else
  CHECK(contains(result.out, "LibTorch not built"));
#endif
}

TEST_CASE("--help shows every command and an example, so does each command") {
  const Workplace place;
  const ProgramResult result = place.paceline({"--help"});
  CHECK(result.exit_code == 0);
  for (const char* command : {"run", "study", "check", "plot", "schema", "calibrate", "Examples"})
    CHECK(contains(result.out, command));
  for (const char* command : {"run", "study", "check", "plot", "schema"})
    CHECK(place.paceline({command, "--help"}).exit_code == 0);
}

TEST_CASE("wrong usage is exit code 2, and says which command, what is wrong, and what to do") {
  const Workplace place;
  const auto said = [&place](const std::vector<std::string>& arguments) {
    const ProgramResult result = place.paceline(arguments);
    CHECK(result.exit_code == 2);
    CHECK(result.out.empty());
    return result.err;
  };
  CHECK(said({}) == "error: paceline: a command is missing\nhint: paceline --help lists the commands\n");
  CHECK(said({"simulate"}) ==
        "error: paceline: there is no command `simulate`\nhint: paceline --help lists the commands\n");
  CHECK(said({"run"}) == "error: paceline run: FILE is required\nhint: paceline run --help\n");
  CHECK(said({"study"}) == "error: paceline study: FILE is required\nhint: paceline study --help\n");
  CHECK(said({"study", "merge"}) ==
        "error: paceline study merge: DIR is required\nhint: paceline study merge --help\n");
  CHECK(said({"run", "scenario.yaml", "--bogus"}) ==
        "error: paceline run: there is no option `--bogus`\nhint: paceline run --help lists the options\n");
  // The mistyped option is what is wrong, not the file that is missing too.
  CHECK(said({"study", "--lits"}) ==
        "error: paceline study: there is no option `--lits`\nhint: did you mean `--list`?\n");
  CHECK(said({"run", "scenario.yaml", "study.yaml"}) ==
        "error: paceline run: `study.yaml` is one argument too many\nhint: paceline run --help\n");
  CHECK(said({"run", "scenario.yaml", "--jobs", "0"}) ==
        "error: paceline run: --jobs: Value 0 not in range 1 to 4096\nhint: paceline run --help\n");
  CHECK(
      said({"validate"}) ==
      "error: paceline validate: a command is missing\nhint: paceline validate --help lists the commands\n");
  CHECK(said({"validate", "recoded", "x"}) ==
        "error: paceline validate: there is no command `recoded`\nhint: did you mean `recorded`?\n");
  CHECK(contains(said({"plot", "x"}), "error: "));
}

TEST_CASE("a run writes its folder, refuses to replace it, and replaces it with --force") {
  const Workplace place;
  const ProgramResult first = place.paceline({"run", "scenario.yaml", "-o", "out"});
  INFO(first.err);
  CHECK(first.exit_code == 0);
  CHECK(contains(first.out, "results: out"));
  for (const char* file : {"manifest.json", "run-info.json", "summary.json", "summary.csv", "curve.csv",
                           "batches.csv", "staleness.csv"})
    CHECK(fs::exists(place.path() / "out" / file));
  const ProgramResult second = place.paceline({"run", "scenario.yaml", "-o", "out"});
  CHECK(second.exit_code == 2);
  CHECK(contains(second.err, "--force"));
  CHECK(place.paceline({"run", "scenario.yaml", "-o", "out", "--force"}).exit_code == 0);
}

TEST_CASE("results are byte-identical in another process, whatever the number of jobs") {
  const Workplace place;
  REQUIRE(place.paceline({"study", "study.yaml", "-o", "one", "-j", "1"}).exit_code == 0);
  REQUIRE(place.paceline({"study", "study.yaml", "-o", "three", "-j", "3"}).exit_code == 0);
  check_identical(place.path() / "one", place.path() / "three");
}

TEST_CASE("another seed gives another result") {
  const Workplace place;
  REQUIRE(place.paceline({"run", "scenario.yaml", "-o", "a"}).exit_code == 0);
  REQUIRE(place.paceline({"run", "scenario.yaml", "-o", "b", "--set", "seed=2"}).exit_code == 0);
  CHECK(read_file(place.path() / "a/summary.csv") != read_file(place.path() / "b/summary.csv"));
}

TEST_CASE("--profile-uncertainty draws the machine anew for each replication, or says why it cannot") {
  const Workplace place;
  const ProgramResult refused =
      place.paceline({"run", "scenario.yaml", "--profile-uncertainty", "-o", "out"});
  CHECK(refused.exit_code == 2);
  CHECK(contains(refused.err, "does not say how sure it is"));
  CHECK_FALSE(fs::exists(place.path() / "out"));
  // Two equally likely machines, one twice as slow as the other.
  auto profile = nlohmann::json::parse(profile_text);
  profile["version"] = 2;
  profile["origin"] = "measured";
  profile["sources"] = nlohmann::json::array();
  profile["fits"]["compute"][0].update({{"knee", nullptr}, {"relative_half_width", 0.5}});
  profile["fits"].update({{"core_scaling", nullptr},
                          {"memory", nullptr},
                          {"ensemble", {{{1, 0.001, 0.0001, 0, 0}}, {{1, 0.002, 0.0002, 0, 0}}}}});
  profile["jitter"].update({{"process_cv", nullptr},
                            {"run_cv_upper", nullptr},
                            {"iteration_law", "log_normal"},
                            {"iteration_quantiles", nullptr}});
  place.write("profile.json", profile.dump());
  const std::vector<std::string> run = {"run", "scenario.yaml", "--set", "replications=12", "-o"};
  const auto outcome = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = run;
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramResult result = place.paceline(arguments);
    CHECK_MESSAGE(result.exit_code == 0, result.err);
    return result;
  };
  static_cast<void>(outcome({"fixed"}));
  CHECK(contains(outcome({"drawn", "--profile-uncertainty"}).err, "2 equally likely calibrations"));
  const std::string manifest = read_file(place.path() / "drawn/manifest.json");
  CHECK(contains(manifest, "--profile-uncertainty"));
  CHECK(read_file(place.path() / "fixed/summary.csv") != read_file(place.path() / "drawn/summary.csv"));
  static_cast<void>(outcome({"again", "--profile-uncertainty", "--jobs", "2"}));
  check_identical(place.path() / "drawn", place.path() / "again");
}

TEST_CASE("how sure a derived profile is cannot be calibrated, so that is not the advice") {
  const Workplace place;
  const std::string profile = (fs::path(PACELINE_SCENARIOS) / "profiles/k80-resnet32.json").string();
  const ProgramResult refused = place.paceline({"run", "scenario.yaml", "--profile-uncertainty", "--set",
                                                "job.network=resnet32", "--set", "job.profile=" + profile});
  CHECK(refused.exit_code == 2);
  CHECK(contains(refused.err, "it is derived from publications, which do not tell"));
  CHECK_FALSE(contains(refused.err, "calibrate again"));
}

TEST_CASE("a mistake in a scenario points at its place and leaves no folder") {
  const Workplace place;
  std::string broken = scenario_text;
  broken.replace(broken.find("bandwidth"), 9, "bandwith");
  place.write("broken.yaml", broken);
  const ProgramResult result = place.paceline({"run", "broken.yaml", "-o", "out"});
  CHECK(result.exit_code == 2);
  CHECK(contains(result.err, "broken.yaml:11:"));
  CHECK(contains(result.err, "bandwidth"));
  CHECK_FALSE(fs::exists(place.path() / "out"));
}

TEST_CASE("what the profile cannot tell is said before anything runs") {
  const Workplace place;
  const ProgramResult cores = place.paceline({"run", "scenario.yaml", "--set", "cluster.workers.0.cores=3"});
  CHECK(cores.exit_code == 2);
  CHECK(contains(cores.err, "--set cluster.workers.0.cores=3: error: `cluster.workers.0.cores`"));
  const ProgramResult network = place.paceline({"run", "scenario.yaml", "--set", "job.network=resnet20"});
  CHECK(network.exit_code == 2);
  CHECK(contains(network.err, "small-cnn"));
  const ProgramResult missing = place.paceline({"run", "scenario.yaml", "--set", "job.profile=nowhere.json"});
  CHECK(missing.exit_code == 2);
  CHECK(contains(missing.err, "nowhere.json"));
}

TEST_CASE("an interrupted run says so, ends with 128 + the signal, and leaves nothing behind") {
  const Workplace place;
  const ProgramResult ended = test::run_program(
      "/usr/bin/timeout",
      {"--signal=TERM", "--preserve-status", "0.5", PACELINE_PROGRAM, "run", "scenario.yaml", "-o", "out",
       "--set", "replications=2000", "--set", "stop.epochs=200"},
      place.path());
  CHECK(ended.exit_code == 128 + 15);
  CHECK(contains(ended.err, "interrupted"));
  CHECK(hidden_folders(place.path()) == 0);
  CHECK_FALSE(fs::exists(place.path() / "out"));
}

TEST_CASE("the wrong command for a file, and a mistyped command, are told what was meant") {
  const Workplace place;
  CHECK(contains(place.paceline({"run", "study.yaml"}).err, "paceline study study.yaml"));
  CHECK(contains(place.paceline({"study", "scenario.yaml"}).err, "paceline run scenario.yaml"));
  const ProgramResult mistyped = place.paceline({"stduy", "study.yaml"});
  CHECK(mistyped.exit_code == 2);
  CHECK(contains(mistyped.err, "did you mean `study`?"));
}

TEST_CASE("output that cannot be written is not a success") {
  const Workplace place;
  CHECK(test::run_program("/bin/sh", {"-c", std::string(PACELINE_PROGRAM) + " schema > /dev/full"},
                          place.path())
            .exit_code != 0);
}

TEST_CASE("check prints every value with its origin, for scenarios and studies") {
  const Workplace place;
  const ProgramResult scenario = place.paceline({"check", "scenario.yaml", "--set", "seed=9"});
  CHECK(scenario.exit_code == 0);
  CHECK(contains(scenario.out, "cluster.workers.1.speed"));
  CHECK(contains(scenario.out, "scenario.yaml:10:"));
  CHECK(contains(scenario.out, "default"));
  CHECK(contains(scenario.out, "--set seed=9"));
  const ProgramResult study = place.paceline({"check", "study.yaml"});
  CHECK(study.exit_code == 0);
  CHECK(contains(study.out, "# BSP"));
  CHECK(place.paceline({"check", "study.yaml", "--json"}).out.front() == '[');
}

TEST_CASE("what check has to say of a study is said once, however many variants it holds for") {
  const Workplace place;
  std::string text = scenario_text;
  place.write("scenario.yaml",
              text.replace(text.find("{kind: none}"), 12, "{kind: none, model: unused.json}"));
  const ProgramResult check = place.paceline({"check", "study.yaml"});
  CHECK(check.exit_code == 0);
  const std::string said = "is only used by the learners";
  CHECK(contains(check.err, said));
  CHECK(check.err.find(said) == check.err.rfind(said));
}

TEST_CASE("a run with --json prints nothing but JSON on standard output") {
  const Workplace place;
  const ProgramResult result = place.paceline({"study", "study.yaml", "-o", "out", "--json"});
  CHECK(result.exit_code == 0);
  CHECK(result.out.front() == '[');
  CHECK(contains(result.out, "throughput_samples_per_s"));
}

TEST_CASE(
    "an expectation that does not hold is exit code 3, with the results written and the value printed") {
  const Workplace place;
  const ProgramResult failed =
      place.paceline({"study", "study.yaml", "-o", "out", "--set", "expect.time_per_epoch=< 1 us"});
  CHECK(failed.exit_code == 3);
  for (const char* variant : {"ASP", "BSP"})
    CHECK(contains(failed.err, std::string("expectation failed: ") + variant + ": time_per_epoch is 0.3"));
  CHECK(contains(failed.err, "expected < 1 us (--set expect.time_per_epoch=< 1 us)"));
  const auto summary = nlohmann::json::parse(read_file(place.path() / "out/asp/summary.json"));
  CHECK(summary.at("expectations").at(0).at("held") == false);
  CHECK(summary.at("expectations").at(0).at("measured").get<double>() > 0.1);
  const ProgramResult held =
      place.paceline({"run", "scenario.yaml", "-o", "held", "--set", "expect.staleness=< 8"});
  CHECK(held.exit_code == 0);
  CHECK(contains(read_file(place.path() / "held/summary.json"), "\"held\": true"));
  CHECK(contains(place.paceline({"--help"}).out, "3 an expectation"));
}

TEST_CASE("--iterations and --trace add their files, which --force knows as ours") {
  const Workplace place;
  const std::vector<std::string> arguments = {"run",          "scenario.yaml", "-o",     "out",
                                              "--iterations", "--trace",       "--force"};
  REQUIRE(place.paceline(arguments).exit_code == 0);
  for (const char* file :
       {"iterations.csv", "trace.json", "activities.csv", "attribution.csv", "phases.csv", "bottlenecks.csv"})
    CHECK(fs::exists(place.path() / "out" / file));
  CHECK(nlohmann::json::parse(read_file(place.path() / "out/trace.json")).at("traceEvents").size() > 100);
  REQUIRE(place.paceline(arguments).exit_code == 0);
  const auto manifest = nlohmann::json::parse(read_file(place.path() / "out/manifest.json"));
  CHECK(manifest.at("command") == "paceline run scenario.yaml --iterations --trace");
}

TEST_CASE("a study compares its variants pair by pair, in the table, in JSON and in its CSV") {
  const Workplace place;
  const ProgramResult table = place.paceline({"study", "study.yaml", "-o", "out"});
  for (const char* part : {"P(faster) [90 %]", "speed-up [90 %]", "correlation"})
    CHECK(contains(table.out, part));
  const ProgramResult text = place.paceline({"study", "study.yaml", "-o", "out", "--force", "--json"});
  const auto rows = nlohmann::json::parse(text.out);
  CHECK_FALSE(rows.at(0).contains("against_first"));
  const auto& against = rows.at(1).at("against_first");
  CHECK(against.at("pairs") == 4);
  CHECK(against.at("p_faster").at("low").get<double>() > 0.0);
  CHECK(against.at("p_faster").at("high").get<double>() < 1.0);
  // The two share their jitter, so their times rise and fall together.
  CHECK(against.at("time_correlation").get<double>() > 0.5);
}

TEST_CASE("an unwritable place is refused before the first simulation") {
  const Workplace place;
  place.write("file", "");
  const ProgramResult result = place.paceline({"run", "scenario.yaml", "-o", "file/below"});
  CHECK(result.exit_code == 2);
  CHECK(contains(result.err, "file"));
}

TEST_CASE("text from a scenario is data, for the terminal, the files and the figures") {
  const Workplace place;
  const std::string name = "it's `touch pwned` $(touch pwned) \"quoted\" \\ %s {} _^@";
  place.write("study.yaml",
              "study: hostile\nquestion: '$(touch pwned)'\nbase: scenario.yaml\nvariants:\n  - name: 'it''s "
              "`touch pwned` "
              "$(touch pwned) \"quoted\" \\ %s {} _^@'\n");
  const ProgramResult result = place.paceline({"study", "study.yaml", "-o", "out"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.out, name));
  const ProgramResult plot = place.paceline({"plot", "out", "-o", "figures"});
  INFO(plot.err);
  CHECK(plot.exit_code == 0);
  CHECK(fs::exists(place.path() / "figures/batches-over-time.png"));
  CHECK_FALSE(fs::exists(place.path() / "pwned"));
}

TEST_CASE("the shipped schemas are the ones this program prints") {
  const Workplace place;
  const fs::path scenarios = PACELINE_SCENARIOS;
  CHECK(place.paceline({"schema"}).out == read_file(scenarios / "scenario.schema.json"));
  CHECK(place.paceline({"schema", "--study"}).out == read_file(scenarios / "study.schema.json"));
}

TEST_CASE("every shipped scenario and study passes the checks, without a warning") {
  const Workplace place;
  const fs::path scenarios = PACELINE_SCENARIOS;
  // These measure the machine they run on.
  const std::vector<std::string> without_profile = {"quickstart/base.yaml", "quickstart/study.yaml",
                                                    "sync-switch/real.yaml", "sync-switch/real-study.yaml",
                                                    "sync-switch/momentum.yaml"};
  std::size_t checked = 0;
  for (const fs::path& file : files_below(scenarios)) {
    if (file.extension() != ".yaml" || !contains(read_file(scenarios / file), "$schema=")) continue;
    CAPTURE(file.string());
    std::vector<std::string> arguments{"check", (scenarios / file).string()};
    if (std::ranges::count(without_profile, file.string()) > 0) {
      arguments.emplace_back("--set");
      arguments.push_back("job.profile=" + (place.path() / "profile.json").string());
    }
    const ProgramResult check = place.paceline(arguments);
    CAPTURE(check.err);
    CHECK(check.exit_code == 0);
    CHECK_FALSE(contains(check.err, "warning"));
    ++checked;
  }
  CHECK(checked > 30);
}

TEST_CASE("a killed run leaves no results folder, and the next attempt is not in its way") {
  const Workplace place;
  // The deadline is far below the run's length and far above the start of the program.
  const ProgramResult killed =
      test::run_program("/usr/bin/timeout",
                        {"--signal=KILL", "0.3", PACELINE_PROGRAM, "run", "scenario.yaml", "-o", "out",
                         "--set", "replications=2000", "--set", "stop.epochs=200"},
                        place.path());
  CHECK(killed.exit_code != 0);
  CHECK_FALSE(fs::exists(place.path() / "out"));
  // It was killed at work: its hidden folder is there, and what the next attempt finds abandoned it removes.
  REQUIRE(hidden_folders(place.path()) == 1);
  CHECK(place.paceline({"run", "scenario.yaml", "-o", "out"}).exit_code == 0);
  CHECK(hidden_folders(place.path()) == 0);
}

#ifdef PACELINE_WITH_KERNELS
TEST_CASE("a real network trained inside the simulation gives the same bytes again, and learns") {
  const Workplace place;
  std::string text = scenario_text;
  text.replace(text.find("{kind: none}"), 12, "{kind: network}");
  text.replace(text.find("learning_rate: 0.01"), 19, "learning_rate: 0.02, momentum: 0.9");
  place.write("learning.yaml", text);
  const std::vector<std::string> small = {"--set", "replications=2", "--set", "stop.epochs=10"};
  const auto run = [&](const std::string& folder, const std::string& jobs) {
    std::vector<std::string> arguments = {"run", "learning.yaml", "-o", folder, "-j", jobs};
    arguments.insert(arguments.end(), small.begin(), small.end());
    return place.paceline(arguments);
  };
  const ProgramResult first = run("a", "1");
  INFO(first.err);
  REQUIRE(first.exit_code == 0);
  REQUIRE(run("b", "2").exit_code == 0);
  check_identical(place.path() / "a", place.path() / "b");
  // 10 epochs of 4096 samples: some 1280 updates of ASP. Ten classes: chance is 0.1.
  const auto summary = nlohmann::json::parse(read_file(place.path() / "a/manifest.json"));
  CHECK(summary.at("scenario").at("learner.kind") == "network");
  const std::string curve = read_file(place.path() / "a/curve.csv");
  const std::string last_line = curve.substr(curve.rfind('\n', curve.size() - 2) + 1);
  CHECK(std::stod(last_line.substr(last_line.rfind(',') + 1)) > 0.3);
}
#endif
