#include "calibrate/live/checkpoint.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "calibrate/live/message.hpp"
#include "sim/base/atomic_file.hpp"

namespace paceline::live {

CheckpointFile::CheckpointFile(const std::filesystem::path& folder)
    : path_(folder / fmt::format("checkpoint-{}.bin", getpid())) {}

CheckpointFile::~CheckpointFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

void save_checkpoint(const std::filesystem::path& file, const NetworkCheckpoint& state) {
  std::string content;
  const auto add = [&](const Message& message) {
    const std::vector<std::byte> frame = encode(message);
    content.append(reinterpret_cast<const char*>(frame.data()), frame.size());
  };
  for (const Replica& replica : state.replicas) add(Handover{0, replica});
  for (const std::vector<float>& averages : state.averages) add(EvaluationRequest{0, {}, averages});
  write_file_atomically(file, content);
}

NetworkCheckpoint load_checkpoint(const std::filesystem::path& file) {
  const std::string content = read_file(file);
  std::span<const std::byte> rest = std::as_bytes(std::span(content));
  NetworkCheckpoint state;
  while (!rest.empty()) {
    HeaderBytes bytes{};
    if (rest.size() < bytes.size()) throw BadMessage("the checkpoint is cut off");
    std::ranges::copy(rest.first(bytes.size()), bytes.begin());
    rest = rest.subspan(bytes.size());
    const Header header = decode_header(bytes, rest.size());
    Message message = decode(header, rest.first(header.payload_bytes));
    rest = rest.subspan(header.payload_bytes);
    if (auto* handover = std::get_if<Handover>(&message))
      state.replicas.push_back(std::move(handover->replica));
    else if (auto* averages = std::get_if<EvaluationRequest>(&message))
      state.averages.push_back(std::move(averages->averages));
    else
      throw BadMessage("no checkpoint");
  }
  return state;
}

}  // namespace paceline::live
