#include "plots/page/gnuplot.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/diagnostic.hpp"

namespace paceline::plots {
namespace {

class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0)
      throw UserError(fmt::format("cannot start gnuplot: {}", std::strerror(errno)), "");
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close(ends_[0]);
    close_writing();
  }
  [[nodiscard]] int writing_end() const { return ends_[1]; }
  void close_writing() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }
  [[nodiscard]] std::string read_all() const {
    std::string text;
    std::array<char, 4096> buffer{};
    while (true) {
      const ssize_t count = read(ends_[0], buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return text;
      text.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

class FileActions {
 public:
  FileActions(const std::filesystem::path& folder, int error_output) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, error_output, STDERR_FILENO);
  }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

// What gnuplot and the font library need to find their files. GNUPLOT_* and locales would change figures.
std::vector<std::string> environment() {
  std::vector<std::string> variables{"LC_ALL=C.UTF-8"};
  for (const char* name : {"PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "FONTCONFIG_FILE", "FONTCONFIG_PATH",
                           "XDG_CACHE_HOME", "XDG_DATA_HOME"}) {
    if (const char* value = std::getenv(name)) variables.push_back(fmt::format("{}={}", name, value));
  }
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

void run_gnuplot(const std::filesystem::path& folder, const std::string& script) {
  Pipe errors;
  const FileActions actions(folder, errors.writing_end());
  std::vector<std::string> arguments{"gnuplot", "--default-settings", script};
  std::vector<std::string> variables = environment();
  pid_t child = 0;
  const int failure = posix_spawnp(&child, "gnuplot", actions.get(), nullptr, pointers(arguments).data(),
                                   pointers(variables).data());
  if (failure != 0)
    throw UserError(fmt::format("cannot start gnuplot: {}", std::strerror(failure)),
                    "install the Debian package gnuplot-nox");
  errors.close_writing();
  const std::string printed = errors.read_all();
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw UserError(fmt::format("gnuplot failed on {}:\n{}", (folder / script).string(), printed),
                    "figures need gnuplot 5.4 or newer with pdfcairo and pngcairo");
}

}  // namespace paceline::plots
