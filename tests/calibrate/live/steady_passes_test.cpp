#include "calibrate/live/steady_passes.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

#include "calibrate/live/one_core.hpp"

namespace paceline::live {
namespace {

using Places = std::vector<std::size_t>;

// Of two cores whose looks take so long, one after the other; the last one goes on.
struct ScriptedCores {
  std::vector<CoreLook> looks;
  std::size_t next = 0;

  CoreLook operator()() { return looks[std::min(next++, looks.size() - 1)]; }
};

CoreLook look_of(double first_s, double second_s) {
  return {Seconds{first_s}, Seconds{second_s}};
}

SteadyPasses passes_with(std::size_t wanted, std::vector<CoreLook> looks) {
  SteadyPasses steady(wanted, ScriptedCores{.looks = std::move(looks)});
  while (!steady.is_enough()) steady.end_pass();
  return steady;
}

}  // namespace

TEST_CASE("a machine that others slow down most of the time is as fast as usual in the rest") {
  // Alone 1 s; of eight looks five find it slower by a half and more: their median is 1.5 s.
  CHECK(usual_of({1.5, 1.0, 1.6, 1.0, 1.5, 1.7, 1.0, 2.0}) == Seconds{1.0});
  // A single quick look of nine is none of its quicker moments; nor is any look that is far from them.
  CHECK(usual_of({0.5, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7}) == Seconds{1.1});
  // Of looks around the quickest 1 s what is usual is their middle: what a run, too, may meet.
  CHECK(usual_of({1.5, 1.06, 1.0, 1.02, 1.04}).value() == doctest::Approx(1.03));
}

TEST_CASE("passes during which one core was slow are taken again, and those as usual are kept") {
  // The second core is slow in the third and the fourth look, after the second and the third pass: these two
  // passes met it, and so did the fourth, which began then.
  const CoreLook usual = look_of(1.0, 1.02);
  const SteadyPasses steady =
      passes_with(3, {usual, usual, look_of(1.0, 1.5), look_of(1.0, 1.6), usual, usual, usual});
  CHECK(steady.taken() == 6);
  CHECK(steady.kept() == Places{0, 4, 5});
  CHECK(steady.slowness()[1] == doctest::Approx(1.5 / 1.02));
  CHECK(steady.slowness()[3] == doctest::Approx(1.6 / 1.02));
  CHECK(steady.kept_of(std::vector<char>{'a', 'b', 'c', 'd', 'e', 'f'}) == std::vector<char>{'a', 'e', 'f'});
  CHECK(steady.note() == "3 of 6 passes met a core slower than usual, up to 1.6 times; 3 are kept");
}

TEST_CASE("where passes stay slow four times as many are taken, and the least slow ones kept") {
  // Each pass begins or ends with a look that finds a core slower; the fifth is slowed least, then the
  // sixth, as much as the seventh.
  const CoreLook usual = look_of(1.0, 1.0);
  const SteadyPasses steady =
      passes_with(2, {usual, look_of(1.9, 1.0), usual, look_of(1.0, 1.7), look_of(1.2, 1.0), usual,
                      look_of(1.5, 1.0), usual, look_of(1.0, 1.6)});
  CHECK(steady.taken() == 8);
  CHECK(steady.kept() == Places{4, 5});
  CHECK(steady.note().find("some of those, too: measure again") != std::string::npos);
}

TEST_CASE("of more than twice as many passes half of those wanted are enough") {
  // Six wanted: the first one is as usual, and of the next eleven none, as every second look is slow. With
  // twelve taken passes go on until three are: the fourteenth and the fifteenth, after the last slow look.
  std::vector<CoreLook> looks(2, look_of(1.0, 1.0));
  for (int i = 0; i < 6; ++i) {
    looks.push_back(look_of(1.0, 1.4));
    looks.push_back(look_of(1.0, 1.0));
  }
  const SteadyPasses steady = passes_with(6, std::move(looks));
  CHECK(steady.taken() == 15);
  CHECK(steady.kept() == Places{0, 13, 14});
}

TEST_CASE("how many passes there will be is told by those slow so far, and by what is enough then") {
  const CoreLook usual = look_of(1.0, 1.0);
  const CoreLook slow = look_of(1.0, 1.4);
  SteadyPasses steady(4, ScriptedCores{.looks = {usual, usual, slow, usual, slow, usual, slow, usual, slow}});
  CHECK(steady.expected() == 4);
  steady.end_pass();  // as usual
  CHECK(steady.expected() == 4);
  steady.end_pass();  // it met the slow core
  CHECK(steady.expected() == 5);
  while (steady.taken() < 7) steady.end_pass();
  CHECK(steady.expected() == 8);  // seven, and three more were eight at most
  steady.end_pass();
  CHECK(steady.expected() == 10);  // eight, and two more to have three
}

TEST_CASE("where too few passes are as usual those are kept alone, if there are three") {
  // Of four wanted eight are taken: the first three as usual, then one after each slow look or before one.
  const CoreLook usual = look_of(1.0, 1.0);
  const CoreLook slow = look_of(1.0, 1.4);
  const SteadyPasses steady = passes_with(4, {usual, usual, usual, usual, slow, usual, slow, usual, slow});
  CHECK(steady.taken() == 8);
  CHECK(steady.kept() == Places{0, 1, 2});
  CHECK(steady.note() == "5 of 8 passes met a core slower than usual, up to 1.4 times; 3 are kept");
}

TEST_CASE("a core that is slower throughout counts as usual, and is said") {
  const SteadyPasses steady = passes_with(3, {look_of(1.0, 1.5)});
  CHECK(steady.taken() == 3);
  CHECK(steady.note() == "one core always takes 1.5 times as long as another");
}

TEST_CASE("without a look every pass counts") {
  SteadyPasses steady(2, {});
  CHECK(steady.expected() == 2);
  while (!steady.is_enough()) steady.end_pass();
  CHECK(steady.kept() == Places{0, 1});
  CHECK(steady.note().empty());
}

TEST_CASE("a look times each core, by work with memory or by a loop, which may use all of them afterwards") {
  const std::vector<int> cores = cores_of(0);
  CoreWatch by_memory({});
  CoreWatch by_loop({"sh", "-c", "while read line; do echo step 0 0.001 0.001 1; done"});
  for (const CoreLook& look : {by_memory.look(), by_loop.look()}) {
    CHECK(look.size() == std::min<std::size_t>(8, cores.size()));
    for (const Seconds of_core : look) CHECK(of_core > Seconds{});
  }
  CHECK(cores_of(0) == cores);
}

}  // namespace paceline::live
