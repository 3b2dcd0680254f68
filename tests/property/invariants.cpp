#include "tests/property/invariants.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "sim/report/recording/activity_tracker.hpp"
#include "tests/property/counting_learner.hpp"

namespace paceline::test {
namespace {

class Accountant final : public RunObserver {
 public:
  Accountant(const RandomJob& random, Sabotage sabotage, Checked& checked)
      : job_(random.job),
        sabotage_(sabotage),
        checked_(checked),
        computing_(job_.workers.size()),
        away_(job_.workers.size(), false),
        largest_batch_(job_.workers.size(), 0),
        reads_(job_.servers, std::vector<Read>(job_.workers.size())),
        changes_(job_.servers, 0),
        staleness_(job_.servers, 0),
        steps_begun_(job_.workers.size(), 0) {
    const std::vector<bool> present = present_at_start(job_.heterogeneity.membership, job_.workers.size());
    for (std::size_t w = 0; w < present.size(); ++w) away_[w] = !present[w];
  }

  void complain(std::string text) {
    if (checked_.violations.size() < 10) checked_.violations.push_back(std::move(text));
  }

  void on_event(Seconds now, const Event& event) override {
    advance_to(now);
    checked_.entries.push_back(entry_of(now, event));
    tracker_.on_event(now, event);
    std::visit([this](const auto& e) { on(e); }, event);
  }
  void on_action(Seconds now, const Action& action) override {
    advance_to(now);
    checked_.entries.push_back(entry_of(now, action));
    tracker_.on_action(now, action);
    if (sabotage_ == Sabotage::hides_discards && std::holds_alternative<Discard>(action)) return;
    std::visit([this](const auto& a) { on(a); }, action);
    if (sabotage_ == Sabotage::shows_updates_twice && std::holds_alternative<Apply>(action))
      on(std::get<Apply>(action));
  }
  void on_server_work(ServerId server, std::optional<UpdateId>, Seconds begin, Seconds end) override {
    Seconds& free_at = server_free_at_[server];
    if (begin < free_at || end < begin) complain(fmt::format("server {} works twice at once", server.value));
    free_at = end;
  }

  void close(const TestJob::Result& result, const std::vector<LinkUse>& links);

 private:
  struct Read {
    bool open = false;  // read, and not applied since
    std::uint64_t staleness = 0;
  };
  struct Gradient {
    WorkerId worker;
    std::int64_t samples = 0;
    std::size_t shards = 0;
    bool discarded = false;
    bool stepped_locally = false;
  };

  void advance_to(Seconds now) {
    if (sabotage_ == Sabotage::turns_the_clock_back) now = Seconds{-now.value()};
    if (now < clock_) complain(fmt::format("the clock goes back from {} to {}", clock_.value(), now.value()));
    clock_ = now;
  }

  template <class Other>
  void on(const Other&) {}
  void on(const WorkerLeft& event) { away_.at(event.worker.value) = true; }
  void on(const WorkerJoined& event) { away_.at(event.worker.value) = false; }
  void on(const IterationFinished& event) { computing_.at(event.worker.value).reset(); }
  void on(const GradientArrived& event) { arrive(gradients_sent_, {event.gradient, event.server}); }
  void on(const ParametersArrived& event) { arrive(parameters_sent_, {event.gradient, event.server}); }
  void on(const AllReduceFinished& event) { arrive(all_reduces_, event.update); }
  void on(const StartIteration& action);
  void on(const TrainOn& action);
  void on(const SendGradient& action) {
    gradients_sent_[{action.gradient, action.server}] = std::ceil(action.share * shard_bytes(action.server));
  }
  void on(const SendParameters& action) {
    parameters_sent_[{action.gradient, action.server}] = action.is_answer_only ? 0.0
                                                         : action.from_worker
                                                             ? job_.parameter_bytes.value()
                                                             : std::ceil(shard_bytes(action.server));
  }
  void on(const AllReduce& action);
  void on(const EnterPhase& action) { phase_ = action.phase; }
  void on(const TakeSnapshot& action) { reads_.at(action.server.value).at(action.worker.value) = {true, 0}; }
  void on(const Apply& action);
  void on(const Overwrite& action);
  void on(const ApplyLocally& action) { gradients_[action.gradient].stepped_locally = true; }
  void on(const Discard& action);
  void on(const Stop& action) { end_reason_ = action.reason; }

