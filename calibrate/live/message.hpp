// What a live job's server and its worker processes tell each other.
//
// Models:      frames on a TCP connection: a header (what it is, which version, how long), then the fields of
//              one message in the order of its struct. Numbers are little-endian, lists carry their length.
// Units:       float32 parameters; nanoseconds of the machine's monotonic clock.
// Assumptions: both ends are this program: another version is refused by its number. Nothing that arrives is
//              believed: kind, version, size and every length are checked before memory is taken.
// Not modelled: encryption. Whoever can read the network can read the parameters and the token.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "sim/learning/parameter_store.hpp"

namespace paceline::live {

inline constexpr std::uint16_t protocol_version = 7;
inline constexpr std::size_t token_bytes = 32;
using Token = std::array<std::uint8_t, token_bytes>;

// --- from a worker -----------------------------------------------------------------------------------------

// The first message on a connection.
struct Hello {
  Token token{};
  std::uint64_t member = 0;  // a worker's number; the evaluator's is the number of workers
};
// It has loaded network and data. The evaluator sends the initial values as well.
struct Ready {
  std::uint64_t parameter_count = 0;
  std::uint64_t statistics_count = 0;
  std::vector<float> parameters{};
  std::vector<float> statistics{};
};
// It cannot take part, and why; it ends.
struct Failed {
  std::string reason;
  bool is_users_mistake = false;  // then the reason is rendered, as a UserError's
};
// The parameters for this gradient are there.
struct Received {
  std::uint64_t gradient = 0;
};
// The gradient is computed; it follows, unless the worker keeps it.
struct Computed {
  std::uint64_t gradient = 0;
  std::int64_t began_ns = 0;
  std::int64_t ended_ns = 0;
  std::int64_t messages_ns =
      0;  // processor time since the gradient before, spent on messages; 0: it is the first
  std::vector<float> statistics{};  // of a gradient that the worker keeps
  std::int64_t computing_ns = 0;    // processor time of this gradient
  std::int64_t asking_ns = 0;       // from beginning to end, to ask a loop for it and to hear from it
};
// Or, where it steps on its own copy, the parameters it arrived at with this gradient.
struct GradientValues {
  std::uint64_t gradient = 0;
  std::vector<float> values{};
  std::vector<float> statistics{};
};
struct EvaluationResult {
  std::uint64_t updates = 0;
  double loss = 0.0;
  double accuracy = 0.0;
};

// Where it listens as a member of this ring, or what else its library has to tell the others first.
struct RingAddress {
  std::uint64_t ring = 0;
  std::string address;
};
// It holds the sum of the ring's gradients.
struct Reduced {
  std::uint64_t ring = 0;
  std::uint64_t update = 0;
  std::int64_t processor_ns = 0;  // of the whole process, since it had the gradient
};
// There is no sum, and the ring is no more.
struct RingBroke {
  std::uint64_t ring = 0;
  std::string reason;
};
// While it takes part in an all-reduce that takes long.
struct StillHere {};

// --- from either -------------------------------------------------------------------------------------------

// All that the next step depends on: for the worker to go on from, with this gradient; or as it was asked
// for.
struct Handover {
  std::uint64_t gradient = 0;
  Replica replica;
};

// --- from the server ---------------------------------------------------------------------------------------

// What to train; JSON (worker_setup.hpp).
struct Setup {
  std::string text;
};
// Compute the gradient of `batch_samples` samples after the worker's first `first_sample`, with these
// parameters, or those it holds if there are none; then send it.
struct Compute {
  std::uint64_t gradient = 0;
  std::int64_t batch_samples = 0;
  std::uint64_t first_sample = 0;
  std::vector<float> parameters{};
  bool is_kept = false;  // for an all-reduce: computed on the worker's replica, and not sent
  bool is_own = false;   // for a step on the worker's own copy, which is sent instead, with these:
  double learning_rate = 0.0;
  double momentum = 0.0;
};
// Nobody waits for this gradient any more; from a worker: it has not begun it, and will not.
struct CallOff {
  std::uint64_t gradient = 0;
};
struct EvaluationRequest {
  std::uint64_t updates = 0;
  std::vector<float> parameters{};
  std::vector<float> averages{};
};
// From the next gradient on the worker is as fast as a machine of this relative speed, at most 1.
struct Pace {
  double speed = 1.0;
};
// Be a member of this ring, and of no other: tell where you listen.
struct FormRing {
  std::uint64_t ring = 0;
  std::uint64_t rank = 0;
  std::uint64_t members = 1;
};
// What all members have told, by rank.
struct RingMembers {
  std::uint64_t ring = 0;
  std::vector<std::string> addresses{};
};
// Sum the kept gradients of all members, each with its weight.
struct Reduce {
  std::uint64_t ring = 0;
  std::uint64_t update = 0;
  std::uint64_t gradient = 0;
  double weight = 1.0;
  double momentum = 0.0;  // of a velocity of the worker's own
};
// Step along the sum.
struct TakeStep {
  double learning_rate = 0.0;
  double momentum = 0.0;
};
// Send your replica.
struct AskHandover {};
// The velocity of steps on the worker's own copy is multiplied by this.
struct ScaleOwnVelocity {
  double factor = 1.0;
};
struct Quit {};

// New kinds go to the end, with a new version: the place in this list is what a frame carries.
using Message =
    std::variant<Hello, Ready, Failed, Received, Computed, GradientValues, EvaluationResult, Setup, Compute,
                 CallOff, EvaluationRequest, Pace, Quit, RingAddress, Reduced, RingBroke, StillHere, Handover,
                 FormRing, RingMembers, Reduce, TakeStep, AskHandover, ScaleOwnVelocity>;

inline constexpr std::size_t header_bytes = 16;
using HeaderBytes = std::array<std::byte, header_bytes>;

struct Header {
  std::size_t kind = 0;  // index of Message
  std::uint64_t payload_bytes = 0;
};

// What arrived is not a message of this version.
class BadMessage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Header and payload.
[[nodiscard]] std::vector<std::byte> encode(const Message& message);
// Throws BadMessage for another program, version or kind, and for more than `most_bytes`.
[[nodiscard]] Header decode_header(const HeaderBytes& bytes, std::uint64_t most_bytes);
// Throws BadMessage when the payload is not exactly one such message.
[[nodiscard]] Message decode(const Header& header, std::span<const std::byte> payload);

// 64 hexadecimal digits.
[[nodiscard]] std::string to_text(const Token& token);
[[nodiscard]] std::optional<Token> token_from(const std::string& text);
// From the system's source of randomness.
[[nodiscard]] Token new_token();
// In the same time wherever they differ.
[[nodiscard]] bool are_equal(const Token& a, const Token& b);

}  // namespace paceline::live
