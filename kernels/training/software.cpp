#include <array>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include "kernels/interface/training_step.hpp"
#include "sim/base/check.hpp"

namespace paceline::kernels {
namespace {

// Paths of the BLAS libraries mapped into this process. LibTorch names libblas.so.3, which the system's
// alternatives resolve to one of several implementations: only the mapped file tells which.
std::vector<std::string> mapped_blas_libraries() {
  std::vector<std::string> paths;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const auto slash = line.find('/');
    if (slash == std::string::npos) continue;
    const std::string path = line.substr(slash);
    const std::string_view file = std::string_view(path).substr(path.rfind('/') + 1);
    const bool is_blas = file.starts_with("libblas") || file.starts_with("libopenblas") ||
                         file.starts_with("libmkl") || file.starts_with("libblis");
    if (is_blas && (paths.empty() || paths.back() != path)) paths.push_back(path);
  }
  return paths;
}

// A function of an already loaded library. LibTorch may itself live in a module loaded with local scope, so
// the library is asked by its path instead of searching the global scope.
template <class Function>
Function* function_of(const std::string& library, const char* name) {
  void* handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* symbol = dlsym(handle, name);
  dlclose(handle);  // gives back only the reference taken here
  return reinterpret_cast<Function*>(symbol);
}

std::string blas_of(const std::string& library) {
  if (auto* config = function_of<const char*()>(library, "openblas_get_config")) {
    const std::string text = config();  // "OpenBLAS 0.3.21 DYNAMIC_ARCH NO_AFFINITY Haswell MAX_THREADS=64"
    return fmt::format("{} ({})", text, library);
  }
  const bool is_reference = library.find("/blas/") != std::string::npos;
  return fmt::format("{} ({})", is_reference ? "reference BLAS" : "unrecognized BLAS", library);
}

}  // namespace

void set_compute_threads(int threads) {
  check(threads >= 1, "at least one compute thread");
  at::set_num_threads(threads);
  // OpenBLAS built on pthreads keeps its own pool, which LibTorch's setting does not reach.
  for (const std::string& library : mapped_blas_libraries()) {
    if (auto* set_threads = function_of<void(int)>(library, "openblas_set_num_threads")) {
      set_threads(threads);
    }
  }
}

KernelSoftware kernel_software() {
  const std::vector<std::string> libraries = mapped_blas_libraries();
  return {.libtorch = PACELINE_LIBTORCH_VERSION,
          .blas = libraries.empty() ? "none" : blas_of(libraries.front()),
          .threads = at::get_num_threads()};
}

}  // namespace paceline::kernels
