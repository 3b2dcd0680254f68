#include "sim/cost/profile.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/cost/json_field.hpp"

namespace paceline {
namespace {

constexpr Bytes most_parameter_bytes{1e15};

constexpr const char* profile_hint = "a profile is made by `paceline calibrate NETWORK -o FILE`";
constexpr int newest_version = 2;

std::string fnv1a_hex(const std::string& bytes) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x100000001b3U;
  }
  return fmt::format("{:016x}", hash);
}

// The library's message carries an identifier of its own in front: "[json.exception.parse_error.101] parse
// error at line 3, column 4: …".
std::string json_reason(const nlohmann::json::exception& error) {
  const std::string text = error.what();
  const auto end = text.find("] ");
  return end == std::string::npos ? text : text.substr(end + 2);
}

nlohmann::json parse(const std::string& content, const std::string& file) {
  try {
    return nlohmann::json::parse(content);
  } catch (const nlohmann::json::exception& error) {
    throw UserError(fmt::format("{}: not a JSON file: {}", file, json_reason(error)), profile_hint);
  }
}

std::string one_of(const JsonField& field, const std::vector<std::string>& words) {
  const std::string text = field.text();
  if (std::ranges::find(words, text) == words.end())
    field.fail(fmt::format("must be \"{}\", is \"{}\"", fmt::join(words, "\" or \""), text));
  return text;
}

int whole_number(const JsonField& field, int minimum = 1) {
  return static_cast<int>(field.integer(minimum, std::numeric_limits<int>::max()));
}

// Returns the file's version.
std::int64_t check_format(const JsonField& root) {
  static_cast<void>(one_of(root.member("format"), {"paceline-profile"}));
  const JsonField version = root.member("version");
  const std::int64_t number = version.integer(1);
  if (number > newest_version)
    version.fail(
        fmt::format("this paceline reads versions 1 to {}, the file has version {}", newest_version, number));
  return number;
}

// The slope must stay at least 0 beyond a knee as well: work never gets cheaper by adding samples.
std::optional<BatchKnee> read_knee(const JsonField& knee, Seconds slope_per_sample) {
  if (knee.is_null()) return std::nullopt;
  const BatchKnee read{knee.member("at_samples").positive(),
                       Seconds{knee.member("extra_slope_s_per_sample").number()}};
  if (slope_per_sample + read.extra_slope < Seconds{0.0})
    knee.member("extra_slope_s_per_sample").fail("must not make the slope beyond the knee negative");
  return read;
}

std::optional<double> optional_share(const JsonField& field) {
  if (field.is_null()) return std::nullopt;
  return field.non_negative();
}

ComputeFit read_compute_fit(const JsonField& entry, std::int64_t version) {
  ComputeFit fit;
  fit.cores = whole_number(entry.member("cores"));
  fit.intercept = Seconds{entry.member("intercept_s").non_negative()};
  fit.slope_per_sample = Seconds{entry.member("slope_s_per_sample").non_negative()};
  if (fit.intercept + fit.slope_per_sample <= Seconds{0.0})
    entry.fail("intercept_s and slope_s_per_sample must not both be 0");
  fit.batch_min_samples = entry.member("batch_min").integer(1);
  fit.batch_max_samples = entry.member("batch_max").integer(fit.batch_min_samples);
  const JsonField error = entry.member("leave_one_out_error");
  if (version == 1) {
    fit.leave_one_out_error = error.non_negative();
    return fit;
  }
  fit.leave_one_out_error = optional_share(error).value_or(0.0);
  fit.knee = read_knee(entry.member("knee"), fit.slope_per_sample);
  fit.relative_half_width = optional_share(entry.member("relative_half_width"));
  return fit;
}

std::vector<ComputeFit> read_compute(const JsonField& fits, std::int64_t version) {
  std::vector<ComputeFit> compute;
  for (const JsonField& entry : fits.member("compute").elements()) {
    const ComputeFit fit = read_compute_fit(entry, version);
    if (std::ranges::find(compute, fit.cores, &ComputeFit::cores) != compute.end())
      entry.member("cores").fail(fmt::format("{} cores appear twice", fit.cores));
    compute.push_back(fit);
  }
  if (compute.empty()) fits.member("compute").fail("must name at least one core count");
  return compute;
}

