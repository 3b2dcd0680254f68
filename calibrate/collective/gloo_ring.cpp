#include <stdexcept>

#include "calibrate/collective/ring.hpp"

#ifdef PACELINE_WITH_GLOO
#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

namespace paceline::calibrate {
namespace {

class GlooRing final : public Ring {
 public:
  explicit GlooRing(const RingPlace& place)
      : context_(std::make_shared<gloo::rendezvous::Context>(static_cast<int>(place.rank),
                                                             static_cast<int>(place.members))) {
    gloo::rendezvous::FileStore store(place.folder.string());
    gloo::transport::tcp::attr attributes;
    attributes.hostname = "127.0.0.1";
    auto device = gloo::transport::tcp::CreateDevice(attributes);
    context_->connectFullMesh(store, device);
  }

  void all_reduce(std::span<float> values) override {
    gloo::AllreduceOptions options(context_);
    options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
    options.setOutput(values.data(), values.size());
    options.setReduceFunction(
        static_cast<void (*)(void*, const void*, const void*, std::size_t)>(&gloo::sum<float>));
    gloo::allreduce(options);
  }

 private:
  std::shared_ptr<gloo::rendezvous::Context> context_;
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
