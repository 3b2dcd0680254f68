#include "calibrate/network/transfer.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/base/diagnostic.hpp"
#include "sim/base/interrupt.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::calibrate {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int interrupt_check_ms = 200;
constexpr int warm_up_repetitions = 2;

// A connected socket, closed with its owner.
class Connection {
 public:
  explicit Connection(int descriptor) : descriptor_(descriptor) {
    const int on = 1;
    setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { close(descriptor_); }

  void write_all(const char* data, std::size_t size) const {
    while (size > 0) {
      const ssize_t sent = send(descriptor_, data, size, MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) throw std::runtime_error(fmt::format("the connection broke: {}", std::strerror(errno)));
      data += sent;
      size -= static_cast<std::size_t>(sent);
    }
  }
  // False when the other end closed before the first byte.
  [[nodiscard]] bool read_all(char* data, std::size_t size) const {
    std::size_t got = 0;
    while (got < size) {
      throw_if_interrupted();
      pollfd source{descriptor_, POLLIN, 0};
      if (poll(&source, 1, interrupt_check_ms) <= 0) continue;
      const ssize_t part = recv(descriptor_, data + got, size - got, 0);
      if (part < 0 && errno == EINTR) continue;
      if (part == 0 && got == 0) return false;
      if (part <= 0) throw std::runtime_error("the connection broke: the other end closed it");
      got += static_cast<std::size_t>(part);
    }
    return true;
  }

 private:
  int descriptor_;
};

int connect_to(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int failure = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
      failure != 0)
    throw UserError(fmt::format("{}: {}", host, gai_strerror(failure)), "is the host's name right?");
  int descriptor = -1;
  int reason = 0;
  for (const addrinfo* entry = found; entry != nullptr && descriptor < 0; entry = entry->ai_next) {
    descriptor = socket(entry->ai_family, entry->ai_socktype, entry->ai_protocol);
    if (descriptor < 0 || connect(descriptor, entry->ai_addr, entry->ai_addrlen) == 0) continue;
    reason = errno;
    close(descriptor);
    descriptor = -1;
  }
  freeaddrinfo(found);
  if (descriptor < 0)
    throw UserError(fmt::format("nobody answers at {}:{}: {}", host, port, std::strerror(reason)),
                    "start the other end there first: paceline calibrate network --listen PORT");
  return descriptor;
}

double round_trip(const Connection& connection, std::vector<char>& buffer, std::int64_t size) {
  const auto start = Clock::now();
  connection.write_all(reinterpret_cast<const char*>(&size), sizeof size);
  connection.write_all(buffer.data(), static_cast<std::size_t>(size));
  if (!connection.read_all(buffer.data(), static_cast<std::size_t>(size)))
    throw std::runtime_error("the connection broke: the other end closed it");
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

EchoServer::EchoServer(const std::string& address, int port) : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
  const int on = 1;
  setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(static_cast<std::uint16_t>(port));
  const bool is_address = inet_pton(AF_INET, address.c_str(), &place.sin_addr) == 1;
  socklen_t length = sizeof place;
  auto* const generic = reinterpret_cast<sockaddr*>(&place);
  if (!is_address || bind(listener_, generic, length) != 0 || listen(listener_, 1) != 0 ||
      getsockname(listener_, generic, &length) != 0) {
    const int reason = errno;
    close(listener_);
    throw UserError(fmt::format("cannot listen at {}:{}: {}", address, port,
                                is_address ? std::strerror(reason) : "not an address"),
                    "choose another port");
  }
  port_ = ntohs(place.sin_port);
}

EchoServer::~EchoServer() {
  close(listener_);
}

void EchoServer::serve_one() const {
  pollfd source{listener_, POLLIN, 0};
  while (poll(&source, 1, interrupt_check_ms) <= 0) throw_if_interrupted();
  const int accepted = accept(listener_, nullptr, nullptr);
  if (accepted < 0) throw std::runtime_error(fmt::format("cannot accept: {}", std::strerror(errno)));
  const Connection connection(accepted);
  constexpr std::int64_t most = std::int64_t{1} << 30;
  std::vector<char> buffer;
  std::int64_t size = 0;
  while (connection.read_all(reinterpret_cast<char*>(&size), sizeof size)) {
    if (size < 1 || size > most) throw std::runtime_error("what arrived is not this program's");
    buffer.resize(static_cast<std::size_t>(size));
    if (!connection.read_all(buffer.data(), buffer.size())) return;
    connection.write_all(buffer.data(), buffer.size());
  }
}

std::vector<std::int64_t> message_sizes(std::int64_t largest) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = 1; size <= largest; size *= 4) sizes.push_back(size);
  return sizes;
}

std::vector<TransferTime> measure_transfers(const std::string& host, int port,
                                            const std::vector<std::int64_t>& sizes, int repetitions) {
  const Connection connection(connect_to(host, port));
  std::vector<char> buffer;
  std::vector<TransferTime> times;
  for (const std::int64_t size : sizes) {
    buffer.assign(static_cast<std::size_t>(size), 'p');
    std::vector<double> seconds;
    for (int i = 0; i < warm_up_repetitions; ++i) static_cast<void>(round_trip(connection, buffer, size));
    for (int i = 0; i < repetitions; ++i) seconds.push_back(0.5 * round_trip(connection, buffer, size));
    times.push_back({size, median(std::move(seconds))});
  }
  return times;
}

}  // namespace paceline::calibrate
