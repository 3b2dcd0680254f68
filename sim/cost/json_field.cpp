#include "sim/cost/json_field.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/base/diagnostic.hpp"

namespace paceline {

JsonField::JsonField(const nlohmann::json& value, std::string file, std::string hint)
    : value_(&value), file_(std::move(file)), hint_(std::move(hint)) {}

JsonField::JsonField(const JsonField& parent, const nlohmann::json& value, std::string path)
    : value_(&value), file_(parent.file_), path_(std::move(path)), hint_(parent.hint_) {}

void JsonField::fail(const std::string& complaint) const {
  throw UserError(path_.empty() ? fmt::format("{}: {}", file_, complaint)
                                : fmt::format("{}: {}: {}", file_, path_, complaint),
                  hint_);
}

JsonField JsonField::member(const std::string& key) const {
  if (!value_->is_object()) fail(fmt::format("must be an object, is {}", value_->type_name()));
  const auto found = value_->find(key);
  const std::string path = path_.empty() ? key : path_ + "." + key;
  if (found == value_->end()) JsonField(*this, *value_, path).fail("is missing");
  return JsonField(*this, *found, path);
}

bool JsonField::has(const std::string& key) const {
  return value_->is_object() && value_->contains(key);
}

std::vector<JsonField> JsonField::elements() const {
  if (!value_->is_array()) fail(fmt::format("must be an array, is {}", value_->type_name()));
  std::vector<JsonField> fields;
  for (std::size_t i = 0; i < value_->size(); ++i)
    fields.push_back(JsonField(*this, (*value_)[i], fmt::format("{}[{}]", path_, i)));
  return fields;
}

std::string JsonField::text() const {
  if (!value_->is_string()) fail(fmt::format("must be a text, is {}", value_->type_name()));
  auto text = value_->get<std::string>();
  if (text.empty()) fail("must not be empty");
  return text;
}

std::int64_t JsonField::integer(std::int64_t minimum, std::int64_t maximum) const {
  if (!value_->is_number_integer()) fail(fmt::format("must be a whole number, is {}", value_->dump()));
  // Values above the signed range would wrap around when read as signed.
  const bool too_large =
      value_->is_number_unsigned() && value_->get<std::uint64_t>() > static_cast<std::uint64_t>(maximum);
  if (too_large || value_->get<std::int64_t>() > maximum)
    fail(fmt::format("must be <= {}, is {}", maximum, value_->dump()));
  if (value_->get<std::int64_t>() < minimum)
    fail(fmt::format("must be >= {}, is {}", minimum, value_->dump()));
  return value_->get<std::int64_t>();
}

double JsonField::number() const {
  if (!value_->is_number()) fail(fmt::format("must be a number, is {}", value_->dump()));
  const auto number = value_->get<double>();
  if (!std::isfinite(number)) fail("must be finite");
  return number;
}

double JsonField::non_negative() const {
  const double value = number();
  if (value < 0.0) fail(fmt::format("must be >= 0, is {}", value_->dump()));
  return value;
}

double JsonField::positive() const {
  const double value = number();
  if (value <= 0.0) fail(fmt::format("must be > 0, is {}", value_->dump()));
  return value;
}

}  // namespace paceline
