#include "kernels/data/built_in_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "kernels/networks/network.hpp"
#include "kernels/training/network_learner.hpp"

using namespace paceline;
using namespace paceline::kernels;

namespace {

std::string text_of(const Dataset& data, std::uint32_t sample) {
  const std::span<const std::uint8_t> bytes = data.bytes(sample);
  return {bytes.begin(), bytes.end()};
}

// What may follow the beginning of a word, with the probability that a word goes on so.
using Continuations = std::map<std::string, std::map<char, double>>;

Continuations continuations() {
  Continuations all;
  for (const auto& [letters, probability] : built_in_words())
    for (std::size_t i = 0; i <= letters.size(); ++i)
      all[letters.substr(0, i)][i < letters.size() ? letters[i] : ' '] += probability;
  return all;
}

double sum_of(const std::map<char, double>& next) {
  return std::accumulate(next.begin(), next.end(), 0.0,
                         [](double sum, const auto& entry) { return sum + entry.second; });
}

char likeliest(const std::map<char, double>& next) {
  return std::ranges::max_element(next, {}, &std::pair<const char, double>::second)->first;
}

// Shares of all predicted bytes that are right, and the loss of who knows the words.
struct Observers {
  double words = 0.0;        // knows the words
  double loss = 0.0;         // of the same
  double byte_before = 0.0;  // goes by the byte before
  double always_blank = 0.0;
};

// Exactly: the probability of every beginning of a word at each of the 65 places.
Observers expected_observers() {
  const Continuations all = continuations();
  std::map<std::string, double> begun{{"", 1.0}};
  std::map<char, std::map<char, double>> pairs;
  Observers right;
  for (std::int64_t place = 0; place <= text_length; ++place) {
    std::map<std::string, double> further;
    for (const auto& [prefix, here] : begun) {
      const std::map<char, double>& next = all.at(prefix);
      const double sum = sum_of(next);
      if (place > 0) right.words += here * next.at(likeliest(next)) / sum;
      for (const auto& [byte, probability] : next) {
        const double share = probability / sum;
        further[byte == ' ' ? "" : prefix + byte] += here * share;
        if (place == 0) continue;
        right.loss -= here * share * std::log(share);
        pairs[prefix.empty() ? ' ' : prefix.back()][byte] += here * share;
        if (byte == ' ') right.always_blank += here * share;
      }
    }
    begun = further;
  }
  for (const auto& [before, next] : pairs) right.byte_before += next.at(likeliest(next));
  for (double* share : {&right.words, &right.loss, &right.byte_before, &right.always_blank})
    *share /= static_cast<double>(text_length);
  return right;
}

}  // namespace

TEST_CASE("asking for more texts keeps the first ones, and those of the test are others") {
  const TrainAndTest small = generate_built_in_text(5, 3);
  const TrainAndTest large = generate_built_in_text(9, 6);
  CHECK(large.train.sample_count() == 9);
  CHECK(large.test.sample_count() == 6);
  for (std::uint32_t i = 0; i < 5; ++i) CHECK(text_of(small.train, i) == text_of(large.train, i));
  for (std::uint32_t i = 0; i < 6; ++i) CHECK(text_of(large.train, i) != text_of(large.test, i));
}

TEST_CASE("a text is words of the list with blanks between them, cut at its end") {
  const std::array<Word, word_count> words = built_in_words();
  const TrainAndTest data = generate_built_in_text(50, 1);
  for (std::uint32_t i = 0; i < 50; ++i) {
    const std::string text = text_of(data.train, i);
    REQUIRE(text.size() == 65);
    for (std::size_t first = 0, blank = 0; blank != std::string::npos && first < text.size();
         first = blank + 1) {
      blank = text.find(' ', first);
      const std::string found = text.substr(first, blank - first);
      CAPTURE(found);
      CHECK(std::ranges::any_of(words, [&](const Word& word) {
        return blank == std::string::npos ? word.letters.starts_with(found) : word.letters == found;
      }));
      if (blank == std::string::npos) break;
    }
  }
}

