#include "calibrate/live/process_crew.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include <boost/asio.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include "calibrate/live/one_core.hpp"
#include "calibrate/live/process_crew_state.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/interrupt.hpp"

namespace paceline::live {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using WallClock = std::chrono::steady_clock;

constexpr auto end_patience = std::chrono::milliseconds(500);
constexpr auto look_every = std::chrono::milliseconds(100);

bool has_ended(pid_t process) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid != 0;
}

std::string with_host(std::string word, const std::string& host) {
  constexpr std::string_view place = "{host}";
  if (const std::size_t at = word.find(place); at != std::string::npos) word.replace(at, place.size(), host);
  return word;
}

// How the process ended; killed if it does not by itself.
std::string end_of(Process& process) {
  const auto deadline = WallClock::now() + end_patience;
  while (!has_ended(process.id()) && WallClock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const bool ended = has_ended(process.id());
  if (!ended) kill(process.id(), SIGKILL);
  const int status = process.wait();
  return ended ? describe_status(status) : "closed its connection";
}

// System numbers of as many cores that this process may use; none where there are fewer. Where none is left
// to the server it interrupts workers, wherever they are; a worker that is free to move may wake on the core
// of another, and wait there for that one's turn to end while its own core idles.
std::vector<int> cores_for(std::ptrdiff_t workers) {
  std::vector<int> cores = cores_of(0);
  if (std::ssize(cores) < workers) return {};
  cores.resize(static_cast<std::size_t>(workers));
  return cores;
}

}  // namespace

ProcessCrew::ProcessCrew(CrewConfig config) : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.config = std::move(config);
  const std::size_t members = state.config.setups.size();
  state.connections.resize(members);
  state.ready.resize(members);
  state.is_ready.resize(members);
  state.starting.resize(members);
  state.is_lost.resize(members);
  state.added_latency.resize(members);
  const auto workers = std::ranges::count(state.config.setups, false, &WorkerSetup::is_evaluator);
  if (state.config.links) {
    state.links.emplace(*state.config.links, static_cast<std::size_t>(workers));
    state.latency = state.config.links->latency;
  }
  listen();
  for (Member member = 0; member < members; ++member) {
    const std::optional<CpuQuota>& quota = state.config.setups[member].quota;
    state.budgets.push_back(quota ? std::make_unique<CpuBudget>(*quota, member) : nullptr);
  }
  if (state.config.keeps_cores) state.own_cores = cores_for(workers);
  state.processes.resize(members);
  for (Member member = 0; member < members; ++member) start(member);
  accept();
  wait_until_ready();
}

void ProcessCrew::bound(Member member) {
  if (state_->budgets[member]) state_->budgets[member]->add(state_->processes[member]->id());
}

void ProcessCrew::start(Member member) {
  const Command command = command_of(member);
  state_->starting[member] = WallClock::now();
  const auto here = state_->at(member);
  state_->processes[member] = std::make_unique<Process>(command);
}

void ProcessCrew::listen() {
  State& state = *state_;
  const std::string address = state.links          ? state.links->server_address()
                              : state.config.hosts ? state.config.hosts->address
                                                   : "127.0.0.1";
  const auto here = state.at(state.config.setups.size());
  try {
    state.acceptor = tcp::acceptor(
        state.context, {asio::ip::make_address(address), static_cast<std::uint16_t>(state.config.port)});
  } catch (const boost::system::system_error& failure) {
    throw UserError(
        fmt::format("cannot listen at {} port {}: {}", address, state.config.port, failure.code().message()),
        "choose another port");
  }
  // Children inherit no socket of the server's.
  fcntl(state.acceptor.native_handle(), F_SETFD, FD_CLOEXEC);
}

