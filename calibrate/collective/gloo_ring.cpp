#include <future>
#include <stdexcept>
#include <utility>

#include "calibrate/collective/ring.hpp"

#ifdef PACELINE_WITH_GLOO
#include <csignal>

#include <boost/asio/packaged_task.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>
#include <sched.h>

namespace paceline::calibrate {
namespace {

namespace asio = boost::asio;

// A member sets keys that end with its rank, and after each one asks for those of the others.
class MeetingStore final : public gloo::rendezvous::Store {
 public:
  explicit MeetingStore(Meeting meet) : meet_(std::move(meet)) {}

  void set(const std::string&, const std::vector<char>& data) override {
    all_ = meet_(std::string(data.begin(), data.end()));
  }
  std::vector<char> get(const std::string& key) override {
    const std::string& told = all_.at(std::stoul(key.substr(key.find('_') + 1)));
    return {told.begin(), told.end()};
  }
  void wait(const std::vector<std::string>&) override {}

 private:
  Meeting meet_;
  std::vector<std::string> all_;
};

// Its thread is the child of one that gives way, and inherits that.
std::shared_ptr<gloo::transport::Device> device_of(const RingPlace& place) {
  return std::async(std::launch::async,
                    [&] {
                      const sched_param none{};
                      if (place.gives_way) sched_setscheduler(0, SCHED_IDLE, &none);
                      gloo::transport::tcp::attr attributes;
                      attributes.hostname = place.address;
                      return gloo::transport::tcp::CreateDevice(attributes);
                    })
      .get();
}

class GlooRing final : public Ring {
 public:
  explicit GlooRing(const RingPlace& place)
      : context_(std::make_shared<gloo::rendezvous::Context>(static_cast<int>(place.rank),
                                                             static_cast<int>(place.members))),
        message_patience_(place.message_patience),
        threads_(place.threads) {
    // Gloo writes to a member that is gone, too, which is a failure here, not the end of the process.
    std::signal(SIGPIPE, SIG_IGN);
    MeetingStore store(place.meet);
    auto device = device_of(place);
    context_->setTimeout(place.patience / 5);  // Gloo waits five times as long for a first connection
    context_->connectFullMesh(store, device);
  }

  void all_reduce(std::span<float> values) override {
    gloo::AllreduceOptions options(context_);
    options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
    options.setOutput(values.data(), values.size());
    options.setReduceFunction(
        static_cast<void (*)(void*, const void*, const void*, std::size_t)>(&gloo::sum<float>));
    options.setTimeout(message_patience_);
    asio::post(threads_, std::packaged_task<void()>([&options] { gloo::allreduce(options); })).get();
  }

 private:
  std::shared_ptr<gloo::rendezvous::Context> context_;
  std::chrono::milliseconds message_patience_;
  asio::thread_pool threads_;
};

}  // namespace

bool has_gloo() {
  return true;
}
std::unique_ptr<Ring> make_gloo_ring(const RingPlace& place) {
  return std::make_unique<GlooRing>(place);
}

}  // namespace paceline::calibrate
#else
namespace paceline::calibrate {

bool has_gloo() {
  return false;
}
std::unique_ptr<Ring> make_gloo_ring(const RingPlace&) {
  throw std::runtime_error("this program was built without Gloo");
}

}  // namespace paceline::calibrate
#endif
