#include "calibrate/live/process_crew.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <deque>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include <boost/asio.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/wait.h>

#include "calibrate/live/live_clock.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/interrupt.hpp"

namespace paceline::live {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using WallClock = std::chrono::steady_clock;

constexpr std::uint64_t most_hello_bytes = 64;
constexpr std::uint64_t most_bytes_before_ready = std::uint64_t{1} << 32U;
constexpr std::uint64_t most_bytes_beside_values = 1 << 16;
constexpr auto hello_patience = std::chrono::seconds(5);
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

}  // namespace

void check_launch(const Launch& launch) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+-@%";
  if (launch.command.find_first_not_of(' ') == std::string::npos)
    throw UserError("the launcher has no command", "for example --launch 'ssh {host}'");
  if (launch.hosts.empty()) throw UserError("a launcher needs hosts", "for example --hosts node1,node2");
  for (const std::string& host : launch.hosts)
    if (host.empty() || host.front() == '-' || host.find_first_not_of(plain) != std::string::npos)
      throw UserError(fmt::format("`{}` names no host", host), "letters, digits, dots and hyphens");
  if (launch.program.find_first_not_of(plain) != std::string::npos)
    throw UserError(fmt::format("`{}` is not passed on by every shell as it is", launch.program),
                    "a path of letters, digits and ./_-");
  boost::system::error_code error;
  asio::ip::make_address(launch.address, error);
  if (error)
    throw UserError(fmt::format("`{}` is no address", launch.address), "for example --address 10.0.0.1");
}

// One connection, a stranger's until its hello is right.
struct ProcessCrew::Connection : std::enable_shared_from_this<Connection> {
  Connection(State& the_state, tcp::socket the_socket);
  void expect_hello();
  void read_header();
  void read_payload(const Header& header);
  void take(Message message);
  void by_own_clock(Computed& computed);
  void send(std::vector<std::byte> frame);
  void write_front();
  void close();
  void refuse(std::uint64_t RefusedConnections::*counter);
  void end(const std::string& reason);

  State& state;
  tcp::socket socket;
  asio::steady_timer deadline;
  HeaderBytes header_bytes_{};
  std::vector<std::byte> payload;
  std::deque<std::vector<std::byte>> outgoing;
  std::optional<Member> member;
  std::uint64_t most_bytes = most_hello_bytes;
  std::optional<std::int64_t> clocks_apart_ns;
};

struct ProcessCrew::State {
  CrewConfig config;
  Token token = new_token();
  asio::io_context context;
  tcp::acceptor acceptor{context};
  std::vector<std::unique_ptr<CpuBudget>> budgets;       // outlive the processes
  std::vector<std::unique_ptr<Process>> processes;       // null once it has ended
  std::vector<std::shared_ptr<Connection>> connections;  // by member; null before hello and after the end
  std::vector<Ready> ready;
  std::vector<bool> is_ready;
  std::vector<bool> is_lost;
  std::deque<News> news;
  RefusedConnections refused;
};

ProcessCrew::Connection::Connection(State& the_state, tcp::socket the_socket)
    : state(the_state), socket(std::move(the_socket)), deadline(state.context) {
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
}

void ProcessCrew::Connection::expect_hello() {
  deadline.expires_after(hello_patience);
  deadline.async_wait([self = shared_from_this()](const error_code& error) {
    if (!error && !self->member) self->refuse(&RefusedConnections::silent);
  });
  read_header();
}

void ProcessCrew::Connection::read_header() {
  asio::async_read(socket, asio::buffer(header_bytes_),
                   [self = shared_from_this()](const error_code& error, std::size_t) {
                     if (error) return self->end("closed its connection");
                     try {
                       self->read_payload(decode_header(self->header_bytes_, self->most_bytes));
                     } catch (const BadMessage& bad) {
                       self->end(fmt::format("sent what is no message: {}", bad.what()));
                     }
                   });
}

void ProcessCrew::Connection::read_payload(const Header& header) {
  payload.resize(header.payload_bytes);
  asio::async_read(socket, asio::buffer(payload),
                   [self = shared_from_this(), header](const error_code& error, std::size_t) {
                     if (error) return self->end("closed its connection");
                     try {
                       self->take(decode(header, self->payload));
                     } catch (const BadMessage& bad) {
                       self->end(fmt::format("sent what is no message: {}", bad.what()));
                     }
                   });
}

