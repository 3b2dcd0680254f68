// What is written about a described struct (description.hpp): its JSON schema and its reference.
//
// Not modelled: rules that join several keys; only the reader knows them.
#pragma once

#include <string>
#include <string_view>

#include "sim/description/description.hpp"

namespace paceline {

// Draft-7, for editors.
[[nodiscard]] std::string json_schema(const Field& document, std::string_view title,
                                      std::string_view description);
// Markdown: one table of keys for each section. `example` is a short valid file, `command` what prints all
// this.
struct ReferenceTexts {
  std::string_view title;
  std::string introduction;
  std::string_view example;
  std::string_view command;
};
[[nodiscard]] std::string markdown_reference(const Field& document, const ReferenceTexts& texts);
// A regular expression of the key paths of a document: "cluster.workers[2].speed".
[[nodiscard]] std::string key_path_pattern(const Field& document);

// Every unit a value may have, as a Markdown table.
[[nodiscard]] std::string units_table();

template <class Struct>
std::string json_schema_of(std::string_view title, std::string_view description) {
  Struct document{};
  return json_schema(field_of(document, Section{}), title, description);
}
template <class Struct>
std::string reference_of(const ReferenceTexts& texts) {
  Struct document{};
  return markdown_reference(field_of(document, Section{}), texts);
}

}  // namespace paceline
