// Work of processes that share a machine: iterations of workers and operations of servers, whose ends move
// whenever another process of the machine begins or ends something.
//
// Models:      processor sharing by sim/cost/machine_speed.hpp. A worker is busy with its cores while it
//              computes (an iteration, with what messages took of its processor) or handles messages, a
//              server with one while it serves. Who waits, is held up by a quota, or rests is not busy.
// Equation:    of work at rate 1 the machine does d/dt = own rate · s(m) / s(c), until nothing is left.
//              A quota of processor time is spent at the share of a core's time that the process gets; who
//              was held up by it has that much more to compute as the quota's clock says.
//              A worker with a speed v < 1 that rests computes at the machine's speed, and then rests for
//              its processor time · (1/v − 1), that of messages left out: what `paceline live` does. It
//              has no marks (computations.hpp): it sends nothing before it has rested.
//              Local steps up to an exchange are computed as a whole, and rested for after the last of them.
//              With turns of length l, round robin: when more processes have something to compute than there
//              are cores, as many as there are cores compute, at the speed of so many, and the others wait
//              in one line. Whoever gets something to compute joins its end. Its first process gets the
//              first core that is free, or whose process has come to the end of a turn after somebody joined
//              the line; that one joins the end. (Of turns that end at one date, that of the process longest
//              on its core is the first. As long as nobody waits, one turn follows the other.) An iteration
//              or an operation begins when it first has a core. With servers first, a server interrupts the
//              worker whose turn ends first and keeps the core until it has nothing to do; the worker is
//              then the first in line, for the rest of its turn. Servers that find servers on all cores wait
//              before all workers.
// Units:       seconds of work at rate 1.
// Assumptions: an optimizer step on workers is made by all members at once, beside nobody else. Pauses,
//              evaluations and the serial part of a synchronous step keep nothing busy; meanwhile a worker
//              goes on with messages. A server has no quota and answers in the order asked, but for what
//              nobody waits for. With turns every process keeps one core busy, no core has a line of its
//              own, and a switch from one process to another costs nothing. A worker that begins its next
//              iteration at once has left its core in between; a server with a queue, a stretch of local
//              steps and a worker still at messages keep theirs, or their place in line.
// Not modelled: a kernel's balance of what each process has had, by which one that has used little of its
//              core gets on before others (Stoica & Abdel-Wahab, Earliest Eligible Virtual Deadline First,
//              1995, as Linux has it since 6.6). Without turns a short operation of a server is slowed down
//              like all others.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "sim/base/id.hpp"
#include "sim/base/quantity.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/cost/machine_speed.hpp"
#include "sim/cost/quota_clock.hpp"
#include "sim/engine/computations.hpp"
#include "sim/engine/observer.hpp"
#include "sim/engine/timeline.hpp"
#include "sim/training/event.hpp"

namespace paceline {

struct SharedMachine {
  struct Resident {
    WorkerId worker;
    int cores = 1;
    double speed = 1.0;  // as described
  };
  MachineSpeed speed;
  std::vector<Resident> workers;
  std::vector<ServerId> servers;
  SlowWorkers slow_workers = SlowWorkers::compute;
  std::optional<Turns> turns{};
};
// Those of a cluster whose processes share them.
[[nodiscard]] std::vector<SharedMachine> shared_machines(const Cluster& cluster);

// How fast a worker is at present, were it alone.
struct WorkerPace {
  double speed = 1.0;     // of its condition
  double speed_up = 1.0;  // of its cores now over those it has, and of its spell
  std::optional<int> cores;
};

class SharedMachines {
 public:
  // `quotas`: of each worker, or none at all.
  SharedMachines(const std::vector<SharedMachine>& machines, std::size_t workers, std::size_t servers,
                 const std::vector<std::optional<QuotaClock>>& quotas);

  [[nodiscard]] bool hosts(WorkerId worker) const { return machine_of_.at(worker.value).has_value(); }
  [[nodiscard]] bool hosts(ServerId server) const { return machine_of_.at(process_of(server)).has_value(); }
  // Whether it rests once it has computed, if it is slow.
  [[nodiscard]] bool may_rest(WorkerId worker) const {
    return hosts(worker) && machines_[*machine_of_[worker.value]].described.slow_workers == SlowWorkers::rest;
  }
  // Whether a stretch of local steps differs from its steps one by one: it rests only once, or keeps its
  // turn.
  [[nodiscard]] bool has_whole_stretches(WorkerId worker) const {
    return may_rest(worker) || (hosts(worker) && machines_[*machine_of_[worker.value]].described.turns);
  }
  // Whether an iteration or an operation is under way. Nothing follows from the end of messages.
  [[nodiscard]] bool is_at_work() const;

