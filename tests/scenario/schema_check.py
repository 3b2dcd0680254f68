"""Validates the good example, and copies of it broken in one place, against the JSON schemas.

Usage: schema_check.py SCHEMA_DUMP_PROGRAM
"""

import copy
import json
import subprocess
import sys

import jsonschema

REMOVED = object()


def changed(document, path, value):
    """A copy of the document with the value under the path replaced, added or removed."""
    result = copy.deepcopy(document)
    parent = result
    for key in path[:-1]:
        parent = parent[key]
    if value is REMOVED:
        del parent[path[-1]]
    else:
        parent[path[-1]] = value
    return result


STILL_GOOD = [
    (["question"], REMOVED),
    (["name"], 2024),
    (["jitter"], REMOVED),
    (["jitter"], {}),
    (["cluster", "network", "server_bandwidth"], REMOVED),
    (["cluster", "network", "bandwidth"], "2.5e1 MB/s"),
    (["cluster", "network", "bandwidth"], "10Gbps"),
    (["evaluation", "every"], "0.25 epochs"),
    (["evaluation", "every"], "1 update"),
    (["job", "dataset", "path"], "data/cifar"),
    (["batching", "controller"], "static"),
    (["job", "learning_rate_schedule", "milestones"], []),
    (["job", "learning_rate_schedule", "milestones"], ["50 %", "75 %"]),
    (["job", "learning_rate_schedule", "warmup"], "5 %"),
]

BROKEN = [
    ([], ["name"], REMOVED),
    ([], ["naem"], "x"),
    ([], ["name"], ""),
    ([], ["seed"], -1),
    ([], ["seed"], 1.5),
    ([], ["seed"], "1"),
    ([], ["replications"], 0),
    ([], ["jitter"], None),
    (["cluster"], ["cluster", "workers"], []),
    (["cluster", "workers"], ["cluster", "workers", 0], 2),
    (["cluster", "workers", 0], ["cluster", "workers", 0, "cores"], REMOVED),
    (["cluster", "workers", 0], ["cluster", "workers", 0, "cores"], 0),
    (["cluster", "workers", 2], ["cluster", "workers", 2, "speed"], 0),
    (["cluster", "network"], ["cluster", "network", "bandwidth"], 10),
    (["cluster", "network"], ["cluster", "network", "bandwidth"], "10"),
    (["cluster", "network"], ["cluster", "network", "bandwidth"], "10 gbit/s"),
    (["cluster", "network"], ["cluster", "network", "latency"], "50 MB"),
    (["cluster", "network"], ["cluster", "network", "latency"], "fast us"),
    (["cluster", "network"], ["cluster", "network", "topology"], "tree"),
    (["synchronization", 0], ["synchronization", 0, "policy"], "ssp"),
    (["synchronization", 0], ["synchronization", 0, "share"], 0.25),
    (["batching"], ["batching", "dead_band"], 1.5),
    (["batching"], ["batching", "smoothing"], 0),
    (["batching"], ["batching", "adjust_every"], 10),
    (["job", "optimizer"], ["job", "optimizer", "momentum"], 1),
    (["job", "optimizer"], ["job", "optimizer", "nesterov"], "yes"),
    (["job", "optimizer"], ["job", "optimizer", "momentum_at"], "worker"),
    (["job", "optimizer"], ["job", "optimizer", "velocity_scale"], -1),
    (["job", "learning_rate_schedule"], ["job", "learning_rate_schedule", "basis"], REMOVED),
    (["job", "learning_rate_schedule"], ["job", "learning_rate_schedule", "warmup"], 0),
    (["job", "learning_rate_schedule"], ["job", "learning_rate_schedule", "warmup"], "5"),
    (["evaluation"], ["evaluation", "every"], "2048"),
    (["learner"], ["learner", "kind"], "netwrok"),
    (["stop"], ["stop", "accuracy"], "80 %"),
    (["stop"], ["stop", "unknown"], 1),
]

STUDY = {
    "study": "s",
    "base": "base.yaml",
    "variants": [{"name": "a", "set": {"batching.controller": "uniform"}}, {"name": "b"}],
}


def check(schemas):
    scenario = schemas["scenario"]
    scenario_schema = schemas["scenario_schema"]
    study_schema = schemas["study_schema"]
    for schema in (scenario_schema, study_schema):
        jsonschema.Draft7Validator.check_schema(schema)
        assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    validator = jsonschema.Draft7Validator(scenario_schema)
    validator.validate(scenario)
    for path, value in STILL_GOOD:
        validator.validate(changed(scenario, path, value))
    for place, path, value in BROKEN:
        errors = list(validator.iter_errors(changed(scenario, path, value)))
        # One mistake, one complaint, at the place of the mistake or at the section that holds it.
        assert len(errors) == 1, f"{path} = {value!r}: {errors}"
        found = list(errors[0].absolute_path)
        assert found in (place, path), f"{path} = {value!r} was reported at {found}"

    study = jsonschema.Draft7Validator(study_schema)
    study.validate(STUDY)
    for path, value in [
        (["base"], REMOVED),
        (["variants"], []),
        (["variants", 0, "name"], REMOVED),
        (["variants", 0, "set"], [1]),
        (["variants", 0, "sets"], {}),
    ]:
        assert not study.is_valid(changed(STUDY, path, value)), f"accepted {path} = {value!r}"


def descriptions_missing(schema, path=""):
    for key, inner in schema.get("properties", {}).items():
        if not inner.get("description"):
            yield f"{path}.{key}"
        yield from descriptions_missing(inner, f"{path}.{key}")
        yield from descriptions_missing(inner.get("items", {}), f"{path}.{key}[]")


if __name__ == "__main__":
    dump = json.loads(subprocess.run([sys.argv[1]], check=True, capture_output=True).stdout)
    check(dump)
    missing = list(descriptions_missing(dump["scenario_schema"]))
    assert not missing, f"no description: {missing}"
    print(f"{len(STILL_GOOD) + 1} accepted, {len(BROKEN)} refused")
