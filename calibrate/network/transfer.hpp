// Measuring messages between two ends over TCP.
//
// Models:      one message at a time: the near end sends `size` bytes, the far end sends as many back.
// Equation:    one-way time = half of the time until all bytes are back; the median over the repetitions,
//              each after a rest in which shaped links regain their burst. The near end waits busily, so
//              that its processor does not fall asleep.
// Units:       bytes, seconds of the steady clock.
// Assumptions: both directions are alike; TCP_NODELAY at both ends, buffers as the system gives them.
// Not modelled: several messages at once, loss, what other transports do (RDMA, shared memory).
// Source:      NetPIPE's ping-pong.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/base/quantity.hpp"

namespace paceline::calibrate {

struct TransferTime {
  std::int64_t bytes = 1;
  double seconds = 0.0;  // one way
};

// The far end. `address` e.g. "127.0.0.1", or "0.0.0.0" for every interface; port 0 lets the system choose.
class EchoServer {
 public:
  // Throws UserError when the port cannot be had.
  EchoServer(const std::string& address, int port);
  ~EchoServer();

  [[nodiscard]] int port() const;
  // Answers one near end until that closes the connection. Throws Interrupted.
  void serve_one() const;

 private:
  struct Acceptor;
  std::unique_ptr<Acceptor> acceptor_;
};

// 1 B, 4 B, 16 B … up to `largest`.
[[nodiscard]] std::vector<std::int64_t> message_sizes(std::int64_t largest);

// Throws UserError when nobody answers there, std::runtime_error when the connection breaks.
[[nodiscard]] std::vector<TransferTime> measure_transfers(const std::string& host, int port,
                                                          const std::vector<std::int64_t>& sizes,
                                                          int repetitions, Seconds rest);

}  // namespace paceline::calibrate
