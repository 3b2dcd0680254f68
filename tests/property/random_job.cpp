#include "tests/property/random_job.hpp"

#include <algorithm>

#include "sim/base/random.hpp"
#include "sim/policy/batching/batch_controller.hpp"

namespace paceline::test {
namespace {

class Dice {
 public:
  Dice(std::uint32_t seed, std::uint32_t index) : stream_(Seed{seed, 0}, Purpose::test, 0, index) {}

  bool chance(double probability) { return stream_.uniform() < probability; }
  std::int64_t whole(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(stream_.below(static_cast<std::uint64_t>(high - low + 1)));
  }
  std::size_t index(std::size_t size) { return static_cast<std::size_t>(stream_.below(size)); }
  double real(double low, double high) { return low + (high - low) * stream_.uniform(); }
  // In a job of round numbers: a multiple of `unit`.
  double number(double low, double high, double unit) {
    const double value = real(low, high);
    return round_numbers ? std::max(unit, unit * std::floor(value / unit)) : value;
  }
  Seconds seconds(double low, double high) { return Seconds{number(low, high, 1.0)}; }

  bool round_numbers = false;

 private:
  RandomStream stream_;
};

Moment random_moment(Dice& dice) {
  if (dice.chance(0.6)) return Seconds{dice.number(0.0, 600.0, 10.0)};
  if (dice.chance(0.5)) return AtEpoch{dice.real(0.0, 1.0)};
  return AtProgress{dice.real(0.0, 1.0)};
}

void draw_cluster(Dice& dice, TestJob& job) {
  job.workers.assign(static_cast<std::size_t>(dice.whole(1, 9)), {});
  if (dice.chance(0.7))
    for (Worker& worker : job.workers)
      worker.speed = dice.round_numbers ? 0.25 * static_cast<double>(dice.whole(1, 8)) : dice.real(0.2, 3.0);
  if (dice.chance(0.7))
    job.network = {BytesPerSecond{dice.number(200.0, 5000.0, 252.0)}, dice.seconds(0.0, 2.0),
                   BytesPerSecond{dice.number(200.0, 5000.0, 252.0)}};
  if (dice.chance(0.4)) job.servers = static_cast<std::size_t>(dice.whole(2, 4));
  if (dice.chance(0.6)) job.server_rate = BytesPerSecond{dice.number(500.0, 20000.0, 252.0)};
  if (dice.chance(0.4)) job.optimizer_step = dice.seconds(0.0, 3.0);
  if (!dice.round_numbers && dice.chance(0.8))
    job.jitter = {.run_cv = 0.05, .worker_cv = 0.1, .iteration_cv = dice.real(0.0, 0.8)};
}

// Gives each parameter a value that its kind accepts: whole numbers up to `most`, and small ones of the
// others, which make for more decisions. Hundredths: not every number can be written as a percentage.
class Draw final : public Visitor {
 public:
  Draw(Dice& dice, std::int64_t most) : dice_(dice), most_(most) {}

 private:
  void visit(const Key& key) override {
    const auto& field = key.field.get<ScalarField>();
    Plain value = field.value().value();
    do {
      if (std::holds_alternative<std::int64_t>(value)) value = dice_.whole(0, most_);
      if (std::holds_alternative<double>(value)) value = static_cast<double>(dice_.whole(0, 20)) / 100.0;
      if (std::holds_alternative<Amount>(value)) value = some_period();
    } while (!is_accepted(field.kind, value));
    field.set(value);
  }
  Amount some_period() {
    if (dice_.chance(0.3)) return {Dimension::epochs, dice_.real(0.05, 0.3)};
    return {Dimension::iterations, static_cast<double>(dice_.whole(1, most_))};
  }
  static bool is_accepted(const Kind& kind, const Plain& value) {
    const std::string text = kind.print(value);
    const std::filesystem::path anywhere;
    return std::holds_alternative<Plain>(kind.parse({text, false, anywhere}));
  }

