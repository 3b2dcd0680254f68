#!/usr/bin/python3
"""Predicts the jobs of train.py from calibrations alone, carries them out, and prints both side by side. Run by hand.

Usage:    compare.py PACELINE FOLDER [--network small-cnn] [--link-mbit 200] [--repetitions 5] [--steps 600]
                     [--turns] [--keep-awake]

As root, on an otherwise idle machine with two cores or more. Speeds of a machine change within seconds and with the
hour. So each repetition calibrates, predicts, and carries the jobs out; jobs consist of three parts each, minutes
apart, and so do those of one worker. With --turns they are jobs of turns.py, which meet the same machine. The table
shows medians, and ranges over the repetitions; its last column is the median error beside that of the job of one worker
of the same kind, which the calibrations are made from, too: what is left of an error if all that was calibrated had
become slower or faster by one factor before the jobs began. A profile and
repetitions by the same options that have ended in FOLDER are used again: give the same command after an interruption,
or one with more repetitions.
"""
import argparse
import csv
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time
import typing

import train

TRAIN = pathlib.Path(__file__).with_name("train.py")
TURNS = pathlib.Path(__file__).with_name("turns.py")
TURN_S, LONG_TURN_S = 1, 4  # of short and of long steps
CORES = 2
QUOTA_S = 4
WARM_UP = 30  # steps of a job of one worker
PASSES = 8  # of short steps, which vary most
FEW_PASSES = 3
METHOD = 21  # of predictions and jobs; with another one, repetitions that were kept do not count
PARTS = 3  # of which each job consists, minutes apart
LONG_STEP_S = 0.008  # which no stop makes noticeably longer
PROFILED = {"ddp": "worker", "server": "computing"}  # whose steps a profile is corrected by
LEAST_QUOTA = {2: 0.3, 3: 0.2}  # in jobs of so many workers
PERIOD_S = 0.1  # of quotas
IDLE_DRIVER = pathlib.Path("/sys/devices/system/cpu/cpuidle/current_driver")
STEPS_OF_QUOTA = 4.5  # that it must allow; longer ones take a loop alone less time
PARAMETERS = {"small-cnn": 11162, "resnet20": 269722}
# Those of one worker tell how the machine has changed: predictions are made from such jobs.
ALONE = [("server asp", [1]), ("ddp bsp", [1])]
JOBS = ALONE + [(mode, quotas) for mode in ("ddp bsp", "server bsp", "server asp")
                                for quotas in ([1, 1], [1, 0.3], [0.8, 0.4, 0.2])]
SCENARIO = """
name: real
question: How fast is it?
seed: 1
replications: 20
job:
  network: {network_name}
  profile: {profile}
  dataset: {{kind: built-in-images, train_samples: 5000, test_samples: 1000}}
  optimizer: {{learning_rate: 0.01, momentum: 0.9, weight_decay: 0}}
cluster:
  workers: [{workers}]
  {network}
{sends}  machines: [{{cores: {cores}, shared: true{speeds}{servers}}}]
synchronization: [{{policy: {policy}, transport: {transport}}}]
batching: {{controller: uniform, initial: 32, minimum: 8, maximum: 128}}
{communication}
jitter: {{{jitter}}}
learner: {{kind: none}}
evaluation: {{every: 1 epochs, who_pays: free}}
stop: {{epochs: 12}}
"""


def run(*words):
    with subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            said, complaint = process.communicate()
        except BaseException:
            process.terminate()  # and has time to clear up: it may have network namespaces
            process.communicate()
            raise
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}:\n{complaint}")
    return said


class Request(typing.NamedTuple):
    wait_us: float
    variation: float  # of iterations, as far as workers' differ at once, with a core for each
    slowdowns: list[float]  # of what each worker computes
    messages_us: float  # that both messages of a worker take of its processor
    server_us: float  # likewise at the server


class Ring(typing.NamedTuple):
    slowdowns: list[float]  # of what each member computes
    communication: str
    network: str
    resume_ms: float


def beside_others(framework_s, one_s, several_s):
    """What messages of several workers take of a processor, of which a framework's take `framework_s` with one
    worker, and those of `paceline calibrate server` `one_s` with one and `several_s` with several. The difference
    counts, not the ratio: that is of wake-ups, and a framework's messages take longer besides. Several keep a
    server busy, which is woken less often for each; what that saves is no larger a share of a framework's."""
    saved_s = one_s - several_s
    return framework_s - saved_s * (min(1.0, framework_s / one_s) if saved_s > 0 else 1.0)