Command ProcessCrew::command_of(Member member) const {
  const State& state = *state_;
  const bool is_evaluator = state.config.setups[member].is_evaluator;
  const std::string server =
      fmt::format("{}:{}", state.acceptor.local_endpoint().address().to_string(), port());
  const std::vector<std::string> arguments = {worker_flag, server, std::to_string(member)};
  const std::optional<Echo>& echo = state.config.setups[member].echo;
  std::vector<std::string> environment;  // a user's own loop has the one it was started in
  if (!echo || echo->loop.empty()) environment = compute_environment(1);
  const bool has_core = !is_evaluator && !state.own_cores.empty() && !state.config.hosts;
  if (!has_core)  // several would be bound to the first core
    std::ranges::replace(environment, "OMP_PROC_BIND=true", "OMP_PROC_BIND=false");
  if (state.config.hosts && !is_evaluator) {
    const HostsConfig& hosts = *state.config.hosts;
    Command command;
    std::istringstream words(hosts.launch);
    for (std::string word; words >> word;)
      command.words.push_back(with_host(word, hosts.names[member % hosts.names.size()]));
    command.words.emplace_back("env");
    std::ranges::move(environment, std::back_inserter(command.words));
    command.words.push_back(hosts.program.empty() ? std::filesystem::canonical(state.config.program).string()
                                                  : hosts.program);
    std::ranges::copy(arguments, std::back_inserter(command.words));
    command.input = to_text(state.token) + "\n";
    return command;
  }
  Command command{.words = {state.config.program.string()}, .environment = std::move(environment)};
  std::ranges::copy(arguments, std::back_inserter(command.words));
  command.environment.push_back(fmt::format("{}={}", token_variable, to_text(state.token)));
  if (has_core) command.cores = {state.own_cores[member]};
  if (!is_evaluator) return command;
  std::string groups;
  for (const auto& budget : state.budgets)
    if (budget) groups += budget->folder().string() + "\n";
  command.environment.push_back(fmt::format("{}={}", groups_variable, groups));
  return command;
}

ProcessCrew::~ProcessCrew() {
  std::vector<Member> all(state_->processes.size());
  std::iota(all.begin(), all.end(), Member{0});
  wait_for_ends(all);
}

// Asks them to quit, and closes their connections when they have, or have not for too long.
void ProcessCrew::wait_for_ends(std::span<const Member> members) {
  for (const Member member : members) send(member, Quit{});
  const auto deadline = WallClock::now() + end_patience;
  const auto have_ended = [&] {
    return std::ranges::all_of(members, [&](Member member) {
      const auto& process = state_->processes[member];
      return !process || has_ended(process->id());
    });
  };
  while (!have_ended() && WallClock::now() < deadline) {
    state_->context.restart();
    state_->context.run_for(std::chrono::milliseconds(5));
  }
  for (const Member member : members)
    if (state_->connections[member]) state_->connections[member]->close();
}

void ProcessCrew::restart_workers() {
  State& state = *state_;
  std::vector<Member> workers;
  for (Member member = 0; member < state.config.setups.size(); ++member)
    if (!state.config.setups[member].is_evaluator && !state.is_lost[member]) workers.push_back(member);
  wait_for_ends(workers);
  for (const Member member : workers) {
    unhear(member);
    state.connections[member].reset();
    state.is_ready[member] = false;
    start(member);
  }
}

// One that ends before its first connection is noticed by nobody else.
void ProcessCrew::notice_failed_starts() {
  State& state = *state_;
  for (Member member = 0; member < state.starting.size(); ++member) {
    if (!state.starting[member] || state.is_ready[member] || state.is_lost[member]) continue;
    const std::chrono::duration<double> waited = WallClock::now() - *state.starting[member];
    if (!state.connections[member] && has_ended(state.processes[member]->id())) {
      const auto process = std::move(state.processes[member]);
      const std::string how = describe_status(process->wait());
      const std::string& errors = process->errors();
      dismiss(member, fmt::format("{} before it was ready{}{}", how, errors.empty() ? "" : ": ", errors));
    } else if (waited.count() > state.config.start_patience.value()) {
      dismiss(member, fmt::format("was not ready within {:g} s", state.config.start_patience.value()));
    }
  }
}

