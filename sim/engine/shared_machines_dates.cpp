// What is done by a date, and at which one something ends next.
#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/engine/shared_machines.hpp"

namespace paceline {

void SharedMachines::move(std::size_t index, Seconds now) {
  Machine& machine = machines_[index];
  if (!std::exchange(machine.has_moved, true)) moved_.push_back(index);
  const Seconds passed = now - std::exchange(machine.since, now);
  if (passed == Seconds{}) return;
  const double share = machine.busy > 0 ? machine.described.speed.processor_share(machine.busy) : 1.0;
  for (const std::size_t number : machine.processes) {
    Process& process = processes_[number];
    if (process.doing != Doing::computing && process.doing != Doing::resting) continue;
    const bool is_done = process.next == Next::done && process.ends <= now;
    double rate = process.rest_rate;
    if (process.doing == Doing::computing) {
      rate = process.rate * machine.described.speed.of(machine.busy, process.cores);
      process.spent += share * passed;
      if (process.quota) process.quota->spend(now - passed, share * passed);
    }
    process.left = is_done ? Seconds{} : std::max(process.left_at_mark, process.left - rate * passed);
  }
}

std::optional<Seconds> SharedMachines::next_date(std::size_t index, Seconds now) {
  Machine& machine = machines_[index];
  check(machine.since == now, "a machine is settled when it has moved");
  machine.has_moved = false;
  ++machine.attempt;
  std::optional<std::size_t> replaced;
  if (!machine.line.empty()) {
    begin_new_turns(machine);
    replaced = next_to_leave(machine);
  }
  std::optional<Seconds> earliest;
  for (const std::size_t number : machine.processes) {
    Process& process = processes_[number];
    if (process.doing == Doing::nothing || process.doing == Doing::in_line) continue;
    plan(machine, process);
    // What rounding leaves of work that fills its turns exactly is no reason for another.
    if (number == replaced && process.ends - process.turn_ends > 1e-9 * machine.described.turns->length) {
      process.next = Next::turn_over;
      process.ends = std::max(now, process.turn_ends);
    }
    if (!earliest || process.ends < *earliest) earliest = process.ends;
  }
  return earliest;
}

void SharedMachines::plan(const Machine& machine, Process& process) {
  process.next = process.left_at_mark > Seconds{} ? Next::mark : Next::done;
  if (process.doing == Doing::resting) {
    process.ends = machine.since + process.left / process.rest_rate;
  } else if (process.doing == Doing::held_up) {
    process.next = Next::new_period;
    process.ends = process.quota->stretch(machine.since).ends;
  } else {
    const MachineSpeed& speed = machine.described.speed;
    process.ends = machine.since + (process.left - process.left_at_mark) /
                                       (process.rate * speed.of(machine.busy, process.cores));
    if (!process.quota) return;
    const QuotaClock::Stretch stretch = process.quota->stretch(machine.since);
    const Seconds held_up = machine.since + stretch.left / speed.processor_share(machine.busy);
    if (process.ends <= std::min(held_up, stretch.ends)) return;
    process.next = held_up < stretch.ends ? Next::held_up : Next::new_period;
    process.ends = std::min(held_up, stretch.ends);
  }
}

std::vector<WorkerId> SharedMachines::finish(const MachineDue& due, Seconds now, std::vector<Event>& events,
                                             RunObserver& observer) {
  std::vector<WorkerId> passed_marks;
  if (machines_[due.machine].attempt != due.attempt) return passed_marks;
  move(due.machine, now);
  for (const std::size_t process : machines_[due.machine].processes) {
    Process& of = processes_[process];
    if (of.doing == Doing::nothing || of.ends > now) continue;
    if (of.doing != Doing::computing || of.next != Next::mark) {
      go_on(process, now, events, observer);
      continue;
    }
    Computation& computation = *computations_[process];
    computation.marks = computation.marks.subspan(1);
    of.left = std::exchange(of.left_at_mark, computation.left_at_mark());
    of.ends = never;
    passed_marks.push_back(WorkerId{process});
  }
  return passed_marks;
}

void SharedMachines::go_on(std::size_t process, Seconds now, std::vector<Event>& events,
                           RunObserver& observer) {
  Process& of = processes_[process];
  Machine& machine = machines_[*machine_of_[process]];
  if (of.next == Next::held_up) {
    of.doing = Doing::held_up;
    return leave_core(process);
  }
  if (of.next == Next::new_period) {
    if (of.doing != Doing::held_up) return;
    of.left += of.quota->resume() * of.rate;
    return get_busy(process);
  }
  if (of.next == Next::turn_over) {
    join_line(process, machine.line.size());
    return leave_core(process);
  }
  if (process >= workers_) return finish_operation(process, now, events, observer);
  const bool handles_messages = !computations_[process];
  if (handles_messages) return end(process);
  if (of.doing == Doing::computing && std::isfinite(of.rest_rate)) return rest(process, now);
  end(process);
  const std::optional<Computation> done = std::exchange(computations_[process], std::nullopt);
  events.push_back(IterationFinished{WorkerId{process}, done->gradient, done->compute_time(now)});
}

void SharedMachines::rest(std::size_t process, Seconds now) {
  Process& of = processes_[process];
  Computation& computation = *computations_[process];
  of.doing = Doing::resting;
  of.left = computation.own_share * of.spent;
  // From here on its time is its own.
  computation.computed_before = computation.compute_time(now);
  computation.started = now;
  computation.own_share = 1.0;
  of.ends = never;
  leave_core(process);
}

void SharedMachines::finish_operation(std::size_t process, Seconds now, std::vector<Event>& events,
                                      RunObserver& observer) {
  Process& of = processes_[process];
  const ServerId server{process - workers_};
  const Operation operation = operations_[server.value].front();
  operations_[server.value].pop_front();
  observer.on_server_work(server, operation.step, *of.began, now);
  if (operation.step) events.push_back(StepFinished{*operation.step, server});
  if (operations_[server.value].empty()) return end(process);
  // Nobody else gets its core between two of them.
  of.began = now;
  of.left = operations_[server.value].front().work;
  of.ends = never;
}

}  // namespace paceline