  void begin_steps(WorkerId worker, std::uint64_t iteration, std::int64_t steps);
  void change_shard(UpdateId update, ServerId server, bool is_last);
  void add_version(ServerId server);
  void apply_gradient(const AppliedGradient& applied, ServerId server);
  void check_gradients(const TestJob::Result& result);
  void check_work(const TestJob::Result& result);
  void check_bytes(const std::vector<LinkUse>& links);
  void check_activities(Seconds end);
  [[nodiscard]] double shard_bytes(ServerId server) const { return shards_.at(server.value).bytes.value(); }
  [[nodiscard]] static double bytes_of(Transport transport, std::size_t members, Bytes summed);
  [[nodiscard]] double bytes_of(const BucketSizes& sizes, Transport transport, std::size_t members) const;
  template <class Key>
  void arrive(std::map<Key, double>& under_way, const Key& message) {
    const auto found = under_way.find(message);
    if (found == under_way.end()) return complain("what was not sent arrives");
    arrived_ += found->second;
    under_way.erase(found);
  }
  template <class Key>
  static double sum_of(const std::map<Key, double>& under_way) {
    double sum = 0.0;
    for (const auto& [message, bytes] : under_way) sum += bytes;
    return sum;
  }
  [[nodiscard]] bool exchanges_parameters() const {
    return std::ranges::any_of(job_.phases,
                               [](const PhaseConfig& p) { return p.exchange == Exchange::parameters; });
  }

