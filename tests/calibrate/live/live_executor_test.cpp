// The executor with a crew in this process: gradients of a quadratic bowl, and members that misbehave.
#include "calibrate/live/live_executor.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "calibrate/live/checkpoint.hpp"
#include "calibrate/live/event_log.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_job.hpp"

using namespace paceline;
using namespace paceline::live;

namespace {

// Answers at once: f(x) = ½ |x|², whose gradient is x. What a member says may be replaced.
class BowlCrew final : public Crew {
 public:
  explicit BowlCrew(std::size_t workers) : workers_(workers) {}

  std::function<std::vector<Message>(Member, const Compute&, std::vector<Message> honest)> instead =
      [](Member, const Compute&, std::vector<Message> honest) { return honest; };
  std::vector<std::string> dismissals;
  std::vector<double> weights;         // of all-reduces
  std::vector<double> paces;           // that workers were told
  int rings_formed = 0;                // by members
  std::vector<std::string> asked_for;  // gradients and evaluations, in this order
  std::function<void(Member, const Reduce&)> answer_reduce = [this](Member member, const Reduce& asked) {
    say(member, Reduced{asked.ring, asked.update, 1});
  };
  void say(Member member, Message message) { news_.emplace_back(Arrived{member, std::move(message)}); }

  std::optional<News> next(Seconds) override {
    if (news_.empty()) return std::nullopt;
    News first = std::move(news_.front());
    news_.pop_front();
    return first;
  }
  void send(Member member, const Message& message) override {
    if (lost_.contains(member)) return;
    if (std::holds_alternative<Compute>(message)) asked_for.emplace_back("gradient");
    if (std::holds_alternative<EvaluationRequest>(message)) asked_for.emplace_back("evaluation");
    if (const auto* compute = std::get_if<Compute>(&message)) answer(member, *compute);
    if (const auto* pace = std::get_if<Pace>(&message)) paces.push_back(pace->speed);
    if (const auto* form = std::get_if<FormRing>(&message)) {
      ++rings_formed;
      news_.emplace_back(Arrived{member, RingAddress{form->ring, "here"}});
    }
    if (const auto* reduce = std::get_if<Reduce>(&message)) {
      weights.push_back(reduce->weight);
      answer_reduce(member, *reduce);
    }
    if (std::holds_alternative<AskHandover>(message))
      news_.emplace_back(Arrived{member, Handover{0, {{1.0F, 0.5F}, {}, {}, {}}}});
    if (const auto* handover = std::get_if<Handover>(&message))
      news_.emplace_back(Arrived{member, Received{handover->gradient}});
    if (const auto* request = std::get_if<EvaluationRequest>(&message))
      news_.emplace_back(Arrived{workers_, EvaluationResult{request->updates, request->parameters[0], 0.5}});
  }
  void dismiss(Member member, const std::string& reason) override {
    if (!lost_.insert(member).second) return;
    dismissals.push_back(reason);
    std::erase_if(news_, [&](const News& news) {
      return std::visit([&](const auto& one) { return one.member == member; }, news);
    });
    news_.emplace_back(Lost{member, reason});
  }
  std::set<Member> cannot_restart;
  std::function<void()> while_they_are_down = [] {};
  std::optional<NetworkCheckpoint> left_in_checkpoint{};  // by then, instead of what was saved
  void restart_workers() override {
    while_they_are_down();
    std::erase_if(news_, [&](const News& news) {
      return std::visit([&](const auto& one) { return one.member < workers_; }, news);
    });
    copies_.clear();
    for (Member member = 0; member < workers_; ++member) {
      if (cannot_restart.contains(member))
        dismiss(member, "exited with code 1 before it was ready");
      else if (!lost_.contains(member))
        news_.emplace_back(Restarted{member});
    }
  }

