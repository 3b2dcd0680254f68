// The fluid timeline: the network model of simgrid_timeline.hpp, solved only where something changes.
//
// Models:      messages and collectives on links shared max-min fairly (fluid_network.hpp), a queue of dates.
//              Messages of a server that leave in turn are a line.
// Equation:    as fluid_network.hpp; every date is SimGrid's to 1e-9 (tests/engine/fluid_oracle_test.cpp),
//              but for lines, which SimGrid's timeline does not have.
// Units:       seconds, bytes.
// Assumptions: those of simgrid_timeline.hpp, about collectives too.
// Not modelled: cross-traffic: refused.
// Source:      as fluid_network.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <variant>
#include <vector>

#include "sim/cluster/network_engine.hpp"
#include "sim/engine/collectives.hpp"
#include "sim/engine/fluid/fluid_network.hpp"
#include "sim/engine/timeline.hpp"

namespace paceline {

class FluidTimeline final : public Timeline, private CollectiveCarrier {
 public:
  explicit FluidTimeline(const Cluster& cluster, Shortcuts shortcuts = Shortcuts::on);

  [[nodiscard]] Seconds now() const override { return now_; }
  void at(Seconds date, Occurrence occurrence) override;
  void send(Endpoint from, Endpoint to, Bytes size, Occurrence arrival) override;
  void all_reduce(Transport algorithm, std::span<const WorkerId> members, Bytes size,
                  Seconds undisturbed_until, Occurrence finish) override;
  [[nodiscard]] bool call_off(const BucketSummed& sum) override { return collectives_.call_off(sum); }
  void set_bandwidth_factor(WorkerId worker, double factor) override;
  [[nodiscard]] std::vector<LinkUse> link_use() const override;
  [[nodiscard]] bool run(const Deliver& deliver) override;

 private:
  // What is to happen, at a date or when a message arrives.
  using Content = std::variant<Occurrence, CollectiveMessage, CollectiveCall>;
  static_assert(std::is_trivially_copyable_v<Content>);
  using ContentNumber = std::uint32_t;
  struct Entry {
    Seconds date;
    std::uint64_t order;
    ContentNumber content;
    bool is_message = false;  // between two ends on one node
  };

  void send(NodeId from, NodeId to, const CollectiveMessage& message) override;
  void call_at(Seconds date, const CollectiveCall& call) override { put(date, call); }
  void happened(Occurrence occurrence) override { gathered_.push_back(occurrence); }
  [[nodiscard]] std::size_t messages_under_way() const override { return shared_.under_way() + on_one_node_; }
  [[nodiscard]] std::vector<LinkTotals> message_totals() const override { return shared_.link_totals(now_); }

  void send(NodeId from, NodeId to, Bytes size, const Content& arrival,
            std::optional<FluidNetwork::LineNumber> line = {});
  void put(Seconds date, const Content& content, bool is_message = false);
  [[nodiscard]] ContentNumber keep(const Content& content);
  void take_place(ContentNumber number);
  [[nodiscard]] Seconds next_date();
  void pass_to(Seconds date);

  ServerSends server_sends_;
  JobNetwork network_;
  FluidNetwork shared_;
  Collectives collectives_;
  Seconds now_;
  std::vector<Entry> agenda_;  // a heap
  std::uint64_t entries_ = 0;
  std::vector<Content> contents_;
  std::vector<ContentNumber> free_contents_;
  std::size_t on_one_node_ = 0;  // messages under way there
  std::vector<FluidNetwork::Token> arrived_;
  std::vector<CollectiveCall> calls_;
  std::vector<Occurrence> gathered_;
};

}  // namespace paceline
