// Messages that share links max-min fairly, event by event.
//
// Models:      what SimGrid's CM02 model has with the settings of simgrid_timeline.hpp, without
//              cross-traffic: a message waits for its latency f_L · L, then transfers at f_b · r, where the
//              rates r of all messages are the weighted max-min fair ones under the links' capacities.
// Equation:    weight of a message 1 / p with p = L, its route's latency (1 where f_L · L = 0). A level
//              rises from 0 for all messages together, r = level / p, until a message reaches a bound of
//              its own or one of its links is full: then it keeps that rate.
//              The bound, as SimGrid has it: min(gamma / (2L), slowest link when it was sent); with L = 0
//              that link alone; with L > 0 and gamma = 0 none.
//              Of a line of messages each begins to transfer when the one before is over, after its latency
//              if that is later; bursts count from then.
// Units:       seconds, bytes.
// Assumptions: a link on which only one message transfers bounds that message and is no constraint of any
//              other. Messages with the same p, the same bound and the same links that they share with
//              others get the same rate: they are one class. A class counts what each of its messages could
//              have transferred so far, V = ∫ r dt; a message that joins at V and has B bytes is over at
//              V + B / f_b, whatever happens to r meanwhile. So an event costs the solution for the classes
//              it affects, and the logarithm of the number of messages: n messages into one server from
//              links of one speed are one class.
// Not modelled: cross-traffic; everything SimGrid does not.
// Source:      D. Bertsekas, R. Gallager, Data Networks, section 6.5.2 (max-min fairness by filling);
//              A. Demers, S. Keshav, S. Shenker, Analysis and simulation of a fair queueing algorithm
//              (1989; virtual time); SimGrid's CM02 model. Compared with SimGrid message by message by tests.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/engine/fluid/indexed_heap.hpp"
#include "sim/engine/job_network.hpp"
#include "sim/engine/link_meter.hpp"

namespace paceline {

class FluidNetwork {
 public:
  // What the sender knows its message by.
  using Token = std::uint32_t;

  // Keeps a reference to the network.
  explicit FluidNetwork(JobNetwork& network);

  using LineNumber = std::uint32_t;
  // Between two different nodes; the messages of a line one after the other.
  void send(Seconds now, NodeId from, NodeId to, Bytes size, Token token,
            std::optional<LineNumber> line = {});
  // When something happens next if nothing is sent before; infinity: nothing is under way.
  [[nodiscard]] Seconds next_date(Seconds now);
  // Time goes on to `now`, at most the next date; appends the messages that arrive.
  void advance(Seconds now, std::vector<Token>& arrived);
  // The network's capacities of these edges are others from now on.
  void capacities_changed(Seconds now, const std::vector<EdgeId>& edges);

  [[nodiscard]] std::size_t under_way() const { return under_way_; }
  // By direction.
  [[nodiscard]] std::vector<LinkTotals> link_totals(Seconds now) const;

 private:
  using FlowNumber = std::uint32_t;
  using ClassNumber = std::uint32_t;
  using LinkNumber = std::uint32_t;  // direction_index
  static constexpr std::uint32_t none = static_cast<std::uint32_t>(-1);

