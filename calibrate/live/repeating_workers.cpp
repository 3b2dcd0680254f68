#include "calibrate/live/repeating_workers.hpp"

#include <stdexcept>
#include <utility>

namespace paceline::live {
namespace {

constexpr Seconds patience_with_stretches{120.0};

}  // namespace

RepeatingWorkers::RepeatingWorkers(const std::filesystem::path& program, const NetworkLearnerConfig& learner,
                                   Seconds stretch)
    : crew_({.program = program,
             .setups = std::vector<WorkerSetup>(learner.worker_count,
                                                {.learner = learner, .repeats_for = stretch})}) {}

std::map<Member, std::vector<double>> RepeatingWorkers::stretch_of(const std::vector<Member>& members,
                                                                   std::int64_t batch_samples) {
  for (const Member member : members) crew_.send(member, Compute{next_gradient_++, batch_samples, 0, {}});
  std::map<Member, std::vector<double>> seconds;
  for (std::size_t owed = members.size(); owed > 0;) {
    const Arrived arrived = next();
    if (const auto* one = std::get_if<Computed>(&arrived.message))
      seconds[arrived.member].push_back(1e-9 * static_cast<double>(one->ended_ns - one->began_ns));
    else if (std::holds_alternative<GradientValues>(arrived.message))
      --owed;
  }
  return seconds;
}

Arrived RepeatingWorkers::next() {
  std::optional<News> news = crew_.next(patience_with_stretches);
  if (!news) throw std::runtime_error("the worker processes say nothing any more");
  throw_if_lost(*news);
  return std::move(std::get<Arrived>(*news));
}

}  // namespace paceline::live
