// A study file as it is written, before anything is combined: the one description of its keys. Private to
// sim/scenario.
//
// What the parts mean: study_plan.hpp.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/description/assignment.hpp"
#include "sim/description/reading.hpp"
#include "sim/scenario/sweep/study_plan.hpp"

namespace paceline {

struct VariantText {
  std::string name;
  std::vector<Assignment> set;
};

struct RangeText {
  std::string from;
  std::string to;
  int points = 2;
  RangeScale scale = RangeScale::linear;
  bool whole = false;
};

struct CaseText {
  std::string label;
  std::vector<Assignment> set;
};

struct AxisText {
  std::string name;
  std::string key;
  std::vector<YamlNode> values;
  std::optional<RangeText> range;
  std::vector<CaseText> cases;
  std::vector<Assignment> zip;
};

struct StudyText {
  std::string study;
  std::string question;
  std::filesystem::path base;
  std::optional<int> replications;
  std::vector<VariantText> variants;
  std::vector<AxisText> vary;
  std::vector<Assignment> set;
  std::vector<std::vector<Assignment>> exclude;
  std::vector<StudyFigure> figures;
  std::optional<SearchConfig> search;
};

void describe(Visitor& v, StudyText& c);

}  // namespace paceline
