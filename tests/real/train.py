#!/usr/bin/python3
"""Trains a network for real with PyTorch, to hold predictions of paceline against. Run by hand.

Usage:    train.py alone  [--batch 32] [--steps 300]               lines `step ...` for `paceline calibrate own`
          train.py alone  --asked                                  a step for each line of input, for `... server`
          train.py ddp    --workers 2 [--quota 1,0.3] ...          DistributedDataParallel over Gloo
          train.py server --policy asp --workers 2 [--quota ...]   a parameter server over TCP; asp or bsp

Each process has one thread and keeps the memory it has once had; images are random, since only times count. A quota is
the share of one core that a worker may use in each 100 ms, by control groups (as root). With `--link-mbit 200` each
worker, and the server, is a host of its own (a network namespace, as root) behind a link of that rate. With `--say worker` or `--say
server` a job prints `step` lines, too: those of its first worker, or of its server for each gradient; and `computing` lines,
like these, for what a worker of a server takes besides its messages. The last line is
JSON: updates and samples a second after warm-up. Needs Debian's python3-torch.
"""
import argparse
import contextlib
import ctypes
import json
import os
import pathlib
import selectors
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

import torch
import torch.distributed
import torch.multiprocessing
from torch import nn


def small_cnn():
    layers, before = [], 3
    for channels in (8, 16, 32):
        layers += [nn.Conv2d(before, channels, 3, stride=2, padding=1), nn.ReLU()]
        before = channels
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(512, 10))


