// The processes of a live job, as its executor sees them: who takes messages and says something now and then.
//
// Assumptions: members are the workers by number, then the evaluator. News of one member come in the order in
//              which it sent them; nothing comes from a member after it was lost.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>

#include "calibrate/live/message.hpp"
#include "sim/base/quantity.hpp"

namespace paceline::live {

using Member = std::size_t;

struct Arrived {
  Member member = 0;
  Message message;
};
// Its process or connection has ended, or it was dismissed.
struct Lost {
  Member member = 0;
  std::string reason;  // "was killed by signal 9 (Killed)"
};
// Its process is ready, the first one or a new one.
struct Restarted {
  Member member = 0;
};
using News = std::variant<Arrived, Lost, Restarted>;

// What a member says it could not do; a user's mistake in one line, without its place.
[[nodiscard]] std::string reason_of(const Failed& failed);
// Where a member may neither fail nor be lost: throws UserError when it says that a user's mistake keeps it
// from working, std::runtime_error when something else does or when it was lost.
void throw_if_lost(const News& news);

class Crew {
 public:
  Crew() = default;
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  virtual ~Crew() = default;

  // The next news; nothing when none came within `patience`. Throws Interrupted.
  [[nodiscard]] virtual std::optional<News> next(Seconds patience) = 0;
  // To a member that is lost: nothing happens.
  virtual void send(Member member, const Message& message) = 0;
  // Ends a member that does not behave; its Lost, with this reason, is the last news of it.
  virtual void dismiss(Member member, const std::string& reason) = 0;
  // Ends the processes of all workers that are not lost and starts them anew: what they have said and nobody
  // has heard counts no more. Each is Restarted or Lost after a while; till then nothing reaches it.
  virtual void restart_workers() = 0;
  // From now on its link has this share of its bandwidth, and its gradients come so much later.
  virtual void change_link(Member /*member*/, double /*bandwidth_factor*/, Seconds /*added_latency*/) {}
};

}  // namespace paceline::live
