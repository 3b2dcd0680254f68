"""Validates the good example, and copies of it broken in one place, against the JSON schemas; and every shipped
scenario and study.

Usage: schema_check.py SCHEMA_DUMP_PROGRAM SCENARIOS_FOLDER
"""

import copy
import json
import pathlib
import re
import subprocess
import sys

import jsonschema
import yaml

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
    (["job", "learning_rate_schedule", "shape"], "steps"),
    (["job", "learning_rate_schedule"], {"basis": "epoch", "shape": "cosine", "end": 20}),
    (["expect"], {}),
    (["expect"], {"time_to_accuracy": "< 10 min", "p_reach": "> 0.9", "staleness": "<= 8", "samples_per_s": ">=1e3"}),
    (["expect"], {"time_per_epoch": "<30s", "final_accuracy": ">= 0.7"}),
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
    (["cluster", "network"], ["cluster", "network", "topology"], "tre"),
    (["cluster", "network"], ["cluster", "network", "bandwidth"], REMOVED),
    (["cluster", "network", "model", "latency_factor"], ["cluster", "network", "model"], {"latency_factor": 0}),
    (["cluster", "servers", "placement"], ["cluster", "servers"], {"placement": "here"}),
    (["synchronization", 0], ["synchronization", 0, "policy"], "sps"),
    (["synchronization", 0], ["synchronization", 0, "share"], 0.25),
    (["batching"], ["batching", "dead_band"], 1.5),
    (["batching"], ["batching", "smoothing"], 0),
    (["batching"], ["batching", "adjust_every"], 10),
    (["job", "optimizer"], ["job", "optimizer", "momentum"], 1),
    (["job", "optimizer"], ["job", "optimizer", "nesterov"], "yes"),
    (["job", "optimizer"], ["job", "optimizer", "momentum_at"], "worker"),
    (["job", "optimizer"], ["job", "optimizer", "velocity_scale"], -1),
    (["job", "learning_rate_schedule"], ["job", "learning_rate_schedule", "basis"], REMOVED),
    (["job", "learning_rate_schedule"], ["job", "learning_rate_schedule", "milestones"], REMOVED),
    (["job", "learning_rate_schedule"], ["job", "learning_rate_schedule", "factor"], REMOVED),
    (["job", "learning_rate_schedule"], ["job", "learning_rate_schedule"], {"basis": "epoch", "shape": "cosine"}),
    (["job", "learning_rate_schedule"], ["job", "learning_rate_schedule", "warmup"], 0),
    (["job", "learning_rate_schedule"], ["job", "learning_rate_schedule", "warmup"], "5"),
    (["evaluation"], ["evaluation", "every"], "2048"),
    (["learner"], ["learner", "kind"], "netwrok"),
    (["stop"], ["stop", "accuracy"], "most"),
    (["stop"], ["stop", "unknown"], 1),
    ([], ["expect"], {"time_per_epoch": "10 min"}),
    ([], ["expect"], {"time_per_epoch": "< 10"}),
    ([], ["expect"], {"time_per_epoch": "< 10 GB"}),
    ([], ["expect"], {"time_per_epoch": "== 10 min"}),
    ([], ["expect"], {"p_reach": 0.9}),
    ([], ["expect"], {"p_reach": "> 90 %"}),
    ([], ["expect"], {"staleness": "> many"}),
    ([], ["expect"], {"speed": "> 1"}),
]

STUDY = {
    "study": "s",
    "base": "base.yaml",
    "variants": [{"name": "a", "set": {"batching.controller": "uniform"}}, {"name": "b"}],
    "set": {"cluster.workers[0].speed": 0.5, "cluster.workers.1": {"cores": 1}, "synchronization.0.policy": "bsp"},
    "vary": [
        {"key": "batching.initial", "values": [16, 32]},
        {"name": "rate", "key": "job.optimizer.learning_rate", "range": {"from": 0.1, "to": 1, "points": 3, "scale": "log"}},
        {"name": "level", "cases": [{"label": "HL2", "set": {"seed": 1}}]},
        {"zip": {"batching.minimum": [8, 16]}},
    ],
    "exclude": [{"level": "HL2", "rate": [0.1]}],
    "figures": [{"name": "f", "metric": "final_accuracy", "against": "rate"}],
    "search": {"method": "golden-section", "over": "rate", "accuracy": 0.9},
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
        in_place = found in (place, path) or found[: len(path)] == path
        assert in_place, f"{path} = {value!r} was reported at {found}"

    study = jsonschema.Draft7Validator(study_schema)
    study.validate(STUDY)
    for path, value in [
        (["base"], REMOVED),
        (["variants"], []),
        (["variants", 0, "name"], REMOVED),
        (["variants", 0, "set"], [1]),
        (["variants", 0, "set"], {"batching.controler": "uniform"}),
        (["vary", 0, "key"], "batching.inital"),
        (["vary", 2, "cases", 0, "set"], {"cluster.workers[0].sped": 1}),
        (["vary", 3, "zip"], {"batching.minimum.more": [8, 16]}),
        (["set"], {"cluster": {}, "replication": 3}),
        (["variants", 0, "sets"], {}),
        (["vary", 0, "valeus"], [1]),
        (["vary", 1, "range", "scale"], "cubic"),
        (["vary", 2, "cases", 0, "label"], REMOVED),
        (["exclude"], [3]),
        (["figures", 0, "against"], REMOVED),
        (["search", "over"], REMOVED),
    ]:
        assert not study.is_valid(changed(STUDY, path, value)), f"accepted {path} = {value!r}"


class ScenarioLoader(yaml.SafeLoader):
    """Numbers as YAML 1.2 and paceline read them: 1e-3 is one."""


ScenarioLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]+$"),
    list("-+.0123456789"),
)