class Block(nn.Module):
    """Two convolutions beside a shortcut without parameters."""

    def __init__(self, before, channels):
        super().__init__()
        self.stride, self.padding = (2, (channels - before) // 2) if channels > before else (1, 0)
        self.body = nn.Sequential(
            nn.Conv2d(before, channels, 3, self.stride, 1, bias=False), nn.BatchNorm2d(channels), nn.ReLU(),
            nn.Conv2d(channels, channels, 3, 1, 1, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x):
        shortcut = nn.functional.pad(x[:, :, ::self.stride, ::self.stride],
                                     (0, 0, 0, 0, self.padding, self.padding))
        return torch.relu(self.body(x) + shortcut)


def resnet20():
    layers, before = [nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU()], 16
    for channels in (16, 32, 64):
        for _ in range(3):
            layers.append(Block(before, channels))
            before = channels
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


NETWORKS = {"small-cnn": small_cnn, "resnet20": resnet20}


class Loop:
    """The body of an ordinary training loop."""

    def __init__(self, arguments, rank=0):
        torch.set_num_threads(1)
        torch.manual_seed(rank)
        self.batch = arguments.batch
        self.model = NETWORKS[arguments.network]()
        self.images = torch.rand(4096, 3, 32, 32)
        self.labels = torch.randint(0, 10, (4096,))
        self.loss = nn.CrossEntropyLoss()
        self.position = 0

    def gradient(self, model):
        chosen = torch.arange(self.position, self.position + self.batch) % len(self.images)
        self.position += self.batch
        model.zero_grad(set_to_none=False)
        self.loss(model(self.images[chosen]), self.labels[chosen]).backward()


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)


class Steps:
    """Lines for `paceline calibrate own`, printed when nobody is timed any more."""

    def __init__(self, samples):
        self.samples, self.times = samples, []

    def begin(self):
        self.wall, self.processor = time.perf_counter(), time.process_time()

    def end(self):
        self.times.append((time.perf_counter() - self.wall, time.process_time() - self.processor))

    def say(self, name="step"):
        for step, (wall, processor) in enumerate(self.times):
            sys.stdout.write(f"{name} {step} {wall} {processor} {self.samples}\n")  # in one piece
            sys.stdout.flush()


def alone(arguments):
    loop = Loop(arguments)
    optimizer = sgd(loop.model)
    steps = Steps(arguments.batch)
    for _ in sys.stdin if arguments.asked else range(arguments.steps):
        steps.begin()
        loop.gradient(loop.model)
        optimizer.step()
        steps.end()
        if arguments.asked:
            steps.say()
            steps.times.clear()
    if not arguments.asked:
        steps.say()


@contextlib.contextmanager
def cpu_groups(ranks):
    """One control group for each of these workers, without a quota so far."""
    groups = {}
    root = pathlib.Path("/sys/fs/cgroup/cpu" if os.path.isdir("/sys/fs/cgroup/cpu") else "/sys/fs/cgroup")
    try:
        for rank in ranks:
            group = root / f"paceline-real-{os.getpid()}-{rank}"
            try:
                group.mkdir()
            except OSError as error:
                sys.exit(f"error: no control group: {error}\nhint: run as root, or leave --quota out")
            groups[rank] = group
        yield groups
    finally:
        for group in groups.values():
            for _ in range(100):
                try:
                    group.rmdir()
                    break
                except OSError:
                    time.sleep(0.05)


def set_quota(group, quota):
    """Of one core, in each 100 ms; 1 is no quota."""
    try:
        if (group / "cpu.cfs_quota_us").exists():
            (group / "cpu.cfs_period_us").write_text("100000")
            (group / "cpu.cfs_quota_us").write_text(str(int(quota * 100_000)) if quota < 1 else "-1")
        else:
            (group / "cpu.max").write_text(f"{int(quota * 100_000)} 100000" if quota < 1 else "max 100000")
    except OSError as error:
        sys.exit(f"error: no quota of processor time: {error}\nhint: let control groups have the controller `cpu`")


def enter(groups, rank):
    if rank in groups:
        (groups[rank] / "cgroup.procs").write_text(str(os.getpid()))


class Hosts:
    """Network namespaces joined by a bridge; both directions of each link are shaped by a token bucket."""

    def __init__(self, count, link_mbit):
        self.names = [f"paceline-{os.getpid()}-{i}" for i in range(count)]
        self.places = ["/run/netns/" + name for name in self.names]
        self.bridge = f"pl{os.getpid()}"
        self.shape = ["tbf", "rate", f"{link_mbit}mbit", "burst", "32kb", "latency", "1s"]
        self.addresses = [f"10.77.0.{i + 1}" for i in range(count)]

    def __enter__(self):
        home = os.open("/proc/self/ns/net", os.O_RDONLY)
        with contextlib.ExitStack() as undo:  # which happens here unless all are there
            self.make(undo)
            undo.callback(become, f"/proc/self/fd/{home}")
            self.undo = undo.pop_all()
        return self

    def __exit__(self, *_):
        self.undo.close()

    def make(self, undo):
        ip("link", "add", self.bridge, "type", "bridge")
        undo.callback(subprocess.run, ["ip", "link", "del", self.bridge], check=False)
        ip("link", "set", self.bridge, "up")
        for i, (name, address) in enumerate(zip(self.names, self.addresses)):
            port = f"{self.bridge}-{i}"
            ip("netns", "add", name)
            undo.callback(subprocess.run, ["ip", "netns", "del", name], check=False)
            ip("link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", name)
            ip("link", "set", port, "master", self.bridge, "up")
            ip("-n", name, "addr", "add", address + "/24", "dev", "eth0")
            for device in ("lo", "eth0"):
                ip("-n", name, "link", "set", device, "up")
            run("tc", "qdisc", "add", "dev", port, "root", *self.shape)
            run("tc", "-n", name, "qdisc", "add", "dev", "eth0", "root", *self.shape)


def places(stack, arguments):
    """The host of each worker, and of the server, if links are shaped; and the server's address."""
    if arguments.link_mbit is None:
        return [None] * (arguments.workers + 1), "127.0.0.1"
    network = stack.enter_context(Hosts(arguments.workers + 1, arguments.link_mbit))
    return network.places, network.addresses[-1]


def run(*words):
    result = subprocess.run(words, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"error: {' '.join(words)}: {result.stderr}hint: run as root, or leave --link-mbit out")


def ip(*words):
    run("ip", *words)


def become(place):
    """This process, and what it starts, is on that host from now on."""
    if place is not None:
        with open(place, encoding="utf-8") as namespace:
            if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), 0x40000000) != 0:
                raise OSError(ctypes.get_errno(), "setns")


def join_members(rank, arguments, hosts, rendezvous):
    become(hosts[rank])
    os.environ["GLOO_SOCKET_IFNAME"] = "lo" if hosts[rank] is None else "eth0"
    torch.distributed.init_process_group("gloo", init_method="file://" + rendezvous, rank=rank,
                                         world_size=arguments.workers)