TEST_CASE("every token read is labelled with the one after it") {
  const TrainAndTest data = generate_built_in_text(3, 1);
  CHECK(data.train.input_shape() == std::vector<std::int64_t>{64});
  Batch batch;
  data.train.fill(batch, std::array{2U, 0U});
  REQUIRE(batch.tokens.size() == 128);
  REQUIRE(batch.labels.size() == 128);
  const std::string first = text_of(data.train, 2);
  for (std::size_t i = 0; i < 64; ++i) {
    CHECK(batch.tokens[i] == first[i]);
    CHECK(batch.labels[i] == first[i + 1]);
  }
  CHECK(batch.tokens[64] == text_of(data.train, 0)[0]);
}

TEST_CASE("who knows the words predicts as many bytes as the header says, and no observer more") {
  const Observers expected = expected_observers();
  CHECK(std::abs(expected.words - 0.806) < 0.0005);
  CHECK(std::abs(expected.loss - 0.631) < 0.0005);
  CHECK(std::abs(expected.always_blank - 0.163) < 0.0005);
  CHECK(std::abs(expected.byte_before - 0.371) < 0.0005);
  // And on 2,000 texts: 128,000 bytes, of which those of a text depend on each other; five sd of the mean.
  const Continuations all = continuations();
  const TrainAndTest data = generate_built_in_text(1, 2000);
  std::vector<double> shares;
  for (std::uint32_t i = 0; i < data.test.sample_count(); ++i) {
    const std::string text = text_of(data.test, i);
    std::string prefix;
    int right = 0;
    for (std::size_t place = 0; place < text.size(); ++place) {
      if (place > 0 && likeliest(all.at(prefix)) == text[place]) ++right;
      prefix = text[place] == ' ' ? "" : prefix + text[place];
    }
    shares.push_back(right / 64.0);
  }
  const double mean = std::accumulate(shares.begin(), shares.end(), 0.0) / 2000.0;
  double squares = 0.0;
  for (const double share : shares) squares += (share - mean) * (share - mean);
  CHECK(std::abs(mean - expected.words) < 5.0 * std::sqrt(squares) / 2000.0);
}

TEST_CASE("accuracy and loss of a text are those of its tokens") {
  // With all parameters zero every byte is as likely as any other, and what is said, the first, never occurs.
  Network network("small-gpt", text_vocabulary, {text_length});
  Batch batch;
  generate_built_in_text(3, 1).train.fill(batch, std::array{0U, 1U, 2U});
  const BatchScore score = network.score(batch);
  CHECK(score.labels == 3 * 64);
  CHECK(score.correct == 0);
  CHECK(score.loss_sum == doctest::Approx(3 * 64 * std::log(256.0)));
  CHECK(network.forward_backward(batch) == doctest::Approx(std::log(256.0)));
}

TEST_CASE("small-gpt learns the text: in 60 steps more than the most frequent byte") {
  NetworkLearner learner(
      {.network = "small-gpt",
       .dataset = {.kind = "built-in-text", .path = "", .train_samples = 200, .test_samples = 20},
       .adamw = AdamW{},
       .worker_count = 1,
       .seed = {.seed = 1, .replication = 0}});
  CHECK(learner.evaluate()->accuracy < 0.05);
  for (std::uint64_t step = 0; step < 60; ++step) {
    learner.pull(WorkerId{0}, ServerId{0});
    learner.compute(WorkerId{0}, 16, GradientId{step});
    const WeightedGradient weighted{GradientId{step}, WorkerId{0}, 1.0};
    learner.apply(ServerId{0}, {&weighted, 1}, {.learning_rate = 1e-3, .momentum = 0.0});
  }
  const Evaluation end = *learner.evaluate();
  CHECK(end.accuracy > 0.163 + 0.05);
  CHECK(end.accuracy < 0.806);
}
