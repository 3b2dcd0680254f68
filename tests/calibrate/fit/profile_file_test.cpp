#include "calibrate/fit/profile_file.hpp"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "calibrate/fit/report.hpp"
#include "calibrate/measure/json_records.hpp"
#include "sim/base/check.hpp"
#include "tests/calibrate/fit/synthetic_samples.hpp"
#include "tests/cost/example_profile.hpp"

namespace paceline::calibrate {
namespace {

Calibration noisy_calibration(int processes) {
  const SyntheticMachine machine{
      .iteration_cv = 0.05, .run_cv = 0.02, .processes = processes, .iterations = 20};
  Calibration calibration;
  calibration.network = {"small-cnn", "for tests", {3, 32, 32}, 10, 1000, {900, 100}};
  calibration.machine.cpu_model = "Test \"CPU\"";
  calibration.machine.logical_cores = 2;
  calibration.machine.cpu_flags = {"sse2", "avx2"};
  calibration.machine.core_order = {0, 1};
  calibration.software = {"1.13.1", "OpenBLAS 0.3.21", 1};
  calibration.plan = {"small-cnn", machine.cores, machine.batches, processes, 0.3, 10};
  calibration.command = "paceline calibrate small-cnn";
  calibration.date = "2026-01-01T00:00:00Z";
  calibration.samples = synthetic_samples(machine);
  calibration.fits = fit_profile(calibration.samples, parameter_bytes(calibration.network));
  return calibration;
}

}  // namespace

TEST_CASE("what is written is read back to the last bit") {
  for (const int processes : {2, 3}) {
    CAPTURE(processes);
    const Calibration calibration = noisy_calibration(processes);
    const TemporaryFile file(profile_text(calibration));
    const Profile profile = read_profile(file.path());
    CHECK(profile.network == "small-cnn");
    CHECK(profile.cpu_model == "Test \"CPU\"");
    CHECK(profile.parameter_bytes == Bytes{4.0 * 1000});
    CHECK(profile.variables == std::vector{Bytes{4.0 * 900}, Bytes{4.0 * 100}});
    CHECK(profile.variable_ready.empty());
    REQUIRE(profile.compute.size() == calibration.fits.compute.size());
    for (std::size_t i = 0; i < profile.compute.size(); ++i) {
      const ComputeFit& read = profile.compute[i];
      const ComputeFit& written = calibration.fits.compute[i];
      CHECK(read.cores == written.cores);
      CHECK(read.intercept == written.intercept);
      CHECK(read.slope_per_sample == written.slope_per_sample);
      CHECK(read.leave_one_out_error == written.leave_one_out_error);
      CHECK(read.batch_min_samples == written.batch_min_samples);
      CHECK(read.batch_max_samples == written.batch_max_samples);
      CHECK(read.optimizer_step == written.optimizer_step);
    }
    CHECK(profile.server_accumulate_rate == calibration.fits.server_accumulate_rate);
    CHECK(profile.server_step_rate == calibration.fits.server_step_rate);
    CHECK(profile.jitter.iteration_cv == calibration.fits.jitter.iteration_cv);
    CHECK(profile.jitter.run_cv == calibration.fits.jitter.run_cv);
    CHECK(profile.jitter.processes == processes);
  }
}

TEST_CASE("when each gradient is there is a share of the iteration, which ended last") {
  // 0.3 and 0.2 s of 0.4 s.
  Calibration calibration = noisy_calibration(3);
  calibration.samples.push_back({1, 8, 0, Operation::gradients_ready, {0.3, 0.2, 0.4}});
  const TemporaryFile file(profile_text(calibration));
  CHECK(read_profile(file.path()).variable_ready == std::vector{0.3 / 0.4, 0.2 / 0.4});
}

TEST_CASE("loading times are read back, with the data set and the samples they are from") {
  Calibration calibration = noisy_calibration(3);
  calibration.plan.data = DataChoice{"cifar10", "/data/cifar"};
  calibration.fits.loading = LoadingFit{"cifar10", Seconds{1e-4}, Seconds{2e-5}};
  const TemporaryFile file(profile_text(calibration));
  const MeasuredProfile read = read_measured_profile(file.path());
  REQUIRE(read.profile.loading);
  CHECK(read.profile.loading->data == "cifar10");
  CHECK(read.profile.loading->of(10.0).value() == doctest::Approx(3e-4));
  REQUIRE(read.plan.data);
  CHECK(read.plan.data->path == "/data/cifar");
  CHECK(read.samples.size() == calibration.samples.size());
}

TEST_CASE("the raw samples in a profile give its fits again") {
  const Calibration calibration = noisy_calibration(3);
  const auto json = nlohmann::json::parse(profile_text(calibration));
  std::vector<Sample> samples;
  for (const auto& entry : json.at("samples"))
    samples.push_back({entry.at("cores"), entry.at("batch"), entry.at("process"),
                       entry.at("operation").get<Operation>(), entry.at("seconds")});
  const ProfileFits again =
      fit_profile(samples, Bytes{json.at("network").at("parameter_bytes").get<double>()});
  REQUIRE(again.compute.size() == calibration.fits.compute.size());
  for (std::size_t i = 0; i < again.compute.size(); ++i) {
    CHECK(again.compute[i].intercept == calibration.fits.compute[i].intercept);
    CHECK(again.compute[i].slope_per_sample == calibration.fits.compute[i].slope_per_sample);
  }
  CHECK(again.jitter.run_cv == calibration.fits.jitter.run_cv);
}

TEST_CASE("a profile names machine, software and the command that repeats it") {
  const auto json = nlohmann::json::parse(profile_text(noisy_calibration(3)));
  CHECK(json.at("machine").at("governor").is_null());
  CHECK(json.at("machine").at("cpu_flags") == nlohmann::json({"sse2", "avx2"}));
  CHECK(json.at("software").at("blas") == "OpenBLAS 0.3.21");
  CHECK(json.at("measurement").at("command") == "paceline calibrate small-cnn");
  CHECK(json.at("measurement").at("batches") == nlohmann::json({8, 16, 32, 64, 128}));
}

TEST_CASE("a number that is not finite never reaches a file, where it would become null") {
  Calibration calibration = noisy_calibration(3);
  calibration.fits.compute[0].intercept = Seconds{std::numeric_limits<double>::quiet_NaN()};
  CHECK_THROWS_AS(static_cast<void>(profile_text(calibration)), ProgrammingError);
}

TEST_CASE("warnings appear above 10 % of noise or error, for the reference BLAS, and not below") {
  Calibration calibration = noisy_calibration(3);
  calibration.samples = synthetic_samples({});  // without noise: their intervals are narrow
  calibration.fits.jitter = {0.09, 0.02, 3};
  calibration.fits.compute[0].leave_one_out_error = 0.09;
  CHECK(warnings_about(calibration).empty());
  calibration.fits.jitter.iteration_cv = 0.11;
  CHECK(warnings_about(calibration).size() == 1);
  calibration.fits.compute[0].leave_one_out_error = 0.11;
  CHECK(warnings_about(calibration).size() == 2);
  calibration.fits.jitter.run_cv = 0.11;
  CHECK(warnings_about(calibration).size() == 3);
  calibration.software.blas = "reference BLAS (/usr/lib/libblas.so.3)";
  CHECK(warnings_about(calibration).size() == 4);
  calibration.other_load = 0.04;
  CHECK(warnings_about(calibration).size() == 4);
  calibration.other_load = 0.06;
  CHECK(warnings_about(calibration).size() == 5);
  calibration.samples.push_back({1, 8, 0, Operation::reference_loop, {0.010}});
  calibration.samples.push_back({1, 8, 1, Operation::reference_loop, {0.0104}});
  CHECK(warnings_about(calibration).size() == 5);
  calibration.samples.push_back({1, 8, 2, Operation::reference_loop, {0.0106}});
  CHECK(warnings_about(calibration).size() == 6);
  calibration.machine.quota = CpuQuota{0.5, Seconds{0.1}};
  CHECK(warnings_about(calibration).size() == 7);
  for (Sample& sample : calibration.samples)
    if (sample.process == 2)
      for (double& seconds : sample.seconds) seconds *= 1.1;
  // Three processes, one of them 10 % off: sd 5.5 % of the log mean, ± 4.30 · 5.5 %/√3 = 14 %.
  CHECK(warnings_about(calibration).size() == 8);
}

TEST_CASE("for machines a profile comes without its samples, with measured against predicted times") {
  const Calibration calibration = noisy_calibration(3);
  const TemporaryFile file(profile_text(calibration));
  const auto json =
      nlohmann::json::parse(profile_report_json(read_measured_profile(file.path()), {"beware"}));
  CHECK(json.at("profile") == file.path().string());
  CHECK_FALSE(json.contains("samples"));
  CHECK(json.at("fits").at("compute").at(1).at("intercept_s") ==
        calibration.fits.compute[1].intercept.value());
  CHECK(json.at("warnings") == nlohmann::json({"beware"}));
  // One point for each batch of each core count, off by predicted / measured - 1.
  CHECK(json.at("points").size() == calibration.plan.batches.size() * calibration.plan.cores.size());
  const auto& point = json.at("points").at(0);
  CHECK(point.at("relative_error").get<double>() ==
        doctest::Approx(point.at("predicted_s").get<double>() / point.at("measured_s").get<double>() - 1.0));
}

}  // namespace paceline::calibrate
