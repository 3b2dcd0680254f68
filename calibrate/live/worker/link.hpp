// A worker's connection to its server.
//
// Assumptions: one thread reads. Whichever thread notices first that the connection has broken ends the
//              process, in the middle of a computation if need be.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio.hpp>

#include "calibrate/live/message.hpp"

namespace paceline::live {

inline constexpr int exit_connection_lost = 3;
inline constexpr int exit_refused = 2;

// Control groups that nobody else removes once the launcher has died, as soon as their processes are gone.
class LeftGroups {
 public:
  // From the environment. Who has any outlives a launcher that is killed; the broken connection ends it.
  LeftGroups();
  // From whichever thread notices first; the other one waits here.
  void remove();

 private:
  std::mutex mutex_;
  std::vector<std::string> groups_;
};

class Link {
 public:
  // `server`: its address and port, as in 127.0.0.1:4711.
  Link(const std::string& server, LeftGroups& groups);

  void send(const Message& message);
  // The next message. Whether a request has been called off meanwhile is asked for.
  [[nodiscard]] Message next();
  [[nodiscard]] bool is_called_off(std::uint64_t gradient) const;
  // Where the members of this ring listen; those of other messages wait for next(). Nothing when another ring
  // is to be formed, or the job ends.
  [[nodiscard]] std::optional<std::vector<std::string>> members_of(std::uint64_t ring);
  // This machine's address, as the server reaches it.
  [[nodiscard]] std::string own_address() const;

  // While it lives, a thread says now and then that the worker is still here.
  class SayingSo {
   public:
    explicit SayingSo(Link& link) : link_(link) { link_.says_so_ = true; }
    SayingSo(const SayingSo&) = delete;
    SayingSo& operator=(const SayingSo&) = delete;
    ~SayingSo() { link_.says_so_ = false; }

   private:
    Link& link_;
  };

 private:
  [[nodiscard]] Message read_one();

  boost::asio::io_context context_;
  boost::asio::ip::tcp::socket socket_;
  std::mutex sending_;
  std::atomic<bool> says_so_ = false;
  std::vector<std::byte> payload_;
  std::deque<Message> waiting_;
};

}  // namespace paceline::live