  const TestJob& job_;
  std::vector<ServerShard> shards_ = job_.model().shards;
  Sabotage sabotage_;
  Checked& checked_;
  ActivityTracker tracker_{false};
  Seconds clock_;
  std::vector<std::optional<GradientId>> computing_;
  std::vector<bool> away_;
  std::vector<std::int64_t> largest_batch_;
  std::map<GradientId, Gradient> gradients_;
  std::map<UpdateId, std::set<ServerId>> updates_;
  std::uint64_t complete_updates_ = 0;
  std::vector<std::vector<Read>> reads_;  // by server, worker
  std::vector<std::uint64_t> changes_;    // by server
  std::vector<std::uint64_t> staleness_;  // by server: sum over applied gradients
  std::map<ServerId, Seconds> server_free_at_;
  std::vector<std::uint64_t> steps_begun_;  // by worker
  std::size_t phase_ = 0;
  // Bytes of what is under way, whole ones.
  std::map<std::pair<GradientId, ServerId>, double> gradients_sent_;
  std::map<std::pair<GradientId, ServerId>, double> parameters_sent_;
  std::map<UpdateId, double> all_reduces_;
  std::uint64_t sums_begun_anew_ = 0;  // of buckets, at most
  double arrived_ = 0.0;
  std::optional<EndReason> end_reason_;
};

void Accountant::on(const StartIteration& action) {
  const std::size_t w = action.worker.value;
  if (away_.at(w)) complain(fmt::format("worker {} starts an iteration while it is away", w));
  if (computing_.at(w)) complain(fmt::format("worker {} computes two gradients at once", w));
  computing_[w] = action.gradient;
  const std::int64_t steps = action.local ? action.local->count : 1;
  begin_steps(action.worker, action.iteration, steps);
  const std::int64_t samples = action.batch_samples * steps;
  largest_batch_[w] = std::max(largest_batch_[w], samples);
  if (action.batch_samples < 1) complain("an empty mini-batch");
  if (!gradients_.emplace(action.gradient, Gradient{action.worker, samples}).second)
    complain(fmt::format("gradient {} is started twice", action.gradient.value));
}

void Accountant::on(const TrainOn& action) {
  const std::size_t w = action.worker.value;
  if (away_.at(w)) complain(fmt::format("worker {} trains on while it is away", w));
  if (computing_.at(w)) complain(fmt::format("worker {} computes twice at once", w));
  computing_[w] = action.gradient;
  begin_steps(action.worker, action.iteration, action.local.count);
  Gradient& gradient = gradients_[action.gradient];
  gradient.samples += action.batch_samples * action.local.count;
  largest_batch_[w] = std::max(largest_batch_[w], gradient.samples);
}

// A worker's steps count one by one, without a gap, whatever becomes of them.
void Accountant::begin_steps(WorkerId worker, std::uint64_t iteration, std::int64_t steps) {
  std::uint64_t& begun = steps_begun_.at(worker.value);
  if (sabotage_ == Sabotage::skips_a_step && begun > 0) ++iteration;
  if (steps < 1) complain("a stretch without a step");
  if (iteration != begun)
    complain(fmt::format("worker {} begins step {} after {} steps", worker.value, iteration, begun));
  begun += static_cast<std::uint64_t>(steps);
}

// All of it, or bucket by bucket.
void Accountant::on(const AllReduce& action) {
  double& bytes = all_reduces_[action.update];
  if (const std::optional<BucketSizes>& buckets = job_.phases.at(phase_).buckets)
    bytes = bytes_of(*buckets, action.transport, action.members.size());
  else
    bytes = bytes_of(action.transport, action.members.size(), action.share * job_.parameter_bytes);
}

double Accountant::bytes_of(const BucketSizes& sizes, Transport transport, std::size_t members) const {
  double sum = 0.0;
  for (const GradientBucket& bucket : gradient_buckets(job_.gradient_variables, sizes))
    sum += bytes_of(transport, members, bucket.bytes);
  return sum;
}

// All rounds of all members: a message has whole bytes, rounded up.
double Accountant::bytes_of(Transport transport, std::size_t size, Bytes summed) {
  const auto bytes = static_cast<std::int64_t>(std::ceil(summed.value()));
  const auto chunk = [&](std::int64_t count) { return (bytes + count - 1) / count; };
  const auto members = static_cast<std::int64_t>(size);
  if (transport == Transport::ring) return static_cast<double>(2 * (members - 1) * members * chunk(members));
  if (transport == Transport::tree) return static_cast<double>(2 * (members - 1) * chunk(1));
  const auto power = static_cast<std::int64_t>(std::bit_floor(size));
  std::int64_t sum = 2 * (members - power) * chunk(1);
  for (std::int64_t halves = 2; halves <= power; halves *= 2) sum += 2 * power * chunk(halves);
  return static_cast<double>(sum);
}

void Accountant::on(const Apply& action) {
  const StalenessWeight& rule = job_.phases.at(phase_).staleness_weight;
  double weights = 0.0;
  for (const AppliedGradient& applied : action.gradients) {
    apply_gradient(applied, action.server);
    weights += applied.weight / rule.of(applied.staleness);
  }
  if (std::abs(weights - 1.0) > 1e-12) complain(fmt::format("the weights of an update sum to {}", weights));
  change_shard(action.update, action.server, action.takes_last_shard());
  if (action.completes_update) ++complete_updates_;
  for (const AppliedGradient& applied : action.gradients)
    reads_.at(action.server.value).at(applied.worker.value).open = false;
  if (action.outer && action.outer->is_added_only) return;
  add_version(action.server);
}

// The worker goes on with what it has: its read stays open.
void Accountant::on(const Overwrite& action) {
  apply_gradient(action.by, action.server);
  change_shard(action.update, action.server, action.completes_update);
  if (action.completes_update) ++complete_updates_;
  add_version(action.server);
}

void Accountant::on(const Discard& action) {
  const auto found = gradients_.find(action.gradient);
  if (found == gradients_.end()) return complain("a gradient is discarded that was not started");
  if (found->second.discarded || found->second.shards == job_.servers)
    complain(fmt::format("gradient {} is discarded after its end", action.gradient.value));
  found->second.discarded = true;
  ++sums_begun_anew_;
  std::optional<GradientId>& computing = computing_.at(found->second.worker.value);
  if (computing == action.gradient) computing.reset();
}

void Accountant::apply_gradient(const AppliedGradient& applied, ServerId server) {
  const auto found = gradients_.find(applied.gradient);
  if (found == gradients_.end()) return complain("a gradient is applied that was not started");
  Gradient& gradient = found->second;
  if (gradient.discarded || ++gradient.shards > job_.servers)
    complain(fmt::format("gradient {} is applied after its end", applied.gradient.value));
  if (gradient.samples != applied.batch_samples) complain("a gradient is applied with other samples");
  staleness_.at(server.value) += applied.staleness;
  const Read& read = reads_.at(server.value).at(applied.worker.value);
  // A worker that left and came back may have read anew before its last gradient is applied.
  if (job_.heterogeneity.membership.empty() && read.staleness != applied.staleness)
    complain(fmt::format("gradient {} has staleness {} on server {}, but {} changes came between",
                         applied.gradient.value, applied.staleness, server.value, read.staleness));
}

void Accountant::add_version(ServerId server) {
  ++changes_.at(server.value);
  for (Read& read : reads_.at(server.value))
    if (read.open) ++read.staleness;
}

void Accountant::change_shard(UpdateId update, ServerId server, bool is_last) {
  std::set<ServerId>& servers = updates_[update];
  if (!servers.insert(server).second)
    complain(fmt::format("update {} changes shard {} twice", update.value, server.value));
  if (is_last != (servers.size() == job_.servers))
    complain(fmt::format("update {} is complete with {} shards", update.value, servers.size()));
}

void Accountant::close(const TestJob::Result& result, const std::vector<LinkUse>& links) {
  if (result.stalled) complain("the job stalls: " + result.stalled->waiting);
  if (!result.stalled && !end_reason_) complain("the job ends without a stop");
  check_gradients(result);
  check_work(result);
  check_bytes(links);
  check_activities(result.end);
}

void Accountant::check_gradients(const TestJob::Result& result) {
  std::int64_t applied_samples = 0;
  for (const auto& [id, gradient] : gradients_) {
    const bool applied = gradient.shards == job_.servers;
    if (applied) applied_samples += gradient.samples;
    if (!applied && !gradient.discarded && !gradient.stepped_locally)
      complain(fmt::format("gradient {} is neither applied nor discarded", id.value));
  }
  if (applied_samples != result.applied_samples)
    complain(fmt::format("{} samples are counted, {} were applied", result.applied_samples, applied_samples));
  if (complete_updates_ != result.updates)
    complain(fmt::format("{} updates are counted, {} were applied", result.updates, complete_updates_));
}

void Accountant::check_work(const TestJob::Result& result) {
  std::int64_t one_batch_each = 0;
  for (const std::int64_t batch : largest_batch_) one_batch_each += batch;
  const bool is_done = end_reason_ == EndReason::workload_done;
  if (is_done && result.applied_samples < job_.total_samples)
    complain(fmt::format("only {} samples are applied", result.applied_samples));
  if (result.applied_samples >= job_.total_samples + one_batch_each)
    complain(fmt::format("{} samples are applied: too many", result.applied_samples));
  const bool one_read_each = job_.heterogeneity.membership.empty() && !exchanges_parameters();
  for (std::size_t s = 0; s < job_.servers && one_read_each; ++s)
    if (staleness_[s] > (job_.workers.size() - 1) * changes_[s])
      complain(fmt::format("gradients on shard {} are staler than W - 1 on average", s));
}

// Up and down a star. What is under way at the end has not arrived, but for rounds of an all-reduce; buckets
// are summed before that is asked for, and summed anew when a gradient is called off or a worker joins.
void Accountant::check_bytes(const std::vector<LinkUse>& links) {
  double carried = sabotage_ == Sabotage::loses_a_byte ? -1.0 : 0.0;
  for (const LinkUse& link : links) carried += link.bytes.value();
  double rounds = 2.0 * sum_of(all_reduces_);
  for (const PhaseConfig& phase : job_.phases)
    if (phase.buckets)
      rounds += 2.0 * bytes_of(*phase.buckets, phase.transport, job_.workers.size()) *
                (1.0 + static_cast<double>(sums_begun_anew_));
  if (carried < 2.0 * arrived_ || carried > 2.0 * arrived_ + rounds)
    complain(fmt::format("links carried {} B, but messages of {} B have arrived", carried, arrived_));
}

void Accountant::check_activities(Seconds end) {
  tracker_.finish(end);
  const std::vector<ActivityTimes> all = tracker_.times();
  for (std::size_t w = 0; w < all.size(); ++w) {
    double sum = 0.0;
    for (const Seconds time : all[w]) {
      sum += time.value();
      if (time < Seconds{-1e-9}) complain(fmt::format("worker {} spends less than no time", w));
    }
    if (std::abs(sum - end.value()) > 1e-9 * (1.0 + end.value()))
      complain(fmt::format("worker {} is busy and idle for {} s of {} s", w, sum, end.value()));
  }
}

}  // namespace

Checked run_and_check(const RandomJob& random, Sabotage sabotage) {
  IdealTimeline timeline(random.job.cluster());
  return run_and_check(random, timeline, sabotage);
}

Checked run_and_check(const RandomJob& random, Timeline& timeline, Sabotage sabotage) {
  Checked checked;
  Accountant accountant(random, sabotage, checked);
  CountingLearner learner(random, [&](std::string text) { accountant.complain(std::move(text)); });
  TestJob job = random.job;
  job.observer = &accountant;
  TestJob::Result result;
  try {
    job.run_on(timeline, learner, result);
  } catch (const std::exception& defect) {
    accountant.complain(fmt::format("the run fails: {}", defect.what()));
    return checked;
  }
  learner.check_nothing_is_held();
  accountant.close(result, timeline.link_use());
  checked.end = result.end;
  return checked;
}

}  // namespace paceline::test
