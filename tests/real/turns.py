#!/usr/bin/python3
"""Jobs of train.py that take turns within one, so that all of them meet the same machine. Run by hand, as root.

Usage:    turns.py server 'asp 1' 'bsp 1,1' 'bsp 1,0.3' 'asp 0.8,0.4,0.2' [--cycles 8] [--seconds 1] ...
          turns.py ddp    'bsp 1' 'bsp 1,1' 'bsp 1,0.3' ...

A job is a policy and the quota of each of its workers. The first job has its turn before each of the others and after
the last. A machine may be half as fast a minute later; a job beside the first one, just before and after it, says the
same then, to a few hundredths. The last line is JSON: for each job the mean of updates a second, the same divided by
that of the first job's neighbouring turns, with the quartiles of single turns, and what an update takes of the
processors of the server (if any) and of each worker. Each turn begins with a fifth of a second that is not counted,
and the first cycle is not counted either.
"""
import argparse
import contextlib
import copy
import json
import math
import os
import statistics
import sys
import tempfile
import time

import numpy
import torch
import torch.distributed
import torch.multiprocessing
from torch import nn

import train

SETTLING_S = 0.2  # two periods of a quota
FIRST_STEPS = 20  # of a job's first turn, whose rate is not known yet


class Job:
    def __init__(self, text):
        self.text = text
        self.policy, quotas = text.split()
        self.quotas = [float(quota) for quota in quotas.split(",")]
        if self.policy not in ("asp", "bsp") or not all(0 < quota <= 1 for quota in self.quotas):
            raise ValueError(text)
        self.ranks = range(len(self.quotas))


def processor_s(process):
    return time.clock_gettime((~process << 3) | 2)  # CPUCLOCK_SCHED of linux/posix-timers.h


class ServerTurns:
    def __init__(self, stack, arguments, hosts, address):
        train.become(hosts[-1])
        self.server = train.Server(arguments, address)
        address = self.server.listener.getsockname()
        processes, _ = train.spawn(stack, train.server_worker, arguments, {}, hosts, address)
        self.server.accept(processes)
        stack.callback(self.server.close)
        self.workers = [process.pid for process in processes]
        self.processes = [os.getpid()] + self.workers

    def turn(self, job, seconds):
        """When the updates of a turn were, which ends so many seconds after the first of them."""
        moments = []

        def is_over(_):
            moments.append(time.perf_counter())
            return moments[-1] > moments[0] + seconds

        updates = self.server.serve(job.policy, job.ranks, is_over)
        self.server.steps.times.clear()
        return [when for when, _ in updates]


def ddp_worker(rank, arguments, _, hosts, rendezvous, commands, results):
    """Steps with as many members as it is told."""
    train.join_members(rank, arguments, hosts, rendezvous)
    loop = train.Loop(arguments, rank)
    models, optimizers = {}, {}
    for count in range(1, arguments.workers + 1):
        group = torch.distributed.new_group(range(count))  # which all members call for each group
        if rank < count:
            models[count] = nn.parallel.DistributedDataParallel(copy.deepcopy(loop.model), process_group=group)
            optimizers[count] = train.sgd(models[count])
    for count, steps in iter(commands[rank].get, None):
        times = []
        for _ in range(steps):
            loop.gradient(models[count])
            optimizers[count].step()
            times.append(time.perf_counter())
        results.put((rank, times))


class DdpTurns:
    def __init__(self, stack, arguments, hosts, _):
        rendezvous = stack.enter_context(tempfile.TemporaryDirectory()) + "/rendezvous"
        context = torch.multiprocessing.get_context("spawn")
        self.commands = [context.SimpleQueue() for _ in range(arguments.workers)]
        self.members, self.results = train.spawn(stack, ddp_worker, arguments, {}, hosts, rendezvous,
                                                 self.commands)
        self.workers = self.processes = [process.pid for process in self.members]
        self.rates = {}

    def turn(self, job, seconds):
        rate = self.rates.get(job)
        steps = FIRST_STEPS if rate is None else math.ceil(1.3 * rate * seconds)
        for rank in job.ranks:
            self.commands[rank].put((len(job.ranks), steps))
        times = min(train.gathered(self.members, self.results, len(job.ranks)))[1]
        self.rates[job] = len(times) / (times[-1] - times[0])
        return times