void ProcessCrew::Connection::take(Message message) {
  if (!member) {
    const auto* hello = std::get_if<Hello>(&message);
    const bool is_ours = hello != nullptr && are_equal(hello->token, state.token) &&
                         hello->member < state.connections.size() &&
                         state.connections[hello->member] == nullptr && !state.is_lost[hello->member];
    if (!is_ours) return refuse(&RefusedConnections::strangers);
    deadline.cancel();
    member = static_cast<Member>(hello->member);
    most_bytes = most_bytes_before_ready;
    state.connections[*member] = shared_from_this();
    send(encode(Setup{to_text(state.config.setups[*member])}));
  } else if (auto* ready = std::get_if<Ready>(&message); ready != nullptr && !state.is_ready[*member]) {
    // Of a replica: parameters, and two moments of the optimizer.
    most_bytes =
        most_bytes_beside_values + sizeof(float) * (3 * ready->parameter_count + ready->statistics_count);
    state.is_ready[*member] = true;
    state.ready[*member] = std::move(*ready);
  } else {
    if (auto* computed = std::get_if<Computed>(&message); computed != nullptr && state.config.launch)
      by_own_clock(*computed);
    state.news.emplace_back(Arrived{*member, std::move(message)});
  }
  read_header();
}

// A message cannot come before what it tells of: the quickest one tells best how far clocks are apart.
void ProcessCrew::Connection::by_own_clock(Computed& computed) {
  const std::int64_t apart = LiveClock::monotonic_ns() - computed.ended_ns;
  clocks_apart_ns = std::min(clocks_apart_ns.value_or(apart), apart);
  computed.began_ns += *clocks_apart_ns;
  computed.ended_ns += *clocks_apart_ns;
}

void ProcessCrew::Connection::send(std::vector<std::byte> frame) {
  outgoing.push_back(std::move(frame));
  if (outgoing.size() == 1) write_front();
}

void ProcessCrew::Connection::write_front() {
  asio::async_write(socket, asio::buffer(outgoing.front()),
                    [self = shared_from_this()](const error_code& error, std::size_t) {
                      // The reading side notices a broken connection.
                      if (error) return;
                      self->outgoing.pop_front();
                      if (!self->outgoing.empty()) self->write_front();
                    });
}

void ProcessCrew::Connection::close() {
  error_code ignored;
  deadline.cancel();
  socket.close(ignored);
}

void ProcessCrew::Connection::refuse(std::uint64_t RefusedConnections::*counter) {
  ++(state.refused.*counter);
  close();
}

void ProcessCrew::Connection::end(const std::string& reason) {
  if (!socket.is_open()) return;
  if (!member) return refuse(&RefusedConnections::strangers);
  if (reason.starts_with("sent")) ++state.refused.malformed;
  close();
  state.news.emplace_back(Lost{*member, reason});
}

// System numbers of as many cores that this process may use; none where that would leave none to the server.
std::vector<int> cores_for(std::ptrdiff_t workers) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) <= workers) return {};
  std::vector<int> cores;
  for (int core = 0; std::ssize(cores) < workers; ++core)
    if (CPU_ISSET(static_cast<std::size_t>(core), &set)) cores.push_back(core);
  return cores;
}

ProcessCrew::ProcessCrew(CrewConfig config) : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.config = std::move(config);
  const std::size_t members = state.config.setups.size();
  state.connections.resize(members);
  state.ready.resize(members);
  state.is_ready.resize(members);
  state.is_lost.resize(members);
  const std::string address = state.config.launch ? state.config.launch->address : "127.0.0.1";
  try {
    state.acceptor = tcp::acceptor(
        state.context, {asio::ip::make_address(address), static_cast<std::uint16_t>(state.config.port)});
  } catch (const boost::system::system_error& failure) {
    throw UserError(
        fmt::format("cannot listen at {} port {}: {}", address, state.config.port, failure.code().message()),
        "choose another port");
  }
  std::string groups;
  for (Member member = 0; member < members; ++member) {
    const std::optional<CpuQuota>& quota = state.config.setups[member].quota;
    state.budgets.push_back(quota ? std::make_unique<CpuBudget>(*quota, member) : nullptr);
    if (quota) groups += state.budgets.back()->folder().string() + "\n";
  }
  const std::vector<int> own_cores =
      cores_for(std::ranges::count(state.config.setups, false, &WorkerSetup::is_evaluator));
  // Children inherit no socket of the server's.
  fcntl(state.acceptor.native_handle(), F_SETFD, FD_CLOEXEC);
  for (Member member = 0; member < members; ++member) {
    const Command command = command_of(member, own_cores, groups);
    state.processes.push_back(std::make_unique<Process>(command));
  }
  accept();
  wait_until_ready();
  // Loading has been done at full speed.
  for (Member member = 0; member < members; ++member)
    if (state.budgets[member]) state.budgets[member]->add(state.processes[member]->id());
}