def ddp_worker(rank, arguments, groups, hosts, rendezvous, results):
    join_members(rank, arguments, hosts, rendezvous)
    loop = Loop(arguments, rank)
    steps = Steps(arguments.batch)
    model = nn.parallel.DistributedDataParallel(loop.model)
    optimizer = sgd(model)
    enter(groups, rank)
    for step in range(arguments.warm_up + arguments.steps):
        if step == arguments.warm_up:
            began, used = time.perf_counter(), time.process_time()
        steps.begin()
        loop.gradient(model)
        optimizer.step()
        steps.end()
    seconds = time.perf_counter() - began
    used = (time.process_time() - used) / arguments.steps
    if rank == 0 and arguments.say == "worker":
        steps.say()
    results.put((rank, arguments.steps, seconds, used))


def exactly(connection, size):
    parts = bytearray()
    while len(parts) < size:
        part = connection.recv(size - len(parts))
        if not part:
            raise EOFError
        parts += part
    return parts


def flat(tensors):
    return torch.cat([tensor.reshape(-1) for tensor in tensors])


def server_worker(rank, arguments, groups, hosts, address, results):
    become(hosts[rank])
    loop = Loop(arguments, rank)
    times, computing = Steps(arguments.batch), Steps(arguments.batch)
    connection = socket.create_connection(address)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sendall(struct.pack("<i", rank))
    enter(groups, rank)
    size = 4 * sum(p.numel() for p in loop.model.parameters())
    used, steps = time.process_time(), 0
    try:
        while True:
            times.begin()
            values = torch.frombuffer(exactly(connection, size), dtype=torch.float32)
            computing.begin()
            torch.nn.utils.vector_to_parameters(values, loop.model.parameters())
            loop.gradient(loop.model)
            computing.end()
            connection.sendall(flat([p.grad for p in loop.model.parameters()]).numpy().tobytes())
            times.end()
            steps += 1
    except (EOFError, OSError):
        if rank == 0 and arguments.say == "worker":
            times.say()
            computing.say("computing")
        results.put((rank, steps, 0.0, (time.process_time() - used) / max(1, steps)))


class Server:
    """One thread: a gradient at a time, in the order in which they have arrived."""

    def __init__(self, arguments, address):
        model = NETWORKS[arguments.network]()
        self.parameters = flat([p.detach() for p in model.parameters()]).clone()
        self.velocity = torch.zeros_like(self.parameters)
        self.size = 4 * len(self.parameters)
        self.listener = socket.create_server((address, 0))
        self.selector = selectors.DefaultSelector()
        self.connections = {}
        self.steps = Steps(1)

    def apply(self, gradient):
        self.velocity.mul_(0.9).add_(gradient)
        self.parameters.sub_(self.velocity, alpha=0.01)

    def accept(self, processes):
        self.listener.settimeout(0.5)
        while len(self.connections) < len(processes):
            try:
                connection, _ = self.listener.accept()
            except TimeoutError:
                end_if_failed(processes)
                continue
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            rank = struct.unpack("<i", exactly(connection, 4))[0]
            self.selector.register(connection, selectors.EVENT_READ, rank)
            self.connections[rank] = connection

    def send_parameters(self, ranks):
        for rank in ranks:
            self.connections[rank].sendall(self.parameters.numpy().tobytes())

    def serve(self, policy, ranks, is_over):
        """These workers until `is_over(number of updates)`, when all have sent a gradient and wait. Returns whose
        gradients each update was made of, and when."""
        updates, asked, waiting, total = [], len(ranks), [], None
        self.send_parameters(ranks)
        while asked > 0:
            for key, _ in self.selector.select():
                self.steps.begin()
                gradient = torch.frombuffer(exactly(key.fileobj, self.size), dtype=torch.float32)
                waiting.append(key.data)
                asked -= 1
                if policy == "bsp":
                    total = gradient.clone() if total is None else total.add_(gradient)
                if policy == "asp" or len(waiting) == len(ranks):
                    self.apply(gradient if policy == "asp" else total / len(ranks))
                    updates.append((time.perf_counter(), waiting))
                    if not is_over(len(updates)):
                        self.send_parameters(waiting)
                        asked += len(waiting)
                    waiting, total = [], None
                self.steps.end()
        return updates

    def close(self):
        for connection in self.connections.values():
            connection.close()


