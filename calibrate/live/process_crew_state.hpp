// The inside of ProcessCrew: its connections, and what they share.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio.hpp>

#include "calibrate/live/clocks_apart.hpp"
#include "calibrate/live/cpu_budget.hpp"
#include "calibrate/live/emulated_links.hpp"
#include "calibrate/live/message.hpp"
#include "calibrate/live/process_crew.hpp"
#include "sim/base/process.hpp"

namespace paceline::live {

// What goes along a line arrives in the order in which it left, each thing a while later.
class DelayLine {
 public:
  explicit DelayLine(boost::asio::io_context& context) : timer_(context) {}

  // Now, where nothing is under way and there is no delay.
  void pass(Seconds delay, std::function<void()> arrive);
  void close();

 private:
  using Clock = std::chrono::steady_clock;
  void wait();

  boost::asio::steady_timer timer_;
  std::deque<std::pair<Clock::time_point, std::function<void()>>> under_way_;
};

// One connection, a stranger's until its hello is right.
struct ProcessCrew::Connection : std::enable_shared_from_this<Connection> {
  Connection(State& the_state, boost::asio::ip::tcp::socket the_socket);
  void expect_hello();
  void read_header();
  void read_payload(const Header& header);
  void take(Message message);
  void by_own_clock(Computed& computed);
  void send(std::vector<std::byte> frame, Seconds delay);
  void write_front();
  void close();
  void refuse(std::uint64_t RefusedConnections::*counter);
  void end(const std::string& reason);

  State& state;
  boost::asio::ip::tcp::socket socket;
  boost::asio::steady_timer deadline;
  HeaderBytes header_bytes_{};
  std::vector<std::byte> payload;
  std::deque<std::vector<std::byte>> outgoing;
  std::optional<Member> member;
  std::uint64_t most_bytes = 64;  // of a hello
  ClocksApart clocks_apart;
  DelayLine from_member;
  DelayLine to_member;
};

struct ProcessCrew::State {
  CrewConfig config;
  Token token = new_token();
  boost::asio::io_context context;
  boost::asio::ip::tcp::acceptor acceptor{context};
  std::optional<EmulatedLinks> links;
  Seconds latency;                                       // of parameters and gradients, on emulated links
  std::vector<Seconds> added_latency;                    // by member, to that of its gradients
  std::vector<int> own_cores;                            // of the workers, by number; empty: they share
  std::vector<std::unique_ptr<CpuBudget>> budgets;       // outlive the processes
  std::vector<std::unique_ptr<Process>> processes;       // null once it has ended
  std::vector<std::shared_ptr<Connection>> connections;  // by member; null before hello and after the end
  std::vector<Ready> ready;
  std::vector<bool> is_ready;
  // Since when its new process has been starting.
  std::vector<std::optional<std::chrono::steady_clock::time_point>> starting;
  std::vector<bool> is_lost;
  std::deque<News> news;
  RefusedConnections refused;

  // Where a process starts, or a socket opens, while this lives: workers at their end of the network, all
  // else at the server's.
  [[nodiscard]] std::unique_ptr<EmulatedLinks::At> at(Member member) const {
    if (!links) return nullptr;
    const bool is_worker = member < config.setups.size() && !config.setups[member].is_evaluator;
    return std::make_unique<EmulatedLinks::At>(is_worker ? links->place_of(WorkerId{member})
                                                         : links->server_place());
  }
};

}  // namespace paceline::live