 private:
  void answer(Member member, const Compute& compute) {
    std::vector<float>& copy = copies_[member];
    if (!compute.parameters.empty()) copy = compute.parameters;
    if (copy.empty()) copy = {8.0F, 4.0F};
    std::vector<Message> honest;
    if (!compute.parameters.empty()) honest.emplace_back(Received{compute.gradient});
    const std::int64_t began = LiveClock::monotonic_ns();
    while (LiveClock::monotonic_ns() <= began) {
    }
    honest.emplace_back(Computed{compute.gradient, began, began + 1, 0, {}});
    if (compute.is_own)
      for (float& x : copy) x -= static_cast<float>(compute.learning_rate) * x;
    if (!compute.is_kept) honest.emplace_back(GradientValues{compute.gradient, copy, {}});
    for (Message& message : instead(member, compute, std::move(honest)))
      news_.emplace_back(Arrived{member, std::move(message)});
  }

  std::size_t workers_;
  std::deque<News> news_;
  std::set<Member> lost_;
  std::map<Member, std::vector<float>> copies_;
};

struct Outcome {
  std::vector<float> x;
  std::optional<Stalled> stalled;
  std::vector<LostWorker> lost;
  std::uint64_t updates = 0;
  std::vector<std::size_t> combined;  // gradients of each
};

// Two workers, batches of 10, over a server, at rate 0.5 without momentum.
Outcome run(BowlCrew& crew, const std::string& policy, std::int64_t samples,
            Transport transport = Transport::server, const Heterogeneity& heterogeneity = {},
            const std::optional<PhaseConfig>& after_restart = {}, Exchange exchange = Exchange::gradients,
            EvaluationPayer payer = EvaluationPayer::free) {
  const test::TemporaryFolder folder;
  const std::filesystem::path checkpoint = folder.path() / "checkpoint.bin";
  if (crew.left_in_checkpoint)
    crew.while_they_are_down = [&] { save_checkpoint(checkpoint, *crew.left_in_checkpoint); };
  CoordinatorConfig config;
  config.phases = {
      PhaseConfig{.policy = SynchronizationChoice(policy), .transport = transport, .exchange = exchange}};
  if (after_restart) {
    config.phases.front().length = ShareOfJob{0.5};
    config.phases.push_back(*after_restart);
  }
  config.batching.initial_samples = 10;
  config.machines.resize(2);
  config.optimizer.learning_rate = 0.5;
  config.total_samples = samples;
  config.dataset_samples = samples;
  config.evaluate_every = {1e9, EveryUnit::updates};
  Coordinator coordinator(std::move(config));
  NetworkState state({8.0F, 4.0F}, {}, {.network = "bowl", .dataset = {}, .worker_count = 2, .seed = {}});
  test::Recording recording;
  LiveJob job;
  job.workers = 2;
  job.parameter_count = 2;
  job.speeds = {1.0, 1.0};
  job.random_streams = {0, 1};
  job.heterogeneity = heterogeneity;
  job.patience = Seconds{0.05};
  job.reduces_all = {transport == Transport::ring};
  job.costs.switching.resize(2);
  job.costs.evaluation_payer = payer;
  if (after_restart) job.checkpoint = checkpoint;
  LiveExecutor executor(coordinator, crew, state, job, recording);
  Outcome outcome;
  outcome.stalled = executor.run([](std::int64_t) {});
  outcome.x = {state.global().begin(), state.global().end()};
  outcome.lost = executor.lost();
  outcome.updates = recording.all<Apply>().size() + recording.all<Overwrite>().size();
  for (const auto& [time, apply] : recording.all<Apply>()) outcome.combined.push_back(apply.gradients.size());
  return outcome;
}

}  // namespace

TEST_CASE("BSP over a real server steps along the mean of both gradients") {
  // Each update halves x: three rounds of 2 · 10 samples leave x / 8.
  BowlCrew crew(2);
  const Outcome outcome = run(crew, "bsp", 60);
  CHECK_FALSE(outcome.stalled.has_value());
  CHECK(outcome.updates == 3);
  CHECK(outcome.x == std::vector{1.0F, 0.5F});
}

