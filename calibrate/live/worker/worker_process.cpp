#include "calibrate/live/worker/worker_process.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "calibrate/live/live_clock.hpp"
#include "calibrate/live/memory_load.hpp"
#include "calibrate/live/message.hpp"
#include "calibrate/live/stepped_loop.hpp"
#include "calibrate/live/worker/link.hpp"
#include "calibrate/live/worker/own_copy.hpp"
#include "calibrate/live/worker/ring_member.hpp"
#include "calibrate/live/worker_setup.hpp"
#include "kernels/training/network_gradients.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::live {
namespace {

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

class Worker {
 public:
  Worker(Link& link, const WorkerSetup& setup, std::uint64_t number, const Token& token)
      : link_(link),
        speed_(setup.speed),
        repeats_for_(setup.repeats_for),
        gradients_(setup.learner),
        copy_(setup.learner, gradients_.initial_parameters()),
        member_(link, setup.learner, gradients_.initial_parameters(), to_text(token), setup.ring),
        number_{setup.is_evaluator ? 0 : number} {
    Ready ready{copy_.parameters().size(), gradients_.initial_batch_statistics().size(), {}, {}};
    if (setup.is_evaluator) {
      ready.parameters = gradients_.initial_parameters();
      ready.statistics = gradients_.initial_batch_statistics();
    }
    link_.send(ready);
  }

  // Until the server says it is over.
  void serve() {
    while (true) {
      const Message message = link_.next();
      if (std::holds_alternative<Quit>(message)) return;
      if (const auto* off = std::get_if<CallOff>(&message)) {
        member_.forget(off->gradient);
        copy_.take_back(off->gradient);
      }
      if (const auto* scale = std::get_if<ScaleOwnVelocity>(&message)) copy_.scale_velocity(scale->factor);
      if (const auto* ring = std::get_if<FormRing>(&message)) member_.carry_out(*ring);
      if (const auto* reduce = std::get_if<Reduce>(&message)) member_.carry_out(*reduce);
      if (const auto* step = std::get_if<TakeStep>(&message)) member_.carry_out(*step);
      if (const auto* ask = std::get_if<AskHandover>(&message)) member_.carry_out(*ask);
      if (const auto* handover = std::get_if<Handover>(&message)) member_.carry_out(*handover);
      if (const auto* compute = std::get_if<Compute>(&message))
        repeats_for_ ? repeat(*compute) : carry_out(*compute);
      if (const auto* pace = std::get_if<Pace>(&message)) speed_ = pace->speed;
      if (const auto* request = std::get_if<EvaluationRequest>(&message)) carry_out(*request);
    }
  }

 private:
  void carry_out(const Compute& request) {
    if (!request.parameters.empty()) {
      if (request.parameters.size() != copy_.parameters().size())
        throw BadMessage("parameters of another network");
      copy_.take(request.parameters);
      link_.send(Received{request.gradient});
    }
    if (link_.is_called_off(request.gradient)) return link_.send(CallOff{request.gradient});
    const std::int64_t began = LiveClock::monotonic_ns();
    const std::int64_t used = processor_time_ns();
    gradients_.seek(number_, request.first_sample);
    gradients_.compute(number_, request.batch_samples,
                       request.is_kept ? member_.parameters() : copy_.parameters());
    const std::int64_t computing = processor_time_ns() - used;
    if (speed_ < 1.0) {
      to_rest_ns_ = rest(to_rest_ns_ + static_cast<double>(computing) * (1.0 / speed_ - 1.0));
    }
    const std::int64_t messages = computed_at_ > 0 ? used - computed_at_ - own_steps_ns_ : 0;
    own_steps_ns_ = 0;
    computed_at_ = processor_time_ns();
    Computed computed{request.gradient, began, LiveClock::monotonic_ns(), messages, {}, computing};
    const std::span<const float> values = gradients_.gradient();
    const std::span<const float> batch = gradients_.batch_statistics();
    std::vector<float> statistics(batch.begin(), batch.end());
    if (request.is_kept) {
      member_.keep(request.gradient, values);
      computed.messages_ns = 0;  // those of an all-reduce are told with it
      computed.statistics = std::move(statistics);
      return link_.send(computed);
    }
    if (request.is_own) {
      computed.statistics = std::move(statistics);
      link_.send(computed);
      return step_on_copy(request, values);
    }
    link_.send(computed);
    link_.send(GradientValues{request.gradient, {values.begin(), values.end()}, std::move(statistics)});
  }

  void step_on_copy(const Compute& request, std::span<const float> gradient) {
    const std::int64_t used = processor_time_ns();
    copy_.step(request.gradient, gradient, {request.learning_rate, request.momentum});
    own_steps_ns_ += processor_time_ns() - used;
    const std::span<const float> arrived_at = copy_.parameters();
    link_.send(GradientValues{request.gradient, {arrived_at.begin(), arrived_at.end()}, {}});
  }

