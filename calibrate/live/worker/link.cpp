#include "calibrate/live/worker/link.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <sstream>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "calibrate/live/worker_setup.hpp"

namespace paceline::live {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr std::uint64_t most_payload_bytes = std::uint64_t{1} << 33U;
constexpr int say_so_every_ms = 1000;

}  // namespace

LeftGroups::LeftGroups() {
  const char* text = std::getenv(groups_variable);
  std::istringstream lines(text == nullptr ? "" : text);
  for (std::string line; std::getline(lines, line);) groups_.push_back(line);
  if (!groups_.empty()) prctl(PR_SET_PDEATHSIG, 0);
}

void LeftGroups::remove() {
  const std::lock_guard lock(mutex_);
  for (int attempt = 0; attempt < 6000 && !groups_.empty(); ++attempt) {
    std::erase_if(groups_,
                  [](const std::string& group) { return rmdir(group.c_str()) == 0 || errno == ENOENT; });
    if (!groups_.empty()) usleep(5000);
  }
}

Link::Link(const std::string& server, LeftGroups& groups) : socket_(context_) {
  const std::size_t colon = server.rfind(':');
  socket_.connect({asio::ip::make_address(server.substr(0, colon)),
                   static_cast<std::uint16_t>(std::stoi(server.substr(colon + 1)))});
  socket_.set_option(tcp::no_delay(true));
  std::thread([this, &groups, descriptor = socket_.native_handle()] {
    pollfd watched{descriptor, POLLRDHUP, 0};
    while (poll(&watched, 1, say_so_every_ms) <= 0)
      if (says_so_) send(StillHere{});
    groups.remove();
    _exit(exit_connection_lost);
  }).detach();
}

void Link::send(const Message& message) {
  const std::vector<std::byte> frame = encode(message);
  const std::lock_guard lock(sending_);
  asio::write(socket_, asio::buffer(frame));
}

Message Link::next() {
  do {
    if (waiting_.empty() || socket_.available() > 0) waiting_.push_back(read_one());
  } while (socket_.available() > 0);
  Message first = std::move(waiting_.front());
  waiting_.pop_front();
  return first;
}

bool Link::is_called_off(std::uint64_t gradient) const {
  return std::ranges::any_of(waiting_, [&](const Message& message) {
    const auto* off = std::get_if<CallOff>(&message);
    return off != nullptr && off->gradient == gradient;
  });
}

std::optional<std::vector<std::string>> Link::members_of(std::uint64_t ring) {
  for (std::size_t i = 0;; ++i) {
    if (i == waiting_.size()) waiting_.push_back(read_one());
    const Message& message = waiting_[i];
    if (std::holds_alternative<FormRing>(message) || std::holds_alternative<Quit>(message))
      return std::nullopt;
    const auto* members = std::get_if<RingMembers>(&message);
    if (members == nullptr || members->ring != ring) continue;
    std::vector<std::string> addresses = members->addresses;
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
    return addresses;
  }
}

std::string Link::own_address() const {
  return socket_.local_endpoint().address().to_string();
}

Message Link::read_one() {
  HeaderBytes bytes;
  asio::read(socket_, asio::buffer(bytes));
  const Header header = decode_header(bytes, most_payload_bytes);
  payload_.resize(header.payload_bytes);
  asio::read(socket_, asio::buffer(payload_));
  return decode(header, payload_);
}

}  // namespace paceline::live