  Dice& dice_;
  std::int64_t most_;
};

void draw_parameters(Dice& dice, Parameters& parameters, std::int64_t most) {
  Draw draw(dice, most);
  parameters.describe_to(draw);
}

LocalTraining random_local_training(Dice& dice, const PhaseConfig& phase) {
  LocalTraining local{.steps = dice.whole(1, 6)};
  if (phase.transport != Transport::server && dice.chance(0.5)) {
    local.fragments = Streaming{.count = dice.whole(1, 3), .delay = dice.whole(0, local.steps - 1)};
    local.steps *= local.fragments->count;
  } else if (dice.chance(0.5)) {
    local.by_speed = true;
    local.least = dice.whole(1, 3);
  }
  return local;
}

// Any rule there is: one that is added later is drawn too.
PhaseConfig random_policy(Dice& dice, const TestJob& job) {
  const std::span<const SynchronizationRule> rules = SynchronizationRule::all();
  const SynchronizationRule* rule = nullptr;
  do {
    rule = &rules[dice.index(rules.size())];
  } while (job.servers > 1 && !rule->decides_alike_on_every_server);
  PhaseConfig phase;
  phase.policy = SynchronizationChoice(*rule);
  const auto workers = static_cast<std::int64_t>(job.workers.size());
  do {
    draw_parameters(dice, phase.policy.parameters(), workers);
  } while (complaint_about(phase.policy, workers));
  if (rule->waits_for == WaitsFor::all && dice.chance(0.5))
    phase.transport = static_cast<Transport>(dice.whole(0, 2));
  if (rule->waits_for == WaitsFor::nobody && dice.chance(0.3)) phase.exchange = Exchange::parameters;
  if (phase.exchange == Exchange::gradients && dice.chance(0.3))
    phase.local = random_local_training(dice, phase);
  return phase;
}

PhaseLength random_length(Dice& dice) {
  switch (dice.whole(0, 3)) {
    case 0:
      return ShareOfJob{dice.real(0.05, 0.4)};
    case 1:
      return UpdateCount{static_cast<std::uint64_t>(dice.whole(1, 25))};
    case 2:
      return EpochCount{dice.real(0.05, 0.4)};
    default:
      return dice.seconds(1.0, 200.0);
  }
}

void draw_phases(Dice& dice, TestJob& job) {
  const auto phases = static_cast<std::size_t>(dice.whole(1, 4));
  const bool shares = dice.chance(0.4);
  job.phases.clear();
  for (std::size_t p = 0; p < phases; ++p) {
    job.phases.push_back(random_policy(dice, job));
    if (shares)
      job.phases.back().length = ShareOfJob{1.0 / static_cast<double>(phases)};
    else if (p + 1 < phases)
      job.phases.back().length = random_length(dice);
  }
  job.costs.switching.resize(phases);
  for (RestartCost& cost : job.costs.switching)
    if (dice.chance(0.4))
      cost = {dice.seconds(0.0, 10.0), dice.seconds(0.0, 3.0),
              dice.chance(0.5) ? RestartOrder::sequential : RestartOrder::parallel};
}

// Any switch policy there is, with a detector that is quick to raise alarms: reactions should happen.
void draw_reaction(Dice& dice, TestJob& job) {
  const std::span<const SwitchRule> rules = SwitchRule::all();
  const SwitchRule& rule = rules[dice.index(rules.size())];
  const bool ends_by_time = std::ranges::any_of(
      job.phases, [](const PhaseConfig& phase) { return std::holds_alternative<Seconds>(phase.length); });
  if (rule.leaves_phases && ends_by_time) return;
  if (rule.drops_workers && !job.heterogeneity.membership.empty()) return;
  job.reaction = SwitchChoice(rule);
  draw_parameters(dice, job.reaction.parameters(), 3);
  job.costs.regrouping = dice.seconds(0.0, 5.0);
  job.costs.probing = dice.seconds(0.0, 2.0);
}

// Any controller there is that the job's policies allow.
BatchControllerChoice random_controller(Dice& dice, const TestJob& job) {
  const std::span<const BatchControllerRule> rules = BatchControllerRule::all();
  const bool waits_for_some = std::ranges::any_of(
      job.phases, [](const PhaseConfig& phase) { return phase.policy->waits_for == WaitsFor::some; });
  const BatchControllerRule* rule = nullptr;
  do {
    rule = &rules[dice.index(rules.size())];
  } while (waits_for_some && !rule->allows_partial_waiting);
  BatchControllerChoice controller(*rule);
  draw_parameters(dice, controller.parameters(), 6);
  return controller;
}

void draw_work(Dice& dice, TestJob& job) {
  job.batching.initial_samples = dice.whole(2, 24);
  job.batching.controller = random_controller(dice, job);
  job.batching.maximum_samples = 64;
  if (dice.chance(0.3)) job.batching.start = StartBatches::shares;
  if (dice.chance(0.2)) job.costs.adjustment = dice.seconds(0.0, 5.0);
  if (dice.chance(0.2)) job.costs.preparation = dice.seconds(0.0, 5.0);
  if (dice.chance(0.3)) job.batching.weighting = GradientWeighting::equal;
  job.total_samples = dice.whole(50, 1500);
  job.intercept = dice.chance(0.5) ? dice.seconds(0.0, 10.0) : Seconds{};
}

void draw_costs(Dice& dice, TestJob& job) {
  if (dice.chance(0.3)) job.costs.start_up = RestartCost{dice.seconds(0.0, 20.0), dice.seconds(0.0, 3.0)};
  if (dice.chance(0.3)) {
    job.checkpoint_every = Every{dice.number(2.0, 100.0, 2.0), static_cast<EveryUnit>(dice.whole(0, 2))};
    job.costs.checkpoint = dice.seconds(0.0, 10.0);
  }
  if (dice.chance(0.3))
    job.costs.coordination = {dice.seconds(0.0, 2.0), dice.seconds(0.0, 2.0), Seconds{dice.real(0.0, 0.01)}};
  if (dice.chance(0.3)) job.costs.communication.server_request = dice.seconds(0.0, 2.0);
  if (dice.chance(0.5)) job.costs.communication.server_overlap = dice.number(0.0, 1.0, 0.125);
  // Messages are spread over the first of local steps that are taken one by one, and over all of a stretch:
  // at speeds that change meanwhile its compute time is not the same.
  const bool trains_locally =
      std::ranges::any_of(job.phases, [](const PhaseConfig& phase) { return phase.local.has_value(); });
  if (!trains_locally && dice.chance(0.5)) {
    job.costs.communication.per_message = dice.seconds(0.0, 2.0);
    job.costs.communication.worker_overlap = dice.number(0.0, 1.0, 0.125);
  }
  if (dice.chance(0.3)) job.costs.ramp_up = {dice.whole(1, 10), dice.real(1.0, 3.0)};
  if (dice.chance(0.3)) job.costs.resume = {{dice.seconds(1.0, 20.0), dice.seconds(0.0, 5.0)}};
  if (dice.chance(0.5)) {
    job.evaluate_every = {dice.number(2.0, 100.0, 2.0), static_cast<EveryUnit>(dice.whole(0, 1))};
    job.costs.evaluation_payer = static_cast<EvaluationPayer>(dice.whole(0, 2));
    job.costs.evaluation = dice.seconds(0.0, 20.0);
  }
}

void draw_members(Dice& dice, TestJob& job) {
  for (std::uint64_t worker = 1; worker < job.workers.size(); ++worker) {
    if (dice.chance(0.5)) continue;
    std::vector<double> dates;
    for (std::int64_t i = dice.whole(1, 4); i > 0; --i) dates.push_back(dice.number(0.0, 800.0, 10.0));
    std::sort(dates.begin(), dates.end());
    bool joins = dice.chance(0.3);
    for (const double date : dates) {
      job.heterogeneity.membership.push_back(
          {Seconds{date}, worker, joins ? MembershipEvent::joins : MembershipEvent::leaves});
      joins = !joins;
    }
  }
}

void draw_heterogeneity(Dice& dice, TestJob& job) {
  Heterogeneity& changes = job.heterogeneity;
  const std::size_t workers = job.workers.size();
  for (std::int64_t i = dice.chance(0.4) ? dice.whole(1, 3) : 0; i > 0; --i) {
    Level level{.at = random_moment(dice), .workers = {dice.index(workers)}};
    if (dice.chance(0.7)) level.speeds = {dice.real(0.2, 2.0)};
    if (dice.chance(0.4)) level.bandwidths = {dice.real(0.2, 2.0)};
    changes.schedule.push_back(level);
  }
  for (std::int64_t i = dice.chance(0.4) ? dice.whole(1, 3) : 0; i > 0; --i)
    changes.stragglers.push_back({.worker = dice.index(workers),
                                  .from = random_moment(dice),
                                  .duration = dice.seconds(1.0, 200.0),
                                  .slowdown = dice.chance(0.5) ? 1.0 : dice.real(1.0, 5.0),
                                  .added_latency = dice.seconds(0.0, 3.0),
                                  .round_trips = dice.real(1.0, 4.0)});
  if (dice.chance(0.3))
    changes.random_stragglers = RandomStragglers{.probability = dice.real(0.0, 0.6),
                                                 .window = dice.seconds(20.0, 200.0),
                                                 .slowdown = dice.real(1.0, 4.0),
                                                 .added_latency = dice.seconds(0.0, 2.0),
                                                 .round_trips = 2.0};
  if (dice.chance(0.3)) {
    std::vector<double> dates;
    for (std::int64_t i = dice.whole(1, 10); i > 0; --i) dates.push_back(dice.number(0.0, 500.0, 10.0));
    std::sort(dates.begin(), dates.end());
    for (const double date : dates)
      changes.trace.push_back({Seconds{date}, dice.index(workers), dice.real(0.3, 1.5), dice.real(0.3, 1.5)});
  }
  if (job.servers == 1 && dice.chance(0.4)) draw_members(dice, job);
}

// One for all workers.
void draw_shared_machine(Dice& dice, TestJob& job) {
  Machine& machine = job.machines.emplace_back();
  machine.is_shared = true;
  machine.cores = static_cast<int>(dice.whole(1, static_cast<std::int64_t>(job.workers.size())));
  if (dice.chance(0.5)) machine.speeds = {1.0, dice.number(0.5, 1.0, 0.125)};
  machine.hosts_servers = dice.chance(0.5);
  if (dice.chance(0.5)) machine.slow_workers = SlowWorkers::rest;
  for (Worker& worker : job.workers)
    if (dice.chance(0.2)) worker.quota = CpuQuota{dice.number(0.25, 1.0, 0.125), dice.seconds(1.0, 30.0)};
  const bool has_single_cores =
      std::ranges::all_of(job.workers, [](const Worker& worker) { return worker.cores == 1; });
  if (has_single_cores && dice.chance(0.5)) machine.turns = Turns{dice.seconds(1.0, 30.0), dice.chance(0.5)};
}

// Of whole chunks, or of whole bytes: sums are exact.
std::vector<Bytes> random_variables(Dice& dice, const TestJob& job, std::int64_t fewest) {
  const double chunk = dice.round_numbers ? 252.0 : 1.0;
  const auto chunks = static_cast<std::int64_t>(job.parameter_bytes.value() / chunk);
  std::vector<Bytes> variables(static_cast<std::size_t>(dice.whole(fewest, 10)), Bytes{chunk});
  for (auto left = chunks - static_cast<std::int64_t>(variables.size()); left > 0; --left)
    variables[dice.index(variables.size())] += Bytes{chunk};
  return variables;
}

void draw_variables(Dice& dice, TestJob& job) {
  job.split = ParameterSplit::whole_variables;
  job.variables = random_variables(dice, job, static_cast<std::int64_t>(job.servers));
  if (dice.chance(0.5)) job.costs.communication.server_variable = dice.seconds(0.0, 1.0);
}

// Of half of the phases whose workers could; by dice of their own, which leave everything else as it was.
void draw_buckets(Dice dice, TestJob& job) {
  if (!job.machines.empty() && job.machines.front().slow_workers == SlowWorkers::rest) return;
  for (const Bytes bytes : random_variables(dice, job, 1))
    job.gradient_variables.push_back({bytes, dice.number(0.1, 1.0, 0.25)});
  for (PhaseConfig& phase : job.phases)
    if (phase.transport != Transport::server && !phase.local && dice.chance(0.5))
      phase.buckets =
          BucketSizes{Bytes{dice.number(1.0, 1000.0, 252.0)}, Bytes{dice.number(1.0, 1000.0, 252.0)}};
}

}  // namespace

RandomJob random_job(std::uint32_t seed, std::uint32_t index) {
  Dice dice(seed, index);
  dice.round_numbers = dice.chance(0.5);
  RandomJob random;
  TestJob& job = random.job;
  job.seed = Seed{seed, index};
  draw_cluster(dice, job);
  draw_phases(dice, job);
  const bool has_fragments = std::ranges::any_of(
      job.phases, [](const PhaseConfig& phase) { return phase.local && phase.local->fragments; });
  // Whole chunks for 1 to 10 members, workers or servers; and of a half or a third.
  job.parameter_bytes = Bytes{has_fragments ? 15120.0 : 2520.0};
  draw_work(dice, job);
  draw_costs(dice, job);
  draw_heterogeneity(dice, job);
  if (dice.chance(0.5)) draw_reaction(dice, job);
  if (dice.chance(0.3)) {
    random.accuracy_per_update = dice.real(0.005, 0.05);
    job.target_accuracy = 0.5;
    job.evaluations_at_target = static_cast<std::size_t>(dice.whole(1, 3));
  }
  if (dice.chance(0.05)) random.diverges_at = static_cast<std::uint64_t>(dice.whole(1, 40));
  if (dice.chance(0.25)) draw_shared_machine(dice, job);
  if (job.servers > 1 && dice.chance(0.2)) draw_variables(dice, job);
  if (!dice.round_numbers && dice.chance(0.2)) job.message_delay = dice.seconds(0.0, 2.0);
  Dice of_buckets(~seed, index);
  of_buckets.round_numbers = dice.round_numbers;
  draw_buckets(of_buckets, job);
  return random;
}

}  // namespace paceline::test
