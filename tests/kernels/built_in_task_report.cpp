// Prints how the built-in images behave: accuracy against gradients under BSP and ASP over several seeds, the
// ceiling, the updates to 80 % of it, and the time of one gradient. The figures quoted in
// kernels/data/built_in_images.hpp come from this program.
//   usage: built_in_task_report [seeds] [workers] [learning rate] [gradients]
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "kernels/interface/training_step.hpp"
#include "tests/kernels/training_emulation.hpp"

namespace {

using namespace paceline;
using namespace paceline::test;

struct Options {
  std::uint32_t seeds = 10;
  std::uint32_t workers = 8;
  double learning_rate = 0.02;
  std::int64_t gradients = 10000;
};

constexpr std::int64_t evaluate_every = 80;
constexpr std::int64_t print_every = 800;
constexpr std::size_t ceiling_points = 10;

Options read_options(int argc, char** argv) {
  Options options;
  if (argc > 1) options.seeds = static_cast<std::uint32_t>(std::atoi(argv[1]));
  if (argc > 2) options.workers = static_cast<std::uint32_t>(std::atoi(argv[2]));
  if (argc > 3) options.learning_rate = std::atof(argv[3]);
  if (argc > 4) options.gradients = std::atol(argv[4]);
  return options;
}

// One column of the table: the accuracies of all seeds at each printed number of gradients, and the ends.
struct PolicyResult {
  std::map<std::int64_t, std::vector<double>> accuracy;
  std::vector<std::vector<CurvePoint>> curves;
  std::vector<double> last;  // mean of the last evaluations of each seed
};

PolicyResult run_policy(const char* synchronization, const Options& options) {
  PolicyResult result;
  for (std::uint32_t seed = 1; seed <= options.seeds; ++seed) {
    const std::vector<CurvePoint> curve =
        emulate_training({.synchronization = synchronization,
                          .seed = seed,
                          .workers = options.workers,
                          .hyperparameters = {.learning_rate = options.learning_rate, .momentum = 0.9},
                          .gradients = options.gradients,
                          .evaluate_every = evaluate_every});
    for (const CurvePoint& point : curve) {
      const std::int64_t nearest = point.gradients / print_every * print_every;
      if (point.gradients - nearest < evaluate_every) {
        result.accuracy[nearest].push_back(point.evaluation.accuracy);
      }
    }
    double sum = 0.0;
    for (std::size_t i = curve.size() - ceiling_points; i < curve.size(); ++i) {
      sum += curve[i].evaluation.accuracy;
    }
    result.last.push_back(sum / ceiling_points);
    result.curves.push_back(curve);
  }
  return result;
}

// Gradients to the first evaluation at or above `accuracy`.
std::optional<std::int64_t> first_reach(const std::vector<CurvePoint>& curve, double accuracy) {
  const auto found = std::ranges::find_if(
      curve, [&](const CurvePoint& point) { return point.evaluation.accuracy >= accuracy; });
  if (found == curve.end()) return std::nullopt;
  return found->gradients;
}

void print_reach(const char* name, const PolicyResult& result, double target, std::uint32_t per_update) {
  fmt::print("{} updates to {:.3f}:", name, target);
  for (const auto& curve : result.curves) {
    const auto reached = first_reach(curve, target);
    fmt::print(" {}", reached ? std::to_string(*reached / per_update) : "never");
  }
  fmt::print("\n");
}

void print_gradient_time() {
  kernels::set_compute_threads(1);
  kernels::TrainingStep step({"small-cnn"}, 32);
  std::vector<double> milliseconds;
  for (int i = 0; i < 300; ++i) {
    const auto start = std::chrono::steady_clock::now();
    step.forward();
    step.backward();
    milliseconds.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::ranges::sort(milliseconds);
  fmt::print("forward+backward, small-cnn, batch 32, 1 thread: median {:.2f} ms, 95 % below {:.2f} ms\n",
             milliseconds[150], milliseconds[285]);
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  print_gradient_time();
  const PolicyResult bsp = run_policy("bsp", options);
  const PolicyResult asp = run_policy("asp", options);
  fmt::print("{} workers, batch 32, learning rate {}, momentum 0.9, {} seeds; accuracy mean (sd)\n",
             options.workers, options.learning_rate, options.seeds);
  fmt::print("{:>9} {:>11} {:>15} {:>15}\n", "gradients", "BSP updates", "BSP", "ASP");
  for (const auto& [gradients, values] : bsp.accuracy) {
    const MeanAndDeviation b = summarize(values);
    const MeanAndDeviation a = summarize(asp.accuracy.at(gradients));
    fmt::print("{:>9} {:>11} {:>7.3f} ({:.3f}) {:>7.3f} ({:.3f})\n", gradients, gradients / options.workers,
               b.mean, b.deviation, a.mean, a.deviation);
  }
  const MeanAndDeviation bsp_end = summarize(bsp.last);
  const MeanAndDeviation asp_end = summarize(asp.last);
  fmt::print("end (mean of the last {} evaluations): BSP {:.3f} (sd {:.3f}), ASP {:.3f} (sd {:.3f})\n",
             ceiling_points, bsp_end.mean, bsp_end.deviation, asp_end.mean, asp_end.deviation);
  const double target = 0.8 * bsp_end.mean;
  print_reach("BSP", bsp, target, options.workers);
  print_reach("ASP", asp, target, 1);
}
