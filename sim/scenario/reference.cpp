// docs/scenario-reference.md and docs/study-reference.md, from the descriptions that the reader works by.
#include "sim/description/outputs.hpp"
#include "sim/scenario/reader.hpp"
#include "sim/scenario/sections/sections.hpp"
#include "sim/scenario/sweep/study_plan.hpp"

namespace paceline {
namespace {

constexpr std::string_view scenario_introduction =
    R"(A scenario is one training job on one cluster under one way of synchronizing and batching. It is a YAML
file; `paceline check FILE` prints every value with the place it comes from, and `--set key.path=value`
on the command line replaces one: `--set cluster.workers.2.speed=0.5`.

Every key must be known and every value must fit: an unknown key, a missing unit or a number out of range
is an error with its line and a hint. Quantities have their unit, one of those [below](#units). Relative
paths start at the folder of the file. A key that is only for some value of another key is not required
elsewhere, and gets a warning there.

Workers alike are written once: `{name: big, repeat: 2, cores: 16}` stands for `big 1` and `big 2`, which are
counted one by one wherever a worker has a number. Stragglers, levels, members and machines take a worker's
number or its name: `worker: big 1`. A slow stretch may come again and again:
`{worker: 2, from: 10 min, every: 1 h, for: 20 min, slowdown: 4}`.

## Units

Prefixes k, M, G are powers of 1000, Ki, Mi, Gi of 1024; a byte has 8 bits. An accuracy is a number or in
percent: `0.88` or `88 %`.

)";

constexpr std::string_view study_introduction =
    R"(A study runs one base scenario in several variants: every named variant with every combination of the
values it varies. A combination's scenario is the base, then the variant's `set`, then what each entry of
`vary` sets, in order, then the study's `set`, then `--set` of the command line. Keys are key paths of the
scenario ([scenario-reference.md](scenario-reference.md)), such as `cluster.workers.2.speed`.

Each of them replaces what the base says. What one part of a study sets, a later part may add to, but not
replace: after a variant's `batching: {controller: uniform, initial: 16}` the study's `set` may give
`batching.minimum`, while `batching.initial` or a whole `batching` there is refused, with both places. `--set`
may replace what the study's `set` says, not what tells combinations apart.

Each entry of `vary` has one of

- `values`: a list of values of `key`;
- `range`: numbers from one end to the other, with equal differences or, with `scale: log`, equal ratios;
- `cases`: labels, each with several key paths that move together;
- `zip`: several key paths, each with a list of values of the same length.

Values under `set` may depend on what is varied:

- `"${name}"` stands for the value of the entry with this name;
- `{repeat: 4, of: {cores: 2}}` in a list stands for four such items, and the number may be `"${name}"`;
- `{lookup: name, in: {label: value, …}}` stands for the value beside the label of that entry.)";

}  // namespace

std::string_view scenario_example() {
  return R"(name: uneven
job:
  network: resnet32
  profile: profiles/k80-resnet32.json
  dataset: {train_samples: 50000}
  optimizer: {learning_rate: 0.1, momentum: 0.9}
cluster:
  workers: [{cores: 1}, {cores: 1}, {cores: 1, speed: 0.5}]
  network: {topology: star, bandwidth: 10 Gbit/s, latency: 50 us}
synchronization:
  - {policy: bsp, transport: ring, share: 25 %}
  - {policy: asp, transport: server, switch_cost: 30 s}
batching: {controller: uniform, initial: 128}
learner: {kind: none}
evaluation: {every: 1 epoch}
stop: {epochs: 10}
)";
}

std::string_view study_example() {
  return R"(study: speeds
base: scenario.yaml
replications: 20
variants:
  - {name: uniform batches}
  - {name: batches follow speed, set: {batching.controller: proportional-repair}}
vary:
  - {key: cluster.workers.2.speed, values: [0.25, 0.5, 1]}
  - {key: cluster.network.bandwidth, range: {from: 1 Gbit/s, to: 100 Gbit/s, points: 3, scale: log}}
exclude:
  - {speed: 1, bandwidth: 100 Gbit/s}
figures:
  - {name: time-against-speed, metric: end_time_s, against: speed, series: variant}
)";
}

std::string scenario_reference() {
  return reference_of<Scenario>({"Keys of a scenario file",
                                 std::string(scenario_introduction) + units_table(), scenario_example(),
                                 "paceline reference scenario > docs/scenario-reference.md"});
}

std::string study_reference() {
  return reference_of<StudyPlan>({"Keys of a study file", std::string(study_introduction), study_example(),
                                  "paceline reference study > docs/study-reference.md"});
}

}  // namespace paceline
