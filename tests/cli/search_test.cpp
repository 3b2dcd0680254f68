// Searches for the best setting of a study.
#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/cli/study_place.hpp"
#include "tests/support/text.hpp"

using namespace paceline;
using paceline::test::contains;
using paceline::test::ProgramResult;
using paceline::test::StudyPlace;
namespace fs = std::filesystem;

TEST_CASE("a search finds the cheapest setting and says what it cost, and pays nothing again") {
  const StudyPlace place;
  place.write("search.yaml",
              "study: s\nbase: scenario.yaml\n"
              "vary: [{key: cluster.workers.1.speed, range: {from: 0.25, to: 2, points: 4}}]\n"
              "search: {minimize: core-hours, replications: 3}\n");
  const ProgramResult found = place.paceline({"search", "search.yaml", "-o", "out", "--json"});
  CAPTURE(found.err);
  REQUIRE(found.exit_code == 0);
  const auto report = nlohmann::json::parse(found.out).at(0);
  // Two cores all the time: the faster the second, the shorter.
  CHECK(report.at("best") == "speed 2");
  CHECK(report.at("cost").at("runs") == 12);
  const std::string store = place.text("out/study.sqlite");
  CHECK(place.paceline({"search", "search.yaml", "-o", "out", "--json"}).out == found.out);
  CHECK(place.text("out/study.sqlite") == store);
}

TEST_CASE("a search for money takes the workers' prices, and one that cannot begin leaves nothing behind") {
  const StudyPlace place;
  const std::string vary =
      "study: s\nbase: scenario.yaml\nvary: [{key: cluster.workers.1.speed, values: [1, 2]}]\n";
  place.write("none.yaml", vary);
  const ProgramResult none = place.paceline({"search", "none.yaml", "-o", "out"});
  CHECK(none.exit_code == 2);
  CHECK(contains(none.err, "none.yaml has no `search`"));
  place.write("money.yaml", vary + "search: {minimize: money, replications: 2}\n");
  for (const char* command : {"search", "check"}) {
    const ProgramResult unknown = place.paceline({command, "money.yaml"});
    CHECK(unknown.exit_code == 2);
    CHECK(contains(unknown.err, "no worker has a `price`"));
  }
  place.write("timed.yaml", vary + "search: {}\n");
  CHECK(contains(place.paceline({"check", "timed.yaml"}).err, "nothing says to which"));
  CHECK_FALSE(fs::exists(place.path() / "out"));
  CHECK_FALSE(fs::exists(place.path() / "results"));
  // Two workers at 3600 an hour each: 2 a second.
  place.write("money.yaml",
              vary +
                  "set: {cluster.workers.0.price: 3600 per hour, cluster.workers.1.price: 3600 per "
                  "hour}\nsearch: {minimize: money, replications: 2}\n");
  const ProgramResult found = place.paceline({"search", "money.yaml", "-o", "out", "--json"});
  CAPTURE(found.err);
  REQUIRE(found.exit_code == 0);
  const auto report = nlohmann::json::parse(found.out).at(0);
  // Each setting costs 2 · the mean of its two runs: together as much as all runs took in seconds.
  double money = 0.0;
  for (const auto& tried : report.at("tried")) money += tried.at("score").get<double>();
  CHECK(money == doctest::Approx(report.at("cost").at("simulated_s").get<double>()));
}

TEST_CASE("golden section searches along a range, once for each variant") {
  const StudyPlace place;
  place.write(
      "search.yaml",
      "study: s\nbase: scenario.yaml\nvariants: [{name: small, set: {batching.initial: 16}}, {name: large}]\n"
      "vary: [{key: cluster.workers.1.speed, range: {from: 0.25, to: 2, points: 2}}]\n"
      "search: {method: golden-section, over: speed, minimize: core-hours, replications: 2, tolerance: "
      "0.5}\n");
  const ProgramResult found = place.paceline({"search", "search.yaml", "-o", "out", "--json"});
  CAPTURE(found.err);
  REQUIRE(found.exit_code == 0);
  const auto reports = nlohmann::json::parse(found.out);
  REQUIRE(reports.size() == 2);
  CHECK(reports.at(0).at("of") == "variant small");
  CHECK(reports.at(1).at("best") == "large, speed 2");
  // 1.75 long: 4 settings, and one more for each ln(0.5/1.75) / ln 0.618 = 2.6, so 3.
  CHECK(reports.at(1).at("cost").at("settings") == 7);
}