TEST_CASE("free evaluations are made when all gradients are, others when they are asked for") {
  // Six gradients of 10 samples; evaluated are the first version and the last.
  BowlCrew free(2);
  CHECK_FALSE(run(free, "bsp", 60).stalled.has_value());
  const std::vector<std::string> last = {"gradient", "gradient", "gradient",   "gradient",
                                         "gradient", "gradient", "evaluation", "evaluation"};
  CHECK(free.asked_for == last);
  BowlCrew paid(2);
  CHECK_FALSE(run(paid, "bsp", 60, Transport::server, {}, {}, Exchange::gradients, EvaluationPayer::evaluator)
                  .stalled.has_value());
  REQUIRE(paid.asked_for.size() == 8);
  CHECK(paid.asked_for.front() == "evaluation");
}

TEST_CASE("ASP over a real server steps along each gradient as it comes") {
  BowlCrew crew(2);
  const Outcome outcome = run(crew, "asp", 60);
  CHECK_FALSE(outcome.stalled.has_value());
  CHECK(outcome.updates == 6);
}

TEST_CASE("workers that step on their own copies send those, and the last one's is the server's") {
  // Each halves its copy three times in 60 samples, whatever the other one does: x / 8.
  BowlCrew crew(2);
  const Outcome outcome = run(crew, "asp", 60, Transport::server, {}, {}, Exchange::parameters);
  CHECK_FALSE(outcome.stalled.has_value());
  CHECK(outcome.lost.empty());
  CHECK(outcome.updates == 6);
  CHECK(outcome.x == std::vector{1.0F, 0.5F});
}

TEST_CASE("parameters that come before a step was asked for are refused") {
  BowlCrew crew(2);
  crew.instead = [](Member member, const Compute& asked, std::vector<Message> honest) {
    if (member == 0) honest.emplace_back(GradientValues{asked.gradient, {0.0F, 0.0F}, {}});
    return honest;
  };
  const Outcome outcome = run(crew, "asp", 60, Transport::server, {}, {}, Exchange::parameters);
  REQUIRE(outcome.lost.size() == 1);
  CHECK(outcome.lost.front().worker == WorkerId{0});
  CHECK_FALSE(outcome.stalled.has_value());
}

