#include "calibrate/live/cpu_budget.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::live {
namespace {

namespace fs = std::filesystem;

constexpr const char* prefix = "paceline-";  // then the process that made it, and a number

struct Hierarchy {
  fs::path root;  // where groups can be made
  bool is_version_2 = false;
};

// This process's group in a hierarchy, from lines like `4:cpu,cpuacct:/name` or, for version 2, `0::/name`.
std::optional<std::string> own_group(const std::string& controller) {
  std::ifstream lines("/proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    if (names.find(fmt::format(",{},", controller)) != std::string::npos) return line.substr(second + 1);
  }
  return std::nullopt;
}

std::optional<Hierarchy> find_hierarchy() {
  std::error_code ignored;
  for (const char* mount : {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"})
    if (const auto group = own_group("cpu");
        group && fs::exists(mount + *group + "/cpu.cfs_quota_us", ignored))
      return Hierarchy{mount + *group, false};
  if (const auto group = own_group("")) {
    const fs::path root = "/sys/fs/cgroup" + *group;
    std::ifstream file(root / "cgroup.subtree_control");
    std::string controllers;
    std::getline(file, controllers);
    if ((" " + controllers + " ").find(" cpu ") != std::string::npos) return Hierarchy{root, true};
  }
  return std::nullopt;
}

// 0, or what the system says.
int write_value(const fs::path& file, const std::string& value) {
  errno = 0;
  std::ofstream out(file);
  out << value << std::flush;
  return out ? 0 : (errno == 0 ? EIO : errno);
}

// Groups of processes that are no more.
void remove_stale(const fs::path& root) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(root, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix)) continue;
    const int maker = std::atoi(name.c_str() + std::strlen(prefix));
    if (maker > 0 && kill(maker, 0) != 0 && errno == ESRCH) rmdir(entry.path().c_str());
  }
}

}  // namespace

std::string why_no_cpu_budget() {
  const std::optional<Hierarchy> hierarchy = find_hierarchy();
  if (!hierarchy)
    return "this system has no control groups for processor time, or hands none to this process";
  if (access(hierarchy->root.c_str(), W_OK) != 0)
    return fmt::format("{} cannot be written", hierarchy->root.string());
  return {};
}

CpuBudget::CpuBudget(const CpuQuota& quota, std::size_t number) {
  const std::optional<Hierarchy> hierarchy = find_hierarchy();
  const auto fail = [&](const std::string& what) {
    std::error_code ignored;
    if (!folder_.empty()) fs::remove(folder_, ignored);
    throw UserError(fmt::format("no limit of processor time: {}", what),
                    "run as root; in a scenario `speed` instead of `quota` needs no such right");
  };
  if (const std::string reason = why_no_cpu_budget(); !reason.empty()) fail(reason);
  remove_stale(hierarchy->root);
  folder_ = hierarchy->root / fmt::format("{}{}-{}", prefix, getpid(), number);
  std::error_code error;
  if (!fs::create_directory(folder_, error))
    fail(fmt::format("{}: {}", folder_.string(), error ? error.message() : "exists already"));
  const auto period_us = static_cast<long>(1e6 * quota.period.value() + 0.5);
  const auto quota_us = static_cast<long>(1e6 * quota.period.value() * quota.cores + 0.5);
  int refused = 0;
  if (hierarchy->is_version_2) {
    refused = write_value(folder_ / "cpu.max", fmt::format("{} {}", quota_us, period_us));
  } else {
    refused = write_value(folder_ / "cpu.cfs_period_us", std::to_string(period_us));
    if (refused == 0) refused = write_value(folder_ / "cpu.cfs_quota_us", std::to_string(quota_us));
  }
  if (refused != 0) fail(fmt::format("{} us in {} us: {}", quota_us, period_us, std::strerror(refused)));
}

CpuBudget::~CpuBudget() {
  // Processes that have just ended may still be counted for a moment.
  for (int attempt = 0; attempt < 200 && rmdir(folder_.c_str()) != 0 && errno == EBUSY; ++attempt)
    usleep(5000);
}

void CpuBudget::add(pid_t process) const {
  if (const int refused = write_value(folder_ / "cgroup.procs", std::to_string(process)); refused != 0)
    throw UserError(fmt::format("process {} cannot be put into {}: {}", process, folder_.string(),
                                std::strerror(refused)),
                    "");
}

void CpuBudget::release() const {
  std::ifstream file(folder_ / "cgroup.procs");
  const std::vector<std::string> processes{std::istream_iterator<std::string>(file), {}};
  for (const std::string& process : processes) {
    const int refused = write_value(folder_.parent_path() / "cgroup.procs", process);
    const bool has_ended = refused == ESRCH;
    check(refused == 0 || has_ended, "whence a process has come it may go back");
  }
}

std::int64_t CpuBudget::stops() const {
  std::ifstream file(folder_ / "cpu.stat");
  std::string name;
  for (std::int64_t value = 0; file >> name >> value;)
    if (name == "nr_throttled") return value;
  throw UserError(fmt::format("{} does not count stops", (folder_ / "cpu.stat").string()), "");
}

}  // namespace paceline::live
