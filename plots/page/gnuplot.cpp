#include "plots/page/gnuplot.hpp"

#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "sim/base/diagnostic.hpp"
#include "sim/base/process.hpp"

namespace paceline::plots {
namespace {

// What gnuplot and the font library need to find their files. GNUPLOT_* and locales would change figures.
std::vector<std::string> environment() {
  std::vector<std::string> variables{"LC_ALL=C.UTF-8"};
  for (const char* name : {"PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "FONTCONFIG_FILE", "FONTCONFIG_PATH",
                           "XDG_CACHE_HOME", "XDG_DATA_HOME"}) {
    if (const char* value = std::getenv(name)) variables.push_back(fmt::format("{}={}", name, value));
  }
  return variables;
}

}  // namespace

void run_gnuplot(const std::filesystem::path& folder, const std::string& script) {
  const ProcessResult result = run_process({.words = {"gnuplot", "--default-settings", script},
                                            .folder = folder,
                                            .environment = environment(),
                                            .inherits_environment = false});
  if (result.status == status_not_started)
    throw UserError(fmt::format("cannot start gnuplot: {}", result.errors),
                    "install the Debian package gnuplot-nox");
  if (result.status != 0)
    throw UserError(fmt::format("gnuplot failed on {}:\n{}", (folder / script).string(), result.errors),
                    "figures need gnuplot 5.4 or newer with pdfcairo and pngcairo");
}

}  // namespace paceline::plots