void read_optimizer_steps(const JsonField& steps, std::vector<ComputeFit>& compute) {
  std::set<int> seen;
  for (const JsonField& entry : steps.elements()) {
    const int cores = whole_number(entry.member("cores"));
    if (!seen.insert(cores).second) entry.member("cores").fail(fmt::format("{} cores appear twice", cores));
    const auto fit = std::ranges::find(compute, cores, &ComputeFit::cores);
    if (fit == compute.end()) entry.member("cores").fail(fmt::format("fits.compute lacks {} cores", cores));
    fit->optimizer_step = Seconds{entry.member("seconds").non_negative()};
  }
  for (const ComputeFit& fit : compute)
    if (!seen.contains(fit.cores))
      steps.fail(fmt::format("lacks {} cores, which fits.compute has", fit.cores));
}

// Values of the factor at equally spaced probabilities: they must ascend, or drawing by inversion makes no
// sense.
std::vector<double> read_quantiles(const JsonField& field) {
  std::vector<double> quantiles;
  for (const JsonField& element : field.elements()) {
    const double value = element.positive();
    if (!quantiles.empty() && value < quantiles.back()) element.fail("must not be below the one before it");
    quantiles.push_back(value);
  }
  if (quantiles.size() < 2) field.fail("must hold at least 2 numbers");
  return quantiles;
}

JitterFit read_jitter(const JsonField& field, std::int64_t version) {
  JitterFit jitter;
  jitter.iteration_cv = field.member("iteration_cv").non_negative();
  jitter.run_cv = optional_share(field.member("run_cv"));
  jitter.processes = whole_number(field.member("processes"));
  if (version == 1) return jitter;
  jitter.process_cv = optional_share(field.member("process_cv"));
  jitter.run_cv_upper = optional_share(field.member("run_cv_upper"));
  if (field.has("cluster_cv")) jitter.cluster_cv = optional_share(field.member("cluster_cv"));
  const JsonField quantiles = field.member("iteration_quantiles");
  if (one_of(field.member("iteration_law"), {"log_normal", "empirical"}) == "log_normal") return jitter;
  if (quantiles.is_null()) quantiles.fail("must be given with iteration_law \"empirical\"");
  jitter.iteration_quantiles = read_quantiles(quantiles);
  return jitter;
}

double share(const JsonField& field) {
  const double value = field.non_negative();
  if (value > 1.0) field.fail("must be at most 1");
  return value;
}

CoreLaw read_core_law(const JsonField& scaling) {
  const std::string name = one_of(scaling.member("law"), {"amdahl", "power", "universal"});
  if (name == "power") return PowerLaw{scaling.member("exponent").non_negative()};
  const double serial_share = share(scaling.member("serial_share"));
  if (name == "amdahl") return AmdahlLaw{serial_share};
  return UniversalLaw{serial_share, scaling.member("coherence").non_negative()};
}

std::optional<CoreScalingFit> read_core_scaling(const JsonField& scaling) {
  if (scaling.is_null()) return std::nullopt;
  CoreScalingFit fit;
  fit.law = read_core_law(scaling);
  fit.leave_one_out_error = optional_share(scaling.member("leave_one_out_error"));
  fit.cores_min = whole_number(scaling.member("cores_min"));
  fit.cores_max = whole_number(scaling.member("cores_max"), fit.cores_min);
  return fit;
}

std::optional<MemoryFit> read_memory(const JsonField& memory) {
  if (memory.is_null()) return std::nullopt;
  return MemoryFit{Bytes{memory.member("base_bytes").non_negative()},
                   Bytes{memory.member("bytes_per_sample").non_negative()}};
}

std::optional<LoadingFit> read_loading(const JsonField& fits) {
  if (!fits.has("data_loading") || fits.member("data_loading").is_null()) return std::nullopt;
  const JsonField loading = fits.member("data_loading");
  return LoadingFit{loading.member("data").text(), Seconds{loading.member("intercept_s").non_negative()},
                    Seconds{loading.member("slope_s_per_sample").non_negative()}};
}

std::optional<ProfileCorrection> read_correction(const JsonField& root) {
  if (!root.has("correction") || root.member("correction").is_null()) return std::nullopt;
  const JsonField correction = root.member("correction");
  return ProfileCorrection{correction.member("factor").positive(),
                           Seconds{correction.member("offset_s").non_negative()},
                           correction.member("summary").text()};
}

// [cores, intercept_s, slope_s_per_sample, knee_at, extra_slope]
ComputeFit read_drawn_fit(const JsonField& entry) {
  const std::vector<JsonField> values = entry.elements();
  if (values.size() != 5) entry.fail("must hold 5 numbers");
  ComputeFit fit;
  fit.cores = whole_number(values[0]);
  fit.intercept = Seconds{values[1].non_negative()};
  fit.slope_per_sample = Seconds{values[2].non_negative()};
  if (values[3].non_negative() > 0.0) fit.knee = BatchKnee{values[3].positive(), Seconds{values[4].number()}};
  return fit;
}

