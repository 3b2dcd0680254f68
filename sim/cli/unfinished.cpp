#include "sim/cli/unfinished.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <stdlib.h>

#include "sim/base/atomic_file.hpp"
#include "sim/base/csv.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/study/findings.hpp"
#include "sim/study/study_results.hpp"

namespace paceline {
namespace {

namespace fs = std::filesystem;

// The finished runs that its table has; nothing without one.
std::optional<std::size_t> done_in_table(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder / runs_file, ignored)) return std::nullopt;
  const CsvFile table(folder / runs_file);
  return std::ranges::count_if(table.rows(), [](const CsvRow& row) { return row.text("status") == "done"; });
}

}  // namespace

DrawableFolder::DrawableFolder(const fs::path& folder) : path_(folder) {
  std::error_code ignored;
  if (!fs::exists(folder / store_file, ignored)) return;
  RunStore store(folder / store_file, StoreAccess::read);
  const std::optional<PlannedStudy> study = store.plan();
  if (!study) return;
  const RunCounts counts = store.counts();
  missing_ = missing_text(counts);
  if (done_in_table(folder) == counts.done) return;
  std::string name = (fs::temp_directory_path() / "paceline-study-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    throw UserError(
        fmt::format("cannot write to {}: {}", fs::temp_directory_path().string(), std::strerror(errno)),
        "set TMPDIR to a folder you may write to");
  path_ = own_ = name;
  fs::copy_file(folder / "manifest.json", own_ / "manifest.json");
  write_file_atomically(own_ / runs_file, runs_csv(*study, store));
}

DrawableFolder::~DrawableFolder() {
  std::error_code ignored;
  if (!own_.empty()) fs::remove_all(own_, ignored);
}

}  // namespace paceline
