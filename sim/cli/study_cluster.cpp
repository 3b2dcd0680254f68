// Studies across machines: a job array on an existing scheduler, and the parts put together.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/process.hpp"
#include "sim/cli/options.hpp"
#include "sim/cli/study.hpp"
#include "sim/scenario/sweep/study_plan.hpp"
#include "sim/study/study_results.hpp"

namespace paceline {
namespace {

struct MergeArguments {
  std::string folder;
  std::vector<std::string> others;  // stores, or folders that hold some
};

namespace fs = std::filesystem;

constexpr int default_tasks = 16;

// What a task of the array runs. Relative paths start where the study was submitted.
std::string batch_script(const PreparedStudy& study, const fs::path& folder, int tasks) {
  const std::string program = fs::read_symlink("/proc/self/exe").string();
  std::string script = "#!/bin/bash\n";
  script += fmt::format("#SBATCH --job-name={}\n", folder_name(study.plan.name));
  script += fmt::format("#SBATCH --array=1-{}\n", tasks);
  script += "#SBATCH --ntasks=1\n#SBATCH --cpus-per-task=1\n";
  script += fmt::format("#SBATCH --chdir={}\n", fs::current_path().string());
  script +=
      fmt::format("#SBATCH --output={}/task-%a.log\n", fs::absolute(folder).lexically_normal().string());
  script += "# Submitted again, it runs what is missing.\n";
  script += fmt::format("exec {}{} -o {} -j 1 --shard \"$SLURM_ARRAY_TASK_ID/{}\"\n", shell_quoted(program),
                        study.planned.command.substr(std::string("paceline").size()),
                        shell_quoted(folder.string()), tasks);
  return script;
}

std::vector<fs::path> stores_in(const fs::path& place) {
  if (!fs::is_directory(place)) return {place};
  std::vector<fs::path> stores;
  for (const auto& entry : fs::directory_iterator(place)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".sqlite") && (name.starts_with("shard-") || name == store_file))
      stores.push_back(entry.path());
  }
  std::ranges::sort(stores);
  return stores;
}

std::vector<fs::path> sources_of(const MergeArguments& arguments) {
  std::vector<fs::path> sources;
  std::vector<std::string> places{arguments.folder};
  places.insert(places.end(), arguments.others.begin(), arguments.others.end());
  for (const std::string& place : places) {
    if (!fs::exists(place))
      throw UserError(fmt::format("there is no {}", place), "name the folder of a study");
    for (const fs::path& store : stores_in(place))
      if (store != fs::path(arguments.folder) / store_file) sources.push_back(store);
  }
  return sources;
}

// Parts of one study have the same plan: a changed study file would leave holes that nobody sees.
void check_same_plan(const PlannedStudy& study, const fs::path& source) {
  const std::optional<PlannedStudy> other = RunStore(source).plan();
  const auto is_same = [](const PlannedPoint& a, const PlannedPoint& b) {
    return a.digest == b.digest && a.replications == b.replications;
  };
  if (other && std::ranges::equal(other->points, study.points, is_same)) return;
  throw UserError(
      fmt::format("{} belongs to another study, or to this one before its file was changed", source.string()),
      "run its part again, or leave it out");
}

int merge_command(const MergeArguments& arguments) {
  const fs::path folder = arguments.folder;
  const std::vector<fs::path> sources = sources_of(arguments);
  std::error_code ignored;
  if (sources.empty() && !fs::exists(folder / store_file, ignored))
    throw UserError(fmt::format("{} holds no runs", folder.string()),
                    "name the folder that `--shard` wrote to");
  const bool is_new = !fs::exists(folder / store_file, ignored);
  RunStore store(folder / store_file);
  std::optional<PlannedStudy> study = is_new ? std::nullopt : store.plan();
  if (!study) {
    study = RunStore(sources.front()).plan();
    if (!study) throw UserError(fmt::format("{} is not a part of a study", sources.front().string()), "");
    store.write_plan(*study);
  }
  for (const fs::path& source : sources) check_same_plan(*study, source);
  std::size_t taken = 0;
  for (const fs::path& source : sources) taken += store.merge(source);
  fmt::print("{} runs taken from {} stores\n", taken, sources.size());
  const int status = report_counts(*study, store);
  write_study_results(folder, *study, store, {.command = study->command});
  fmt::print("results: {}\n", folder.string());
  return status;
}

}  // namespace

int submit_study(const StudyArguments& arguments, PreparedStudy& study) {
  if (arguments.submit != "slurm")
    throw UserError(fmt::format("`--submit {}`: only slurm is known", arguments.submit),
                    "give `--shard i/n` to the tasks of any other scheduler, then `paceline study merge`");
  const fs::path folder = folder_of(arguments, study);
  make_folder_ready(folder, study, arguments);
  const int tasks = std::min(arguments.tasks > 0 ? arguments.tasks : default_tasks,
                             static_cast<int>(std::max<std::size_t>(1, study.planned.run_count())));
  {
    RunStore store(store_path(folder, std::nullopt));
    write_manifest(folder, study);
    store.write_plan(study.planned);
  }
  const fs::path script = folder / "submit.sbatch";
  write_file_atomically(script, batch_script(study, folder, tasks));
  std::vector<std::string> command{"sbatch", "--parsable"};
  command.insert(command.end(), arguments.submit_options.begin(), arguments.submit_options.end());
  command.push_back(script.string());
  const ProcessResult answer = run_process({command});
  if (answer.status != 0)
    throw UserError(
        answer.status == status_not_started
            ? "there is no `sbatch` on the PATH"
            : fmt::format("sbatch refused the job: {}", answer.output + answer.errors),
        fmt::format("the script is {}; submit it by hand, or give --shard i/{} to another scheduler",
                    script.string(), tasks));
  fmt::print("job {}: {} runs in {} tasks\nwhen it has ended: paceline study merge {}\n",
             answer.output.substr(0, answer.output.find_first_of(";\n")), study.planned.run_count(), tasks,
             shell_quoted(folder.string()));
  return exit_done;
}

void add_merge(CLI::App& study, CommandAction& action) {
  auto [merge, places] = add_command<MergeArguments>(
      study, "merge", "put the parts of a study together, and list what is missing", merge_command, action);
  merge.footer(
      "Missing parts are no failure: the others are merged, and the exit code is 0. It is 1 if a run "
      "failed.");
  merge.add_option("DIR", places.folder, "folder of the study")->required();
  merge.add_option("OTHERS", places.others, "folders or stores to take runs from as well");
}

}  // namespace paceline
