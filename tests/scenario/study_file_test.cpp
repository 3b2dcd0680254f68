#include <doctest/doctest.h>

#include "sim/base/diagnostic.hpp"
#include "sim/scenario/sweep/study_plan.hpp"
#include "tests/scenario/good_example.hpp"

namespace paceline::test {
namespace {

constexpr std::string_view good_study = R"(study: quickstart
question: Which policy is first?
base: base.yaml
variants:
  - name: BSP, uniform batches
    set: {batching.controller: uniform}
  - name: ASP
    set:
      synchronization: [{policy: asp, transport: server}]
      cluster.workers[1].speed: 0.5
  - name: as it is
)";

std::vector<LoadedScenario> load(std::string_view study, const std::vector<std::string>& overrides = {}) {
  const Folder folder;
  (void)folder.write("base.yaml", good_example);
  return load_study(folder.write("study.yaml", study), overrides);
}

std::string study_complaint(std::string_view study, const std::vector<std::string>& overrides = {},
                            std::string_view base = good_example) {
  const Folder folder;
  (void)folder.write("base.yaml", base);
  try {
    (void)load_study(folder.write("study.yaml", study), overrides);
    return "";
  } catch (const UserError& error) {
    std::string said = error.what();
    const std::string prefix = folder.path().string() + "/";
    for (std::size_t at = said.find(prefix); at != said.npos; at = said.find(prefix))
      said.erase(at, prefix.size());
    return said;
  }
}

TEST_CASE("a study is its base with each variant's values in place, under the variant's name") {
  const std::vector<LoadedScenario> study = load(good_study);
  REQUIRE(study.size() == 3);
  const Scenario& bsp = study[0].scenario;
  CHECK(study[0].scenario.name == "BSP, uniform batches");
  CHECK(bsp.name == "BSP, uniform batches");
  CHECK(bsp.batching.controller == "uniform");
  CHECK(bsp.synchronization.size() == 2);
  const Scenario& asp = study[1].scenario;
  CHECK(asp.synchronization.size() == 1);
  CHECK(asp.cluster.workers[1].speed == 0.5);
  CHECK(asp.batching.controller == "dynamic");
  CHECK(study[2].scenario.cluster.workers[1].speed == 1.0);
}

TEST_CASE("a study has its name and its question") {
  const Folder folder;
  (void)folder.write("base.yaml", good_example);
  const StudyPlan plan = load_study_plan(folder.write("study.yaml", good_study), {});
  CHECK(plan.name == "quickstart");
  CHECK(plan.question == "Which policy is first?");
}

TEST_CASE("the origin of a variant's value is its line of the study file") {
  const std::vector<LoadedScenario> study = load(good_study);
  CHECK(value_of(study[0], "batching.controller").origin.ends_with("study.yaml:6:32"));
  CHECK(value_of(study[1], "name").origin.ends_with("study.yaml:7:11"));
  CHECK(value_of(study[1], "seed").origin.ends_with("base.yaml:4:7"));
}

TEST_CASE("overrides apply to every variant") {
  for (const LoadedScenario& variant : load(good_study, {"batching.initial=48", "replications=2"})) {
    CHECK(variant.scenario.batching.initial_samples == 48);
    CHECK(variant.scenario.replications == 2);
  }
}

TEST_CASE("an override of what a variant sets is refused, because the variant's name would become untrue") {
  CHECK_THROWS_AS(load(good_study, {"batching.controller=static"}), UserError);
  CHECK_THROWS_AS(load(good_study, {"batching={controller: static, initial: 32}"}), UserError);
  CHECK_THROWS_AS(load(good_study, {"synchronization.0.transport=server"}), UserError);
}

TEST_CASE("relative paths start at the file they are written in") {
  const Folder folder;
  std::filesystem::create_directory(folder.path() / "sub");
  (void)folder.write("sub/base.yaml", good_example);
  std::string text = replaced(good_study, "base: base.yaml", "base: sub/base.yaml");
  text = replaced(text, "{batching.controller: uniform}", "{job.profile: p.json}");
  const std::vector<LoadedScenario> study = load_study(folder.write("study.yaml", text), {});
  CHECK(study[0].scenario.job.profile == folder.path() / "p.json");
  CHECK(study[1].scenario.job.profile == folder.path() / "sub/profiles/this.json");
}

TEST_CASE("a mistake in a variant is reported at its line of the study file, with the variant") {
  CHECK(study_complaint(replaced(good_study, "batching.controller: uniform", "batching.contrller: uniform"))
            .starts_with(
                "study.yaml:6:11: error: unknown key `contrller` in `batching` (in `BSP, uniform batches`)\n"
                "  6 |     set: {batching.contrller: uniform}\n"
                "    |           ^\n"
                "hint: did you mean `controller`?\n"));
  CHECK(study_complaint(replaced(good_study, "speed: 0.5", "speed: fast"))
            .starts_with(
                "study.yaml:10:33: error: `cluster.workers.1.speed`: expected a number above 0, found `fast` "
                "(in `ASP`)\n"));
}

TEST_CASE("a mistake of the base is reported once, at the base") {
  const std::string said =
      study_complaint(good_study, {}, replaced(good_example, "latency: 50 us", "latency: 50"));
  CHECK(said.starts_with("base.yaml:14:59: error: `cluster.network.latency`: `50` has no unit\n"));
  CHECK(said.ends_with("\n1 error in study.yaml\n"));
}

TEST_CASE("mistakes of the study, of variants and of overrides come together") {
  std::string text = replaced(good_study, "question:", "quetsion:");
  text = replaced(text, "speed: 0.5", "speed: 0");
  const std::string said = study_complaint(text, {"sed=1"});
  CHECK(said.find("--set sed=1: error: unknown key `sed`\n") != said.npos);
  CHECK(said.find("study.yaml:2:1: error: unknown key `quetsion`\n") != said.npos);
  CHECK(said.ends_with("\n3 errors in study.yaml\n"));
}

TEST_CASE("an absent or broken base is reported") {
  CHECK(study_complaint(replaced(good_study, "base.yaml", "other.yaml"))
            .starts_with("study.yaml:3:7: error: there is no file other.yaml\n"));
  CHECK(study_complaint(good_study, {}, "a: [").starts_with("base.yaml:1:4: error: not valid YAML"));
  CHECK(study_complaint(good_study, {}, "").starts_with("base.yaml:1:1: error: the file is empty\n"));
}

TEST_CASE("missing keys of a study and its variants") {
  CHECK(study_complaint(replaced(good_study, "study: quickstart\n", ""))
            .starts_with("study.yaml:1:1: error: missing key `study`\n"));
  CHECK(study_complaint(replaced(good_study, "name: ASP\n    set:", "set:"))
            .starts_with("study.yaml:7:5: error: missing key `name` in `variants.1`\n"));
  CHECK(study_complaint("study: a\nbase: base.yaml\nvariants: []\n")
            .starts_with("study.yaml:3:11: error: `variants` has 0 items, at least 1 variant is needed\n"));
}

TEST_CASE("variant names differ, also as folders") {
  CHECK(study_complaint(replaced(good_study, "as it is", "ASP"))
            .starts_with("study.yaml:11:11: error: the variant name `ASP` is already used\n"));
  CHECK(study_complaint(replaced(good_study, "as it is", "asp!"))
            .starts_with("study.yaml:11:11: error: `ASP` and `asp!` would share the results folder `asp`\n"));
}

TEST_CASE("a variant's scenario takes the variant's name and no other") {
  CHECK(study_complaint(good_study, {"name=x"})
            .starts_with("--set name=x: error: `name` cannot be set in a study\n"));
  CHECK(study_complaint(replaced(good_study, "batching.controller: uniform", "name: x"))
            .starts_with("study.yaml:6:11: error: `name` cannot be set in a study\n"));
}

TEST_CASE("a study file is told from a scenario by its keys, also when it has mistakes") {
  const Folder folder;
  CHECK(is_study_file(folder.write("a.yaml", good_study)));
  CHECK(is_study_file(folder.write("b.yaml", "variants: []\nnam: x\n")));
  CHECK_FALSE(is_study_file(folder.write("c.yaml", good_example)));
  CHECK_FALSE(is_study_file(folder.write("d.yaml", "- study\n")));
  CHECK_THROWS_AS((void)is_study_file(folder.path() / "no.yaml"), UserError);
}

TEST_CASE("folder names are lower-case letters, digits and single hyphens, and never empty") {
  CHECK(folder_name("BSP, uniform batches") == "bsp-uniform-batches");
  CHECK(folder_name("BSP→ASP (25 %)") == "bsp-asp-25");
  CHECK(folder_name("../../etc/passwd") == "etc-passwd");
  CHECK(folder_name("$(rm -rf /)") == "rm-rf");
  CHECK(folder_name("--a--") == "a");
  CHECK(folder_name("") == "unnamed");
  CHECK(folder_name("…") == "unnamed");
  CHECK(folder_name(std::string(1000, 'x')) == std::string(100, 'x'));
}

}  // namespace
}  // namespace paceline::test
