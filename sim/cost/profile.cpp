#include "sim/cost/profile.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/cost/json_field.hpp"

namespace paceline {
namespace {

constexpr Bytes most_parameter_bytes{1e15};

constexpr const char* profile_hint = "a profile is made by `paceline calibrate NETWORK -o FILE`";
constexpr int profile_version = 1;

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

void check_format(const JsonField& root) {
  const std::string format = root.member("format").text();
  if (format != "paceline-profile")
    root.member("format").fail(fmt::format("must be \"paceline-profile\", is \"{}\"", format));
  const JsonField version = root.member("version");
  const std::int64_t number = version.integer(1);
  if (number != profile_version)
    version.fail(
        fmt::format("this paceline reads version {}, the file has version {}", profile_version, number));
}

int read_cores(const JsonField& entry) {
  return static_cast<int>(entry.member("cores").integer(1, std::numeric_limits<int>::max()));
}

ComputeFit read_compute_fit(const JsonField& entry) {
  ComputeFit fit;
  fit.cores = read_cores(entry);
  fit.intercept = Seconds{entry.member("intercept_s").non_negative()};
  fit.slope_per_sample = Seconds{entry.member("slope_s_per_sample").non_negative()};
  if (fit.intercept + fit.slope_per_sample <= Seconds{0.0})
    entry.fail("intercept_s and slope_s_per_sample must not both be 0");
  fit.leave_one_out_error = entry.member("leave_one_out_error").non_negative();
  fit.batch_min_samples = entry.member("batch_min").integer(1);
  fit.batch_max_samples = entry.member("batch_max").integer(fit.batch_min_samples);
  return fit;
}

std::vector<ComputeFit> read_compute(const JsonField& fits) {
  std::vector<ComputeFit> compute;
  for (const JsonField& entry : fits.member("compute").elements()) {
    const ComputeFit fit = read_compute_fit(entry);
    const auto same_cores = [&](const ComputeFit& other) { return other.cores == fit.cores; };
    if (std::any_of(compute.begin(), compute.end(), same_cores))
      entry.member("cores").fail(fmt::format("{} cores appear twice", fit.cores));
    compute.push_back(fit);
  }
  if (compute.empty()) fits.member("compute").fail("must name at least one core count");
  return compute;
}

void read_optimizer_steps(const JsonField& fits, std::vector<ComputeFit>& compute) {
  std::vector<int> seen;
  const JsonField steps = fits.member("optimizer_step");
  for (const JsonField& entry : steps.elements()) {
    const int cores = read_cores(entry);
    if (std::find(seen.begin(), seen.end(), cores) != seen.end())
      entry.member("cores").fail(fmt::format("{} cores appear twice", cores));
    seen.push_back(cores);
    const auto fit =
        std::find_if(compute.begin(), compute.end(), [&](const ComputeFit& f) { return f.cores == cores; });
    if (fit == compute.end()) entry.member("cores").fail(fmt::format("fits.compute lacks {} cores", cores));
    fit->optimizer_step = Seconds{entry.member("seconds").non_negative()};
  }
  for (const ComputeFit& fit : compute)
    if (std::find(seen.begin(), seen.end(), fit.cores) == seen.end())
      steps.fail(fmt::format("lacks {} cores, which fits.compute has", fit.cores));
}

JitterFit read_jitter(const JsonField& field) {
  JitterFit jitter;
  jitter.iteration_cv = field.member("iteration_cv").non_negative();
  const JsonField run_cv = field.member("run_cv");
  if (!run_cv.is_null()) jitter.run_cv = run_cv.non_negative();
  jitter.processes = static_cast<int>(field.member("processes").integer(1, std::numeric_limits<int>::max()));
  return jitter;
}

}  // namespace

const ComputeFit* Profile::find(int cores) const {
  for (const ComputeFit& fit : compute)
    if (fit.cores == cores) return &fit;
  return nullptr;
}

Profile read_profile(const std::filesystem::path& path) {
  std::error_code status;
  if (!std::filesystem::exists(path, status))
    throw UserError(fmt::format("{}: no such profile", path.string()), profile_hint);
  const std::string content = read_file(path);
  const nlohmann::json json = parse(content, path.string());
  const JsonField root(json, path.string(), profile_hint);
  check_format(root);

  Profile profile;
  profile.path = path.string();
  profile.content_hash = fnv1a_hex(content);
  profile.network = root.member("network").member("name").text();
  const JsonField parameter_bytes = root.member("network").member("parameter_bytes");
  profile.parameter_bytes = Bytes{parameter_bytes.positive()};
  if (profile.parameter_bytes > most_parameter_bytes) parameter_bytes.fail("must be at most 1e15");
  profile.cpu_model = root.member("machine").member("cpu_model").text();
  const JsonField fits = root.member("fits");
  profile.compute = read_compute(fits);
  read_optimizer_steps(fits, profile.compute);
  std::sort(profile.compute.begin(), profile.compute.end(),
            [](const ComputeFit& a, const ComputeFit& b) { return a.cores < b.cores; });
  profile.server_accumulate_rate = BytesPerSecond{fits.member("server_accumulate_bytes_per_s").positive()};
  profile.server_step_rate = BytesPerSecond{fits.member("server_step_bytes_per_s").positive()};
  profile.jitter = read_jitter(root.member("jitter"));
  return profile;
}

}  // namespace paceline
