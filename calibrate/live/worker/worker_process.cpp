#include "calibrate/live/worker/worker_process.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include <boost/asio.hpp>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "calibrate/live/live_clock.hpp"
#include "calibrate/live/memory_load.hpp"
#include "calibrate/live/message.hpp"
#include "calibrate/live/worker_setup.hpp"
#include "kernels/training/network_gradients.hpp"

namespace paceline::live {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr std::uint64_t most_payload_bytes = std::uint64_t{1} << 33U;
constexpr int exit_connection_lost = 3;
constexpr int exit_refused = 2;

// In short pieces, so that a stretch in which the process was stopped does not count as rest. Returns what is
// left to rest: below 0 where the last piece took longer than it should.
double rest(double ns) {
  constexpr double piece = 1e6;
  while (ns > 0.0) {
    const std::int64_t began = LiveClock::monotonic_ns();
    std::this_thread::sleep_for(std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(ns, piece))));
    ns -= std::min(static_cast<double>(LiveClock::monotonic_ns() - began), 2.0 * piece);
  }
  return ns;
}

// Control groups that nobody else removes once the launcher has died, as soon as their processes are gone.
class LeftGroups {
 public:
  // From the environment. Who has any outlives a launcher that is killed; the broken connection ends it.
  LeftGroups() {
    const char* text = std::getenv(groups_variable);
    std::istringstream lines(text == nullptr ? "" : text);
    for (std::string line; std::getline(lines, line);) groups_.push_back(line);
    if (!groups_.empty()) prctl(PR_SET_PDEATHSIG, 0);
  }
  // From whichever thread notices first; the other one waits here.
  void remove() {
    const std::lock_guard lock(mutex_);
    for (int attempt = 0; attempt < 6000 && !groups_.empty(); ++attempt) {
      std::erase_if(groups_,
                    [](const std::string& group) { return rmdir(group.c_str()) == 0 || errno == ENOENT; });
      if (!groups_.empty()) usleep(5000);
    }
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> groups_;
};

class Link {
 public:
  Link(int port, LeftGroups& groups) : socket_(context_) {
    socket_.connect({asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(port)});
    socket_.set_option(tcp::no_delay(true));
    std::thread([&groups, descriptor = socket_.native_handle()] {
      pollfd watched{descriptor, POLLRDHUP, 0};
      while (poll(&watched, 1, -1) <= 0) {
      }
      groups.remove();
      _exit(exit_connection_lost);
    }).detach();
  }

  void send(const Message& message) { asio::write(socket_, asio::buffer(encode(message))); }

  // The next message; a request that has been called off meanwhile is none.
  Message next() {
    do {
      if (waiting_.empty() || socket_.available() > 0) waiting_.push_back(read_one());
    } while (socket_.available() > 0);
    Message first = std::move(waiting_.front());
    waiting_.pop_front();
    return first;
  }
  [[nodiscard]] bool is_called_off(std::uint64_t gradient) const {
    return std::ranges::any_of(waiting_, [&](const Message& message) {
      const auto* off = std::get_if<CallOff>(&message);
      return off != nullptr && off->gradient == gradient;
    });
  }

 private:
  Message read_one() {
    HeaderBytes bytes;
    asio::read(socket_, asio::buffer(bytes));
    const Header header = decode_header(bytes, most_payload_bytes);
    payload_.resize(header.payload_bytes);
    asio::read(socket_, asio::buffer(payload_));
    return decode(header, payload_);
  }

  asio::io_context context_;
  tcp::socket socket_;
  std::vector<std::byte> payload_;
  std::deque<Message> waiting_;
};

class Worker {
 public:
  Worker(Link& link, const WorkerSetup& setup, std::uint64_t number)
      : link_(link),
        speed_(setup.speed),
        repeats_for_(setup.repeats_for),
        gradients_(setup.learner),
        parameters_(gradients_.initial_parameters()),
        number_{setup.is_evaluator ? 0 : number} {
    Ready ready{parameters_.size(), gradients_.initial_batch_statistics().size(), {}, {}};
    if (setup.is_evaluator) {
      ready.parameters = parameters_;
      ready.statistics = gradients_.initial_batch_statistics();
    }
    link_.send(ready);
  }

  // Until the server says it is over.
  void serve() {
    while (true) {
      const Message message = link_.next();
      if (std::holds_alternative<Quit>(message)) return;
      if (const auto* compute = std::get_if<Compute>(&message))
        repeats_for_ ? repeat(*compute) : carry_out(*compute);
      if (const auto* pace = std::get_if<Pace>(&message)) speed_ = pace->speed;
      if (const auto* request = std::get_if<EvaluationRequest>(&message)) carry_out(*request);
    }
  }

