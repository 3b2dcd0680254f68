#include "sim/learning/learning_form.hpp"

#include <algorithm>

#include "sim/learning/efficiency_form.hpp"
#include "sim/learning/power_law_form.hpp"
#include "sim/learning/quadratic_form.hpp"
#include "sim/learning/relaxation_form.hpp"

namespace paceline {

std::span<const FormDescription> learning_forms() {
  static const std::array forms{relaxation_form(), quadratic_form(), efficiency_form(), power_law_form()};
  return forms;
}

const FormDescription* find_form(std::string_view name) {
  const std::span<const FormDescription> forms = learning_forms();
  const auto found = std::find_if(forms.begin(), forms.end(),
                                  [&](const FormDescription& form) { return form.name == name; });
  return found == forms.end() ? nullptr : &*found;
}

}  // namespace paceline
