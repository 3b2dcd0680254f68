#include "sim/cost/profile.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/base/diagnostic.hpp"
#include "tests/cost/example_profile.hpp"

namespace paceline {
namespace {

// The complaint about a profile with this content, its path replaced by "FILE"; empty when it is accepted.
std::string complaint(const std::string& content) {
  const TemporaryFile file(content);
  try {
    static_cast<void>(read_profile(file.path()));
    return "";
  } catch (const UserError& error) {
    std::string text = error.what();
    const auto at = text.find(file.path().string());
    REQUIRE(at != std::string::npos);
    return text.replace(at, file.path().string().size(), "FILE");
  }
}

struct BadProfile {
  std::string change;    // a JSON patch operation on the example
  std::string expected;  // a part of the complaint
};

}  // namespace

TEST_CASE("a valid profile is read, fits by ascending cores, with their optimizer steps") {
  const TemporaryFile file(example_profile().dump());
  const Profile profile = read_profile(file.path());
  CHECK(profile.path == file.path().string());
  CHECK(profile.network == "small-cnn");
  CHECK(profile.cpu_model == "Test CPU");
  CHECK(profile.parameter_bytes == Bytes{4000.0});
  CHECK(profile.variables.empty());
  REQUIRE(profile.compute.size() == 2);
  CHECK(profile.compute[0].cores == 1);
  CHECK(profile.compute[0].intercept == Seconds{0.004});
  CHECK(profile.compute[0].slope_per_sample == Seconds{0.001});
  CHECK(profile.compute[0].leave_one_out_error == 0.01);
  CHECK(profile.compute[0].batch_min_samples == 8);
  CHECK(profile.compute[0].batch_max_samples == 64);
  CHECK(profile.compute[0].optimizer_step == Seconds{0.0002});
  CHECK(profile.compute[1].cores == 2);
  CHECK(profile.compute[1].optimizer_step == Seconds{0.0001});
  CHECK(profile.server_accumulate_rate == BytesPerSecond{4e9});
  CHECK(profile.server_step_rate == BytesPerSecond{2e9});
  CHECK(profile.jitter.iteration_cv == 0.05);
  CHECK(profile.jitter.run_cv == 0.01);
  CHECK(profile.jitter.processes == 3);
  CHECK(profile.find(2) == &profile.compute[1]);
  CHECK(profile.find(3) == nullptr);
}

TEST_CASE("the content hash is the 64-bit FNV-1a of the bytes: it changes with any byte") {
  std::string content = example_profile().dump();
  // Independent formula: h <- (h xor byte) * 2^40 + 2^8 + 0xb3 …, started at the published offset basis.
  std::uint64_t hash = 14695981039346656037U;
  for (const char byte : content) hash = (hash ^ static_cast<std::uint64_t>(byte)) * 1099511628211U;
  const TemporaryFile file(content);
  const std::string first = read_profile(file.path()).content_hash;
  CHECK(std::stoull(first, nullptr, 16) == hash);
  CHECK(first.size() == 16);
  const TemporaryFile spaced(content + " ");
  CHECK(read_profile(spaced.path()).content_hash != first);
}

TEST_CASE("a run_cv of null means that runs could not be told apart") {
  nlohmann::json json = example_profile();
  json["jitter"]["run_cv"] = nullptr;
  const TemporaryFile file(json.dump());
  CHECK_FALSE(read_profile(file.path()).jitter.run_cv.has_value());
}

TEST_CASE("every wrong field is refused with file, path and reason, and a hint how profiles are made") {
  const std::vector<BadProfile> cases = {
      {R"({"op":"replace","path":"/format","value":"other"})", "FILE: format: must be \"paceline-profile\""},
      {R"({"op":"remove","path":"/format"})", "FILE: format: is missing"},
      {R"({"op":"replace","path":"/version","value":3})",
       "FILE: version: this paceline reads versions 1 to 2"},
      {R"({"op":"replace","path":"/version","value":"1"})",
       "FILE: version: must be a whole number, is \"1\""},
      {R"({"op":"remove","path":"/network/name"})", "FILE: network.name: is missing"},
      {R"({"op":"replace","path":"/network/name","value":""})", "FILE: network.name: must not be empty"},
      {R"({"op":"replace","path":"/network/name","value":3})",
       "FILE: network.name: must be a text, is number"},
      {R"({"op":"replace","path":"/network","value":[]})", "FILE: network: must be an object, is array"},
      {R"({"op":"replace","path":"/network/parameter_bytes","value":0})",
       "FILE: network.parameter_bytes: must be > 0, is 0"},
      {R"({"op":"add","path":"/network/variable_bytes","value":[3000, 999]})",
       "FILE: network.variable_bytes: must sum to parameter_bytes, 4000, not to 3999"},
      {R"({"op":"add","path":"/network/variable_bytes","value":[4001, -1]})",
       "FILE: network.variable_bytes[1]: must be >= 0, is -1"},
      {R"({"op":"add","path":"/network/variable_ready","value":[0.5]})",
       "FILE: network.variable_ready: must have one number for each of variable_bytes, 0, not 1"},
      {R"({"op":"add","path":"/network/variable_ready","value":[0.5, 0]})",
       "FILE: network.variable_ready[1]: must be > 0, is 0"},
      {R"({"op":"add","path":"/network/variable_ready","value":[1.5]})",
       "FILE: network.variable_ready[0]: must be <= 1, is 1.5"},
      {R"({"op":"remove","path":"/machine"})", "FILE: machine: is missing"},
      {R"({"op":"remove","path":"/fits"})", "FILE: fits: is missing"},
      {R"({"op":"replace","path":"/fits/compute","value":[]})", "FILE: fits.compute: must name at least one"},
      {R"({"op":"replace","path":"/fits/compute","value":{}})", "FILE: fits.compute: must be an array"},
      {R"({"op":"replace","path":"/fits/compute/1/slope_s_per_sample","value":-0.1})",
       "FILE: fits.compute[1].slope_s_per_sample: must be >= 0, is -0.1"},
      {R"({"op":"replace","path":"/fits/compute/0/intercept_s","value":null})",
       "FILE: fits.compute[0].intercept_s: must be a number, is null"},
      {R"({"op":"replace","path":"/fits/compute/0/cores","value":0})",
       "FILE: fits.compute[0].cores: must be >= 1, is 0"},
      {R"({"op":"replace","path":"/fits/compute/0/cores","value":1.5})",
       "FILE: fits.compute[0].cores: must be a whole number, is 1.5"},
      {R"({"op":"replace","path":"/fits/compute/0/cores","value":18446744073709551615})",
       "FILE: fits.compute[0].cores: must be <= "},
      {R"({"op":"replace","path":"/fits/compute/1/cores","value":2})",
       "FILE: fits.compute[1].cores: 2 cores appear twice"},
      {R"({"op":"replace","path":"/fits/compute/0/batch_max","value":7})",
       "FILE: fits.compute[0].batch_max: must be >= 8, is 7"},
      {R"({"op":"replace","path":"/fits/compute/0/leave_one_out_error","value":-1})",
       "FILE: fits.compute[0].leave_one_out_error: must be >= 0, is -1"},
      {R"({"op":"remove","path":"/fits/optimizer_step/1"})", "FILE: fits.optimizer_step: lacks 2 cores"},
      {R"({"op":"replace","path":"/fits/optimizer_step/0/cores","value":4})",
       "FILE: fits.optimizer_step[0].cores: fits.compute lacks 4 cores"},
      {R"({"op":"replace","path":"/fits/optimizer_step/0/seconds","value":-1})",
       "FILE: fits.optimizer_step[0].seconds: must be >= 0, is -1"},
      {R"({"op":"replace","path":"/fits/server_accumulate_bytes_per_s","value":0})",
       "FILE: fits.server_accumulate_bytes_per_s: must be > 0"},
      {R"({"op":"remove","path":"/fits/server_step_bytes_per_s"})",
       "FILE: fits.server_step_bytes_per_s: is missing"},
      {R"({"op":"replace","path":"/jitter/iteration_cv","value":-0.1})",
       "FILE: jitter.iteration_cv: must be >= 0, is -0.1"},
      {R"({"op":"remove","path":"/jitter/run_cv"})", "FILE: jitter.run_cv: is missing"},
      {R"({"op":"replace","path":"/jitter/processes","value":0})", "FILE: jitter.processes: must be >= 1"},
  };
  for (const BadProfile& bad : cases) {
    CAPTURE(bad.change);
    const nlohmann::json patch = nlohmann::json::array({nlohmann::json::parse(bad.change)});
    const std::string text = complaint(example_profile().patch(patch).dump());
    CHECK_MESSAGE(text.find(bad.expected) != std::string::npos, text);
    CHECK_MESSAGE(text.find("hint: a profile is made by `paceline calibrate") != std::string::npos, text);
  }
}

TEST_CASE("version 2 adds knee, core law, memory, ensemble and the parts of jitter") {
  const TemporaryFile file(example_profile_2().dump());
  const Profile profile = read_profile(file.path());
  CHECK_FALSE(profile.is_derived);
  CHECK_FALSE(profile.compute[0].knee.has_value());
  CHECK(profile.compute[1].knee == BatchKnee{64.0, Seconds{0.0002}});
  CHECK(profile.compute[1].relative_half_width == 0.03);
  REQUIRE(profile.core_scaling.has_value());
  CHECK(std::get<AmdahlLaw>(profile.core_scaling->law).serial_share == 0.1);
  CHECK_FALSE(profile.core_scaling->leave_one_out_error.has_value());
  CHECK(profile.memory->of(10) == Bytes{1e8 + 10 * 1e6});
  REQUIRE(profile.ensemble.size() == 2);
  CHECK(profile.ensemble[1].compute[1].knee == BatchKnee{64.0, Seconds{0.0003}});
  CHECK(profile.jitter.process_cv == 0.02);
  CHECK(profile.jitter.run_cv_upper == 0.05);
  CHECK(profile.jitter.iteration_quantiles == std::vector<double>{0.9, 1.0, 1.1});
}

TEST_CASE("beyond a knee further samples may take no time, and not less than none") {
  // slope + extra slope = 0 is the limit: time then stays as it is at the knee.
  nlohmann::json json = example_profile_2();
  nlohmann::json& fit = json["fits"]["compute"][0];
  const double slope_s = fit["slope_s_per_sample"].get<double>();
  fit["knee"]["extra_slope_s_per_sample"] = -slope_s;
  const TemporaryFile file(json.dump());
  CHECK(read_profile(file.path()).compute[1].knee->extra_slope == Seconds{-slope_s});
  fit["knee"]["extra_slope_s_per_sample"] = -1.001 * slope_s;
  CHECK(complaint(json.dump()).find("must not make the slope beyond the knee negative") != std::string::npos);
}

TEST_CASE("every wrong field of version 2 is refused with its path") {
  const std::vector<BadProfile> cases = {
      {R"({"op":"replace","path":"/origin","value":"guessed"})", "FILE: origin: must be \"measured\" or"},
      {R"({"op":"replace","path":"/origin","value":"derived"})", "FILE: sources: a derived profile names"},
      {R"({"op":"remove","path":"/fits/compute/0/knee"})", "FILE: fits.compute[0].knee: is missing"},
      {R"({"op":"replace","path":"/fits/compute/0/knee/at_samples","value":0})",
       "FILE: fits.compute[0].knee.at_samples: must be > 0"},
      {R"({"op":"replace","path":"/fits/compute/0/knee/extra_slope_s_per_sample","value":-1})",
       "must not make the slope beyond the knee negative"},
      {R"({"op":"replace","path":"/fits/core_scaling/law","value":"gustafson"})",
       "FILE: fits.core_scaling.law: must be \"amdahl\""},
      {R"({"op":"replace","path":"/fits/core_scaling/serial_share","value":1.5})",
       "FILE: fits.core_scaling.serial_share: must be at most 1"},
      {R"({"op":"replace","path":"/fits/core_scaling/cores_max","value":0})",
       "FILE: fits.core_scaling.cores_max: must be >= 1"},
      {R"({"op":"replace","path":"/fits/memory/base_bytes","value":-1})",
       "FILE: fits.memory.base_bytes: must be >= 0"},
      {R"({"op":"remove","path":"/fits/ensemble/0/1"})", "FILE: fits.ensemble[0]: must have the core counts"},
      {R"({"op":"replace","path":"/fits/ensemble/0/0/0","value":3})",
       "FILE: fits.ensemble[0]: must have the core counts"},
      {R"({"op":"replace","path":"/jitter/iteration_law","value":"normal"})",
       "FILE: jitter.iteration_law: must be \"log_normal\""},
      {R"({"op":"replace","path":"/jitter/iteration_quantiles","value":[1.1, 0.9]})",
       "FILE: jitter.iteration_quantiles[1]: must not be below"},
      {R"({"op":"replace","path":"/jitter/iteration_quantiles","value":null})",
       "FILE: jitter.iteration_quantiles: must be given"},
  };
  for (const BadProfile& bad : cases) {
    CAPTURE(bad.change);
    const nlohmann::json patch = nlohmann::json::array({nlohmann::json::parse(bad.change)});
    const std::string text = complaint(example_profile_2().patch(patch).dump());
    CHECK_MESSAGE(text.find(bad.expected) != std::string::npos, text);
  }
}

TEST_CASE("an intercept and a slope of 0 together would make work free, and are refused") {
  nlohmann::json json = example_profile();
  json["fits"]["compute"][0]["intercept_s"] = 0.0;
  CHECK(complaint(json.dump()).empty());
  json["fits"]["compute"][0]["slope_s_per_sample"] = 0.0;
  CHECK(complaint(json.dump())
            .find("FILE: fits.compute[0]: intercept_s and slope_s_per_sample must not both") !=
        std::string::npos);
}

TEST_CASE(
    "what is not JSON, or holds a number beyond double precision, is refused with its position or path") {
  CHECK(complaint("").find("FILE: not a JSON file") != std::string::npos);
  CHECK(complaint("{\"format\": \n nonsense").find("line 2") != std::string::npos);
  CHECK(complaint("[1, 2]").find("FILE: must be an object, is array") != std::string::npos);
  std::string overflow = example_profile().dump();
  overflow.replace(overflow.find("0.05"), 4, "1e999");
  CHECK(complaint(overflow).find("FILE: not a JSON file: number overflow parsing '1e999'") !=
        std::string::npos);
  std::string not_a_number = example_profile().dump();
  not_a_number.replace(not_a_number.find("0.05"), 4, "NaN");
  CHECK(complaint(not_a_number).find("FILE: not a JSON file") != std::string::npos);
}

TEST_CASE("a profile that is not there, or is a folder, is refused by name") {
  CHECK_THROWS_WITH_AS(static_cast<void>(read_profile("/nowhere/profile.json")),
                       "error: /nowhere/profile.json: no such profile\n"
                       "hint: a profile is made by `paceline calibrate NETWORK -o FILE`\n",
                       UserError);
  CHECK_THROWS_AS(static_cast<void>(read_profile(std::filesystem::temp_directory_path())), UserError);
}

}  // namespace paceline
