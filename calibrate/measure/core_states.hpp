// Cores that are moved nearer to each other or apart while they are measured: one profile describes one
// state.
//
// Models:      the states of the cores of a virtual machine, told apart by the round trip of a cache line
//              between them, measured before and after each batch of each process.
// Equation:    round trips of one core count, sorted: where neighbours differ by a factor above 1.5 another
//              state begins. A point belongs to the state of its two round trips, to none where they differ.
//              main state: that of most points, or of a given round trip; the others' points are set aside.
//              slowdown of a state: median over its points of mean time / that of the main state at the
//              batch.
// Assumptions: in one state a step takes one time. A batch at which fewer than two processes saw the main
//              state is mixed: all its points count, and the result says so.
// Not modelled: how often cores move: a simulation from the profile stays in the main state. Of many cores,
//              one that moves alone hardly changes their mean round trip.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/measure/sample.hpp"

namespace paceline::calibrate {

inline constexpr double same_state_factor = 1.5;

struct CoreState {
  double round_trip_s = 0.0;  // geometric mean over its points
  int points = 0;
  std::optional<double> slowdown = std::nullopt;  // of a state beside the main one, where both saw a batch
};

struct CoreStates {
  int cores = 2;
  CoreState main;
  std::vector<CoreState> others = {};            // by ascending round trip
  int moved_points = 0;                          // whose cores moved between their two round trips
  std::vector<std::int64_t> mixed_batches = {};  // at which points of every state count

  [[nodiscard]] bool told_apart() const { return mixed_batches.empty(); }
};

// For each core count whose round trips were measured. Decides Sample::set_aside anew.
// `wanted`: the main state's round trip by core count, where it is given.
std::vector<CoreStates> set_states_apart(std::vector<Sample>& samples,
                                         const std::map<int, double>& wanted = {});

[[nodiscard]] std::vector<Sample> counted(std::vector<Sample> samples);

// One sentence about each core count that met more than one state.
[[nodiscard]] std::vector<std::string> warnings_about(const std::vector<CoreStates>& states);

}  // namespace paceline::calibrate