def counted(times, seconds):
    """Updates a second within the turn, or none if it ended too early; with parts of them at its ends, since it holds
    only a few of long steps."""
    begin = times[0] + SETTLING_S
    if times[-1] < begin + seconds:
        return None
    before, after = numpy.interp([begin, begin + seconds], times, range(len(times)))
    return (after - before) / seconds


def limit(worker, group, quota):
    """A worker without a quota is in no group of its own, as in jobs of train.py."""
    train.set_quota(group, quota)
    ((group if quota < 1 else group.parent) / "cgroup.procs").write_text(str(worker))


def carry_out(turns, jobs, arguments, groups):
    """For each turn its job, updates a second, and processor time of each process for an update."""
    first, *others = jobs
    cycle = [job for other in others for job in (first, other)] or [first]
    order = cycle * (arguments.cycles + 1) + [first]
    told = []
    for place, job in enumerate(order):
        for rank in job.ranks:
            limit(turns.workers[rank], groups[rank], job.quotas[rank])
        before = [processor_s(process) for process in turns.processes]
        times = turns.turn(job, arguments.seconds + 1.5 * SETTLING_S)
        used = [processor_s(process) - then for process, then in zip(turns.processes, before)]
        if place >= len(cycle):
            told.append((job, counted(times, arguments.seconds), [each / len(times) for each in used]))
        print(f"turn {place + 1} of {len(order)}, {job.text}: {len(times)} updates", file=sys.stderr)
    return told


def beside_the_first(told, first, job):
    """Updates a second of each turn, and of the first job's turns before and after it."""
    found = []
    for place, (of, rate, _) in enumerate(told):
        around = [told[at][1] for at in (place - 1, place + 1) if 0 <= at < len(told) and told[at][0] is first]
        if of is job and None not in [rate, *around]:
            found.append((rate, rate if job is first else statistics.mean(around)))
    return found


def row(told, first, job):
    turns = beside_the_first(told, first, job)
    if not turns:
        sys.exit(f"error: {job.text}: no turn was long enough to be counted\nhint: use more --cycles or --seconds")
    rate, of_first = (statistics.mean(values) for values in zip(*turns))
    single = [one / other for one, other in turns]
    used = [spent for of, _, spent in told if of is job]
    return {"job": job.text, "turns": len(turns), "updates_per_s": rate, "beside_the_first": rate / of_first,
            "quartiles": statistics.quantiles(single)[::2] if len(single) > 1 else single * 2,
            "processor_s_per_update": [statistics.median(values) for values in zip(*used)]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=["server", "ddp"])
    parser.add_argument("jobs", nargs="+", type=Job, help="asp or bsp, and quotas of 0 to 1 of a core: 'bsp 1,0.3'")
    parser.add_argument("--network", choices=list(train.NETWORKS), default="small-cnn")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--cycles", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=1, help="of a turn that are counted")
    parser.add_argument("--link-mbit", type=float, help="rate of each host's link")
    arguments = parser.parse_args()
    if arguments.mode == "ddp" and any(job.policy != "bsp" for job in arguments.jobs):
        parser.error("members of DDP are synchronous: 'bsp 1,1'")
    if arguments.cycles < 1 or arguments.seconds <= 0:
        parser.error("--cycles and --seconds are above 0")
    arguments.workers, arguments.say = max(len(job.quotas) for job in arguments.jobs), None
    with contextlib.ExitStack() as stack:
        groups = stack.enter_context(train.cpu_groups(range(arguments.workers)))
        hosts, address = train.places(stack, arguments)
        kind = ServerTurns if arguments.mode == "server" else DdpTurns
        turns = kind(stack, arguments, hosts, address)
        told = carry_out(turns, arguments.jobs, arguments, groups)
    print(json.dumps([row(told, arguments.jobs[0], job) for job in arguments.jobs]))


if __name__ == "__main__":
    train.keep_memory()
    train.end_on_signals()
    main()