  // What each iteration took is told when nobody is disturbed by it any more.
  void repeat(const Compute& request) {
    std::vector<Computed> computed;
    const std::int64_t until = LiveClock::monotonic_ns() + std::llround(1e9 * repeats_for_->value());
    std::uint64_t sample = request.first_sample;
    do {
      const std::int64_t began = LiveClock::monotonic_ns();
      gradients_.seek(number_, sample);
      gradients_.compute(number_, request.batch_samples, copy_.parameters());
      computed.push_back({request.gradient, began, LiveClock::monotonic_ns(), 0, {}});
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
  double to_rest_ns_ = 0.0;        // left over from earlier gradients
  std::int64_t computed_at_ = 0;   // processor time at the end of the last gradient
  std::int64_t own_steps_ns_ = 0;  // since then, of steps on its own copy: they are no messages
  kernels::NetworkGradients gradients_;
  OwnCopy copy_;
  RingMember member_;
  WorkerId number_;
};

// Answers parameters with a gradient of their size that means nothing, until the server says it is over.
void echo(Link& link, const Echo& setup, double speed, const RingWay& way, const Token& token) {
  std::optional<SteppedLoop> loop;
  if (!setup.loop.empty()) loop.emplace(setup.loop).warm_up();  // nobody is measured while others start
  link.send(Ready{setup.values, 0, {}, {}});
  std::vector<float> gradient(setup.values);
  RingMember member(link, {}, gradient, to_text(token), way);
  MemoryLoad load;
  std::int64_t computed_at = 0;
  double to_rest_ns = 0.0;
  while (true) {
    Message message = link.next();
    if (std::holds_alternative<Quit>(message)) return;
    // Steps are not taken: a profile has them.
    if (const auto* ring = std::get_if<FormRing>(&message)) member.carry_out(*ring);
    if (const auto* reduce = std::get_if<Reduce>(&message)) member.carry_out(*reduce);
    if (const auto* ask = std::get_if<AskHandover>(&message)) member.carry_out(*ask);
    if (auto* handover = std::get_if<Handover>(&message)) member.carry_out(std::move(*handover));
    const auto* request = std::get_if<Compute>(&message);
    if (request == nullptr) continue;
    const bool has_received = !request->parameters.empty();
    if (has_received) gradient = request->parameters;
    // A loop stands for a worker of another server, which hears nothing before the gradient; woken earlier it
    // would take time of the core that the loop computes on.
    if (has_received && !loop) link.send(Received{request->gradient});
    const std::int64_t began = LiveClock::monotonic_ns();
    const std::int64_t used = processor_time_ns();
    const std::int64_t messages = computed_at > 0 ? used - computed_at : 0;
    load.carry_out(setup.busy);
    std::int64_t computing = processor_time_ns() - used;
    std::int64_t asking = 0;
    if (loop) {
      const calibrate::OwnStep step = loop->step_on_this_core();
      computing = std::llround(1e9 * step.processor_s);
      asking = std::max<std::int64_t>(0, LiveClock::monotonic_ns() - began - std::llround(1e9 * step.wall_s));
    }
    if (speed < 1.0)
      to_rest_ns = rest(to_rest_ns + static_cast<double>(processor_time_ns() - used) * (1.0 / speed - 1.0));
    computed_at = processor_time_ns();
    const Computed computed{request->gradient, began, LiveClock::monotonic_ns(), messages, {},
                            computing,         asking};
    if (request->is_kept) member.keep(request->gradient, gradient);
    if (has_received && loop) link.send(Received{request->gradient});
    link.send(computed);
    if (!request->is_kept) link.send(GradientValues{request->gradient, gradient, {}});
  }
}

// The exit code. Throws boost::system::system_error when there is no connection any more.
int work(const std::string& server, std::uint64_t number, const Token& token, LeftGroups& groups) {
  Link link(server, groups);
  link.send(Hello{token, number});
  const Message first = link.next();
  const auto* setup_message = std::get_if<Setup>(&first);
  if (setup_message == nullptr) return exit_connection_lost;
  const WorkerSetup setup = worker_setup_from(setup_message->text);
  try {
    if (setup.echo)
      echo(link, *setup.echo, setup.speed, setup.ring, token);
    else
      Worker(link, setup, number, token).serve();
    return 0;
  } catch (const boost::system::system_error&) {
    throw;
  } catch (const UserError& error) {
    link.send(Failed{error.what(), true});
    return exit_refused;
  } catch (const std::exception& error) {
    link.send(Failed{error.what()});
    return exit_refused;
  }
}

}  // namespace

int run_worker_process(const std::vector<std::string>& words) {
  const char* text = std::getenv(token_variable);
  std::string line = text == nullptr ? "" : text;
  if (text == nullptr) std::getline(std::cin, line);
  const std::optional<Token> token = token_from(line);
  if (words.size() != 2 || !token) {
    fmt::print(stderr, "error: worker processes of a live job are started by `paceline live`\n");
    return exit_refused;
  }
  unsetenv(token_variable);
  static LeftGroups& groups = *new LeftGroups;  // outlives the watching thread
  try {
    return work(words[0], std::stoull(words[1]), *token, groups);
  } catch (const boost::system::system_error&) {
    groups.remove();
    return exit_connection_lost;
  }
}

}  // namespace paceline::live
