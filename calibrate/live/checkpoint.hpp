// The state of a live job in a file, saved before worker processes end and read as they start anew.
//
// Models:      parameters, what the optimizer remembers, averages of batch normalization: all that the next
//              update depends on while no gradient is under way. Numbers are kept to the last bit.
// Assumptions: it is read by the program that wrote it: a file of messages (message.hpp).
// Not modelled: what policies and controllers know: the process that decides goes on.
#pragma once

#include <filesystem>

#include "sim/learning/network_state.hpp"

namespace paceline::live {

// A name in this folder that no other has; what is there in the end is removed.
class CheckpointFile {
 public:
  explicit CheckpointFile(const std::filesystem::path& folder);
  CheckpointFile(const CheckpointFile&) = delete;
  CheckpointFile& operator=(const CheckpointFile&) = delete;
  ~CheckpointFile();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Throws UserError when it cannot be written.
void save_checkpoint(const std::filesystem::path& file, const NetworkCheckpoint& state);
// Throws UserError when it cannot be read, BadMessage when it is not whole.
[[nodiscard]] NetworkCheckpoint load_checkpoint(const std::filesystem::path& file);

}  // namespace paceline::live
