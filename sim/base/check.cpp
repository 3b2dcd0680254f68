#include "sim/base/check.hpp"

#include <fmt/format.h>

namespace paceline {

void check(bool condition, std::string_view what, std::source_location where) {
  if (condition) return;
  throw ProgrammingError(fmt::format("internal error at {}:{}: {}", where.file_name(), where.line(), what));
}

}  // namespace paceline
