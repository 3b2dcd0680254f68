#include "calibrate/live/message.hpp"

#include <bit>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <sys/random.h>

namespace paceline::live {
namespace {

static_assert(std::endian::native == std::endian::little, "frames are little-endian, as they lie in memory");

constexpr std::uint32_t magic = 0x4c43'4150;  // "PACL"

struct RawHeader {
  std::uint32_t magic = 0;
  std::uint16_t version = 0;
  std::uint16_t kind = 0;
  std::uint64_t payload_bytes = 0;
};
static_assert(sizeof(RawHeader) == header_bytes);

// The fields of every message, in order: once for writing and for reading.
template <class Archive, class M>
void fields(Archive& a, M& m) {
  using Kind = std::remove_const_t<M>;
  if constexpr (std::is_same_v<Kind, Hello>) a(m.token, m.member);
  if constexpr (std::is_same_v<Kind, Ready>)
    a(m.parameter_count, m.statistics_count, m.parameters, m.statistics);
  if constexpr (std::is_same_v<Kind, Failed>) a(m.reason, m.is_users_mistake);
  if constexpr (std::is_same_v<Kind, Received>) a(m.gradient);
  if constexpr (std::is_same_v<Kind, Computed>)
    a(m.gradient, m.began_ns, m.ended_ns, m.messages_ns, m.statistics, m.computing_ns, m.asking_ns);
  if constexpr (std::is_same_v<Kind, GradientValues>) a(m.gradient, m.values, m.statistics);
  if constexpr (std::is_same_v<Kind, EvaluationResult>) a(m.updates, m.loss, m.accuracy);
  if constexpr (std::is_same_v<Kind, Setup>) a(m.text);
  if constexpr (std::is_same_v<Kind, Compute>)
    a(m.gradient, m.batch_samples, m.first_sample, m.parameters, m.is_kept, m.is_own, m.learning_rate,
      m.momentum);
  if constexpr (std::is_same_v<Kind, CallOff>) a(m.gradient);
  if constexpr (std::is_same_v<Kind, Pace>) a(m.speed);
  if constexpr (std::is_same_v<Kind, EvaluationRequest>) a(m.updates, m.parameters, m.averages);
  if constexpr (std::is_same_v<Kind, RingAddress>) a(m.ring, m.address);
  if constexpr (std::is_same_v<Kind, Reduced>) a(m.ring, m.update, m.processor_ns);
  if constexpr (std::is_same_v<Kind, RingBroke>) a(m.ring, m.reason);
  if constexpr (std::is_same_v<Kind, Handover>)
    a(m.gradient, m.replica.parameters, m.replica.velocity, m.replica.squares, m.replica.steps);
  if constexpr (std::is_same_v<Kind, FormRing>) a(m.ring, m.rank, m.members);
  if constexpr (std::is_same_v<Kind, RingMembers>) a(m.ring, m.addresses);
  if constexpr (std::is_same_v<Kind, Reduce>) a(m.ring, m.update, m.gradient, m.weight, m.momentum);
  if constexpr (std::is_same_v<Kind, TakeStep>) a(m.learning_rate, m.momentum);
  if constexpr (std::is_same_v<Kind, ScaleOwnVelocity>) a(m.factor);
}

class Writer {
 public:
  explicit Writer(std::vector<std::byte>& bytes) : bytes_(bytes) {}
  template <class... Fields>
  void operator()(const Fields&... all) {
    (put(all), ...);
  }

