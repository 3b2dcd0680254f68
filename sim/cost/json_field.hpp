// One value of a JSON file that remembers its file and path, so that every complaint names both:
//   profile.json: fits.compute[1].slope_s_per_sample: must be >= 0, is -0.1
// Getters check the type and the allowed range; nothing is converted or filled in.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace paceline {

class JsonField {
 public:
  // `value` must outlive the field and every field taken from it. `hint` accompanies every complaint.
  JsonField(const nlohmann::json& value, std::string file, std::string hint);

  // A member that must exist. Its null counts as missing unless `is_null` is asked first.
  [[nodiscard]] JsonField member(const std::string& key) const;
  [[nodiscard]] bool has(const std::string& key) const;   // even if it is null
  [[nodiscard]] std::vector<JsonField> elements() const;  // of an array
  [[nodiscard]] bool is_null() const { return value_->is_null(); }

  [[nodiscard]] std::string text() const;  // not empty
  [[nodiscard]] std::int64_t integer(std::int64_t minimum,
                                     std::int64_t maximum = std::numeric_limits<std::int64_t>::max()) const;
  [[nodiscard]] double number() const;        // finite
  [[nodiscard]] double non_negative() const;  // finite, >= 0
  [[nodiscard]] double positive() const;      // finite, > 0

  // Throws UserError "<file>: <path>: <complaint>".
  [[noreturn]] void fail(const std::string& complaint) const;

 private:
  JsonField(const JsonField& parent, const nlohmann::json& value, std::string path);

  const nlohmann::json* value_;
  std::string file_;
  std::string path_;
  std::string hint_;
};

}  // namespace paceline