Command ProcessCrew::command_of(Member member, const std::vector<int>& own_cores,
                                const std::string& groups) const {
  const State& state = *state_;
  const bool is_evaluator = state.config.setups[member].is_evaluator;
  const std::string server =
      fmt::format("{}:{}", state.acceptor.local_endpoint().address().to_string(), port());
  const std::vector<std::string> arguments = {worker_flag, server, std::to_string(member)};
  std::vector<std::string> environment = compute_environment(1);
  const bool has_core = !is_evaluator && !own_cores.empty() && !state.config.launch;
  if (!has_core)  // several would be bound to the first core
    std::ranges::replace(environment, "OMP_PROC_BIND=true", "OMP_PROC_BIND=false");
  if (state.config.launch && !is_evaluator) {
    const Launch& launch = *state.config.launch;
    Command command;
    std::istringstream words(launch.command);
    for (std::string word; words >> word;)
      command.words.push_back(with_host(word, launch.hosts[member % launch.hosts.size()]));
    command.words.emplace_back("env");
    std::ranges::move(environment, std::back_inserter(command.words));
    command.words.push_back(launch.program.empty() ? std::filesystem::canonical(state.config.program).string()
                                                   : launch.program);
    std::ranges::copy(arguments, std::back_inserter(command.words));
    command.input = to_text(state.token) + "\n";
    return command;
  }
  Command command{.words = {state.config.program.string()}, .environment = std::move(environment)};
  std::ranges::copy(arguments, std::back_inserter(command.words));
  command.environment.push_back(fmt::format("{}={}", token_variable, to_text(state.token)));
  if (has_core) command.cores = {own_cores[member]};
  if (is_evaluator) command.environment.push_back(fmt::format("{}={}", groups_variable, groups));
  return command;
}

ProcessCrew::~ProcessCrew() {
  resume_workers();
  for (Member member = 0; member < state_->processes.size(); ++member) send(member, Quit{});
  const auto deadline = WallClock::now() + end_patience;
  const auto all_ended = [&] {
    for (const auto& process : state_->processes)
      if (process && !has_ended(process->id())) return false;
    return true;
  };
  while (!all_ended() && WallClock::now() < deadline) {
    state_->context.restart();
    state_->context.run_for(std::chrono::milliseconds(5));
  }
  for (const auto& connection : state_->connections)
    if (connection) connection->close();
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
  State& state = *state_;
  const auto deadline = WallClock::now() + std::chrono::duration<double>(state.config.start_patience.value());
  const auto missing = [&] { return std::find(state.is_ready.begin(), state.is_ready.end(), false); };
  while (missing() != state.is_ready.end()) {
    const std::optional<News> news = next(Seconds{0.1});
    if (news) {
      if (const auto* lost = std::get_if<Lost>(&*news))
        throw std::runtime_error(fmt::format("process {} of the live job {}", lost->member, lost->reason));
      const Message& message = std::get<Arrived>(*news).message;
      if (const auto* failed = std::get_if<Failed>(&message)) throw UserError(failed->reason);
    }
    // One that ends before its first connection is noticed by nobody else.
    for (Member member = 0; member < state.processes.size(); ++member)
      if (!state.is_ready[member] && !state.connections[member] && has_ended(state.processes[member]->id())) {
        Process& process = *state.processes[member];
        const std::string how = describe_status(process.wait());
        throw std::runtime_error(fmt::format("process {} of the live job {} before it was ready: {}", member,
                                             how, process.errors()));
      }
    if (WallClock::now() > deadline)
      throw std::runtime_error(fmt::format("process {} of the live job was not ready within {:g} s",
                                           missing() - state.is_ready.begin(),
                                           state.config.start_patience.value()));
  }
}

std::optional<News> ProcessCrew::next(Seconds patience) {
  State& state = *state_;
  const auto deadline = WallClock::now() + std::chrono::duration_cast<WallClock::duration>(
                                               std::chrono::duration<double>(patience.value()));
  while (state.news.empty()) {
    throw_if_interrupted();
    const auto now = WallClock::now();
    state.context.restart();
    if (now >= deadline && state.context.poll_one() == 0) return std::nullopt;
    if (state.news.empty()) state.context.run_one_until(std::min(deadline, now + look_every));
  }
  News first = std::move(state.news.front());
  state.news.pop_front();
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
  if (connection && connection->socket.is_open()) connection->send(encode(message));
}

void ProcessCrew::lose(Member member, const std::string& reason) {
  State& state = *state_;
  state.is_lost[member] = true;
  if (state.connections[member]) state.connections[member]->close();
  state.connections[member].reset();
  // What it still said counts no more.
  std::erase_if(state.news, [&](const News& news) {
    return std::visit([&](const auto& one) { return one.member == member; }, news);
  });
  if (state.processes[member] && reason != "closed its connection")
    kill(state.processes[member]->id(), SIGKILL);
}

void ProcessCrew::dismiss(Member member, const std::string& reason) {
  if (state_->is_lost[member]) return;
  lose(member, reason);
  state_->news.emplace_back(Lost{member, reason});
}

void ProcessCrew::signal_workers(int signal_number) const {
  for (Member member = 0; member < state_->processes.size(); ++member)
    if (!state_->config.setups[member].is_evaluator && state_->processes[member] && !state_->config.launch)
      kill(state_->processes[member]->id(), signal_number);
}
void ProcessCrew::halt_workers() {
  signal_workers(SIGSTOP);
}
void ProcessCrew::resume_workers() {
  signal_workers(SIGCONT);
}

}  // namespace paceline::live
