#include "sim/cost/core_law.hpp"

#include <cmath>

#include "sim/base/check.hpp"

namespace paceline {
namespace {

double ratio_of(const AmdahlLaw& law, double c) {
  return law.serial_share + (1.0 - law.serial_share) / c;
}
double ratio_of(const PowerLaw& law, double c) {
  return std::pow(c, -law.exponent);
}
double ratio_of(const UniversalLaw& law, double c) {
  return (1.0 + law.serial_share * (c - 1.0) + law.coherence * c * (c - 1.0)) / c;
}

std::string_view name_of(const AmdahlLaw&) {
  return "amdahl";
}
std::string_view name_of(const PowerLaw&) {
  return "power";
}
std::string_view name_of(const UniversalLaw&) {
  return "universal";
}

}  // namespace

double time_ratio(const CoreLaw& law, int cores) {
  check(cores >= 1, "a worker has cores");
  return std::visit([&](const auto& each) { return ratio_of(each, static_cast<double>(cores)); }, law);
}

std::string_view law_name(const CoreLaw& law) {
  return std::visit([](const auto& each) { return name_of(each); }, law);
}

}  // namespace paceline
