#include "sim/base/interrupt.hpp"

#include <csignal>

namespace paceline {
namespace {

volatile std::sig_atomic_t caught_signal = 0;

void note_signal(int signal_number) {
  caught_signal = signal_number;
}

}  // namespace

Interrupted::Interrupted(int signal_number, const std::string& message)
    : std::runtime_error(message), signal_number_(signal_number) {}

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = note_signal;  // without SA_RESTART: waiting calls return at once
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal_number, &action, nullptr);
}

void throw_if_interrupted() {
  if (caught_signal != 0) throw Interrupted(caught_signal);
}

}  // namespace paceline
