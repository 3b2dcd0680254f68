#include "sim/learning/learning_form.hpp"

#include <fmt/ranges.h>

namespace paceline {

std::span<const FormDescription> learning_forms() {
  static const std::array forms{relaxation_form(), power_law_form()};
  return forms;
}

const FormDescription* find_form(std::string_view name) {
  const std::span<const FormDescription> forms = learning_forms();
  const auto found = std::ranges::find(forms, name, &FormDescription::name);
  return found == forms.end() ? nullptr : &*found;
}

std::string form_names() {
  std::vector<std::string_view> names;
  for (const FormDescription& form : learning_forms()) names.push_back(form.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace paceline
