// What workers do, as figures name and colour it.
#pragma once

#include <array>

namespace paceline::plots {

struct ActivityColour {
  const char* activity;  // as activities.csv has it; attribution.csv has it with `_percent`
  const char* name;
  const char* colour;
};
// Waiting is left light: what stands out is what a worker did.
inline constexpr std::array<ActivityColour, 11> activity_colours{{{"compute", "compute", "#0072B2"},
                                                                  {"transfer", "transfer", "#E69F00"},
                                                                  {"server", "server", "#D55E00"},
                                                                  {"coordination", "coordination", "#CC79A7"},
                                                                  {"checkpoint", "checkpoint", "#56B4E9"},
                                                                  {"switch", "switch", "#000000"},
                                                                  {"start_up", "start-up", "#808080"},
                                                                  {"evaluation", "evaluation", "#009E73"},
                                                                  {"adjustment", "adjustment", "#F0E442"},
                                                                  {"away", "away", "#FFFFFF"},
                                                                  {"wait", "wait", "#E8E8E8"}}};

}  // namespace paceline::plots
