#include "sim/engine/shared_machines.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"

namespace paceline {

std::vector<SharedMachine> shared_machines(const Cluster& cluster) {
  std::vector<SharedMachine> all;
  for (const Machine& machine : cluster.machines) {
    if (!machine.is_shared) continue;
    SharedMachine& shared = all.emplace_back(SharedMachine{
        MachineSpeed(machine.cores, machine.speeds), {}, {}, machine.slow_workers, machine.turns});
    const std::vector<std::uint64_t> workers = workers_on(machine, cluster.workers.size());
    for (const std::uint64_t w : workers)
      shared.workers.push_back({WorkerId{w}, cluster.workers[w].cores, cluster.workers[w].speed});
    const bool with_workers = cluster.servers.placement == ServerPlacement::with_workers;
    for (std::uint32_t s = 0; s < cluster.servers.count; ++s)
      if (with_workers ? std::ranges::count(workers, s % cluster.workers.size()) > 0 : machine.hosts_servers)
        shared.servers.push_back(ServerId{s});
  }
  return all;
}

SharedMachines::SharedMachines(const std::vector<SharedMachine>& machines, std::size_t workers,
                               std::size_t servers, const std::vector<std::optional<QuotaClock>>& quotas)
    : workers_(workers), machine_of_(workers + servers) {
  if (machines.empty()) return;
  processes_.resize(workers + servers);
  residents_.resize(workers);
  computations_.resize(workers);
  operations_.resize(servers);
  for (std::size_t w = 0; w < quotas.size(); ++w) processes_[w].quota = quotas[w];
  for (const SharedMachine& described : machines) {
    Machine& machine = machines_.emplace_back(Machine{described, {}, {}, 0, 0, false});
    for (const SharedMachine::Resident& resident : described.workers) {
      machine.processes.push_back(resident.worker.value);
      residents_.at(resident.worker.value) = resident;
    }
    for (const ServerId server : described.servers) machine.processes.push_back(process_of(server));
    for (const std::size_t process : machine.processes) {
      check(!machine_of_.at(process), "a process runs on one machine");
      machine_of_[process] = machines_.size() - 1;
    }
  }
}

void SharedMachines::start(WorkerId worker, Computation computation, const WorkerPace& pace) {
  const std::size_t process = worker.value;
  Process& of = processes_[process];
  check(!computations_[process], "a worker computes one iteration at a time");
  check(computation.marks.empty() || !may_rest(worker), "who rests sends nothing before it has rested");
  move(*machine_of_[process], computation.started);
  const Seconds own = computation.work_left * computation.own_share;
  const Seconds messages = computation.work_left - own;
  const Seconds computing = own * (may_rest(worker) ? std::min(1.0, residents_[process].speed) : 1.0);
  const Seconds work = computing + messages;
  computation.own_share = work > Seconds{} ? computing / work : 1.0;
  const bool is_busy = of.doing != Doing::nothing;
  computation.work_left = work;
  if (is_busy) computation.add_messages(of.left);
  computation.whole = computation.work_left - computation.comes_first;
  computations_[process] = computation;
  set_pace(process, pace);
  of.left_at_mark = computation.left_at_mark();
  if (!is_busy) return begin(process, work);
  // It goes on with messages, and keeps its core, or its place in line.
  of.left += work;
  of.spent = {};
  of.began.reset();
  if (of.doing != Doing::in_line) of.began = computation.started;
}

void SharedMachines::handle_messages(WorkerId worker, Seconds now, Seconds work) {
  const std::size_t process = worker.value;
  check(!computations_[process], "a worker that computes handles messages with its next iteration");
  move(*machine_of_[process], now);
  if (processes_[process].doing == Doing::nothing) return begin(process, work);
  processes_[process].left += work;
}

void SharedMachines::drop_messages(WorkerId worker, Seconds now) {
  if (computations_[worker.value]) return;
  move(*machine_of_[worker.value], now);
  end(worker.value);
}

bool SharedMachines::is_at_work() const {
  return std::ranges::any_of(computations_,
                             [](const auto& computation) { return computation.has_value(); }) ||
         std::ranges::any_of(operations_, [](const auto& queue) { return !queue.empty(); });
}

void SharedMachines::change_pace(WorkerId worker, Seconds now, const WorkerPace& pace) {
  if (!computations_[worker.value]) return;
  move(*machine_of_[worker.value], now);
  set_pace(worker.value, pace);
}

void SharedMachines::set_pace(std::size_t process, const WorkerPace& pace) {
  Machine& machine = machines_[*machine_of_[process]];
  Process& of = processes_[process];
  const bool may_rest = machine.described.slow_workers == SlowWorkers::rest;
  of.rate = pace.speed_up * (may_rest ? std::max(1.0, pace.speed) : pace.speed);
  check(of.rate > 0.0, "a computation goes forward");
  const double speed = may_rest ? std::min(1.0, residents_[process].speed) * std::min(1.0, pace.speed) : 1.0;
  of.rest_rate = speed < 1.0 ? speed / (1.0 - speed) : never_rests;
  const int cores = pace.cores.value_or(residents_[process].cores);
  check(!machine.described.turns || cores == 1, "processes that take turns keep one core busy");
  if (of.doing == Doing::computing) machine.busy += cores - of.cores;
  of.cores = cores;
}

void SharedMachines::call_off(GradientId gradient, Seconds now) {
  for (std::size_t w = 0; w < computations_.size(); ++w) {
    if (!computations_[w] || computations_[w]->gradient != gradient) continue;
    move(*machine_of_[w], now);
    end(w);
    computations_[w].reset();
  }
}

void SharedMachines::enqueue(ServerId server, Seconds now, const Request& request, RunObserver& observer) {
  std::deque<Operation>& queue = operations_[server.value];
  const bool was_idle = queue.empty();
  const auto place = std::ranges::find_if(queue, &Operation::comes_later);
  const bool interrupts = !was_idle && place == queue.begin();
  if (interrupts) interrupt_operation(server, now, request.work, observer);
  queue.insert(place, {request.work, request.step});
  if (request.later > Seconds{}) queue.push_back({request.later, std::nullopt, true});
  if (request.step)
    for (Operation& operation : queue) operation.comes_later = false;
  if (was_idle) begin_operation(process_of(server), now);
}

void SharedMachines::interrupt_operation(ServerId server, Seconds now, Seconds work, RunObserver& observer) {
  const std::size_t process = process_of(server);
  Process& of = processes_[process];
  move(*machine_of_[process], now);
  operations_[server.value].front().work = of.left;
  if (of.began && *of.began < now) observer.on_server_work(server, std::nullopt, *of.began, now);
  of.began.reset();
  if (of.doing == Doing::computing) of.began = now;
  of.left = work;
  of.ends = never;
}

void SharedMachines::begin_operation(std::size_t process, Seconds now) {
  move(*machine_of_[process], now);
  begin(process, operations_[process - workers_].front().work);
}

double SharedMachines::slowdown_together(WorkerId worker, std::span<const WorkerId> members) const {
  const std::optional<std::size_t> machine = machine_of_[worker.value];
  int busy = 0;
  for (const WorkerId member : members)
    if (machine_of_[member.value] == machine) busy += residents_[member.value].cores;
  return 1.0 / machines_[*machine].described.speed.of(busy, residents_[worker.value].cores);
}

void SharedMachines::begin(std::size_t process, Seconds work) {
  Process& of = processes_[process];
  check(of.doing == Doing::nothing, "a process does one thing at a time");
  of.left = work;
  of.spent = {};
  of.began.reset();
  get_busy(process);
}

void SharedMachines::end(std::size_t process) {
  Process& of = processes_[process];
  if (of.doing == Doing::nothing) return;
  if (std::exchange(of.doing, Doing::nothing) == Doing::computing) leave_core(process);
  std::erase(machines_[*machine_of_[process]].line, process);
  of.left_of_turn.reset();
  of.left_at_mark = {};
}

void SharedMachines::tell_unfinished(Seconds now, RunObserver& observer) const {
  for (std::size_t server = 0; server < operations_.size(); ++server) {
    if (operations_[server].empty()) continue;
    if (const std::optional<Seconds> began = processes_[process_of(ServerId{server})].began)
      observer.on_server_work(ServerId{server}, operations_[server].front().step, *began, now);
  }
}

}  // namespace paceline
