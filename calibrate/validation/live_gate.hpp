// What is measured on the machine just before live jobs are predicted: what the scenario leaves open, and
// what the profile cannot know of the state the machine is in.
//
// Models:      iterations of each worker within a job of its own and beside the others (its profile is
//              corrected by them), how they vary, what they take longer after a rest and with a new batch,
//              what messages cost, how much processes slow each other down on a shared machine, how long
//              messages wait there for a processor, and what a switch with restarts costs.
// Assumptions: the machine stays as it is until the jobs have run; or each measurement and each run waits
//              for it to be as fast as in its quicker moments at first. Workers, networks and batches that
//              are alike are measured once for all scenarios.
// Source:      calibrate/live/iteration_timing.hpp, request_timing.hpp, sharing_timing.hpp,
//              rest_timing.hpp, batch_preparation.hpp, restart_timing.hpp.
#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "calibrate/collective/ring_fit.hpp"
#include "calibrate/live/communication_fit.hpp"
#include "calibrate/live/iteration_timing.hpp"
#include "calibrate/live/rest_timing.hpp"
#include "calibrate/live/sharing_timing.hpp"
#include "calibrate/validation/gate_figures.hpp"
#include "calibrate/validation/machine_pace.hpp"
#include "sim/study/input_files.hpp"

namespace paceline {

class LiveGate {
 public:
  // Corrected profiles are written into the folder. Each measurement and each run is held back for about
  // `longest_wait` while the machine is not as fast as in its quicker moments at first.
  LiveGate(std::filesystem::path folder, live::LiveOptions options, double most_deviation,
           Seconds longest_wait)
      : folder_(std::move(folder)),
        pace_(options, most_deviation, longest_wait),
        options_(std::move(options)) {}

  // Changes the scenario and its profiles into those to predict with. Throws live::LoadedMachine, and
  // UserError where a worker's speed deviates from its profile's by too much.
  GateFigures measure(LoadedScenario& loaded, std::shared_ptr<const Profiles>& profiles);
  // Once all scenarios are measured: how much longer than at first usual iterations took meanwhile.
  double settle() { return pace_.settle(); }
  // Corrects a measured scenario's profiles by that, too.
  void slow_down(LoadedScenario& loaded, std::shared_ptr<const Profiles>& profiles,
                 const GateFigures& figures, double slowness);
  // What iterations of the first scenario's workers, together, take as usual.
  [[nodiscard]] Seconds usual_iteration() const { return pace_.usual(); }

 private:
  // What iterations depend on.
  struct TimedWorker {
    Worker worker;
    std::string network;
    std::string learner;
    std::filesystem::path job_profile;
    std::vector<std::int64_t> batches;
    std::int64_t initial_samples = 0;  // of them
    friend bool operator==(const TimedWorker&, const TimedWorker&) = default;
  };

  using Links = std::tuple<double, double, double>;  // emulated: workers' and server's bytes/s, latency in s
  [[nodiscard]] Links links() const;

  [[nodiscard]] static TimedWorker timed_worker(const Scenario& scenario, std::size_t worker);
  const std::vector<live::AloneTime>& iterations_of(const Scenario& scenario, const Profiles& profiles,
                                                    WorkerId worker);
  const live::CommunicationFit& communication_of(Bytes gradient, Seconds computing);
  const calibrate::CollectiveFit& ring_of(const Scenario& scenario, Bytes gradient,
                                          const std::vector<Seconds>& iterations);
  void fill_in_ring(Scenario& scenario, const Profiles& profiles, GateFigures& figures);
  const std::vector<RestCost>& resume_of(const Scenario& scenario, const Profiles& profiles);
  const live::SharingTimes& sharing_of(const Scenario& scenario, Seconds iteration);
  struct TimedTogether {
    std::vector<TimedWorker> workers;
    Links links;
    WaitsFor waits_for = WaitsFor::nobody;
    std::vector<std::int64_t> batches{};  // of each worker
    live::TogetherTimes times{};
    std::vector<double> slowness{};                    // by round
    std::optional<live::TogetherTimes> of_smallest{};  // with the smallest batch, where they change
  };
  // In several rounds, each of a machine about as fast as usual.
  void time_together(const Scenario& scenario, const Profiles& profiles, TimedTogether& timed);
  const TimedTogether& timed_together(const Scenario& scenario, const Profiles& profiles, WaitsFor waits_for,
                                      const std::vector<std::int64_t>& batches);
  // Beside what is predicted of them so far.
  [[nodiscard]] static std::vector<TogetherTime> compared(const LoadedScenario& loaded,
                                                          const Profiles& profiles,
                                                          const TimedTogether& timed);
  // The same with the smallest batch; nothing where it was not timed.
  [[nodiscard]] static std::vector<TogetherTime> compared_small(const LoadedScenario& loaded,
                                                                const Profiles& profiles,
                                                                const TimedTogether& timed);
  void adopt_variation(LoadedScenario& loaded, const Profiles& profiles, const TimedTogether& timed,
                       GateFigures& figures) const;
  // Corrects the profiles by what iterations take beside the others, and states how they vary there; where
  // wanted, also how long messages wait.
  void hold_against_others(LoadedScenario& loaded, std::shared_ptr<const Profiles>& profiles,
                           GateFigures& figures, bool delays_messages);
  // Gives every worker a profile with its computing times, times its factors; but for profiles that their
  // user has corrected.
  void correct(LoadedScenario& loaded, std::shared_ptr<const Profiles>& profiles, const GateFigures& figures,
               const std::vector<BesideOthers>& factors, const std::string& suffix);
  // Whether the network is measured, too.
  [[nodiscard]] bool fill_in_communication(Scenario& scenario, const Profiles& profiles,
                                           GateFigures& figures);
  [[nodiscard]] live::LiveOptions without_links() const;
  [[nodiscard]] std::optional<NetworkConfig> without_burst() const;
  void adopt_connection(NetworkConfig& network, const live::Connection& connection,
                        GateFigures& figures) const;
  static void delay_messages(LoadedScenario& loaded, const Profiles& profiles, GateFigures& figures);
  void fill_in_resume(Scenario& scenario, const Profiles& profiles, GateFigures& figures);
  void fill_in_preparation(Scenario& scenario, GateFigures& figures);
  void fill_in_restarts(Scenario& scenario, GateFigures& figures);
  void fill_in_sharing(Scenario& scenario, const Profiles& profiles, GateFigures& figures);

  std::filesystem::path folder_;
  MachinePace pace_;
  live::LiveOptions options_;
  calibrate::Residuals between_workers_{};  // of all that were timed together so far
  std::deque<std::pair<TimedWorker, std::vector<live::AloneTime>>> iterations_;
  std::deque<TimedTogether> together_;
  std::map<std::tuple<std::uint64_t, Seconds, Links>, live::CommunicationFit> communication_;
  std::map<std::tuple<std::uint64_t, std::vector<Seconds>, Links, bool>, calibrate::CollectiveFit> rings_;
  std::map<std::tuple<std::string, std::string, std::int64_t, std::size_t>, live::SharingTimes> sharing_;
  std::map<std::tuple<std::string, std::string, std::int64_t, std::size_t>, std::vector<RestCost>> resume_;
  std::map<std::tuple<std::string, std::string, std::vector<std::int64_t>>, Seconds> preparation_;
};

}  // namespace paceline
