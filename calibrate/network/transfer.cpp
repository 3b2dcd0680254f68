#include "calibrate/network/transfer.hpp"

#include <chrono>
#include <stdexcept>
#include <utility>

#include <boost/asio.hpp>
#include <fmt/format.h>

#include "sim/base/diagnostic.hpp"
#include "sim/base/interrupt.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::calibrate {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr int warm_up_repetitions = 2;
constexpr std::int64_t largest_message = std::int64_t{1} << 30;

// An operation that an interrupt ends early fails with an error of the system's.
void check_transfer(const error_code& error) {
  if (!error) return;
  throw_if_interrupted();
  throw std::runtime_error(fmt::format("the connection broke: {}", error.message()));
}

template <class Buffer>
void send(tcp::socket& socket, const Buffer& buffer) {
  error_code error;
  asio::write(socket, buffer, error);
  check_transfer(error);
}

// False when the other end closed the connection.
template <class Buffer>
bool receive(tcp::socket& socket, const Buffer& buffer) {
  error_code error;
  asio::read(socket, buffer, error);
  if (error == asio::error::eof) return false;
  check_transfer(error);
  return true;
}

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void wait_busily(Seconds rest) {
  const Clock::time_point start = Clock::now();
  while (seconds_since(start) < rest.value()) throw_if_interrupted();
}

double round_trip(tcp::socket& socket, std::vector<char>& message) {
  const auto size = static_cast<std::int64_t>(message.size());
  const Clock::time_point start = Clock::now();
  send(socket, asio::buffer(&size, sizeof size));
  send(socket, asio::buffer(message));
  if (!receive(socket, asio::buffer(message))) check_transfer(asio::error::eof);
  return seconds_since(start);
}

}  // namespace

struct EchoServer::Acceptor {
  asio::io_context context;
  tcp::acceptor acceptor{context};
};

EchoServer::EchoServer(const std::string& address, int port) : acceptor_(std::make_unique<Acceptor>()) {
  try {
    const tcp::endpoint place(asio::ip::make_address(address), static_cast<std::uint16_t>(port));
    acceptor_->acceptor = tcp::acceptor(acceptor_->context, place);
  } catch (const boost::system::system_error& failure) {
    throw UserError(fmt::format("cannot listen at {}:{}: {}", address, port, failure.code().message()),
                    "choose another port");
  }
}

EchoServer::~EchoServer() = default;

int EchoServer::port() const {
  return acceptor_->acceptor.local_endpoint().port();
}

void EchoServer::serve_one() const {
  tcp::socket socket(acceptor_->context);
  error_code error;
  acceptor_->acceptor.accept(socket, error);
  check_transfer(error);
  socket.set_option(tcp::no_delay(true));
  std::vector<char> message;
  std::int64_t size = 0;
  while (receive(socket, asio::buffer(&size, sizeof size))) {
    if (size < 1 || size > largest_message) throw std::runtime_error("what arrived is not this program's");
    message.resize(static_cast<std::size_t>(size));
    if (!receive(socket, asio::buffer(message))) return;
    send(socket, asio::buffer(message));
  }
}

std::vector<std::int64_t> message_sizes(std::int64_t largest) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = 1; size <= largest; size *= 4) sizes.push_back(size);
  return sizes;
}

std::vector<TransferTime> measure_transfers(const std::string& host, int port,
                                            const std::vector<std::int64_t>& sizes, int repetitions,
                                            Seconds rest) {
  asio::io_context context;
  tcp::socket socket(context);
  error_code error;
  const auto places = tcp::resolver(context).resolve(host, std::to_string(port), error);
  if (error) throw UserError(fmt::format("{}: {}", host, error.message()), "is the host's name right?");
  asio::connect(socket, places, error);
  throw_if_interrupted();
  if (error)
    throw UserError(fmt::format("nobody answers at {}:{}: {}", host, port, error.message()),
                    "start the other end there first: paceline calibrate network --listen PORT");
  socket.set_option(tcp::no_delay(true));
  std::vector<TransferTime> times;
  for (const std::int64_t size : sizes) {
    std::vector<char> message(static_cast<std::size_t>(size), 'p');
    for (int i = 0; i < warm_up_repetitions; ++i) static_cast<void>(round_trip(socket, message));
    std::vector<double> seconds;
    for (int i = 0; i < repetitions; ++i) {
      wait_busily(rest);
      seconds.push_back(0.5 * round_trip(socket, message));
    }
    times.push_back({size, median(std::move(seconds))});
  }
  return times;
}

}  // namespace paceline::calibrate