def with_overrides(base, overrides):
    """The base scenario with a variant's `set` in it: what the variant runs."""
    result = copy.deepcopy(base)
    for path, value in overrides.items():
        parent = result
        keys = [int(key) if key.isdigit() else key for key in path.split(".")]
        for key in keys[:-1]:
            parent = parent[key] if isinstance(key, int) else parent.setdefault(key, {})
        parent[keys[-1]] = without_repeats(value)
    return result


def without_repeats(value):
    """A study's `{repeat: n, of: item}` in a list, written out."""
    if isinstance(value, dict):
        return {key: without_repeats(member) for key, member in value.items()}
    if not isinstance(value, list):
        return value
    written_out = []
    for item in value:
        repeats = isinstance(item, dict) and item.keys() == {"repeat", "of"}
        written_out += [without_repeats(item["of"])] * int(item["repeat"]) if repeats else [without_repeats(item)]
    return written_out


# Each kind of mistake, made in whatever shipped scenario has the place for it.
BREAKAGES = {
    "unknown key": lambda s: s.update(sede=1),
    "missing key": lambda s: s.pop("cluster"),
    "wrong type": lambda s: s.update(replications="many"),
    "number out of range": lambda s: s["stop"].update(epochs=-1),
    "missing unit": lambda s: s["cluster"]["network"].update(latency=50),
    "wrong unit": lambda s: s["cluster"]["network"].update(latency="50 MB"),
    "unknown word": lambda s: s["synchronization"][0].update(policy="bps"),
    "empty list": lambda s: s.update(synchronization=[]),
    "list for a section": lambda s: s.update(batching=[1]),
    "null": lambda s: s.update(learner=None),
    "threshold without comparison": lambda s: s.update(expect={"time_per_epoch": "10 min"}),
}


def check_shipped(schemas, folder):
    """Every shipped YAML file validates, says where its schema is, and does not when broken."""
    scenario = jsonschema.Draft7Validator(schemas["scenario_schema"])
    study = jsonschema.Draft7Validator(schemas["study_schema"])
    files = sorted(folder.glob("**/*.yaml"))
    assert files, f"no scenario below {folder}"
    for file in files:
        text = file.read_text(encoding="utf-8")
        document = yaml.load(text, ScenarioLoader)
        if "groups" in document:  # recorded runs for `paceline fit`, which has no schema
            continue
        is_study = "base" in document
        named = re.search(r"^# yaml-language-server: \$schema=(\S+)$", text, re.MULTILINE)
        assert named, f"{file} does not name its schema for editors"
        schema_file = (file.parent / named.group(1)).resolve()
        expected = folder / ("study.schema.json" if is_study else "scenario.schema.json")
        assert schema_file == expected.resolve(), f"{file} names {schema_file}"
        (study if is_study else scenario).validate(document)
        if is_study:
            base = yaml.load((file.parent / document["base"]).read_text(encoding="utf-8"), ScenarioLoader)
            for variant in document.get("variants", []):
                scenario.validate(with_overrides(base, variant.get("set", {})))
            continue
        for kind, break_it in BREAKAGES.items():
            broken = copy.deepcopy(document)
            break_it(broken)
            assert not scenario.is_valid(broken), f"{file} with {kind} was accepted"
    return len(files)


def descriptions_missing(schema, path=""):
    for key, inner in schema.get("properties", {}).items():
        if not inner.get("description"):
            yield f"{path}.{key}"
        yield from descriptions_missing(inner, f"{path}.{key}")
        yield from descriptions_missing(inner.get("items", {}), f"{path}.{key}[]")


if __name__ == "__main__":
    dump = json.loads(subprocess.run([sys.argv[1]], check=True, capture_output=True).stdout)
    check(dump)
    shipped = check_shipped(dump, pathlib.Path(sys.argv[2]))
    missing = list(descriptions_missing(dump["scenario_schema"]))
    assert not missing, f"no description: {missing}"
    print(f"{len(STILL_GOOD) + 1} accepted, {len(BROKEN)} refused; {shipped} shipped files, {len(BREAKAGES)} breakages of each scenario")
