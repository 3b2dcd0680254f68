#include <array>
#include <string_view>

#include <fmt/format.h>

#include "sim/policy/batching/batch_controller.hpp"
#include "tests/property/random_job.hpp"

namespace paceline::test {
namespace {

std::string words(const Moment& moment) {
  struct Words {
    std::string operator()(Seconds date) const { return fmt::format("{} s", date.value()); }
    std::string operator()(AtEpoch at) const { return fmt::format("epoch {}", at.epoch); }
    std::string operator()(AtProgress at) const { return fmt::format("progress {}", at.fraction); }
  };
  return std::visit(Words{}, moment);
}

std::string words(const PhaseLength& length) {
  struct Words {
    std::string operator()(std::monostate) const { return "to the end"; }
    std::string operator()(ShareOfJob share) const { return fmt::format("share {}", share.fraction); }
    std::string operator()(UpdateCount count) const { return fmt::format("{} updates", count.updates); }
    std::string operator()(EpochCount count) const { return fmt::format("{} epochs", count.epochs); }
    std::string operator()(Seconds time) const { return fmt::format("{} s", time.value()); }
  };
  return std::visit(Words{}, length);
}

std::string words(const Every& every) {
  constexpr std::array<std::string_view, 3> units{"updates", "samples", "s"};
  return fmt::format("every {} {}", every.amount, units.at(static_cast<std::size_t>(every.unit)));
}

// A rule with its parameters.
template <class Rule>
std::string words(const Chosen<Rule>& chosen) {
  struct Keys : Visitor {
    explicit Keys(std::string& words) : text(words) {}
    void visit(const Key& key) override {
      const auto& field = key.field.get<ScalarField>();
      text += fmt::format(", {} {}", key.name, field.kind.print(field.value().value()));
    }
    std::string& text;
  };
  std::string text(chosen->word);
  Keys keys(text);
  Parameters parameters = chosen.parameters();
  parameters.describe_to(keys);
  return text;
}

std::string words(const std::optional<LocalTraining>& local) {
  if (!local) return {};
  std::string text = fmt::format(", {} local steps", local->steps);
  if (local->by_speed) text += fmt::format(" by speed, {} at least", local->least);
  if (local->fragments)
    text += fmt::format(", {} fragments {} steps late", local->fragments->count, local->fragments->delay);
  return text;
}

std::string words(const PhaseConfig& phase, const RestartCost& cost) {
  constexpr std::array<std::string_view, 4> transports{"ring", "tree", "halving-doubling", "server"};
  const std::string buckets = phase.buckets
                                  ? fmt::format(" in buckets of {} and {} B", phase.buckets->first.value(),
                                                phase.buckets->size.value())
                                  : "";
  return fmt::format("phase: {} over {}{}, {}{}{}; before it {} s + {} s per worker, {}\n",
                     words(phase.policy), transports.at(static_cast<std::size_t>(phase.transport)), buckets,
                     words(phase.length),

                     phase.exchange == Exchange::parameters ? ", exchanging parameters" : "",
                     words(phase.local), cost.time.value(), cost.per_worker.value(),
                     cost.order == RestartOrder::sequential ? "sequential" : "parallel");
}

std::string words(const Heterogeneity& changes) {
  std::string text;
  for (const Level& level : changes.schedule) {
    text += fmt::format("level at {}:", words(level.at));
    for (std::size_t i = 0; i < level.workers.size(); ++i)
      text += fmt::format(" worker {}", level.workers[i]);
    for (const double speed : level.speeds) text += fmt::format(" speed {}", speed);
    for (const double bandwidth : level.bandwidths) text += fmt::format(" bandwidth {}", bandwidth);
    text += "\n";
  }
  for (const TraceRow& row : changes.trace)
    text += fmt::format("trace at {} s: worker {} speed {} bandwidth {}\n", row.time.value(), row.worker,
                        row.speed.value_or(1.0), row.bandwidth.value_or(1.0));
  for (const Straggler& s : changes.stragglers)
    text += fmt::format("straggler {} from {} for {} s: slower by {}, {} s of latency, {} round trips\n",
                        s.worker, words(s.from), s.lasts().value(), s.slowdown, s.added_latency.value(),
                        s.round_trips);
  if (const auto& random = changes.random_stragglers)
    text += fmt::format("random stragglers: p {}, windows of {} s, slower by {}, {} s of latency\n",
                        random->probability, random->window.value(), random->slowdown,
                        random->added_latency.value());
  for (const MembershipChange& change : changes.membership)
    text += fmt::format("worker {} {} at {}\n", change.worker,
                        change.event == MembershipEvent::joins ? "joins" : "leaves", words(change.at));
  return text;
}

std::string words(const FixedCosts& costs) {
  constexpr std::array<std::string_view, 3> payers{"free", "inline", "evaluator"};
  std::string text;
  if (costs.start_up)
    text += fmt::format("start-up: {} s + {} s per worker\n", costs.start_up->time.value(),
                        costs.start_up->per_worker.value());
  if (costs.preparation > Seconds{})
    text += fmt::format("preparation of a batch: {} s\n", costs.preparation.value());
  for (const RestCost& cost : costs.resume)
    text += fmt::format("going on after {} s: {} s\n", cost.rest.value(), cost.time.value());
  if (costs.ramp_up.iterations > 0)
    text += fmt::format("ramp-up: {} iterations from {}\n", costs.ramp_up.iterations, costs.ramp_up.slowdown);
  if (!costs.coordination.is_free())
    text += fmt::format("coordination: {} s + {} s per worker + {} s per sample\n",
                        costs.coordination.per_step.value(), costs.coordination.per_worker.value(),
                        costs.coordination.per_sample.value());
  if (costs.evaluation > Seconds{})
    text += fmt::format("evaluation: {} s, {}\n", costs.evaluation.value(),
                        payers.at(static_cast<std::size_t>(costs.evaluation_payer)));
  return text;
}

}  // namespace

std::string in_words(const RandomJob& random) {
  const TestJob& job = random.job;
  std::string text = fmt::format("{} workers of speeds", job.workers.size());
  for (const Worker& worker : job.workers) text += fmt::format(" {}", worker.speed);
  text += fmt::format("; {} servers at {} B/s; links {} B/s, {} s\n", job.servers, job.server_rate.value(),
                      job.network.bandwidth.value(), job.network.latency.value());
  if (job.split == ParameterSplit::whole_variables) {
    text += "variables of";
    for (const Bytes bytes : job.variables) text += fmt::format(" {}", bytes.value());
    text += fmt::format(" B, {} s each\n", job.costs.communication.server_variable.value());
  }
  text += fmt::format(
      "{} samples in {} batches from {}; iteration {} s + 1 s per sample, jitter {} {} {}, messages {} s, "
      "step {} s\n",
      job.total_samples, words(job.batching.controller), job.batching.initial_samples, job.intercept.value(),
      job.jitter.run_cv, job.jitter.worker_cv, job.jitter.iteration_cv, job.message_delay.value(),
      job.optimizer_step.value());
  for (std::size_t p = 0; p < job.phases.size(); ++p)
    text += words(job.phases[p], p < job.costs.switching.size() ? job.costs.switching[p] : RestartCost{});
  for (const Machine& machine : job.machines)
    text += fmt::format("one machine of {} cores, second speed {}{}{}{}\n", machine.cores,
                        machine.speeds.empty() ? 1.0 : machine.speeds.back(),
                        machine.hosts_servers ? ", with the servers" : "",
                        machine.slow_workers == SlowWorkers::rest ? ", slow workers rest" : "",
                        machine.turns ? fmt::format(", turns of {} s{}", machine.turns->length.value(),
                                                    machine.turns->servers_first ? ", servers first" : "")
                                      : "");
  for (std::size_t w = 0; w < job.workers.size(); ++w)
    if (const auto& quota = job.workers[w].quota)
      text += fmt::format("quota of worker {}: {} cores in {} s\n", w, quota->cores, quota->period.value());
  if (job.reaction != "fixed") text += fmt::format("reaction: {}\n", words(job.reaction));
  text += words(job.costs);
  if (job.checkpoint_every)
    text += fmt::format("checkpoint {}: {} s\n", words(*job.checkpoint_every), job.costs.checkpoint.value());
  if (job.evaluate_every.amount < 1e9) text += fmt::format("evaluation {}\n", words(job.evaluate_every));
  if (job.target_accuracy)
    text += fmt::format("target {} in {} evaluations, accuracy {} per update\n", *job.target_accuracy,
                        job.evaluations_at_target, random.accuracy_per_update);
  if (random.diverges_at) text += fmt::format("diverges after {} updates\n", *random.diverges_at);
  return text + words(job.heterogeneity);
}

}  // namespace paceline::test
