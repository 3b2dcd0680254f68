// Ctrl-C and friends as an exception at a safe point: children are ended and no file is left half-written.
#pragma once

#include <stdexcept>
#include <string>

namespace paceline {

class Interrupted : public std::runtime_error {
 public:
  explicit Interrupted(int signal_number, const std::string& message = "interrupted: nothing was written");
  [[nodiscard]] int signal_number() const { return signal_number_; }

 private:
  int signal_number_;
};

// From now on SIGINT, SIGTERM and SIGHUP only leave a note …
void catch_interrupts();
// … on which this throws Interrupted.
void throw_if_interrupted();

}  // namespace paceline
