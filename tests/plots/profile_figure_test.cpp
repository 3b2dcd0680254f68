#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "plots/draw.hpp"
#include "plots/figures/figures.hpp"
#include "sim/base/diagnostic.hpp"
#include "tests/cost/example_profile.hpp"

namespace paceline::plots {
namespace {

nlohmann::json sampled_profile() {
  nlohmann::json profile = example_profile_2();
  // 4 ms + 32 · 1 ms = 36 ms on one core: 5 % above, and a stall that does not count
  profile["samples"] = {{{"cores", 1},
                         {"batch", 32},
                         {"process", 0},
                         {"operation", "forward_backward"},
                         {"seconds", {0.0378, 0.0378, 0.0378, 9.0}}}};
  return profile;
}

std::string script_of(const TemporaryFile& profile) {
  return gnuplot_script(profile_figure(profile.path()), "paceline plot profile.json");
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a profile's figure holds its points with residuals, its laws and their bands") {
  const TemporaryFile file(sampled_profile().dump());
  const std::string script = script_of(file);
  CHECK(has(script, "32 0.0378 5\n"));
  // At batch 8 on one core: 4 + 8 = 12 ms; the ensemble 12 and 5 + 8.8 = 13.8 ms: 2.5 % and 97.5 % between
  // them
  CHECK(has(script, "8 0.012 0.012045 0.013755\n"));
  CHECK(has(script, "$law_2"));
  CHECK_FALSE(has(script, "$points_2"));
  CHECK(has(script, "small-cnn on Test CPU"));
}

TEST_CASE("both panels of a profile's figure span the same batches") {
  const TemporaryFile file(sampled_profile().dump());
  const std::string script = script_of(file);
  // The laws of the example are known from 8 to 128 samples, and drawn on to half and twice that.
  CHECK(has(script, "set xrange [4:256]"));
  CHECK(has(script, "residual ("));
}

TEST_CASE("samples set aside are counted below the figure, not drawn") {
  nlohmann::json profile = sampled_profile();
  profile["samples"][0]["set_aside"] = true;
  const TemporaryFile file(profile.dump());
  const std::string script = script_of(file);
  CHECK_FALSE(has(script, "$points_1"));
  CHECK(has(script, "1 set aside"));
}

TEST_CASE("a derived profile has no residuals, and a law known at one batch is drawn around its point") {
  nlohmann::json profile = example_profile_2();
  profile["origin"] = "derived";
  profile["sources"] = {"a figure"};
  profile.erase("samples");
  for (auto& fit : profile["fits"]["compute"]) fit["batch_min"] = fit["batch_max"] = 32;
  const TemporaryFile file(profile.dump());
  const std::string script = script_of(file);
  CHECK_FALSE(has(script, "residual ("));
  // 32 / 4 to 32 · 4; at batch 32 on one core 4 + 32 = 36 ms
  CHECK(has(script, "set xrange [8:128]"));
  CHECK(has(script, "$known_1 << END_OF_DATA\n# batch seconds\n32 0.036\n"));
  CHECK(has(script, "one batch is known"));
}

TEST_CASE("gnuplot draws it, and a profile is drawn by itself") {
  const TemporaryFile file(sampled_profile().dump());
  const std::filesystem::path folder = file.path().string() + "-figures";
  PlotRequest request{.folders = {file.path()}, .output = folder};
  CHECK(draw_figures(request).size() == 4);  // PDF, PNG, script, caption
  std::filesystem::remove_all(folder);
  request.folders.push_back(file.path());
  CHECK_THROWS_WITH_AS(draw_figures(request), doctest::Contains("a file is drawn by itself"), UserError);
}

TEST_CASE("a file that is no profile is refused by name") {
  const TemporaryFile file("{}");
  CHECK_THROWS_AS(static_cast<void>(profile_figure(file.path())), UserError);
}

}  // namespace paceline::plots