TEST_CASE("a worker that says what cannot be is dismissed, and the other one does all the work") {
  using Liar = std::vector<Message> (*)(const Compute&);
  const std::pair<Liar, const char*> liars[] = {
      {[](const Compute& asked) {
         return std::vector<Message>{GradientValues{asked.gradient + 7, {0.0F, 0.0F}, {}}};
       },
       "sent a gradient that nobody asked for"},
      {[](const Compute& asked) {
         const std::int64_t now = LiveClock::monotonic_ns();
         return std::vector<Message>{Received{asked.gradient},
                                     Computed{asked.gradient, now - 1'000'000'000, now, 0, {}}};
       },
       "computed at a time that cannot be"},
      {[](const Compute&) {
         return std::vector<Message>{EvaluationResult{0, 0.0, 1.0}};
       },
       "said something only a server says"},
      {[](const Compute&) { return std::vector<Message>{}; }, "said nothing for 0.05 s"}};
  for (const auto& [lie, reason] : liars) {
    BowlCrew crew(2);
    // From its second gradient on, for which parameters travel.
    crew.instead = [&, lie = lie](Member member, const Compute& asked, const std::vector<Message>& honest) {
      return member == 1 && asked.first_sample > 0 ? lie(asked) : honest;
    };
    const Outcome outcome = run(crew, "bsp", 60);
    CHECK_FALSE(outcome.stalled.has_value());
    REQUIRE(outcome.lost.size() == 1);
    CHECK(outcome.lost.front().worker == WorkerId{1});
    CHECK(outcome.lost.front().reason == reason);
  }
}

TEST_CASE("a gradient of another network is refused") {
  BowlCrew crew(2);
  crew.instead = [](Member member, const Compute& asked, std::vector<Message> honest) {
    if (member == 0) honest.back() = GradientValues{asked.gradient, {1.0F}, {}};
    return honest;
  };
  const Outcome outcome = run(crew, "bsp", 60);
  REQUIRE(outcome.lost.size() == 1);
  CHECK(outcome.lost.front().reason == "sent a gradient of another network");
}

TEST_CASE("a straggler is slow from its date on, and as fast as before when its time is over") {
  // It straggled until the job's end, and the server looked for news without a pause.
  BowlCrew crew(2);
  crew.instead = [](Member, const Compute&, std::vector<Message> honest) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return honest;
  };
  Heterogeneity changes;
  changes.stragglers = {{.worker = 1, .from = Seconds{2e-3}, .duration = Seconds{5e-3}, .slowdown = 4.0}};
  CHECK(run(crew, "asp", 1000, Transport::server, changes).updates == 100);
  CHECK(crew.paces == std::vector{0.25, 1.0});
}

TEST_CASE("without any worker left the job stalls, and says so") {
  BowlCrew crew(2);
  crew.instead = [](Member, const Compute&, const std::vector<Message>&) {
    return std::vector<Message>{Failed{"the disk is full"}};
  };
  const Outcome outcome = run(crew, "asp", 60);
  REQUIRE(outcome.stalled.has_value());
  CHECK(outcome.stalled->waiting.find("every worker has left the job") != std::string::npos);
  CHECK(outcome.lost.front().reason == "the disk is full");
}

TEST_CASE("after a restart the job goes on from the checkpoint, and without who cannot start anew") {
  // Halves of 40 samples: two workers step once along their mean, 8 to 4. Then each of 20 samples' gradients
  // is a step of its own: 4 to 2 to 1 on fresh parameters, 4 to 2 to 0 on the same.
  const PhaseConfig asynchronous{.policy = SynchronizationChoice("asp"), .transport = Transport::server};
  BowlCrew crew(2);
  SUBCASE("all start anew") {
    const Outcome outcome = run(crew, "bsp", 40, Transport::server, {}, asynchronous);
    CHECK_FALSE(outcome.stalled.has_value());
    CHECK(outcome.lost.empty());
    CHECK(outcome.updates == 3);
    CHECK(outcome.x == std::vector{0.0F, 0.0F});
  }
  SUBCASE("worker 1 does not: the other one does all that is left, on its own steps") {
    crew.cannot_restart = {1};
    const Outcome outcome = run(crew, "bsp", 40, Transport::server, {}, asynchronous);
    CHECK_FALSE(outcome.stalled.has_value());
    REQUIRE(outcome.lost.size() == 1);
    CHECK(outcome.lost.front().reason == "exited with code 1 before it was ready");
    CHECK(outcome.updates == 3);
    CHECK(outcome.x == std::vector{1.0F, 0.5F});
  }
  SUBCASE("what counts is what stands in the file: 16 to 8 to 4 of the worker that is left") {
    crew.cannot_restart = {1};
    crew.left_in_checkpoint = NetworkCheckpoint{{{{16.0F, 8.0F}, {0.0F, 0.0F}, {}, {}}}, {{}}};
    CHECK(run(crew, "bsp", 40, Transport::server, {}, asynchronous).x == std::vector{4.0F, 2.0F});
  }
  SUBCASE("nobody does: the job stalls") {
    crew.cannot_restart = {0, 1};
    CHECK(run(crew, "bsp", 40, Transport::server, {}, asynchronous).stalled.has_value());
  }
}

TEST_CASE("a checkpoint keeps every bit, and one that is cut off is refused") {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "checkpoint.bin";
  const Replica replica{{0.1F, -0.0F}, {1e-40F, 3.0F}, {}, {7}};
  save_checkpoint(file, {{replica, {{1.0F, 2.0F}, {}, {}, {}}}, {{0.3F}, {0.4F}}});
  const NetworkCheckpoint read = load_checkpoint(file);
  REQUIRE(read.replicas.size() == 2);
  CHECK(read.replicas[0].parameters == replica.parameters);
  CHECK(std::signbit(read.replicas[0].parameters[1]));
  CHECK(read.replicas[0].velocity == replica.velocity);
  CHECK(read.replicas[0].steps == replica.steps);
  CHECK(read.averages == std::vector<std::vector<float>>{{0.3F}, {0.4F}});
  for (const auto& bytes : {std::filesystem::file_size(file) - 1, std::uintmax_t{3}}) {
    std::filesystem::resize_file(file, bytes);
    CHECK_THROWS_AS(load_checkpoint(file), BadMessage);
  }
}

TEST_CASE("members of a ring get equal weights for equal batches, and the server the parameters at the end") {
  // Three rounds of 2 · 10 samples; one ring for all of them. What the members arrived at is evaluated.
  BowlCrew crew(2);
  const Outcome outcome = run(crew, "bsp", 60, Transport::ring);
  CHECK_FALSE(outcome.stalled.has_value());
  CHECK(outcome.updates == 3);
  CHECK(crew.rings_formed == 2);
  CHECK(crew.weights == std::vector<double>(6, 0.5));
  CHECK(outcome.x == std::vector{1.0F, 0.5F});
}

TEST_CASE("a member that dies in an all-reduce takes its gradient along, and the other one sums alone") {
  // In the second round member 1 ends instead of summing, and member 0 hears of a broken ring: weights 1/2,
  // 1/2, then twice 1/2, then 1 for who is left. Four rounds do 20 + 10 + 10 + ... of 60 samples.
  BowlCrew crew(2);
  crew.answer_reduce = [&](Member member, const Reduce& asked) {
    const bool is_second = asked.update == 1 && asked.weight == 0.5;
    if (is_second && member == 0) return crew.say(0, RingBroke{asked.ring, "the other end closed it"});
    if (is_second) return crew.dismiss(1, "was killed by signal 9 (Killed)");
    crew.say(member, Reduced{asked.ring, asked.update, 1});
  };
  const Outcome outcome = run(crew, "bsp", 60, Transport::ring);
  CHECK_FALSE(outcome.stalled.has_value());
  REQUIRE(outcome.lost.size() == 1);
  CHECK(outcome.lost.front().worker == WorkerId{1});
  CHECK(outcome.combined == std::vector<std::size_t>{2, 1, 1, 1, 1});
  CHECK(crew.weights == std::vector{0.5, 0.5, 0.5, 0.5, 1.0, 1.0, 1.0, 1.0});
}

TEST_CASE("a ring that breaks although nobody is lost is formed again, but not for ever") {
  BowlCrew crew(2);
  int broken = 1;
  crew.answer_reduce = [&](Member member, const Reduce& asked) {
    if (member == 0 && broken-- > 0) return crew.say(0, RingBroke{asked.ring, "a cable"});
    crew.say(member, Reduced{asked.ring, asked.update, 1});
  };
  CHECK(run(crew, "bsp", 60, Transport::ring).combined == std::vector<std::size_t>{2, 2, 2});
  CHECK(crew.rings_formed == 4);
  broken = 1000;
  CHECK_THROWS_WITH(run(crew, "bsp", 60, Transport::ring), "the ring of update 0 broke 3 times: a cable");
}

TEST_CASE("a member that claims a sum twice, or a ring that is not its own, is dismissed") {
  BowlCrew crew(2);
  crew.answer_reduce = [&](Member member, const Reduce& asked) {
    crew.say(member, Reduced{asked.ring, asked.update, 1});
    if (member == 1 && asked.update == 1) crew.say(1, Reduced{asked.ring, asked.update, 1});
  };
  const Outcome outcome = run(crew, "bsp", 60, Transport::ring);
  REQUIRE(outcome.lost.size() == 1);
  CHECK(outcome.lost.front().reason == "has a sum that nobody asked for");
}
