#include <algorithm>
#include <chrono>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include <boost/asio.hpp>
#include <fmt/format.h>

#include "calibrate/collective/ring.hpp"

namespace paceline::calibrate {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

using Clock = std::chrono::steady_clock;
constexpr auto token_patience = std::chrono::seconds(5);

class OwnRing final : public Ring {
 public:
  explicit OwnRing(const RingPlace& place)
      : rank_(place.rank),
        members_(place.members),
        latency_(std::chrono::duration_cast<Clock::duration>(
            std::chrono::duration<double>(place.latency.value()))) {
    tcp::acceptor acceptor(context_, {asio::ip::make_address(place.address), 0});
    const std::vector<std::string> all =
        place.meet(fmt::format("{} {}", place.address, acceptor.local_endpoint().port()));
    std::istringstream words(all.at((rank_ + 1) % members_));
    std::string address;
    std::uint16_t port = 0;
    if (!(words >> address >> port)) throw std::runtime_error("the next member of the ring does not listen");
    next_.connect({asio::ip::make_address(address), port});
    asio::write(next_, asio::buffer(place.token));
    await_previous(acceptor, place);
    next_.set_option(tcp::no_delay(true));
    previous_.set_option(tcp::no_delay(true));
  }

  void all_reduce(std::span<float> values) override {
    const std::size_t piece = (values.size() + members_ - 1) / members_;
    const auto piece_of = [&](std::size_t i) {
      const std::size_t first = std::min(values.size(), (i % members_) * piece);
      return values.subspan(first, std::min(piece, values.size() - first));
    };
    // In round r a member sends the piece that it has just summed, or received.
    const std::size_t rounds = members_ - 1;
    for (std::size_t r = 0; r < rounds; ++r) {
      const std::span<float> received = piece_of(rank_ + 2 * members_ - r - 1);
      incoming_.resize(received.size());
      exchange(piece_of(rank_ + 2 * members_ - r), incoming_);
      std::ranges::transform(received, incoming_, received.begin(), std::plus());
    }
    for (std::size_t r = 0; r < rounds; ++r)
      exchange(piece_of(rank_ + 2 * members_ - r + 1), piece_of(rank_ + 2 * members_ - r));
  }

 private:
  // The first one that says the token.
  void await_previous(tcp::acceptor& acceptor, const RingPlace& place) {
    const auto deadline = Clock::now() + place.patience;
    for (bool is_there = false; !is_there;) {
      std::string said(place.token.size(), ' ');
      acceptor.async_accept(previous_, [&](const error_code& error) {
        if (!error)
          asio::async_read(previous_, asio::buffer(said),
                           [&](const error_code&, std::size_t) { is_there = said == place.token; });
      });
      context_.restart();
      context_.run_one_until(deadline);
      if (!previous_.is_open()) throw std::runtime_error("the member before this one did not come");
      context_.run_until(std::min(deadline, Clock::now() + token_patience));
      if (is_there) return;
      previous_.close();
      context_.restart();
      context_.poll();
    }
  }

  void exchange(std::span<const float> out, std::span<float> in) {
    error_code failure;
    const auto note = [&](const error_code& error, std::size_t) {
      if (error) failure = error;
    };
    const auto send = [&] { asio::async_write(next_, asio::buffer(out.data(), out.size_bytes()), note); };
    if (latency_ > Clock::duration::zero()) {
      on_the_way_.expires_after(latency_);
      on_the_way_.async_wait([&](const error_code&) { send(); });
    } else {
      send();
    }
    asio::async_read(previous_, asio::buffer(in.data(), in.size_bytes()), note);
    context_.restart();
    context_.run();
    if (failure) throw std::runtime_error("the ring broke: " + failure.message());
  }

  std::size_t rank_;
  std::size_t members_;
  Clock::duration latency_;
  asio::io_context context_{1};
  tcp::socket next_{context_};
  tcp::socket previous_{context_};
  asio::steady_timer on_the_way_{context_};
  std::vector<float> incoming_;
};

}  // namespace

std::unique_ptr<Ring> make_own_ring(const RingPlace& place) {
  return std::make_unique<OwnRing>(place);
}

}  // namespace paceline::calibrate
