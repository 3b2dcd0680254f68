#include "sim/learning/network_learner.hpp"

#include <array>
#include <filesystem>
#include <system_error>

#include <dlfcn.h>
#include <fmt/format.h>

#include "sim/base/diagnostic.hpp"

namespace paceline {
namespace {

constexpr const char* module_file = "paceline-kernels.so";

// Beside the program (build folder), or where `cmake --install` puts it.
std::filesystem::path find_module() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) throw UserError(fmt::format("cannot tell where this program lies: {}", error.message()), "");
  const std::filesystem::path folder = program.parent_path();
  const std::array candidates{folder / module_file, folder.parent_path() / "lib" / "paceline" / module_file};
  for (const std::filesystem::path& candidate : candidates) {
    if (std::filesystem::exists(candidate, error)) return candidate;
  }
  throw UserError(fmt::format("training a real network needs the module {}, which is missing", module_file),
                  fmt::format("build with -DPACELINE_KERNELS=ON (needs LibTorch), or put it at {} or {}",
                              candidates[0].string(), candidates[1].string()));
}

// The module stays loaded until the process ends: objects it made may outlive any owner of a handle.
MakeNetworkLearner load_module() {
  const std::filesystem::path path = find_module();
  void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    throw UserError(fmt::format("cannot load {}: {}", path.string(), dlerror()),
                    "install the packages of packages.txt (libtorch-dev) and build again");
  }
  void* symbol = dlsym(module, network_learner_symbol);
  if (symbol == nullptr) {
    throw UserError(fmt::format("{} is not a kernels module of this version: it has no `{}`", path.string(),
                                network_learner_symbol),
                    "build the module and the program from the same sources");
  }
  return reinterpret_cast<MakeNetworkLearner>(symbol);
}

}  // namespace

void require_network_module() {
  static_cast<void>(find_module());
}

std::unique_ptr<Learner> load_network_learner(const NetworkLearnerConfig& config) {
  static const MakeNetworkLearner make = load_module();
  return std::unique_ptr<Learner>(make(config));
}

}  // namespace paceline
