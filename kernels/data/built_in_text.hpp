// Generated text: sentences of made-up words, for a network that predicts the next byte.
//
// Models:      texts of 65 bytes, of which the network reads the first 64 and predicts the last 64, each from
//              those before it.
// Equation:    text = word blank word blank …, cut at its 65th byte, from the beginning of a word on. The
//              n-th of 128 words comes with a probability in proportion to 1/n, whatever came before. Each
//              has 2 to 8 letters from a to z, its length and every letter equally likely; they were drawn
//              once, for all texts.
// Units:       bytes of ASCII; a vocabulary of 256, of which 27 occur.
// Assumptions: one fixed dataset, like a downloaded one: sample i of the training or test part is always the
//              same text, whatever the seed, the replication and the number of samples asked for.
// Not modelled: natural language. All that can be known of the next byte is which word has begun: with p_n
//              the probabilities, who knows the words is right with max_c Σ p_n(prefix + c) / Σ p_n(prefix),
//              the sums over words that begin so. That is the ceiling: 0.806 of all bytes on average over the
//              64 places (tests/kernels/built_in_text_test.cpp works it out), at a loss of 0.631 nats. Who
//              always says the most frequent byte, a blank, is right in 0.163 of cases; who goes by the byte
//              before alone in 0.371.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "kernels/data/dataset.hpp"

namespace paceline::kernels {

inline constexpr std::int64_t text_vocabulary = 256;
inline constexpr std::int64_t text_length = 64;  // bytes read
inline constexpr std::size_t word_count = 128;

struct Word {
  std::string letters;
  double probability = 0.0;
};
[[nodiscard]] std::array<Word, word_count> built_in_words();

[[nodiscard]] TrainAndTest generate_built_in_text(std::int64_t train_samples, std::int64_t test_samples);

}  // namespace paceline::kernels
