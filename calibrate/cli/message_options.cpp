// Options of the commands that measure messages: between two ends, at a server, around a ring.
#include <CLI/CLI.hpp>

#include "calibrate/cli/link_arguments.hpp"
#include "calibrate/cli/option_kinds.hpp"
#include "calibrate/cli/options.hpp"

namespace paceline::calibrate {

void declare(CLI::App& app, NetworkArguments& arguments) {
  app.description("Measures latency and bandwidth by message size between two ends.");
  CLI::App* const ends = app.add_option_group("The two ends", "One of these");
  ends->add_option("HOST:PORT", arguments.peer, "The other end, where this command listens");
  add_count(*ends, "--listen", arguments.listen, 1, 65535,
            "Be the other end: answer one measurement on this port", "PORT");
  ends->add_flag("--loopback", arguments.loopback, "Measure within this machine");
  ends->require_option(1);
  add_count(app, "--largest", arguments.largest, 64, 1 << 30, "Largest message in bytes")
      ->capture_default_str();
  add_count(app, "--repetitions", arguments.repetitions, 1, 100000, "Messages of each size")
      ->capture_default_str();
  add_time(app, "--rest", arguments.rest_s,
           "Before each message, e.g. \"20 ms\" (the default): a shaped link regains its burst meanwhile");
  add_json(app, arguments.json);
  app.footer(
      "Examples:\n  paceline calibrate network --loopback\n"
      "  paceline calibrate network --listen 7000          on one host, then on the other:\n"
      "  paceline calibrate network first-host:7000 --json > network.json");
}

void declare(CLI::App& app, ServerArguments& arguments) {
  app.description(
      "Measures what a request at a parameter server on this machine takes: with the server of `paceline "
      "live`, over loopback TCP, and workers that learn nothing, on the cores that the kernel gives them. "
      "Prints the lines for a scenario. A training loop of your own computes for them when it comes last, "
      "after `--`: it reads a line before each step, and prints a line `step ...` after it, flushed.");
  add_list(app, "--parameters", arguments.parameters,
           "Sizes of a gradient in parameters, at least two of them (default: 1000,10000,100000,1000000)",
           most_parameters);
  CLI::Option* const several =
      add_list(app, "--workers", arguments.workers,
               "Besides one worker alone so many at once, e.g. 2,4: how long their messages wait for a "
               "processor, and how much longer they compute, by their processor time: a loop's <cpu_s>")
          ->check(CLI::Range(2, 64).description(""));
  app.add_option("--policy", arguments.policy,
                 "Of several: asp (the default), or bsp, where all messages come at once and cost more; with "
                 "a core each, how much longer each computes is told, too, in the order of a scenario's "
                 "workers, which is that of the parameters they are sent")
      ->check(CLI::IsMember({"asp", "bsp"}))
      ->type_name("asp|bsp")
      ->needs(several);
  add_time(app, "--computing", arguments.computing_s,
           "How long a worker is busy before each gradient, e.g. \"5 ms\" (the default), without a loop of "
           "your own: processors that slept and caches that hold other things make messages slower");
  add_time(app, "--serving", arguments.serving_s,
           "Processor time that the server takes for each gradient, where it takes less: of a server of your "
           "own (`calibrate own`). One that does more waits longer for a processor, and so do its messages");
  declare(app, arguments.links);
  add_count(
      app, "--passes", arguments.passes, 2, 1000,
      "How often every size is measured, in new processes each time (default: 5; with --workers 8 are "
      "better). Passes that met a core slower than usual are taken again. After twice as many, half of those "
      "asked for (at least 3) are enough; at most four times as many are taken");
  app.add_flag("--quick", arguments.quick,
               "Rougher and faster: 3 sizes, 3 passes, 0.1 s instead of 0.3 s each");
  add_json(app, arguments.json);
  app.footer(
      "Run it on an otherwise idle machine with two free cores.\n\n"
      "Examples:\n  paceline calibrate server\n"
      "  paceline calibrate server --parameters 5000,20000,80000      around the size of a network\n"
      "  paceline calibrate server --bandwidth '100 Mbit/s'\n"
      "  paceline calibrate server --workers 2,3 --computing '2 ms'    `jitter.message` of jobs like these\n"
      "  paceline calibrate server --workers 2,3 --computing '2 ms' --serving '0.6 ms'    of a server in "
      "Python\n"
      "  paceline calibrate server --workers 2,3 -- python3 train.py    of workers that train\n"
      "  paceline calibrate server --quick --json > server.json\n\n"
      "A loop of your own begins each step on the core on which its worker waits for it, as if both were one "
      "process: name the program that computes itself, not a shell that starts it.\n\n"
      "A loop of your own in Python:\n"
      "  for line in sys.stdin:\n"
      "    w, c = time.perf_counter(), time.process_time()\n"
      "    ...\n"
      "    print('step', n, time.perf_counter() - w, time.process_time() - c, len(batch), flush=True)");
}

void declare(CLI::App& app, CollectiveArguments& arguments) {
  app.description(
      "Measures an all-reduce around a ring of processes on this machine: wall-clock and processor time by "
      "size and members. Prints the lines for a scenario. A training loop of your own computes for the "
      "members when it comes last, after `--`, as for `calibrate server`.");
  add_list(app, "--members", arguments.members, "Sizes of rings, in members, up to 64 (default: 2,4)")
      ->check(CLI::Range(2, 64).description(""));
  add_list(app, "--parameters", arguments.parameters,
           "Sizes of a gradient in parameters, at least two of them (default: 1000,10000,100000,1000000)",
           most_parameters);
  add_time(
      app, "--computing", arguments.computing_s,
      "How long a member is busy before each all-reduce, e.g. \"5 ms\" (the default), without a loop of your "
      "own: processors that slept and caches that hold other things make messages slower");
  declare(app, arguments.links);
  app.add_option(
         "--with", arguments.with,
         "Gloo, with two threads that take all-reduces in turn, as in PyTorch; or a ring of paceline's own "
         "over TCP (default: Gloo where this program was built with it)")
      ->check(CLI::IsMember({"gloo", "own"}))
      ->type_name("gloo|own");
  app.add_option(
         "--quota", arguments.quota,
         "With a loop of your own: the first member also trains under a quota of so many cores in each "
         "100 ms; tells what each stop costs that member (as root)")
      ->check(CLI::Range(0.01, 0.95))
      ->type_name("CORES");
  add_count(app, "--passes", arguments.passes, 2, 1000,
            "How often everything is measured, in processes of its own each time (default: 5). Passes that "
            "met a core slower than usual are taken again. After twice as many, half of those asked for (at "
            "least 3) are enough; at most four times as many are taken");
  app.add_flag("--quick", arguments.quick,
               "Rougher and faster: 3 sizes, 3 passes, 0.1 s instead of 0.3 s each");
  add_json(app, arguments.json);
  app.footer(
      "Run it on an otherwise idle machine. Latency and bandwidth come from rings of no more members than "
      "there are cores. For each ring, a loop of your own also tells how much longer a step takes beside the "
      "others than alone, by its <cpu_s>: each worker's `speed`, instead of `speeds` of the machine and "
      "`resume`; and how long a round takes. Name the program that computes itself, not a shell that starts "
      "it.\n\n"
      "Examples:\n  paceline calibrate collective\n"
      "  paceline calibrate collective --members 2,3 --parameters 5000,20000,80000\n"
      "  paceline calibrate collective --bandwidth '200 Mbit/s' --burst '32 KiB'\n"
      "  paceline calibrate collective --members 2 -- python3 train.py    of members that train\n"
      "  paceline calibrate collective --members 2 --quota 0.3 -- python3 train.py    and stand still\n"
      "  paceline calibrate collective --with own --json > ring.json");
}

}  // namespace paceline::calibrate