 private:
  void carry_out(const Compute& request) {
    if (!request.parameters.empty()) {
      if (request.parameters.size() != parameters_.size()) throw BadMessage("parameters of another network");
      parameters_ = request.parameters;
      link_.send(Received{request.gradient});
    }
    if (link_.is_called_off(request.gradient)) return link_.send(CallOff{request.gradient});
    const std::int64_t began = LiveClock::monotonic_ns();
    const std::int64_t used = processor_time_ns();
    gradients_.seek(number_, request.first_sample);
    gradients_.compute(number_, request.batch_samples, parameters_);
    if (speed_ < 1.0) {
      const std::int64_t spent = processor_time_ns() - used;
      to_rest_ns_ = rest(to_rest_ns_ + static_cast<double>(spent) * (1.0 / speed_ - 1.0));
    }
    const std::int64_t messages = computed_at_ > 0 ? used - computed_at_ : 0;
    computed_at_ = processor_time_ns();
    link_.send(Computed{request.gradient, began, LiveClock::monotonic_ns(), messages});
    const std::span<const float> values = gradients_.gradient();
    const std::span<const float> statistics = gradients_.batch_statistics();
    link_.send(GradientValues{
        request.gradient, {values.begin(), values.end()}, {statistics.begin(), statistics.end()}});
  }

  // What each iteration took is told when nobody is disturbed by it any more.
  void repeat(const Compute& request) {
    std::vector<Computed> computed;
    const std::int64_t until = LiveClock::monotonic_ns() + std::llround(1e9 * repeats_for_->value());
    std::uint64_t sample = request.first_sample;
    do {
      const std::int64_t began = LiveClock::monotonic_ns();
      gradients_.seek(number_, sample);
      gradients_.compute(number_, request.batch_samples, parameters_);
      computed.push_back({request.gradient, began, LiveClock::monotonic_ns(), 0});
      sample += static_cast<std::uint64_t>(request.batch_samples);
    } while (LiveClock::monotonic_ns() < until);
    for (const Computed& one : computed) link_.send(one);
    link_.send(GradientValues{request.gradient, {}, {}});
  }

  void carry_out(const EvaluationRequest& request) {
    const Evaluation evaluation = gradients_.evaluate(request.parameters, request.averages);
    link_.send(EvaluationResult{request.updates, evaluation.loss, evaluation.accuracy});
  }

  Link& link_;
  double speed_;
  std::optional<Seconds> repeats_for_;
  double to_rest_ns_ = 0.0;       // left over from earlier gradients
  std::int64_t computed_at_ = 0;  // processor time at the end of the last gradient
  kernels::NetworkGradients gradients_;
  std::vector<float> parameters_;
  WorkerId number_;
};

// Answers parameters with a gradient that means nothing, until the server says it is over.
void echo(Link& link, const Echo& setup) {
  link.send(Ready{setup.values, 0, {}, {}});
  std::vector<float> parameters(setup.values);
  const std::vector<float> gradient(setup.values);
  MemoryLoad load;
  std::int64_t computed_at = 0;
  while (true) {
    Message message = link.next();
    if (std::holds_alternative<Quit>(message)) return;
    const auto* request = std::get_if<Compute>(&message);
    if (request == nullptr) continue;
    if (!request->parameters.empty()) {
      parameters = request->parameters;
      link.send(Received{request->gradient});
    }
    const std::int64_t began = LiveClock::monotonic_ns();
    const std::int64_t used = processor_time_ns();
    const std::int64_t messages = computed_at > 0 ? used - computed_at : 0;
    load.keep_busy(setup.busy);
    computed_at = processor_time_ns();
    link.send(Computed{request->gradient, began, LiveClock::monotonic_ns(), messages});
    link.send(GradientValues{request->gradient, gradient, {}});
  }
}

// The exit code. Throws boost::system::system_error when there is no connection any more.
int work(int port, std::uint64_t number, const Token& token, LeftGroups& groups) {
  Link link(port, groups);
  link.send(Hello{token, number});
  const Message first = link.next();
  const auto* setup_message = std::get_if<Setup>(&first);
  if (setup_message == nullptr) return exit_connection_lost;
  const WorkerSetup setup = worker_setup_from(setup_message->text);
  try {
    if (setup.echo)
      echo(link, *setup.echo);
    else
      Worker(link, setup, number).serve();
    return 0;
  } catch (const boost::system::system_error&) {
    throw;
  } catch (const std::exception& error) {
    link.send(Failed{error.what()});
    return exit_refused;
  }
}

}  // namespace

int run_worker_process(const std::vector<std::string>& words) {
  const char* text = std::getenv(token_variable);
  const std::optional<Token> token = token_from(text == nullptr ? "" : text);
  if (words.size() != 2 || !token) {
    fmt::print(stderr, "error: worker processes of a live job are started by `paceline live`\n");
    return exit_refused;
  }
  unsetenv(token_variable);
  static LeftGroups& groups = *new LeftGroups;  // outlives the watching thread
  try {
    return work(std::stoi(words[0]), std::stoull(words[1]), *token, groups);
  } catch (const boost::system::system_error&) {
    groups.remove();
    return exit_connection_lost;
  }
}

}  // namespace paceline::live
