// `paceline calibrate own --rests`: what a training loop takes longer after it has rested.
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

extern "C" {  // glibc 2.36 forgets to say so
#include <sys/pidfd.h>
}

#include "calibrate/cli/own_loop.hpp"
#include "calibrate/logs/rest_cost.hpp"
#include "calibrate/logs/text.hpp"
#include "sim/base/json.hpp"

namespace paceline::calibrate {
namespace {

using Json = nlohmann::ordered_json;

const std::vector<Seconds> rests = {Seconds{1e-3}, Seconds{2e-3}, Seconds{4e-3}, Seconds{8e-3},
                                    Seconds{20e-3}};
constexpr std::chrono::milliseconds between_stops{30};

// Stops the process again and again, until it is over. By its descriptor, which never means another one.
void stop_in_turn(const std::stop_token& over, int process) {
  std::mutex mutex;
  std::condition_variable_any ended;
  std::unique_lock lock(mutex);
  const auto wait = [&](auto duration) { ended.wait_for(lock, over, duration, [] { return false; }); };
  for (std::size_t turn = 0; !over.stop_requested(); ++turn) {
    wait(between_stops);
    if (over.stop_requested()) break;
    pidfd_send_signal(process, SIGSTOP, nullptr, 0);
    wait(std::chrono::duration<double>(rests[turn % rests.size()].value()));
    pidfd_send_signal(process, SIGCONT, nullptr, 0);
  }
  close(process);
}

Json report_json(const std::vector<RestedIteration>& iterations) {
  Json rows = Json::array();
  for (const RestedIteration& one : iterations)
    rows.push_back(
        {{"rest_s", one.rest.value()}, {"processor_s", one.processor_time.value()}, {"stops", one.count}});
  return {{"format", "paceline-own-rests"},
          {"version", 1},
          {"scenario", scenario_words(resume_costs(iterations))},
          {"iterations", rows}};
}

std::string report_text(const std::vector<RestedIteration>& iterations) {
  std::string text = "      rest   stops   step, processor time\n";
  for (const RestedIteration& one : iterations)
    text += fmt::format("{:>10}  {:>6}  {:>21}\n", duration_text(one.rest.value()), one.count,
                        duration_text(one.processor_time.value()));
  return text + fmt::format("in a scenario:\n  {}\n", scenario_words(resume_costs(iterations)));
}

}  // namespace

int run_rests(const OwnArguments& arguments) {
  std::jthread stopping;
  const OwnLoop loop = run_command(arguments.command, [&](pid_t id) {
    const int process = pidfd_open(id, 0);
    if (process < 0) throw std::system_error(errno, std::generic_category(), "pidfd_open");
    stopping = std::jthread([process](const std::stop_token& over) { stop_in_turn(over, process); });
  });
  stopping.request_stop();
  const std::vector<RestedIteration> iterations =
      rested_steps(loop.steps, static_cast<std::size_t>(arguments.warm_up), rests, loop.source);
  fmt::print("{}", arguments.json ? report_json(iterations).dump(2) + "\n" : report_text(iterations));
  return exit_done;
}

}  // namespace paceline::calibrate
