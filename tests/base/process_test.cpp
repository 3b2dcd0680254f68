// Child processes: what they are given, what comes back, how they end.
#include "sim/base/process.hpp"

#include <cstdlib>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "tests/support/temporary_folder.hpp"

using namespace paceline;

namespace {

Command shell(const std::string& script) {
  return {{"/bin/sh", "-c", script}};
}

// The last core this process may use.
int last_core() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  REQUIRE(sched_getaffinity(0, sizeof mask, &mask) == 0);
  int core = CPU_SETSIZE - 1;
  while (!CPU_ISSET(static_cast<std::size_t>(core), &mask)) --core;
  return core;
}

}  // namespace

TEST_CASE("both outputs and the exit code come back") {
  const ProcessResult result = run_process(shell("echo out; echo err >&2; exit 3"));
  CHECK(result.status == 3);
  CHECK(result.output == "out\n");
  CHECK(result.errors == "err\n");
  CHECK(describe_status(result.status) == "exited with code 3");
}

TEST_CASE("a program is looked for on the PATH, its arguments reach it as they are, without a shell") {
  CHECK(run_process({{"printf", "%s|", "a b", "$HOME", ""}}).output == "a b|$HOME||");
}

TEST_CASE("a child ended by a signal is told from one that exits") {
  const int status = run_process(shell("kill -9 $$")).status;
  CHECK(status == status_signal_base + SIGKILL);
  CHECK(describe_status(status) == "was killed by signal 9 (Killed)");
}

TEST_CASE("an exit code beyond all signals, as ssh's 255, was reported as signal 127") {
  CHECK(describe_status(run_process(shell("exit 255")).status) == "exited with code 255");
}

TEST_CASE("a program that is not there ends with its own status and the system's reason") {
  const ProcessResult result = run_process({{"/nowhere/program"}});
  CHECK(result.status == status_not_started);
  CHECK(result.errors == "No such file or directory");
}

TEST_CASE("a child runs in its folder, on its cores, with the added environment") {
  const test::TemporaryFolder folder;
  const int core = last_core();
  Command command = shell("pwd -P; grep Cpus_allowed_list /proc/self/status; echo $GIVEN $HOME");
  command.folder = folder.path();
  command.environment = {"GIVEN=yes", "HOME=/replaced"};
  command.cores = {core};
  Process child(command);
  CHECK(child.read_line() == std::filesystem::canonical(folder.path()).string());
  CHECK(child.read_line() == "Cpus_allowed_list:\t" + std::to_string(core));
  CHECK(child.read_line() == "yes /replaced");
  CHECK(child.read_line() == std::nullopt);
  CHECK(child.wait() == 0);
}

TEST_CASE("an environment of its own holds nothing else") {
  REQUIRE(std::getenv("PATH") != nullptr);
  CHECK(run_process({.words = {"env"}, .environment = {"ONLY=this"}, .inherits_environment = false}).output ==
        "ONLY=this\n");
}

TEST_CASE("outputs larger than a pipe holds arrive whole") {
  const ProcessResult result = run_process(shell("head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2"));
  CHECK(result.output.size() == 300'000);
  CHECK(result.errors.size() == 300'000);
}

TEST_CASE("a child whose input is kept open answers each line, and is lost without harm") {
  // It ends by itself after two; a third line has nobody who reads it, and is no signal that ends this one.
  Command command = shell("for i in 1 2; do read line; echo heard $line; done");
  command.keeps_input_open = true;
  Process child(command);
  CHECK(child.write_line("one"));
  CHECK(child.read_line() == "heard one");
  CHECK(child.write_line("two"));
  CHECK(child.read_line() == "heard two");
  CHECK(child.read_line() == std::nullopt);
  CHECK(child.write_line("three"));
  CHECK(child.wait() == 0);
}

TEST_CASE("a line is longer than a child's input holds, and all of it arrives while the child reads") {
  Command command = shell("head -c 1000001 | wc -c");
  command.keeps_input_open = true;
  Process child(command);
  CHECK(child.write_line(std::string(1'000'000, 'x')));
  CHECK(child.read_line() == "1000001");
}

TEST_CASE("a child that is waited for finds the end of its input") {
  Command command = shell("exec cat");
  command.keeps_input_open = true;
  CHECK(Process(command).wait() == 0);
}

TEST_CASE("lines for a child that reads none are refused when its input is full, after a while") {
  Command command = shell("exec sleep 1000");
  command.keeps_input_open = true;
  Process child(command);
  const std::string long_line(100'000, 'x');
  bool is_read = true;
  for (int i = 0; i < 100 && is_read; ++i) is_read = child.write_line(long_line);
  CHECK(!is_read);
}

TEST_CASE("a child inherits no open file but its outputs") {
  const int open_file = open("/dev/null", O_RDONLY);  // without O_CLOEXEC, as libraries open theirs
  REQUIRE(open_file > STDERR_FILENO);
  CHECK(run_process(shell("test -e /proc/$$/fd/" + std::to_string(open_file))).status == 1);
  close(open_file);
}

TEST_CASE("a child that is no longer wanted is killed") {
  pid_t id = 0;
  {
    const Process child(shell("exec sleep 1000"));
    id = child.id();
    CHECK(kill(id, 0) == 0);
  }
  CHECK(kill(id, 0) == -1);  // gone, and waited for
}