class Calibration:
    """What the predictions are made from; all of it is measured with one worker, or by `paceline calibrate`."""

    def __init__(self, arguments, profile, folder):
        self.paceline, self.network, self.profile, self.folder = arguments.paceline, arguments.network, profile, folder
        self.loop = [TRAIN, "alone", "--asked", "--network", self.network]
        self.steps, self.link_mbit = str(arguments.steps), arguments.link_mbit
        self.links = ["--link-mbit", str(self.link_mbit)] if self.link_mbit else []
        self.link, self.carried_s = self.shaped_link() if self.link_mbit else ("bandwidth: 1000 Gbit/s", 0.0)
        self.measure_own()
        serving = self.own("server", "server")["processor_s"]
        self.step_s = self.own("ddp", "worker")["processor_s"]
        self.passes = PASSES if self.step_s < LONG_STEP_S else FEW_PASSES
        self.quota_resume_ms = self.resume_after_quota()
        self.beside_another = self.speed_beside_another()
        self.reports = {}
        for policy in ("asp", "bsp"):
            self.measure_own()
            self.reports[policy] = self.server_report(policy, serving)
        self.rings = {members: self.collective(members) for members in (2, 3)}
        self.conclude()

    def shaped_link(self):
        """What a scenario says of it, and how long it carries a message of all parameters."""
        with train.Hosts(2, self.link_mbit) as hosts:
            calibrate = [["ip", "netns", "exec", name, self.paceline, "calibrate", "network"] for name in hosts.names]
            with subprocess.Popen([*calibrate[0], "--listen", "7000"], stderr=subprocess.DEVNULL) as other_end:
                try:
                    time.sleep(1)
                    said = run(*calibrate[1], hosts.addresses[0] + ":7000", "--largest", "4194304", "--json")
                except BaseException:
                    other_end.kill()
                    raise
        (self.folder / "network.json").write_text(said)
        fit, size = json.loads(said), 4 * PARAMETERS[self.network]
        burst = fit["burst"] or {"bytes": 0, "seconds_per_byte": 0, "seconds_per_byte_beyond": fit["seconds_per_byte"]}
        at_once = min(size, burst["bytes"])
        carried_s = at_once * burst["seconds_per_byte"] + (size - at_once) * burst["seconds_per_byte_beyond"]
        return re.search(r"network: {topology: star, latency: [^,]*, (.*)}", fit["scenario"]).group(1), carried_s

    def measure_own(self):
        """A part of the jobs of one worker."""
        for mode, who, names in (("ddp", "worker", {"worker": "step "}), ("server", "server", {"server": "step "}),
                                 ("server", "worker", {"worker": "step ", "computing": "computing "})):
            said = run(TRAIN, mode, "--workers", 1, "--network", self.network, "--steps", self.steps, "--say", who,
                       *self.links)
            for of, name in names.items():
                steps = [line for line in said.splitlines() if line.startswith(name)][WARM_UP:]
                with (self.folder / f"{mode}-{of}.log").open("a", encoding="utf-8") as log:
                    log.writelines(line.replace(name, "step ") + "\n" for line in steps)

    def conclude(self):
        worker, server = self.own("server", "worker"), self.own("server", "server")["processor_s"]
        profiled = {mode: self.own_loop(mode, who) for mode, who in PROFILED.items()}
        self.server_jitter = profiled["server"].get("jitter", "")
        messages = max(0.0, worker["processor_s"] - profiled["server"]["batches"][0]["processor_s"])
        waiting = worker["wall_s"] - worker["processor_s"] - server - 2 * self.carried_s
        # Below 0 where server and worker handle packets while the link carries others: no time besides for one worker,
        # but several need all of it.
        self.overlap = 100 * min(1.0, max(0.0, -waiting / (messages + server)))
        self.connection = f"topology: star, latency: {1e6 * max(0.0, waiting) / 2} us, {self.link}"
        self.requests = {policy: self.server_requests(report, messages, server)
                         for policy, report in self.reports.items()}

    def run(self, *words):
        return run(self.paceline, *words)

    def own(self, mode, who):
        return self.own_loop(mode, who)["batches"][0]

    def own_loop(self, mode, who):
        """Times of that one worker (with a corrected profile) or of the server's requests."""
        words = ["calibrate", "own", "--log", self.folder / f"{mode}-{who}.log", "--json", "--processor-time"]
        if PROFILED.get(mode) == who:
            words += ["--profile", self.profile, "-o", self.folder / f"{mode}.json", "--force"]
            words += ["--without-optimizer-step"] if mode == "server" else []
        return json.loads(self.run(*words))

    def resume_after_quota(self):
        """What a step takes longer after each stop by a quota."""
        steps = self.steps if self.step_s > LONG_STEP_S else int(QUOTA_S / self.step_s)
        said = self.run("calibrate", "own", "--quota", 0.4, "--json", "--", TRAIN, "alone", "--network", self.network,
                        "--steps", steps)
        (self.folder / "quota.json").write_text(said)
        return 1e3 * (json.loads(said)["resume_s"] or 0.0)

    def speed_beside_another(self):
        """Of one who computes while another does. Short steps are slowed by messages more than by that, and figures of
        several workers hold both."""
        if self.step_s < LONG_STEP_S:
            return 1.0
        said = self.run("calibrate", "own", "--copies", 2, "--json", "--", TRAIN, "alone", "--network", self.network,
                        "--steps", self.steps)
        (self.folder / "copies.json").write_text(said)
        return json.loads(said)["speeds"][1]

    def emulated_links(self):
        return ["--bandwidth", f"{self.link_mbit} Mbit/s", "--burst", "32 KiB"] if self.link_mbit else []

    def server_report(self, policy, serving_s):
        size = PARAMETERS[self.network]
        said = self.run("calibrate", "server", "--workers", "2,3", "--policy", policy, "--parameters",
                        f"{size // 2},{size}", "--serving", f"{1e3 * serving_s} ms", "--passes", self.passes, "--json",
                        *self.emulated_links(), "--", *self.loop)
        (self.folder / f"requests-{policy}.json").write_text(said)
        return json.loads(said)

    def server_requests(self, report, messages_s, server_s):
        """By the number of workers: the mean wait of a message of all parameters for a processor, how iterations
        vary, how much longer workers compute, and what messages take of the processors of a worker and of the
        server, of which one worker's take `messages_s` and `server_s`."""
        size = 4 * PARAMETERS[self.network]
        samples = [sample for sample in report["samples"] if sample["bytes"] == size]
        one_worker_s = statistics.median(sample["worker_s"] for sample in samples)
        one_server_s = statistics.median(sample["server_s"] + sample["applying_s"] for sample in samples)
        requests = {1: Request(0.0, 0.0, [1.0], 1e6 * messages_s, 1e6 * server_s)}
        for row in report["waits"]:
            if row["bytes"] == size:
                requests[row["workers"]] = Request(
                    1e6 * statistics.mean(row["seconds"]), row["variation"],
                    [self.by_messages(slowdown) for slowdown in row["slowdowns_of_workers"]],
                    1e6 * beside_others(messages_s, one_worker_s, row["worker_s"]),
                    1e6 * beside_others(server_s, one_server_s, row["server_s"]))
        return requests

    def collective(self, members):
        """Of an all-reduce of all parameters, as a scenario says it, how much longer members compute, and what each
        stop by a quota costs one of them."""
        sizes = ",".join(str(PARAMETERS[self.network] * size // 4) for size in (1, 2, 4))
        quota = LEAST_QUOTA[members]
        stops = ["--quota", quota] if STEPS_OF_QUOTA * self.step_s < PERIOD_S * quota else []
        said = self.run("calibrate", "collective", "--parameters", sizes, "--members", members, "--passes", self.passes,
                        "--json", *stops, *self.emulated_links(), "--", *self.loop)
        (self.folder / f"collective-{members}.json").write_text(said)
        report = json.loads(said)
        (ring,) = (ring for ring in report["loops"] if ring["bytes"] == 4 * PARAMETERS[self.network])
        stop_s = report["resumes"][0]["resume_s"] if stops else None  # nor where none came
        resume_ms = self.quota_resume_ms if stop_s is None else 1e3 * stop_s
        return Ring([self.by_messages(ring["slowdown"])] * members, report["scenario"], ring["network"], resume_ms)

    def by_messages(self, slowdown):
        """What is left of that of workers that compute together."""
        return max(1.0, slowdown * self.beside_another)

    def request_of(self, policy, quotas):
        """Synchronous workers go on and stand still together. Of two the first to be sent parameters is slowed more;
        this server answers in the order of arrival, and whom a quota holds up comes last. In long steps each
        computes for the least quota's share of a round, and is slowed while another does. Asynchronous ones meet as
        many others as there are beside them, on average, while quotas let these go on; in between, figures of as many
        workers as cores and of more are joined by lines."""
        if policy == "bsp":
            request = self.requests[policy][len(quotas)]
            together = 1 if self.step_s < LONG_STEP_S else min(quotas)
            return request._replace(slowdowns=[1 + together * (slowdown - 1) for slowdown in request.slowdowns])
        worker = self.own("server", "worker")
        active = [min(1.0, quota * worker["wall_s"] / worker["processor_s"]) for quota in quotas]
        at_once = 1 + (sum(active) ** 2 - sum(share ** 2 for share in active)) / sum(active)
        known = self.requests[policy]
        fewer = min(int(at_once), max(known) - 1)
        joined = lambda value: value(known[fewer]) + (at_once - fewer) * (value(known[fewer + 1]) - value(known[fewer]))
        return Request(joined(lambda request: request.wait_us), 0.0,
                       [joined(lambda request: request.slowdowns[0])] * len(quotas),
                       joined(lambda request: request.messages_us), joined(lambda request: request.server_us))

    def ring_words(self, quotas):
        ring = self.rings[len(quotas)]
        return ring.slowdowns, ring.resume_ms, {
            "network": ring.network, "communication": ring.communication, "sends": "", "servers": "",
            "jitter": ""}  # what members wait for the last is part of the rounds that were measured

    def server_words(self, policy, quotas):
        request = self.request_of(policy, quotas)
        of_iterations = self.server_jitter
        if policy == "bsp" and len(quotas) <= CORES:  # which wait for the last, who may have shared a core with another
            of_iterations = f"iteration: {100 * request.variation} %"
        jitter = ([of_iterations] if of_iterations else []) + [f"message: {request.wait_us} us"]
        return request.slowdowns, self.quota_resume_ms, {
            "network": f"network: {{{self.connection}}}", "sends": "  servers: {sends: sockets}\n",
            "servers": ", servers: true", "jitter": ", ".join(jitter),
            "communication": f"communication: {{server_request: {request.server_us} us, "
                             f"server_overlap: {self.overlap} %, worker_overlap: {self.overlap} %, "
                             f"per_message: {request.messages_us / 2} us}}"}

    def predicted(self, mode, policy, quotas):
        if mode == "ddp" and len(quotas) == 1:
            return 1 / self.own("ddp", "worker")["wall_s"]
        slowdowns, resume_ms, words = self.ring_words(quotas) if mode == "ddp" else self.server_words(policy, quotas)
        workers = ", ".join(f"{{cores: 1, speed: {1 / slowdown}}}" if quota == 1 else
                            f"{{cores: 1, speed: {1 / slowdown}, quota: {{cores: {quota}, resume: {resume_ms} ms}}}}"
                            for quota, slowdown in zip(quotas, slowdowns))
        scenario = self.folder / "scenario.yaml"
        scenario.write_text(SCENARIO.format(
            **words, cores=CORES, network_name=self.network, profile=(self.folder / f"{mode}.json").resolve(),
            workers=workers, policy=policy, transport="ring, buckets: {}" if mode == "ddp" else "server",
            speeds=f", speeds: [1, {self.beside_another}]" if self.beside_another < 1 else ""))
        self.run("run", scenario, "-o", self.folder / "predicted", "--force")
        with open(self.folder / "predicted" / "summary.csv", encoding="utf-8") as lines:
            rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
        return statistics.median(int(row["updates"]) / float(row["end_time_s"]) for row in rows)


def real(arguments, mode, policy, quotas):
    words = [TRAIN, mode, "--workers", len(quotas), "--quota", ",".join(map(str, quotas)), "--network",
             arguments.network, "--steps", arguments.steps]
    words += ["--policy", policy] if mode == "server" else []
    words += ["--link-mbit", arguments.link_mbit] if arguments.link_mbit else []
    return json.loads(run(*words).splitlines()[-1])["updates_per_s"]


def in_parts(arguments, folder, predicted):
    """Updates a second of each job, and beside that of one worker."""
    rates = [[] for _ in JOBS]
    for part in range(PARTS):
        for (job, quotas), prediction, of_job in zip(JOBS, predicted, rates):
            of_job.append(real(arguments, *job.split(), quotas))
            print(f"{folder.name}, part {part + 1} of {PARTS}, {job}, {', '.join(map(str, quotas))}: "
                  f"{of_job[-1]:.4g} updates/s, predicted {prediction:.4g}", file=sys.stderr)
    measured = [statistics.harmonic_mean(of_job) for of_job in rates]  # as many updates in each part
    return measured, [rate / measured[alone(job)] for rate, (job, _) in zip(measured, JOBS)]


def in_turns(arguments, folder, step_s):
    """As above."""
    told = {}
    for mode in ("server", "ddp"):
        jobs = [f"{job.split()[1]} {','.join(map(str, quotas))}" for job, quotas in JOBS if job.startswith(mode)]
        said = run(TURNS, mode, *jobs, "--network", arguments.network,
                   "--seconds", TURN_S if step_s < LONG_STEP_S else LONG_TURN_S,
                   *(["--link-mbit", arguments.link_mbit] if arguments.link_mbit else []))
        (folder / f"turns-{mode}.json").write_text(said)
        told |= {f"{mode} {row['job']}": (row["updates_per_s"], row["beside_the_first"]) for row in json.loads(said)}
    return zip(*(told[f"{job} {','.join(map(str, quotas))}"] for job, quotas in JOBS))


def alone(job):
    """The place of the job of one worker that is of the same kind."""
    return next(place for place, (name, _) in enumerate(ALONE) if name.split()[0] == job.split()[0])


def repetition(arguments, profile, folder):
    """Updates a second of each job, predicted and real, and real ones beside those of one worker."""
    ended = folder / "updates.json"
    if ended.exists():
        kept = json.loads(ended.read_text())
        if not isinstance(kept, dict) or kept["method"] != METHOD:
            sys.exit(f"{ended} was predicted by another version of this script; name another folder")
        return kept["updates"]
    shutil.rmtree(folder, ignore_errors=True)  # of a repetition that did not end
    folder.mkdir()
    calibration = Calibration(arguments, profile, folder)
    print(f"{folder.name}, one worker of a server: {1 / calibration.own('server', 'worker')['wall_s']:.4g} updates/s, "
          f"simulated {calibration.predicted('server', 'asp', [1]):.4g}", file=sys.stderr)
    predicted = [calibration.predicted(*job.split(), quotas) for job, quotas in JOBS]
    measured = (in_turns(arguments, folder, calibration.step_s) if arguments.turns else
                in_parts(arguments, folder, predicted))
    updates = list(zip(predicted, *measured))
    ended.write_text(json.dumps({"method": METHOD, "updates": updates}))
    return updates


def median_and_range(values):
    return f"{statistics.median(values):.4g} ({min(values):.4g} - {max(values):.4g})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paceline")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--network", choices=["small-cnn", "resnet20"], default="small-cnn")
    parser.add_argument("--link-mbit", type=float)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--turns", action="store_true", help="let jobs take turns within one")
    parser.add_argument("--keep-awake", action="store_true",
                        help="keep processors from idling in calibrations and jobs alike, as `paceline live` does")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    if arguments.keep_awake:
        if not IDLE_DRIVER.exists() or IDLE_DRIVER.read_text(encoding="utf-8").strip() == "none":
            sys.exit("error: --keep-awake: this kernel has no driver for idle processors, and they idle whatever is asked")
        awake = open("/dev/cpu_dma_latency", "wb", buffering=0)  # as long as this process lives
        awake.write(bytes(4))
    profile = arguments.folder / f"{arguments.network}-profile.json"
    if not profile.exists():
        run(arguments.paceline, "calibrate", arguments.network, "--cores", "1", "--budget", "60 s", "-o", profile)
    alike = "-".join([arguments.network, f"{arguments.link_mbit:g}-mbit" if arguments.link_mbit else "loopback",
                      f"{arguments.steps}-steps", "awake" if arguments.keep_awake else "idling",
                      *(["turns"] if arguments.turns else [])])
    repetitions = [repetition(arguments, profile, arguments.folder / f"{alike}-{number + 1}")
                   for number in range(arguments.repetitions)]
    print("| job | quotas | updates/s, predicted (range) | real (range) | error | beside one worker |")
    print("|---|---|---|---|---|---|")
    of_alone = [[updates[place][0] for updates in repetitions] for place in range(len(ALONE))]
    for (job, quotas), of_job in zip(JOBS, zip(*repetitions)):
        predicted, measured, beside_alone = zip(*of_job)
        error = 100 * (statistics.median(predicted) / statistics.median(measured) - 1)
        beside = 100 * (statistics.median(rate / one / real_beside for rate, one, real_beside in
                                          zip(predicted, of_alone[alone(job)], beside_alone)) - 1)
        print(f"| {job} | {', '.join(map(str, quotas))} | {median_and_range(predicted)} | {median_and_range(measured)} "
              f"| {error:+.0f} % | {beside:+.0f} % |")


if __name__ == "__main__":
    train.end_on_signals()
    main()
