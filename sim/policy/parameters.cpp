#include "sim/policy/parameters.hpp"

namespace paceline {
namespace {

// Reads or writes the value of one key.
class OneKey final : public Visitor {
 public:
  OneKey(std::string_view key, const Plain* new_value) : key_(key), new_value_(new_value) {}

  std::optional<Plain> found;

 private:
  void visit(const Key& key) override {
    if (key.name != key_) return;
    const ScalarField& field = key.field.get<ScalarField>();
    if (new_value_ != nullptr) field.set(*new_value_);
    found = field.value();
  }

  std::string_view key_;
  const Plain* new_value_;
};

}  // namespace

std::optional<Plain> Parameters::value(std::string_view key) const {
  Parameters copy = *this;
  OneKey reading(key, nullptr);
  copy.describe_to(reading);
  return reading.found;
}

bool Parameters::set(std::string_view key, const Plain& value) {
  OneKey writing(key, &value);
  describe_to(writing);
  return writing.found.has_value();
}

}  // namespace paceline