  struct KnownClass {
    std::uint64_t shared_links;  // bit i: link i of the way is shared
    double penalty;
    BytesPerSecond bound;  // of the message
    ClassNumber number;
  };
  // From one node to another.
  struct Way {
    const Route* route = nullptr;
    std::vector<LinkNumber> links;
    std::vector<KnownClass> known;  // while no capacity changes
  };
  // A message.
  struct Flow {
    Way* way = nullptr;
    Token token = 0;
    std::optional<LineNumber> line;
    Bytes size;
    double penalty = 1.0;
    BytesPerSecond bound;         // its own
    Bytes work;                   // size / f_b, what is left of it; in a class: the V at which it is over
    ClassNumber of_class = none;  // none: it waits for its latency
    std::uint64_t shared_links = 0;
    std::uint32_t attempt = 0;  // entries of queues with another number are out of date
    Seconds since;              // it has been in its class
    Seconds at_bound_before;    // `at_bound` of the class then
    bool is_noted = false;
  };
  struct QueuedFlow {
    Bytes over_at;  // V
    FlowNumber flow;
    std::uint32_t attempt;
  };
  struct ClassKey {
    double penalty = 1.0;
    BytesPerSecond bound;
    std::vector<LinkNumber> links;  // that its messages share with others
    friend auto operator<=>(const ClassKey&, const ClassKey&) = default;
  };
  struct Class {
    ClassKey key;
    std::vector<std::uint32_t> places;  // in `classes` of each of these links, while it has messages
    std::vector<QueuedFlow> queue;      // a heap, the first to be over on top
    std::uint32_t flows = 0;
    BytesPerSecond rate;  // of each of them, from `since` on
    Seconds since;
    Bytes transferred;  // V at `since`
    Seconds at_bound;   // for so long the bound was what held them up
    bool is_touched = false;
    // While rates are solved for:
    std::uint32_t component = 0;
    bool is_fixed = false;
    BytesPerSecond new_rate;
  };
  struct PlaceOfClass {
    ClassNumber number;
    std::uint32_t link;  // which of the links of the class this is
  };
  struct Link {
    BytesPerSecond capacity;
    std::uint32_t flows = 0;
    FlowNumber all_flows = 0;           // exclusive or of their numbers: of a single flow, its number
    std::vector<PlaceOfClass> classes;  // whose messages share it
    BytesPerSecond used;                // by them, from `since` on
    Seconds since;
    LinkTotals totals;
    bool is_dirty = false;
    // While rates are solved for:
    std::uint32_t component = 0;
    std::uint32_t classes_left = 0;
    BytesPerSecond capacity_left;
    double weight_left = 0.0;
  };
  struct Line {
    bool is_transferring = false;
    std::deque<FlowNumber> others;  // whose latency is over
  };
  struct Waiting {
    Seconds until;
    std::uint64_t order;
    FlowNumber flow;
  };

  Way& way(NodeId from, NodeId to);
  [[nodiscard]] FlowNumber new_flow();
  void set_bounds();
  void latency_over(Seconds now, FlowNumber number);
  void begin_transfer(FlowNumber number);
  void begin_in_line(Seconds now, FlowNumber number);
  void finish_due(Seconds now, ClassNumber number, std::vector<Token>& arrived);
  void end_transfer(Seconds now, FlowNumber number);
  // The links it shares with others may have changed.
  void note(FlowNumber number);
  void sort_noted(Seconds now);
  void join(Seconds now, FlowNumber number, ClassNumber number_of_class);
  void leave(Seconds now, FlowNumber number);
  void forget_outdated(Class& of_class) const;
  [[nodiscard]] ClassNumber class_of(const Flow& flow, std::uint64_t shared_links);
  // Adds the time for which the flow, in its class up to now, had links for itself.
  template <class Totals>
  void add_use_alone(const Flow& flow, const Class& of_class, Totals& totals) const;
  static LinkTotals& totals_of(Link& link) { return link.totals; }
  static LinkTotals& totals_of(LinkTotals& totals) { return totals; }

  // Rates (fluid_sharing.cpp).
  void settle(Seconds now);
  void solve_component(Seconds now, LinkNumber start);
  void fill();
  void fix(Class& of_class, BytesPerSecond rate);
  void set_rate(Seconds now, ClassNumber number, BytesPerSecond rate);
  // It has other messages: rates are out of date, ...
  void change(ClassNumber number);
  void mark_dirty(LinkNumber number);
  // ... or another rate: when the next of them is over.
  void touch(ClassNumber number);
  void schedule(Seconds now, ClassNumber number);
  static void pass_time(Seconds now, Class& of_class);
  static void pass_time(Seconds now, Link& link);

  JobNetwork& network_;
  std::vector<Link> links_;
  std::unordered_map<std::uint64_t, Way> ways_;  // looked up, never iterated for results
  std::vector<Flow> flows_;
  std::vector<FlowNumber> free_flows_;
  std::vector<FlowNumber> new_flows_;  // whose bounds are not known yet
  std::vector<Waiting> waiting_;       // for their latency: a heap
  std::vector<Line> lines_;
  std::uint64_t sent_ = 0;
  std::vector<Class> classes_;
  std::map<ClassKey, ClassNumber> class_numbers_;
  std::vector<ClassNumber> free_classes_;
  IndexedHeap next_over_;  // classes, by when their next message is over
  std::vector<FlowNumber> noted_;
  std::vector<ClassNumber> touched_;
  std::vector<LinkNumber> dirty_;
  // While rates are solved for:
  std::vector<LinkNumber> component_links_;
  std::vector<ClassNumber> component_classes_;
  std::vector<LinkNumber> open_links_;
  std::uint32_t components_ = 0;
  std::size_t under_way_ = 0;
};

}  // namespace paceline