 private:
  template <class T>
  void put(const T& value) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      append(&value, sizeof value);
    } else if constexpr (!std::is_trivially_copyable_v<typename T::value_type>) {
      put(static_cast<std::uint64_t>(value.size()));
      for (const auto& one : value) put(one);
    } else {
      put(static_cast<std::uint64_t>(value.size()));
      append(value.data(), value.size() * sizeof(typename T::value_type));
    }
  }
  void append(const void* data, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), first, first + size);
  }

  std::vector<std::byte>& bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <class... Fields>
  void operator()(Fields&... all) {
    (take(all), ...);
  }
  void expect_end() const {
    if (!bytes_.empty()) throw BadMessage(fmt::format("{} bytes too many", bytes_.size()));
  }

 private:
  template <class T>
  void take(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      std::uint8_t byte = 0;
      copy(&byte, 1);
      if (byte > 1) throw BadMessage("neither yes nor no");
      value = byte == 1;
    } else if constexpr (std::is_trivially_copyable_v<T>) {
      copy(&value, sizeof value);
    } else if constexpr (!std::is_trivially_copyable_v<typename T::value_type>) {
      std::uint64_t size = 0;
      take(size);
      if (size > bytes_.size() / sizeof size) throw BadMessage("a list is longer than its message");
      value.resize(static_cast<std::size_t>(size));
      for (auto& one : value) take(one);
    } else {
      std::uint64_t size = 0;
      take(size);
      constexpr std::size_t each = sizeof(typename T::value_type);
      if (size > bytes_.size() / each) throw BadMessage("a list is longer than its message");
      value.resize(static_cast<std::size_t>(size));
      copy(value.data(), value.size() * each);
    }
  }
  void copy(void* data, std::size_t size) {
    if (size > bytes_.size()) throw BadMessage("a message ends too soon");
    if (size > 0) std::memcpy(data, bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
  }

  std::span<const std::byte> bytes_;
};

template <std::size_t... Kinds>
Message decode_kind(std::size_t kind, Reader& reader, std::index_sequence<Kinds...>) {
  Message message;
  const auto read_one = [&]<std::size_t index>() {
    if (kind == index) fields(reader, message.emplace<index>());
  };
  (read_one.template operator()<Kinds>(), ...);
  return message;
}

}  // namespace

std::vector<std::byte> encode(const Message& message) {
  std::vector<std::byte> bytes(header_bytes);
  Writer writer(bytes);
  std::visit([&](const auto& one) { fields(writer, one); }, message);
  const RawHeader header{magic, protocol_version, static_cast<std::uint16_t>(message.index()),
                         bytes.size() - header_bytes};
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

Header decode_header(const HeaderBytes& bytes, std::uint64_t most_bytes) {
  RawHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != magic) throw BadMessage("it is no message of paceline");
  if (header.version != protocol_version)
    throw BadMessage(fmt::format("it is of version {}, this is {}", header.version, protocol_version));
  if (header.kind >= std::variant_size_v<Message>) throw BadMessage("there is no such kind of message");
  if (header.payload_bytes > most_bytes)
    throw BadMessage(fmt::format("{} bytes, when at most {} make sense", header.payload_bytes, most_bytes));
  return {header.kind, header.payload_bytes};
}

Message decode(const Header& header, std::span<const std::byte> payload) {
  Reader reader(payload);
  Message message =
      decode_kind(header.kind, reader, std::make_index_sequence<std::variant_size_v<Message>>{});
  reader.expect_end();
  return message;
}

std::string to_text(const Token& token) {
  std::string text;
  for (const std::uint8_t byte : token) text += fmt::format("{:02x}", byte);
  return text;
}

std::optional<Token> token_from(const std::string& text) {
  Token token{};
  constexpr std::string_view digits = "0123456789abcdef";
  if (text.size() != 2 * token.size()) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t digit = digits.find(text[i]);
    if (digit == std::string_view::npos) return std::nullopt;
    token[i / 2] = static_cast<std::uint8_t>(token[i / 2] * 16 + digit);
  }
  return token;
}

Token new_token() {
  Token token{};
  if (getrandom(token.data(), token.size(), 0) != static_cast<ssize_t>(token.size()))
    throw std::system_error(errno, std::generic_category(), "no random token");
  return token;
}

bool are_equal(const Token& a, const Token& b) {
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned>(a[i] ^ b[i]);
  return difference == 0;
}

}  // namespace paceline::live