  // Begins now. No rest makes the messages' share of its work longer.
  void start(WorkerId worker, Computation computation, const WorkerPace& pace);
  void change_pace(WorkerId worker, Seconds now, const WorkerPace& pace);
  // From now on, while the worker waits, at the pace of its last iteration; what is left of it when the next
  // one begins is added to that.
  void handle_messages(WorkerId worker, Seconds now, Seconds work);
  // Of a worker that has left.
  void drop_messages(WorkerId worker, Seconds now);
  void call_off(GradientId gradient, Seconds now);
  [[nodiscard]] const std::optional<Computation>& of(WorkerId worker) const {
    return computations_.at(worker.value);
  }
  // An operation in the server's queue: a step of an update, or an accumulation. What is `later` may be
  // interrupted up to the step of its update.
  struct Request {
    Seconds work;
    Seconds later;
    std::optional<UpdateId> step;
  };
  void enqueue(ServerId server, Seconds now, const Request& request, RunObserver& observer);
  // How many times as long work takes that all these begin together.
  [[nodiscard]] double slowdown_together(WorkerId worker, std::span<const WorkerId> members) const;

  // What has ended by now at a date that `settle` asked for; returns who has passed a mark.
  std::vector<WorkerId> finish(const MachineDue& due, Seconds now, std::vector<Event>& events,
                               RunObserver& observer);
  [[nodiscard]] bool have_moved() const { return !moved_.empty(); }
  // Whenever all that happens at a date has happened: calls schedule(date, MachineDue) where it moved.
  template <class Schedule>
  void settle(Seconds now, const Schedule& schedule) {
    for (const std::size_t machine : moved_)
      if (const std::optional<Seconds> date = next_date(machine, now))
        schedule(*date, MachineDue{machine, machines_[machine].attempt});
    moved_.clear();
  }
  // The job is over: what servers are still at.
  void tell_unfinished(Seconds now, RunObserver& observer) const;

 private:
  static constexpr double never_rests = std::numeric_limits<double>::infinity();
  static constexpr Seconds never{std::numeric_limits<double>::infinity()};
  enum class Doing { nothing, in_line, computing, held_up, resting };
  enum class Next { done, mark, held_up, new_period, turn_over };  // of who computes
  struct Process {
    Doing doing = Doing::nothing;
    Seconds left;            // of what it does, at rate 1
    Seconds left_at_mark{};  // of an iteration that passes one next
    double rate = 1.0;       // while it computes alone
    double rest_rate = never_rests;
    int cores = 1;
    Seconds spent;  // processor time of what it computes
    std::optional<QuotaClock> quota;
    Next next = Next::done;
    Seconds ends;                    // date of that, as long as nothing moves it
    std::optional<Seconds> began{};  // when it first had a core for what it computes
    Seconds in_line_since;
    Seconds on_core_since;
    Seconds turn_ends;                      // while it computes
    std::optional<Seconds> left_of_turn{};  // of who was interrupted
  };
  struct Operation {
    Seconds work;
    std::optional<UpdateId> step;
    bool comes_later = false;  // than others of its update
  };
  struct Machine {
    SharedMachine described;
    std::vector<std::size_t> processes;
    Seconds since;  // up to here, work is booked
    int busy = 0;   // cores
    std::uint64_t attempt = 0;
    bool has_moved = false;
    std::deque<std::size_t> line{};  // processes that wait for a core
  };

  [[nodiscard]] std::size_t process_of(ServerId server) const { return workers_ + server.value; }
  // Books the work done up to now; from here on everything may change.
  void move(std::size_t machine, Seconds now);
  [[nodiscard]] std::optional<Seconds> next_date(std::size_t machine, Seconds now);
  static void plan(const Machine& machine, Process& process);
  void set_pace(std::size_t process, const WorkerPace& pace);
  void begin(std::size_t process, Seconds work);
  void end(std::size_t process);
  // It has something to compute: at once, or when its turn comes.
  void get_busy(std::size_t process);
  void get_core(std::size_t process);
  void leave_core(std::size_t process);
  [[nodiscard]] bool goes_first(const Machine& machine, std::size_t process) const {
    return process >= workers_ && machine.described.turns->servers_first;
  }
  void join_line(std::size_t process, std::size_t place);
  void interrupt(std::size_t process);
  // Of those that take turns and compute, the one whose turn ends first.
  [[nodiscard]] std::optional<std::size_t> next_to_leave(const Machine& machine) const;
  // Of those whose turn has ended without anybody waiting before now.
  void begin_new_turns(const Machine& machine);
  void begin_operation(std::size_t process, Seconds now);
  // It leaves what comes later for what is now the first in its queue.
  void interrupt_operation(ServerId server, Seconds now, Seconds work, RunObserver& observer);
  // It has come to the end of what it did.
  void go_on(std::size_t process, Seconds now, std::vector<Event>& events, RunObserver& observer);
  void rest(std::size_t process, Seconds now);
  void finish_operation(std::size_t process, Seconds now, std::vector<Event>& events, RunObserver& observer);

  std::size_t workers_;
  std::vector<std::optional<std::size_t>> machine_of_;  // by process: workers, then servers
  std::vector<Machine> machines_;
  std::vector<Process> processes_;
  std::vector<SharedMachine::Resident> residents_;  // by worker
  std::vector<std::optional<Computation>> computations_;
  std::vector<std::deque<Operation>> operations_;  // by server; the first is under way
  std::vector<std::size_t> moved_;
};

}  // namespace paceline
