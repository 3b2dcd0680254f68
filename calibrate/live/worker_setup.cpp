#include "calibrate/live/worker_setup.hpp"

#include <nlohmann/json.hpp>

namespace paceline::live {

using nlohmann::json;

std::string to_text(const WorkerSetup& setup) {
  const NetworkLearnerConfig& learner = setup.learner;
  const DatasetSource& data = learner.dataset;
  return json{
      {"network", learner.network},
      {"dataset",
       {{"kind", data.kind},
        {"path", data.path},
        {"train_samples", data.train_samples},
        {"test_samples", data.test_samples},
        {"equal_shards", data.partition == DataPartition::equal_shards}}},
      {"workers", learner.worker_count},
      {"seed", learner.seed.seed},
      {"replication", learner.seed.replication},
      {"random_streams", learner.random_streams},
      {"optimizer",
       {{"momentum_at_workers", learner.momentum_at == MomentumPlace::workers},
        {"nesterov", learner.nesterov},
        {"weight_decay", learner.weight_decay},
        {"adamw", learner.adamw ? json{learner.adamw->beta1, learner.adamw->beta2, learner.adamw->epsilon}
                                : json(nullptr)}}},
      {"is_evaluator", setup.is_evaluator},
      {"speed", setup.speed},
      {"echoed_values", setup.echo ? setup.echo->values : 0},
      {"echo_pieces", setup.echo ? setup.echo->busy.pieces : 0},
      {"echo_loop", setup.echo ? setup.echo->loop : std::vector<std::string>()},
      {"ring", {{"is_own", setup.ring.is_own}, {"latency_s", setup.ring.latency.value()}}},
      {"repeats_for_s", setup.repeats_for ? setup.repeats_for->value() : 0.0}}
      .dump();
}

WorkerSetup worker_setup_from(const std::string& text) {
  const json j = json::parse(text);
  const json& data = j.at("dataset");
  WorkerSetup setup;
  setup.learner.network = j.at("network");
  setup.learner.dataset.kind = data.at("kind");
  setup.learner.dataset.path = data.at("path");
  setup.learner.dataset.train_samples = data.at("train_samples");
  setup.learner.dataset.test_samples = data.at("test_samples");
  setup.learner.dataset.partition =
      data.at("equal_shards") ? DataPartition::equal_shards : DataPartition::whole;
  setup.learner.worker_count = j.at("workers");
  setup.learner.seed = {j.at("seed"), j.at("replication")};
  setup.learner.random_streams = j.at("random_streams").get<std::vector<std::uint32_t>>();
  const json& optimizer = j.at("optimizer");
  if (optimizer.at("momentum_at_workers")) setup.learner.momentum_at = MomentumPlace::workers;
  setup.learner.nesterov = optimizer.at("nesterov");
  setup.learner.weight_decay = optimizer.at("weight_decay");
  if (const json& adamw = optimizer.at("adamw"); !adamw.is_null())
    setup.learner.adamw = AdamW{adamw.at(0), adamw.at(1), adamw.at(2)};
  setup.is_evaluator = j.at("is_evaluator");
  setup.speed = j.at("speed");
  if (const std::uint64_t values = j.at("echoed_values"); values > 0)
    setup.echo = Echo{values, {.pieces = j.at("echo_pieces")}, j.at("echo_loop")};
  if (const Seconds time{j.at("repeats_for_s").get<double>()}; time > Seconds{}) setup.repeats_for = time;
  const json& ring = j.at("ring");
  setup.ring = {ring.at("is_own"), Seconds{ring.at("latency_s")}};
  return setup;
}

}  // namespace paceline::live
