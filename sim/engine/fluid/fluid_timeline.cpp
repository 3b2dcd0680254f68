#include "sim/engine/fluid/fluid_timeline.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/base/check.hpp"

namespace paceline {
namespace {

constexpr auto is_due_later = [](const auto& a, const auto& b) {
  return std::pair(b.date, b.order) < std::pair(a.date, a.order);
};

}  // namespace

FluidTimeline::FluidTimeline(const Cluster& cluster, Shortcuts shortcuts)
    : server_sends_(cluster.servers.sends),
      network_(cluster),
      shared_(network_),
      collectives_(network_, *this, shortcuts) {
  check(!why_not_fluid(cluster.network.model), "a network that the fluid timeline does not model");
}

void FluidTimeline::at(Seconds date, Occurrence occurrence) {
  check(date >= now_, "an event is scheduled in the past");
  put(date, occurrence);
}

void FluidTimeline::send(Endpoint from, Endpoint to, Bytes size, Occurrence arrival) {
  collectives_.something_else_happens();
  const NodeId source = network_.node(from);
  const NodeId target = network_.node(to);
  std::optional<FluidNetwork::LineNumber> line;
  if (const auto* server = std::get_if<ServerId>(&from);
      server && network_.leaves_in_turn(server_sends_, source, target, size))
    line = static_cast<FluidNetwork::LineNumber>(server->value);
  send(source, target, whole_bytes(size), arrival, line);
}

void FluidTimeline::send(NodeId from, NodeId to, const CollectiveMessage& message) {
  send(from, to, message.message.size, message);
}

void FluidTimeline::send(NodeId from, NodeId to, Bytes size, const Content& arrival,
                         std::optional<FluidNetwork::LineNumber> line) {
  if (from == to) {
    ++on_one_node_;
    return put(now_, arrival, true);
  }
  shared_.send(now_, from, to, size, keep(arrival), line);
}

void FluidTimeline::all_reduce(Transport algorithm, std::span<const WorkerId> members, Bytes size,
                               Seconds undisturbed_until, Occurrence finish) {
  if (members.size() == 1) return at(now_, finish);
  collectives_.start(algorithm, members, size, undisturbed_until, finish);
}

void FluidTimeline::set_bandwidth_factor(WorkerId worker, double factor) {
  const std::vector<EdgeId> changed = network_.set_bandwidth_factor(worker, factor);
  if (changed.empty()) return;
  collectives_.something_else_happens();
  collectives_.forget();
  shared_.capacities_changed(now_, changed);
}

std::vector<LinkUse> FluidTimeline::link_use() const {
  std::vector<LinkTotals> totals = shared_.link_totals(now_);
  const std::vector<LinkTotals> again = collectives_.link_totals();
  for (std::size_t i = 0; i < totals.size(); ++i) totals[i] += again[i];
  return with_names(totals, network_.network());
}

void FluidTimeline::put(Seconds date, const Content& content, bool is_message) {
  agenda_.push_back({date, entries_++, keep(content), is_message});
  std::ranges::push_heap(agenda_, is_due_later);
}

FluidTimeline::ContentNumber FluidTimeline::keep(const Content& content) {
  if (free_contents_.empty()) {
    contents_.push_back(content);
    return static_cast<ContentNumber>(contents_.size() - 1);
  }
  const ContentNumber number = free_contents_.back();
  free_contents_.pop_back();
  contents_[number] = content;
  return number;
}

void FluidTimeline::take_place(ContentNumber number) {
  const Content content = contents_[number];
  free_contents_.push_back(number);
  if (const auto* occurrence = std::get_if<Occurrence>(&content)) {
    gathered_.push_back(*occurrence);
  } else if (const auto* message = std::get_if<CollectiveMessage>(&content)) {
    collectives_.arrived(*message);
  } else {
    calls_.push_back(std::get<CollectiveCall>(content));
  }
}

Seconds FluidTimeline::next_date() {
  const Seconds network = shared_.next_date(now_);
  return agenda_.empty() ? network : std::min(network, agenda_.front().date);
}

// Everything that happens at this date, calls last.
void FluidTimeline::pass_to(Seconds date) {
  now_ = date;
  while (true) {
    while (!agenda_.empty() && agenda_.front().date == now_) {
      std::ranges::pop_heap(agenda_, is_due_later);
      const Entry due = agenda_.back();
      agenda_.pop_back();
      if (due.is_message) --on_one_node_;
      take_place(due.content);
    }
    arrived_.clear();
    shared_.advance(now_, arrived_);
    for (const FluidNetwork::Token token : arrived_) take_place(token);
    if (next_date() == now_) continue;
    if (calls_.empty()) return;
    for (const CollectiveCall& call : std::exchange(calls_, {})) collectives_.called(call);
  }
}

bool FluidTimeline::run(const Deliver& deliver) {
  std::vector<Occurrence> occurrences;
  while (true) {
    const Seconds date = next_date();
    if (date == Seconds{std::numeric_limits<double>::infinity()}) return false;
    pass_to(date);
    occurrences.clear();
    std::swap(occurrences, gathered_);
    if (!occurrences.empty() && !deliver(now_, occurrences)) return true;
  }
}

}  // namespace paceline
