// Options of the commands that read what others have measured: steps of a loop, logs of jobs.
#include <map>

#include <CLI/CLI.hpp>

#include "calibrate/cli/option_kinds.hpp"
#include "calibrate/cli/options.hpp"

namespace paceline::calibrate {

void declare(CLI::App& app, OwnArguments& arguments) {
  app.description(
      "Times a training loop of your own by the lines it prints, `step <n> <wall_s> <cpu_s> <samples>`, and "
      "corrects a profile by it. A step's times are its own, not those since the start; other lines are "
      "ignored. The command that trains comes last, after `--`.");
  app.add_option("--log", arguments.log, "A log with such lines, instead of a command")->type_name("FILE");
  CLI::Option* const profile = app.add_option("--profile", arguments.profile,
                                              "Profile of the same network on this machine, to correct")
                                   ->type_name("PROFILE");
  app.add_option("-o,--output", arguments.output, "Corrected profile to write")->type_name("FILE");
  add_count(app, "--cores", arguments.cores, 1, 1 << 20, "Cores the loop computes on")->capture_default_str();
  add_count(app, "--warm-up", arguments.warm_up, 0, 1 << 20, "Steps to leave out at the beginning")
      ->capture_default_str();
  CLI::Option* const copies = add_count(
      app, "--copies", arguments.copies, 2, 256,
      "Instead of a correction: how 2, 3, ... up to so many copies of the command slow each other down; let "
      "each train for ten seconds");
  add_count(app, "--passes", arguments.passes, 1, 1000,
            "With --copies or --quota: how often each is started (default: 3, or 9 under a quota)");
  copies->excludes("--log")->excludes(profile);
  app.add_option(
         "--quota", arguments.quota,
         "Instead of a correction: what the command takes longer after each time that a quota of so many "
         "cores in each 100 ms has held it up, by stopping it as long now and then, on one core unless "
         "--cores are more; let it train for four seconds (where steps are longer than 8 ms, by runs with "
         "and without such a quota: as root)")
      ->check(CLI::Range(0.01, 1024.0))
      ->type_name("CORES")
      ->excludes("--log")
      ->excludes(profile)
      ->excludes(copies);
  app.add_flag(
         "--rests", arguments.rests,
         "Instead of a correction: what a step takes longer after the command has rested for 1 to 80 ms, "
         "by stopping it now and then (`resume`); let it train for fifteen seconds; it must not wait for "
         "other processes")
      ->excludes("--log")
      ->excludes(profile)
      ->excludes(copies)
      ->excludes("--quota");
  const std::map<std::string, CorrectBy> ways = {{"factor", CorrectBy::factor},
                                                 {"offset", CorrectBy::offset}};
  app.add_option("--by", arguments.by,
                 "Correct by a factor, or by a time added to every iteration (default: of one batch size the "
                 "latter where the loop is slower, of several both)")
      ->transform(CLI::CheckedTransformer(ways).description(""))
      ->type_name("factor|offset")
      ->needs(profile);
  app.add_flag("--processor-time", arguments.processor_clock,
               "Correct by processor instead of wall-clock time: for a loop on one core that waits");
  app.add_flag("--without-optimizer-step", arguments.without_optimizer_step,
               "A step of the loop ends before the optimizer's");
  app.add_flag("--force", arguments.force, "Replace an existing file");
  add_json(app, arguments.json);
  app.footer(
      "In Python, around the body of the loop, flushed or at the end:\n"
      "  w, c = time.perf_counter(), time.process_time()\n"
      "  ...\n"
      "  print('step', n, time.perf_counter() - w, time.process_time() - c, len(batch))\n\n"
      "Examples:\n  paceline calibrate own -- python3 train.py --epochs 1\n"
      "  paceline calibrate own --log train.log --profile resnet20.json -o mine.json\n"
      "  paceline calibrate own --copies 3 -- python3 train.py --steps 3000    for workers that share this "
      "machine\n"
      "  paceline calibrate own --quota 0.4 -- python3 train.py --steps 3000   for workers under a quota\n"
      "  paceline calibrate own --rests -- python3 train.py --steps 10000      for workers that wait for "
      "others");
}

void declare(CLI::App& app, FromLogArguments& arguments) {
  app.description("Fits the parallel and the serial part of a synchronous step from recorded step times.");
  app.add_option("FOLDER", arguments.folder, "Folder with asp/run*/loss.csv and bsp/run*/loss.csv");
  app.add_option("--asp", arguments.asp,
                 "Logs of asynchronous runs: one step is one mini-batch of one worker")
      ->type_name("CSV");
  app.add_option("--bsp", arguments.bsp,
                 "Logs of synchronous runs: one step is one mini-batch of every worker")
      ->type_name("CSV");
  add_count(app, "--workers", arguments.workers, 2, 100000, "Workers of these runs", "WORKERS")->required();
  app.add_option("--time-column", arguments.time_column, "Column of the time, in seconds")
      ->capture_default_str();
  app.add_option("--step-column", arguments.step_column, "Column of the step")->capture_default_str();
  add_count(app, "--predict", arguments.predict_workers, 2, 100000, "Predict the steps of this many workers",
            "WORKERS");
  app.add_option("--against", arguments.against, "Synchronous logs of that many workers, to compare with")
      ->type_name("CSV");
  app.add_option("--against-asp", arguments.against_asp, "Asynchronous logs of that many workers")
      ->type_name("CSV");
  app.add_option("--recorded-asp-step", arguments.recorded_asp_step_s,
                 "Seconds per mini-batch of that many asynchronous workers, where only the figure is known")
      ->check(above_zero)
      ->type_name("SECONDS");
  app.add_option("--phases", arguments.phases,
                 "Table of recorded phases, for the cost of a switch (default: phases.csv beside FOLDER)")
      ->type_name("CSV");
  app.add_option("--sleep", arguments.sleep_s, "Fixed sleep inside the recorded gap of a switch")
      ->check(CLI::NonNegativeNumber)
      ->type_name("SECONDS")
      ->capture_default_str();
  add_json(app, arguments.json);
  app.footer(
      "Of asynchronous jobs alone, and what they cost a server: --jobs CSV ... (paceline calibrate from-log "
      "--jobs --help).\n\n"
      "Example:\n  paceline calibrate from-log recorded/resnet32-cifar10-8 --workers 8 --predict 16 \\\n"
      "      --against recorded/resnet32-cifar10-16/bsp/run*/loss.csv --sleep 90");
}

void declare(CLI::App& app, JobLogArguments& arguments) {
  app.description(
      "Tells from logs of asynchronous jobs what a worker takes for an iteration alone, what an update takes "
      "the server, and how sure that is; refuses a service time that jobs without a busy server do not tell. "
      "Writes a profile and a scenario.");
  app.add_option("--jobs", arguments.jobs, "Logs, each of one of the forms below")
      ->required()
      ->type_name("CSV");
  app.add_option("--time-column", arguments.time_column, "Column of the time, in seconds")
      ->capture_default_str();
  app.add_option("--network", arguments.network, "Only jobs of this network; logs that name none are of it");
  app.add_option("--gpu", arguments.gpu, "Kind of workers to predict and to write a profile of");
  app.add_option("--campaign", arguments.campaign,
                 "Campaign to predict and to write a profile of (default: another cluster)");
  app.add_option("--pause", arguments.pause_s,
                 "Pause of the chief in jobs logged by one row, to be taken off (checkpoints)")
      ->check(above_zero)
      ->type_name("SECONDS");
  app.add_option("--pause-every", arguments.pause_every, "Updates between two of them")
      ->check(above_zero)
      ->type_name("UPDATES");
  add_count(app, "--predict", arguments.predict_workers, 1, 1000, "Updates/s of this many workers",
            "WORKERS");
  app.add_option("-o,--output", arguments.output, "Profile to write")->type_name("PROFILE");
  app.add_option("--scenario", arguments.scenario,
                 "Scenario to write besides, of --predict workers (default: the most that are logged)")
      ->type_name("FILE");
  add_count(app, "--batch", arguments.batch, 1, 1 << 20, "Samples of a mini-batch, for the profile");
  app.add_option("--parameters", arguments.parameters, "Parameters of the network, for the profile")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  add_time(app, "--service-time", arguments.service_s,
           "Service time of an update for the profile, instead of what the logs tell");
  app.add_flag("--force", arguments.force, "Replace existing files");
  add_json(app, arguments.json);
  app.footer(
      "Forms of a log, told by its columns:\n"
      "  worker, time_s           every update, by whom and when: a file for each job\n"
      "  time_s, step             updates of the whole job by then (steps_per_s: its rate meanwhile)\n"
      "  duration_s, end_step     a row for each job; or step_s, its seconds per update\n"
      "Columns of the job, where it is not one worker: workers, gpu, network, campaign, servers, run,\n"
      "latency_ms, complete. With --iterations `paceline run` writes such a log: --time-column applied_s.\n\n"
      "Examples:\n"
      "  paceline calibrate from-log --jobs one.csv two.csv four.csv\n"
      "  paceline calibrate from-log --jobs speed.csv runs.csv --network resnet32 --gpu v100 --predict 4 \\\n"
      "      -o v100.json --scenario v100x4.yaml --batch 128 --parameters 1857722");
}

}  // namespace paceline::calibrate