def spawn(stack, target, arguments, *more):
    """They end before their control groups and hosts are removed."""
    context = torch.multiprocessing.get_context("spawn")
    results = context.SimpleQueue()
    processes = [context.Process(target=target, args=(rank, arguments, *more, results), daemon=True)
                 for rank in range(arguments.workers)]
    for process in processes:
        process.start()
        stack.callback(process.join)
        stack.callback(process.terminate)
    return processes, results


def gathered(processes, results, count):
    said = []
    while len(said) < count:
        if not results.empty():
            said.append(results.get())
        else:
            end_if_failed(processes)
            time.sleep(0.2)
    return said


def end_if_failed(processes):
    if any(process.exitcode for process in processes):
        sys.exit("error: a worker has failed")


def end_on_signals():
    """With all that was begun cleared up, once."""
    def end(number, _):
        for each in (signal.SIGTERM, signal.SIGINT):
            signal.signal(each, signal.SIG_IGN)
        sys.exit(128 + number)

    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, end)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=["alone", "ddp", "server"])
    parser.add_argument("--policy", choices=["asp", "bsp"], default="asp")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--network", choices=list(NETWORKS), default="small-cnn")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=300, help="updates to time")
    parser.add_argument("--asked", action="store_true", help="take a step for each line of input instead")
    parser.add_argument("--warm-up", type=int, default=30)
    parser.add_argument("--quota", type=lambda text: [float(q) for q in text.split(",")], default=None)
    parser.add_argument("--link-mbit", type=float, help="rate of each host's link")
    parser.add_argument("--say", choices=["worker", "server"], help="print the times of its steps, too")
    arguments = parser.parse_args()
    if arguments.mode == "alone":
        return alone(arguments)
    quotas = arguments.quota or [1.0] * arguments.workers
    if len(quotas) != arguments.workers:
        parser.error(f"--quota: {len(quotas)} quotas for {arguments.workers} workers")
    with contextlib.ExitStack() as stack:
        groups = stack.enter_context(cpu_groups(rank for rank, quota in enumerate(quotas) if quota < 1))
        for rank, group in groups.items():
            set_quota(group, quotas[rank])
        hosts, address = places(stack, arguments)
        if arguments.mode == "ddp":
            with tempfile.TemporaryDirectory() as folder:
                processes, results = spawn(stack, ddp_worker, arguments, groups, hosts, folder + "/rendezvous")
                times = gathered(processes, results, len(processes))
                seconds, counts = max(t[2] for t in times), [arguments.steps] * arguments.workers
        else:
            become(hosts[-1])
            server = Server(arguments, address)
            processes, results = spawn(stack, server_worker, arguments, groups, hosts, server.listener.getsockname())
            server.accept(processes)
            last = arguments.warm_up + arguments.steps
            began = time.perf_counter()
            updates = server.serve(arguments.policy, range(arguments.workers), lambda done: done >= last)
            server.close()
            times = [began] + [when for when, _ in updates]
            seconds = times[last] - times[arguments.warm_up]
            gradients = [rank for _, ranks in updates[arguments.warm_up:last] for rank in ranks]
            counts = [gradients.count(rank) for rank in range(arguments.workers)]
            times = gathered(processes, results, len(processes))
            if arguments.say == "server":
                server.steps.say()
        for process in processes:
            process.join()
    print(json.dumps({"mode": arguments.mode, "policy": arguments.policy if arguments.mode == "server" else "bsp",
                      "workers": arguments.workers, "quota": quotas, "batch": arguments.batch,
                      "updates_per_s": arguments.steps / seconds,
                      "samples_per_s": arguments.batch * sum(counts) / seconds,
                      "gradients": counts, "processor_s_per_step": [t[3] for t in sorted(times)]}))


# Otherwise glibc gives memory back after each step in some processes and not in others: 0.9 or 1.4 ms for a step.
KEPT_MEMORY = {"MALLOC_TRIM_THRESHOLD_": "1099511627776", "MALLOC_MMAP_THRESHOLD_": "1073741824"}


def keep_memory():
    if not KEPT_MEMORY.keys() <= os.environ.keys():
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | KEPT_MEMORY)


if __name__ == "__main__":
    keep_memory()
    end_on_signals()
    main()
