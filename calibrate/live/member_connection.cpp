// Connections of a crew's members: who is let in, and what arrives when.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "calibrate/live/live_clock.hpp"
#include "calibrate/live/process_crew_state.hpp"

namespace paceline::live {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::uint64_t most_bytes_before_ready = std::uint64_t{1} << 32U;
constexpr std::uint64_t most_bytes_beside_values = 1 << 16;
constexpr auto hello_patience = std::chrono::seconds(5);

}  // namespace

void DelayLine::pass(Seconds delay, std::function<void()> arrive) {
  if (under_way_.empty() && delay <= Seconds{}) return arrive();
  const Clock::time_point at = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                  std::chrono::duration<double>(delay.value()));
  under_way_.emplace_back(under_way_.empty() ? at : std::max(at, under_way_.back().first), std::move(arrive));
  if (under_way_.size() == 1) wait();
}

void DelayLine::wait() {
  timer_.expires_at(under_way_.front().first);
  // What arrives keeps the owner of this line alive.
  timer_.async_wait([this, arrive = std::move(under_way_.front().second)](const error_code& error) {
    if (error || under_way_.empty()) return;
    under_way_.pop_front();
    if (!under_way_.empty()) wait();
    arrive();
  });
}

void DelayLine::close() {
  timer_.cancel();
  under_way_.clear();
}

ProcessCrew::Connection::Connection(State& the_state, tcp::socket the_socket)
    : state(the_state),
      socket(std::move(the_socket)),
      deadline(state.context),
      from_member(state.context),
      to_member(state.context) {
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
    send(encode(Setup{to_text(state.config.setups[*member])}), {});
  } else if (auto* ready = std::get_if<Ready>(&message); ready != nullptr && !state.is_ready[*member]) {
    // Of a replica: parameters, and two moments of the optimizer.
    most_bytes =
        most_bytes_beside_values + sizeof(float) * (3 * ready->parameter_count + ready->statistics_count);
    state.is_ready[*member] = true;
    if (state.starting[*member]) state.news.emplace_back(Restarted{*member});
    state.ready[*member] = std::move(*ready);
  } else {
    if (auto* computed = std::get_if<Computed>(&message); computed != nullptr && state.config.hosts)
      by_own_clock(*computed);
    const Seconds delay = std::holds_alternative<GradientValues>(message)
                              ? state.latency + state.added_latency[*member]
                              : Seconds{};
    from_member.pass(delay, [self = shared_from_this(), arrived = std::move(message)]() mutable {
      self->state.news.emplace_back(Arrived{*self->member, std::move(arrived)});
    });
  }
  read_header();
}

void ProcessCrew::Connection::by_own_clock(Computed& computed) {
  const std::int64_t apart_ns = clocks_apart.ns(LiveClock::monotonic_ns(), computed.ended_ns);
  computed.began_ns += apart_ns;
  computed.ended_ns += apart_ns;
}

void ProcessCrew::Connection::send(std::vector<std::byte> frame, Seconds delay) {
  to_member.pass(delay, [self = shared_from_this(), sent = std::move(frame)]() mutable {
    self->outgoing.push_back(std::move(sent));
    if (self->outgoing.size() == 1) self->write_front();
  });
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
  from_member.close();
  to_member.close();
  socket.close(ignored);
}

void ProcessCrew::Connection::refuse(std::uint64_t RefusedConnections::*counter) {
  ++(state.refused.*counter);
  close();
}

void ProcessCrew::Connection::end(const std::string& reason) {
  if (!socket.is_open()) return;
  if (!member) return refuse(&RefusedConnections::strangers);
  close();
  state.news.emplace_back(Lost{*member, reason});
}

}  // namespace paceline::live
