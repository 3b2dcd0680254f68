// Always-on checks for programming errors. A user's mistake is a diagnostic (base/diagnostic.hpp), a failure
// inside the simulated world is data; what remains is a defect in paceline itself, and it stops the run.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string_view>

namespace paceline {

class ProgrammingError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// Throws ProgrammingError naming the call site when `condition` is false.
void check(bool condition, std::string_view what,
           std::source_location where = std::source_location::current());

}  // namespace paceline
