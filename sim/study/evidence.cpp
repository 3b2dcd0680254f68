#include "sim/study/evidence.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/atomic_file.hpp"
#include "sim/base/json.hpp"
#include "sim/study/checks_before_running.hpp"

namespace paceline {
namespace {

std::string sentence_about(const std::string& kind, const std::filesystem::path& file,
                           const std::string& hash, const std::vector<std::string>& parts) {
  return fmt::format("{} {} (FNV-1a {}): {}", kind, file.filename().string(), hash, fmt::join(parts, "; "));
}

std::string evidence_of_profile(const Profile& profile, ProfileUse use) {
  std::vector<std::string> parts;
  double worst = 0.0;
  for (const ComputeFit& fit : profile.compute) worst = std::max(worst, fit.leave_one_out_error);
  parts.push_back(
      profile.is_derived
          ? "derived from published figures or logs, so its error is not known"
          : fmt::format("batches left out of a fit are missed by {:.1f} % at worst", 100.0 * worst));
  if (profile.correction) parts.push_back("corrected " + profile.correction->summary);
  if (profile.core_scaling)
    parts.push_back(profile.core_scaling->leave_one_out_error
                        ? fmt::format("core counts left out by {:.1f} %",
                                      100.0 * *profile.core_scaling->leave_one_out_error)
                        : "measured on too few core counts to leave one out");
  if (profile.jitter.run_cv)
    parts.push_back(
        fmt::format("the same work differs by {:.1f} % from run to run", 100.0 * *profile.jitter.run_cv));
  if (profile.jitter.cluster_cv)
    parts.push_back(fmt::format("and by {:.1f} % between clusters of this kind, or days",
                                100.0 * *profile.jitter.cluster_cv));
  parts.push_back(
      use == ProfileUse::drawn && !profile.ensemble.empty()
          ? fmt::format("each run draws one of its {} calibrations, so that intervals hold how they differ",
                        profile.ensemble.size())
          : "every run takes the same fit, whose error is in no interval");
  return sentence_about("profile", profile.path, profile.content_hash, parts);
}

struct MeanError {
  double sum = 0.0;
  int count = 0;
  void add(double error) {
    sum += std::abs(error);
    ++count;
  }
  [[nodiscard]] double mean() const { return sum / count; }
};

std::string evidence_of_learner(const std::filesystem::path& path, bool is_assumed, InputFiles& files) {
  std::vector<std::string> parts;
  if (is_assumed || files.learner(path).source == LearnerSource::assumed)
    parts.push_back(fmt::format("assumed: no recorded runs of this network and data set stand behind it"));
  const nlohmann::json file = nlohmann::json::parse(read_file(path), nullptr, false);
  MeanError all;
  MeanError same;
  MeanError first;
  MeanError mixture;
  if (file.contains("left_out") && file["left_out"].is_array())
    for (const nlohmann::json& group : file["left_out"]) {
      const auto error = [&](const char* key) {
        const auto found = group.find(key);
        return found != group.end() && found->is_number() ? std::optional(found->get<double>())
                                                          : std::nullopt;
      };
      if (!error("error")) continue;
      all.add(*error("error"));
      if (!error("error_first_protocol") || !error("error_linear")) continue;
      same.add(*error("error"));
      first.add(*error("error_first_protocol"));
      mixture.add(*error("error_linear"));
    }
  if (all.count == 0)
    parts.emplace_back("no recorded runs were left out of it, so its error is not known");
  else
    parts.push_back(
        fmt::format("final accuracies of {} groups of recorded runs left out are missed by {:.4f} on average",
                    all.count, all.mean()));
  if (same.count > 0)
    parts.push_back(
        fmt::format("of the {} of them that null models predict, by {:.4f}; what the first policy reaches "
                    "misses them by {:.4f}, a "
                    "mixture of the pure policies by {:.4f}",
                    same.count, same.mean(), first.mean(), mixture.mean()));
  const StatisticalModel& model = files.learner(path);
  parts.push_back(
      model.members.empty()
          ? "every run takes the same parameters, whose error is in no interval"
          : fmt::format("each run draws one of {} refits to runs and policies drawn again, so that intervals "
                        "hold what the fit does not know",
                        model.members.size()));
  if (!model.members.empty() && !model.model_error)
    parts.emplace_back(
        "how far policies that it was not fitted to lie from it is unknown and in no interval, since it was "
        "fitted to too few");
  parts.emplace_back("how often its intervals hold what is recorded was not measured with it");
  return sentence_about("learner", path, files.hash(path), parts);
}

}  // namespace

void add_evidence(const LoadedScenario& loaded, InputFiles& files, ProfileUse use, Evidence& evidence) {
  for (const Profile& profile : files.profiles_of(loaded)->distinct)
    if (!evidence.contains(profile.path)) evidence[profile.path] = evidence_of_profile(profile, use);
  const LearnerConfig& learner = loaded.scenario.learner;
  if (uses_model(loaded.scenario) && !evidence.contains(learner.model))
    evidence[learner.model] = evidence_of_learner(learner.model, learner.kind == LearnerKind::assumed, files);
}

std::vector<std::string> sentences_of(const Evidence& evidence) {
  std::vector<std::string> sentences;
  for (const auto& [file, sentence] : evidence) sentences.push_back(sentence);
  return sentences;
}

}  // namespace paceline