const std::vector<Ready>& ProcessCrew::ready() const {
  return state_->ready;
}
const RefusedConnections& ProcessCrew::refused() const {
  return state_->refused;
}
int ProcessCrew::port() const {
  return state_->acceptor.local_endpoint().port();
}
std::vector<int> ProcessCrew::process_ids() const {
  std::vector<int> ids;
  for (const auto& process : state_->processes)
    if (process) ids.push_back(process->id());
  return ids;
}

void ProcessCrew::accept() {
  state_->acceptor.async_accept([this](const error_code& error, tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (!error) {
      fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
      std::make_shared<Connection>(*state_, std::move(socket))->expect_hello();
    }
    accept();
  });
}

void ProcessCrew::wait_until_ready() {
  for (std::size_t ready = 0; ready < state_->processes.size();) {
    const std::optional<News> news = next(Seconds{0.1});
    if (!news) continue;
    throw_if_lost(*news);
    if (std::holds_alternative<Restarted>(*news)) ++ready;
  }
}

std::optional<News> ProcessCrew::next(Seconds patience) {
  State& state = *state_;
  const auto deadline = WallClock::now() + std::chrono::duration_cast<WallClock::duration>(
                                               std::chrono::duration<double>(patience.value()));
  while (state.news.empty()) {
    throw_if_interrupted();
    notice_failed_starts();
    if (!state.news.empty()) break;
    const auto now = WallClock::now();
    state.context.restart();
    if (now >= deadline && state.context.poll_one() == 0) return std::nullopt;
    if (state.news.empty()) state.context.run_one_until(std::min(deadline, now + look_every));
  }
  News first = std::move(state.news.front());
  state.news.pop_front();
  if (const auto* restarted = std::get_if<Restarted>(&first)) {
    state.starting[restarted->member].reset();
    bound(restarted->member);  // loading has been done at full speed
  }
  if (auto* lost = std::get_if<Lost>(&first)) {
    throw_if_interrupted();  // a Ctrl-C reaches the workers too
    lose(lost->member, lost->reason);
    if (lost->reason == "closed its connection" && state.processes[lost->member])
      lost->reason = end_of(*state.processes[lost->member]);
    state.processes[lost->member].reset();
  }
  return first;
}

void ProcessCrew::send(Member member, const Message& message) {
  const std::shared_ptr<Connection>& connection = state_->connections.at(member);
  if (!connection || !connection->socket.is_open()) return;
  const auto* compute = std::get_if<Compute>(&message);
  const bool has_parameters = compute != nullptr && !compute->parameters.empty();
  connection->send(encode(message), has_parameters ? state_->latency : Seconds{});
}

void ProcessCrew::change_link(Member member, double bandwidth_factor, Seconds added_latency) {
  state_->added_latency.at(member) = added_latency;
  if (state_->links) state_->links->set_bandwidth_factor(WorkerId{member}, bandwidth_factor);
}

void ProcessCrew::lose(Member member, const std::string& reason) {
  State& state = *state_;
  state.is_lost[member] = true;
  if (state.connections[member]) state.connections[member]->close();
  state.connections[member].reset();
  unhear(member);
  if (state.processes[member] && reason != "closed its connection")
    kill(state.processes[member]->id(), SIGKILL);
}

// What it still said counts no more.
void ProcessCrew::unhear(Member member) {
  std::erase_if(state_->news, [&](const News& news) {
    return std::visit([&](const auto& one) { return one.member == member; }, news);
  });
}

void ProcessCrew::dismiss(Member member, const std::string& reason) {
  if (state_->is_lost[member]) return;
  lose(member, reason);
  state_->news.emplace_back(Lost{member, reason});
}

}  // namespace paceline::live
