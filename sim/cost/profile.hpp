// A calibration profile: how long one network's work takes on one kind of machine, as measured there.
//
// Models:      seconds of forward+backward for (cores, batch); of the optimizer step; server rates; memory;
//              jitter and how sure all of that is.
// Equation:    compute_law.hpp: one law of the batch for each measured core count, and, where enough counts
//              were measured, one law for the counts between and beyond them. Jitter multiplies the time by
//              factors of mean 1 (compute_time.hpp). memory(batch) = base_bytes + batch · bytes_per_sample.
// Units:       seconds, samples, bytes.
// Assumptions: a batch outside the measured range, or a core count that was not measured, is extrapolated by
//              the laws and reported; a count without a law is an error.
// Not modelled: power and thermal limits; what shares the machine.
// Source:      OmniLearn (ACSOS 2020), figure 5, for affine times and the knee; docs/models.md.
//
// The file is JSON, written by `paceline calibrate`:
//   format "paceline-profile", version 2 (version 1 is still read; it lacks what is marked +)
//   origin      + "measured" | "derived" from published figures or logs
//   sources     + [..] one text for each number of a derived profile; empty when measured
//   network     {name, parameter_count, parameter_bytes, variable_bytes + (absent: not known): [..] of each
//                variable, in order of creation, 0 of one that is not trained; variable_ready + (absent:
//                not known): [..] share of an iteration (forward and backward) after which its gradient is
//                there}
//   dataset     + {name, classes} it was trained on; each null, or all absent: not known. A calibration
//               without --data works on random samples: it has classes and no name
//   machine     {cpu_model, logical_cores, physical_cores, memory_bytes, governor (null: unreadable),
//                cpu_flags: [..], cpu_quota + : null | {cores, period_s}}
//   software    {paceline, libtorch, blas, compiler}
//   measurement {command, date, processes, batches: [..], cores: [..], seconds_per_point, minimum_iterations,
//                other_load (share of the measured cores that other programs took; null: unknown),
//                clock + : "wall" | "processor" (one thread under a quota of less than one core),
//                environment: [..] of the measuring processes on the fewest cores, dropped: [..] (+; in
//                words), network_file +, input_shape +, classes + (of a user's own network),
//                data + : null | {kind, path} of the data set that was loaded}
//   fits        {compute: [{cores, intercept_s, slope_s_per_sample, leave_one_out_error (null + : not known),
//                           batch_min, batch_max, law + : "affine" | "knee",
//                           knee + : null | {at_samples, extra_slope_s_per_sample},
//                           candidates + : [{law, leave_one_out_error}],
//                           relative_half_width + (null: not known)}],
//                optimizer_step: [{cores, seconds}],
//                server_accumulate_bytes_per_s, server_step_bytes_per_s,
//                core_scaling + : null | {law: "amdahl" | "power" | "universal", serial_share, coherence,
//                                         exponent, leave_one_out_error (null: too few counts), cores_min,
//                                         cores_max},
//                memory + : null | {base_bytes, bytes_per_sample},
//                data_loading + (absent or null: not measured): {data, intercept_s, slope_s_per_sample},
//                ensemble + : [[[cores, intercept_s, slope_s_per_sample, knee_at, extra_slope], ..], ..]
//                             equally likely parameters, bootstrapped by process; knee_at 0: no knee}
//   correction  + (absent: none) {factor, offset_s, relative_half_width, summary: in words, clock: "wall" |
//                "processor", cores, with_optimizer_step, warm_up_steps, date,
//                points: [{batch, steps, measured_s, half_width_s, profile_s, wall_s, processor_s}]}
//               `fits` hold already: an iteration takes factor · (as measured) + offset_s; samples do not
//   jitter      {iteration_cv, run_cv (null: not told apart from noise), processes, process_cv + (null
//                likewise), run_cv_upper + (null: unknown), iteration_law + : "log_normal" | "empirical",
//                iteration_quantiles + : null | [..] of the factor at equally spaced probabilities 0 … 1,
//                mean 1, cluster_cv + (null or absent: unknown): between clusters of this kind, or days}
//               coefficients of variation (sd / mean); `processes` per core count
//   samples     [{cores, batch, process, operation, seconds: [..]}]
//               operation: forward_backward | forward + (its first part) | load_batch + | optimizer_step |
//                          server_accumulate | server_step |
//                          gradients_ready + (from the beginning of an iteration until each variable's was
//                          there, in order of creation; last its end) |
//                          reference_loop + (the same arithmetic in every process: the clock's speed) |
//                          core_round_trip + (of a cache line between the cores, before and after the batch)
//               `process` counts from 0 for each core count. `batch` is the batch of the training step at
//               work, also for the operations whose duration does not depend on it. Of all operations but
//               gradients_ready `seconds` holds at most 60 durations, every n-th of those measured, in the
//               order of measuring. peak_memory_bytes +, where it was measured.
//               set_aside + (true): not fitted, because the cores were nearer or further apart than in the
//               state the fits describe.
// Readers accept members they do not know; only this list is promised.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/cost/identity.hpp"

