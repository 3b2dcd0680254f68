// Who has a core, and who waits in line for one.
#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/engine/shared_machines.hpp"

namespace paceline {

void SharedMachines::get_busy(std::size_t process) {
  Machine& machine = machines_[*machine_of_[process]];
  if (!machine.described.turns || machine.busy < machine.described.speed.cores()) {
    check(machine.line.empty(), "a core is free while somebody waits for one");
    return get_core(process);
  }
  if (!goes_first(machine, process)) return join_line(process, machine.line.size());
  begin_new_turns(machine);
  if (const std::optional<std::size_t> worker = next_to_leave(machine)) {
    interrupt(*worker);
    return get_core(process);
  }
  const auto first = [&](std::size_t one) { return goes_first(machine, one); };
  join_line(process, static_cast<std::size_t>(std::ranges::count_if(machine.line, first)));
}

void SharedMachines::join_line(std::size_t process, std::size_t place) {
  Machine& machine = machines_[*machine_of_[process]];
  processes_[process].doing = Doing::in_line;
  processes_[process].ends = never;
  processes_[process].in_line_since = machine.since;
  machine.line.insert(machine.line.begin() + static_cast<std::ptrdiff_t>(place), process);
}

void SharedMachines::interrupt(std::size_t process) {
  Process& of = processes_[process];
  Machine& machine = machines_[*machine_of_[process]];
  of.left_of_turn = std::max(Seconds{}, of.turn_ends - machine.since);
  if (of.began == machine.since) of.began.reset();  // it has had its core for no time
  machine.busy -= of.cores;
  join_line(process, 0);
}

void SharedMachines::get_core(std::size_t process) {
  Process& of = processes_[process];
  Machine& machine = machines_[*machine_of_[process]];
  of.doing = Doing::computing;
  of.ends = never;
  machine.busy += of.cores;
  if (const std::optional<Turns>& turns = machine.described.turns) {
    of.on_core_since = machine.since;
    of.turn_ends = machine.since + std::exchange(of.left_of_turn, std::nullopt).value_or(turns->length);
  }
  if (of.began) return;
  of.began = machine.since;
  if (process < workers_ && computations_[process]) computations_[process]->started = machine.since;
}

void SharedMachines::leave_core(std::size_t process) {
  Machine& machine = machines_[*machine_of_[process]];
  machine.busy -= processes_[process].cores;
  if (machine.line.empty()) return;
  const std::size_t next = machine.line.front();
  machine.line.pop_front();
  get_core(next);
}

std::optional<std::size_t> SharedMachines::next_to_leave(const Machine& machine) const {
  const auto order = [this](std::size_t number) {
    return std::pair(processes_[number].turn_ends, processes_[number].on_core_since);
  };
  std::optional<std::size_t> next;
  for (const std::size_t number : machine.processes)
    if (processes_[number].doing == Doing::computing && !goes_first(machine, number))
      if (!next || order(number) < order(*next)) next = number;
  return next;
}

void SharedMachines::begin_new_turns(const Machine& machine) {
  const auto waited = [&](std::size_t number) { return processes_[number].in_line_since < machine.since; };
  if (std::ranges::any_of(machine.line, waited)) return;
  const Seconds length = machine.described.turns->length;
  for (const std::size_t number : machine.processes) {
    Process& process = processes_[number];
    if (process.doing != Doing::computing || process.turn_ends > machine.since) continue;
    const double over = std::fmod((machine.since - process.turn_ends).value(), length.value());
    process.turn_ends = machine.since + length - Seconds{over};
  }
}

}  // namespace paceline
