// The section `batching`: how many samples each worker trains on. Controllers bring their words themselves
// (sim/policy/batching/controllers.inc).
#include <fmt/format.h>

#include "sim/policy/batching/batch_rule.hpp"
#include "sim/scenario/sections/sections.hpp"

namespace paceline {

namespace {

std::vector<Choice::Word> controller_words() {
  std::vector<Choice::Word> words;
  for (const BatchControllerRule& rule : batch_controller_rules()) {
    words.emplace_back(rule.word, rule.kind);
    if (!rule.synonym.empty()) words.emplace_back(rule.synonym, rule.kind);
  }
  return words;
}
std::string controller_descriptions() {
  std::string text;
  for (const BatchControllerRule& rule : batch_controller_rules())
    text += fmt::format("{}{}{}{}: {}", text.empty() ? "" : "; ", rule.word,
                        rule.synonym.empty() ? "" : " or ", rule.synonym, rule.description);
  return text;
}

}  // namespace

void describe(Visitor& v, BatchingConfig& c) {
  v.required("controller", c.controller, Choice(controller_words()), controller_descriptions());
  v.optional(
      "shares", c.shares,
      Choice{
          {"throughput", ShareBasis::throughput}, {"cores", ShareBasis::cores}, {"flops", ShareBasis::flops}},
      "what static batches are proportional to: calibrated samples/s, cores, or each worker's `flops`");
  v.optional("start", c.start, Choice{{"uniform", StartBatches::uniform}, {"static", StartBatches::shares}},
             "batches that a controller which adjusts begins with");
  v.required("initial", c.initial_samples, Whole{1},
             "samples in a worker's batch at the start; times the workers, the global batch");
  v.optional("minimum", c.minimum_samples, Whole{1}, "smallest batch of all but uniform ones");
  v.optional("maximum", c.maximum_samples, Whole{1}, "largest batch of all but uniform ones");
  v.optional(
      "dead_band", c.dead_band, Number{between(0, 1)},
      "change, as a fraction, up to which batches are left alone: dynamic and proportional-repair look "
      "at the largest one, released at each worker's",
      Absent{"0.05; released: 0.2"});
  v.optional("smoothing", c.smoothing, Number{above_up_to(0, 1)},
             "weight of the newest iteration time in a moving average");
  v.optional("adjust_every", c.adjust_every, period(),
             "iterations of every worker, or epochs of the job, between two looks at the times",
             Absent{"10 iterations; lb-bsp: 1 iterations; released: 1 epochs"});
  v.optional("adjustment_cost", c.adjustment_cost, duration(at_least(0)),
             "pause of every worker before it goes on with other batches: a new data loader, or a restart");
  v.optional("weighting", c.weighting,
             Choice{{"by-batch", GradientWeighting::by_batch}, {"equal", GradientWeighting::equal}},
             "how the gradients of one update are combined: each sample counts the same, or each gradient");
}

}  // namespace paceline