std::vector<ProfileDraw> read_ensemble(const JsonField& ensemble, const std::vector<ComputeFit>& compute) {
  std::vector<ProfileDraw> draws;
  for (const JsonField& entry : ensemble.elements()) {
    ProfileDraw draw;
    for (const JsonField& fit : entry.elements()) draw.compute.push_back(read_drawn_fit(fit));
    if (!std::ranges::equal(draw.compute, compute, {}, &ComputeFit::cores, &ComputeFit::cores))
      entry.fail("must have the core counts of fits.compute, in ascending order");
    draws.push_back(std::move(draw));
  }
  return draws;
}

void read_version_2(const JsonField& root, const JsonField& fits, Profile& profile) {
  profile.is_derived = one_of(root.member("origin"), {"measured", "derived"}) == "derived";
  if (root.member("sources").elements().empty() && profile.is_derived)
    root.member("sources").fail("a derived profile names its sources");
  profile.core_scaling = read_core_scaling(fits.member("core_scaling"));
  profile.memory = read_memory(fits.member("memory"));
  profile.loading = read_loading(fits);
  profile.ensemble = read_ensemble(fits.member("ensemble"), profile.compute);
}

std::vector<Bytes> read_variables(const JsonField& network, Bytes parameters) {
  std::vector<Bytes> variables;
  if (!network.has("variable_bytes")) return variables;
  Bytes sum;
  for (const JsonField& bytes : network.member("variable_bytes").elements()) {
    variables.emplace_back(bytes.non_negative());
    sum += variables.back();
  }
  if (sum != parameters)
    network.member("variable_bytes")
        .fail(fmt::format("must sum to parameter_bytes, {:.0f}, not to {:.0f}", parameters.value(),
                          sum.value()));
  return variables;
}

std::vector<double> read_ready(const JsonField& network, std::size_t variables) {
  std::vector<double> ready;
  if (!network.has("variable_ready")) return ready;
  const JsonField list = network.member("variable_ready");
  for (const JsonField& share : list.elements()) {
    ready.push_back(share.positive());
    if (ready.back() > 1.0) share.fail(fmt::format("must be <= 1, is {}", ready.back()));
  }
  if (ready.size() != variables)
    list.fail(
        fmt::format("must have one number for each of variable_bytes, {}, not {}", variables, ready.size()));
  return ready;
}

}  // namespace

const ComputeFit* Profile::find(int cores) const {
  const auto found = std::ranges::find(compute, cores, &ComputeFit::cores);
  return found == compute.end() ? nullptr : &*found;
}

std::int64_t MemoryFit::largest_batch(Bytes capacity) const {
  if (of(1) > capacity) return 0;
  if (per_sample <= Bytes{0.0}) return std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>((capacity - base) / per_sample);
}

Profile read_profile(const std::filesystem::path& path) {
  std::error_code status;
  if (!std::filesystem::exists(path, status))
    throw UserError(fmt::format("{}: no such profile", path.string()), profile_hint);
  const std::string content = read_file(path);
  const nlohmann::json json = parse(content, path.string());
  const JsonField root(json, path.string(), profile_hint);
  const std::int64_t version = check_format(root);

  Profile profile;
  profile.path = path.string();
  profile.content_hash = fnv1a_hex(content);
  profile.network = root.member("network").member("name").text();
  profile.identity = read_identity(root);
  const JsonField parameter_bytes = root.member("network").member("parameter_bytes");
  profile.parameter_bytes = Bytes{parameter_bytes.positive()};
  if (profile.parameter_bytes > most_parameter_bytes) parameter_bytes.fail("must be at most 1e15");
  profile.variables = read_variables(root.member("network"), profile.parameter_bytes);
  profile.variable_ready = read_ready(root.member("network"), profile.variables.size());
  profile.cpu_model = root.member("machine").member("cpu_model").text();
  const JsonField fits = root.member("fits");
  profile.compute = read_compute(fits, version);
  read_optimizer_steps(fits.member("optimizer_step"), profile.compute);
  std::ranges::sort(profile.compute, {}, &ComputeFit::cores);
  profile.server_accumulate_rate = BytesPerSecond{fits.member("server_accumulate_bytes_per_s").positive()};
  profile.server_step_rate = BytesPerSecond{fits.member("server_step_bytes_per_s").positive()};
  profile.jitter = read_jitter(root.member("jitter"), version);
  if (version >= 2) read_version_2(root, fits, profile);
  profile.correction = read_correction(root);
  return profile;
}

}  // namespace paceline
