// A rule of any family with values for those of these keys that it has.
#pragma once

#include <initializer_list>

#include "sim/policy/parameters.hpp"

namespace paceline::test {

template <class Choice>
Choice chosen(const char* word, std::initializer_list<ParameterValue> values_if_used) {
  Choice choice(word);
  for (const auto& [key, value] : values_if_used) choice.parameters().set(key, value);
  return choice;
}

}  // namespace paceline::test
