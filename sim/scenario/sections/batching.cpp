// The section `batching`: how many samples each worker trains on.
#include "sim/scenario/sections/sections.hpp"

namespace paceline {

void describe(Visitor& v, BatchingConfig& c) {
  describe_word(v, "controller", c.controller);
  const OnlyIf adjusts{"controller", words_with(&BatchControllerRule::adjusts), c.controller->adjusts};
  v.optional(
      "shares", c.shares,
      Choice{
          {"throughput", ShareBasis::throughput}, {"cores", ShareBasis::cores}, {"flops", ShareBasis::flops}},
      "what static batches are proportional to: calibrated samples/s, cores, or each worker's `flops`");
  v.only_if(adjusts);
  v.optional("start", c.start, Choice{{"uniform", StartBatches::uniform}, {"static", StartBatches::shares}},
             "batches that it begins with");
  v.always();
  v.required("initial", c.initial_samples, Whole{1},
             "samples in a worker's batch at the start; times the workers, the global batch");
  v.optional("minimum", c.minimum_samples, Whole{1}, "smallest batch of all but uniform ones");
  v.optional("maximum", c.maximum_samples, Whole{1}, "largest batch of all but uniform ones");
  describe_parameters(v, "controller", c.controller);
  v.only_if(adjusts);
  v.optional("adjustment_cost", c.adjustment_cost, duration(at_least(0)),
             "pause of every worker before it goes on with other batches: a new data loader, or a restart");
  v.optional("preparation", c.preparation, duration(at_least(0)),
             "that an iteration takes longer, at speed 1, where the worker has not had a batch of that size "
             "since it was started or its phase began: libraries compile kernels for it; `validate live` "
             "measures it",
             Absent{"0 s: not measured"});
  v.always();
  v.optional("weighting", c.weighting,
             Choice{{"by-batch", GradientWeighting::by_batch}, {"equal", GradientWeighting::equal}},
             "how the gradients of one update are combined: each sample counts the same, or each gradient");
}

}  // namespace paceline
