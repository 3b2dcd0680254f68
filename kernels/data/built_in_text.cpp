#include "kernels/data/built_in_text.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

#include "sim/base/random.hpp"

namespace paceline::kernels {
namespace {

constexpr std::uint64_t letters_min = 2;
constexpr std::uint64_t letters_max = 8;
constexpr std::uint64_t alphabet = 26;

// Part of the key of every text, beside those of images: never renumber.
enum class TextPart : std::uint32_t { words = 2, train = 3, test = 4 };

RandomStream stream_of(TextPart part, std::uint64_t index) {
  return {Seed{}, Purpose::dataset_generation, static_cast<std::uint32_t>(part), index};
}

const std::string& draw_word(RandomStream& stream, std::span<const Word> words) {
  double left = stream.uniform();
  const auto found = std::ranges::find_if(words, [&](const Word& word) {
    left -= word.probability;
    return left < 0.0;
  });
  // Rounding may leave a last trace of probability.
  return found == words.end() ? words.back().letters : found->letters;
}

Dataset generate_texts(TextPart part, std::int64_t samples) {
  const std::array<Word, word_count> words = built_in_words();
  constexpr auto bytes = static_cast<std::size_t>(text_length) + 1;
  Dataset dataset(text_vocabulary, TextFormat{text_length});
  for (std::int64_t sample = 0; sample < samples; ++sample) {
    RandomStream stream = stream_of(part, static_cast<std::uint64_t>(sample));
    std::string text;
    while (text.size() < bytes) text += draw_word(stream, words) + ' ';
    dataset.append({reinterpret_cast<const std::uint8_t*>(text.data()), bytes});
  }
  return dataset;
}

}  // namespace

std::array<Word, word_count> built_in_words() {
  std::array<Word, word_count> words;
  double sum = 0.0;
  for (std::size_t n = 0; n < words.size(); ++n) {
    RandomStream stream = stream_of(TextPart::words, n);
    words[n].letters.resize(letters_min + stream.below(letters_max - letters_min + 1));
    for (char& letter : words[n].letters) letter = static_cast<char>('a' + stream.below(alphabet));
    words[n].probability = 1.0 / static_cast<double>(n + 1);
    sum += words[n].probability;
  }
  for (Word& word : words) word.probability /= sum;
  return words;
}

TrainAndTest generate_built_in_text(std::int64_t train_samples, std::int64_t test_samples) {
  return {.train = generate_texts(TextPart::train, train_samples),
          .test = generate_texts(TextPart::test, test_samples)};
}

}  // namespace paceline::kernels
