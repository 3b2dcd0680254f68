#include "calibrate/learning/recorded_policy.hpp"

#include <cmath>
#include <regex>

#include <fmt/format.h>

#include "calibrate/learning/logged_phase.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/description/reading.hpp"

namespace paceline {

struct RecordedPolicyText {
  std::string name;
  std::vector<LogPhaseText> phases;
  double momentum = 0.9;
  int delayed_workers = 0;
  std::optional<Seconds> added_latency;
};

struct RecordedPoliciesText {
  std::vector<RecordedPolicyText> policies;
};

void describe(Visitor& v, RecordedPolicyText& c) {
  v.required("name", c.name, Text{}, "of the policy in runs.csv; SETUP/NAME: in this set-up alone");
  v.required("phases", c.phases, ListOf{Section{}, "phase", 1, 1000}, "one after the other");
  v.optional("momentum", c.momentum, Number{from_and_below(0, 1)}, "of the optimizer");
  v.optional("delayed_workers", c.delayed_workers, Whole{0, 1 << 20}, "from the start to the end");
  v.optional("added_latency", c.added_latency, duration(at_least(0)), "of each message of a delayed worker",
             Absent{"not known"});
}

void describe(Visitor& v, RecordedPoliciesText& c) {
  v.required("policies", c.policies, ListOf{Section{}, "policy"}, "whose names do not say what they did");
}

namespace {

constexpr double percent_tolerance = 1e-6;

// `rest` begins after the phases. False for words that may mean anything.
bool read_remarks(const std::string& rest, RecordedPolicy& policy) {
  static const std::regex words(R"(([^-]+)(?:-|$))");
  static const std::regex latency(R"((\d+(?:\.\d+)?)ms)");
  static const std::regex delayed(R"((\d+)stragglers?)");
  std::smatch match;
  for (std::sregex_iterator word(rest.begin(), rest.end(), words), end; word != end; ++word) {
    const std::string text = (*word)[1];
    if (std::regex_match(text, match, latency)) {
      policy.added_latency_s = std::stod(match[1]) / 1000.0;
    } else if (std::regex_match(text, match, delayed)) {
      policy.delayed_workers = std::stoi(match[1]);
    } else if (text != "baseline" && text != "no" && text != "straggler" && text != "stragglers") {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<RecordedPolicy> policy_of_name(const std::string& policy) {
  static const std::regex phase(R"((bsp|asp)(\d+(?:\.\d+)?)?(?:-|$))");
  RecordedPolicy read;
  double percent = 0.0;
  std::smatch match;
  auto rest = policy.cbegin();
  while (percent < 100.0 - percent_tolerance &&
         std::regex_search(rest, policy.cend(), match, phase, std::regex_constants::match_continuous)) {
    const double share = match[2].matched ? std::stod(match[2]) : 100.0 - percent;
    read.phases.push_back({match[1] == "bsp", share / 100.0});
    percent += share;
    rest = match[0].second;
  }
  if (read.phases.empty() || std::abs(percent - 100.0) > percent_tolerance) return std::nullopt;
  if (!read_remarks({rest, policy.cend()}, read)) return std::nullopt;
  return read;
}

std::map<std::string, RecordedPolicy> read_policies(const std::filesystem::path& file) {
  std::map<std::string, RecordedPolicy> policies;
  if (!std::filesystem::exists(file)) return policies;
  Problems problems;
  const std::optional<YamlNode> root = parse_yaml_file(file, problems);
  if (!root) problems.throw_if_errors(file.string());
  RecordedPoliciesText text;
  Reading reading(problems);
  read_document(*root, text, reading);
  for (std::size_t p = 0; p < text.policies.size(); ++p) {
    const RecordedPolicyText& one = text.policies[p];
    RecordedPolicy policy{.phases = {},
                          .momentum = one.momentum,
                          .delayed_workers = one.delayed_workers,
                          .added_latency_s = std::nullopt};
    if (one.added_latency) policy.added_latency_s = one.added_latency->value();
    double sum = 0.0;
    for (const LogPhaseText& phase : one.phases) {
      policy.phases.push_back({phase.policy == LoggedPolicy::bsp, phase.share});
      sum += phase.share;
    }
    const std::string path = fmt::format("policies.{}", p);
    if (reading.is_sound(path + ".phases") && std::abs(sum - 1.0) > phase_share_tolerance)
      problems.error(reading.spot(path + ".phases"),
                     fmt::format("the shares of the phases sum to {:.10g} %, not to 100 %", 100.0 * sum));
    if (!policies.emplace(one.name, std::move(policy)).second)
      problems.error(reading.spot(path + ".name"), fmt::format("`{}` is described twice", one.name));
  }
  problems.throw_if_errors(file.string());
  return policies;
}

}  // namespace paceline