namespace paceline {

// Beyond `at_samples` each further sample takes `extra_slope` more (caches overflow) or, negative, less
// (small batches leave cores idle).
struct BatchKnee {
  double at_samples = 0.0;
  Seconds extra_slope;
  friend bool operator==(const BatchKnee&, const BatchKnee&) = default;
};

struct ComputeFit {
  int cores = 1;
  Seconds intercept;
  Seconds slope_per_sample;
  // mean |predicted - measured| / measured over batches left out one at a time; 0 where nothing was measured
  double leave_one_out_error = 0.0;
  std::int64_t batch_min_samples = 0;
  std::int64_t batch_max_samples = 0;
  Seconds optimizer_step{};
  std::optional<BatchKnee> knee = std::nullopt;
  std::optional<double> relative_half_width{};  // of the 95 % interval, the widest over the batches
};

struct JitterFit {
  double iteration_cv = 0.0;
  std::optional<double> run_cv;  // absent when runs could not be told apart from noise
  int processes = 0;
  std::optional<double> process_cv = std::nullopt;    // likewise, between processes of one run
  std::optional<double> run_cv_upper = std::nullopt;  // 95 % limit; what run_cv may be where it is absent
  std::vector<double> iteration_quantiles = {};       // empirical iteration factor; empty: log-normal
  std::optional<double> cluster_cv = std::nullopt;    // between clusters of this kind, or days
};

// memory of a worker = base + batch · per_sample
struct MemoryFit {
  Bytes base;
  Bytes per_sample;

  [[nodiscard]] Bytes of(std::int64_t batch_samples) const {
    return base + static_cast<double>(batch_samples) * per_sample;
  }
  // The largest batch that fits into `capacity`, 0 when not even one sample does.
  [[nodiscard]] std::int64_t largest_batch(Bytes capacity) const;
};

// seconds to fetch and normalize a batch = intercept + batch · per_sample, on one core
struct LoadingFit {
  std::string data;  // of which data set
  Seconds intercept;
  Seconds per_sample;

  [[nodiscard]] Seconds of(double batch_samples) const { return intercept + batch_samples * per_sample; }
};

// How the time of an iteration changes with the number of cores c, relative to one core; all batches scale
// alike.
//   Amdahl                  ρ(c) = σ + (1 − σ)/c                              σ: serial share, 0-1
//   power                   ρ(c) = c^(−α)                                     α: exponent ≥ 0
//   universal scalability   ρ(c) = (1 + σ(c − 1) + κ·c(c − 1)) / c            κ: coherence ≥ 0
// Not modelled: sockets, shared caches, hyper-threads. Source: Amdahl 1967; Gunther, "A general theory of
// computational scalability based on rational functions", 2008.
struct AmdahlLaw {
  static constexpr std::string_view name = "amdahl";
  double serial_share = 0.0;

  [[nodiscard]] double ratio(double c) const { return serial_share + (1.0 - serial_share) / c; }
};
struct PowerLaw {
  static constexpr std::string_view name = "power";
  double exponent = 1.0;

  [[nodiscard]] double ratio(double c) const { return std::pow(c, -exponent); }
};
struct UniversalLaw {
  static constexpr std::string_view name = "universal";
  double serial_share = 0.0;
  double coherence = 0.0;

  [[nodiscard]] double ratio(double c) const {
    return (1.0 + serial_share * (c - 1.0) + coherence * c * (c - 1.0)) / c;
  }
};
using CoreLaw = std::variant<AmdahlLaw, PowerLaw, UniversalLaw>;

// ρ(cores) of the law; cores ≥ 1.
[[nodiscard]] inline double time_ratio(const CoreLaw& law, int cores) {
  return std::visit([&](const auto& each) { return each.ratio(cores); }, law);
}
[[nodiscard]] inline std::string_view law_name(const CoreLaw& law) {
  return std::visit([](const auto& each) { return each.name; }, law);
}

// The law, and what it was fitted on.
struct CoreScalingFit {
  CoreLaw law;
  std::optional<double> leave_one_out_error;  // absent below 3 measured core counts
  int cores_min = 1;
  int cores_max = 1;
};

// One equally likely set of compute parameters.
struct ProfileDraw {
  std::vector<ComputeFit> compute;  // intercept, slope and knee for each measured core count
};

// The fits have been corrected by a user's own training loop: factor · (as measured) + offset.
struct ProfileCorrection {
  double factor = 1.0;
  Seconds offset{};
  std::string summary;  // "by 400 steps of `python3 train.py`, ± 1 %"
};

struct Profile {
  std::string path;
  std::string content_hash;  // FNV-1a of the file's bytes, in hexadecimal
  std::string network;
  Identity identity = {};  // the same, with its parameters and the data set
  std::string cpu_model;
  Bytes parameter_bytes;
  std::vector<Bytes> variables = {};        // in order of creation; empty: not known
  std::vector<double> variable_ready = {};  // of each; empty: not known
  std::vector<ComputeFit> compute;          // by ascending cores
  BytesPerSecond server_accumulate_rate;
  BytesPerSecond server_step_rate;
  JitterFit jitter;
  bool is_derived = false;  // from published figures or logs, not measured
  std::optional<CoreScalingFit> core_scaling = std::nullopt;
  std::optional<MemoryFit> memory = std::nullopt;
  std::vector<ProfileDraw> ensemble = {};
  std::optional<LoadingFit> loading = std::nullopt;
  std::optional<ProfileCorrection> correction = std::nullopt;

  // The fit for exactly this many cores, if it was measured.
  [[nodiscard]] const ComputeFit* find(int cores) const;
};

// Reads and checks a profile. Throws UserError naming the file and the offending field when it is missing,
// not JSON, of another format or version, incomplete, or holds impossible numbers.
[[nodiscard]] Profile read_profile(const std::filesystem::path& path);

// The calibration files of one job: its own, and those of workers that are other machines. All are of one
// network, so that gradients have one size. Servers and jitter follow the job's, a worker's times its own.
struct Profiles {
  std::vector<Profile> distinct = std::vector<Profile>(1);  // the job's first
  std::vector<std::size_t> of_worker;                       // index into `distinct`

  [[nodiscard]] const Profile& job() const { return distinct.front(); }
  [[nodiscard]] const Profile& of(std::size_t worker) const { return distinct.at(of_worker.at(worker)); }
};

}  // namespace paceline
