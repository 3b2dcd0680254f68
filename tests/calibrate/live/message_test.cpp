#include "calibrate/live/message.hpp"

#include <algorithm>
#include <cstring>

#include <doctest/doctest.h>

using namespace paceline::live;

namespace {

constexpr std::uint64_t plenty = 1 << 20;

HeaderBytes header_of(const std::vector<std::byte>& frame) {
  HeaderBytes bytes;
  std::copy_n(frame.begin(), bytes.size(), bytes.begin());
  return bytes;
}

Message there_and_back(const Message& message) {
  const std::vector<std::byte> frame = encode(message);
  const Header header = decode_header(header_of(frame), plenty);
  CHECK(header.payload_bytes == frame.size() - header_bytes);
  return decode(header, std::span(frame).subspan(header_bytes));
}

}  // namespace

TEST_CASE("a message arrives as it was sent") {
  const Message gradient = there_and_back(GradientValues{7, {1.5F, -2.0F}, {0.25F}});
  CHECK(std::get<GradientValues>(gradient).gradient == 7);
  CHECK(std::get<GradientValues>(gradient).values == std::vector{1.5F, -2.0F});
  CHECK(std::get<GradientValues>(gradient).statistics == std::vector{0.25F});
  const Message compute = there_and_back(Compute{8, 32, 96, {}});
  CHECK(std::get<Compute>(compute).batch_samples == 32);
  CHECK(std::get<Compute>(compute).first_sample == 96);
  CHECK(std::get<Compute>(compute).parameters.empty());
  CHECK(std::get<Setup>(there_and_back(Setup{"{}"})).text == "{}");
  CHECK(std::get<Pace>(there_and_back(Pace{0.25})).speed == 0.25);
  CHECK(std::holds_alternative<Quit>(there_and_back(Quit{})));
}

TEST_CASE("a header of another program, version or kind is refused, and a payload beyond the limit") {
  const std::vector<std::byte> frame = encode(CallOff{3});
  for (const std::size_t byte : {0U, 4U, 7U}) {  // of the name, the version, the kind
    HeaderBytes wrong = header_of(frame);
    wrong[byte] ^= std::byte{0x40};
    CHECK_THROWS_AS(decode_header(wrong, plenty), BadMessage);
  }
  CHECK(decode_header(header_of(frame), 8).payload_bytes == 8);
  CHECK_THROWS_AS(decode_header(header_of(frame), 7), BadMessage);
}

TEST_CASE("a payload that is too short, too long, or promises more than it holds is refused") {
  std::vector<std::byte> frame = encode(GradientValues{7, {1.0F, 2.0F}, {}});
  const Header header = decode_header(header_of(frame), plenty);
  const std::span<const std::byte> payload = std::span(frame).subspan(header_bytes);
  CHECK_THROWS_AS(decode(header, payload.first(payload.size() - 1)), BadMessage);
  CHECK_THROWS_AS(decode(header, payload.first(3)), BadMessage);
  // The length of the first list lies after the number of the gradient: 2^62 values would need 2^64 bytes.
  const std::uint64_t promised = std::uint64_t{1} << 62U;
  std::memcpy(frame.data() + header_bytes + 8, &promised, sizeof promised);
  CHECK_THROWS_AS(decode(header, std::span(frame).subspan(header_bytes)), BadMessage);
  std::vector<std::byte> longer = encode(CallOff{3});
  const Header short_header = decode_header(header_of(longer), plenty);
  longer.push_back(std::byte{});
  CHECK_THROWS_AS(decode(short_header, std::span(longer).subspan(header_bytes)), BadMessage);
}

TEST_CASE("a token survives as text, and differs from the next one") {
  const Token token = new_token();
  CHECK(are_equal(*token_from(to_text(token)), token));
  CHECK_FALSE(are_equal(token, new_token()));
  CHECK_FALSE(token_from("").has_value());
  CHECK_FALSE(token_from(std::string(64, 'x')).has_value());
}
