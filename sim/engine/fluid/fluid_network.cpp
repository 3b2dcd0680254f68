// Messages come and go; which class each belongs to.
#include "sim/engine/fluid/fluid_network.hpp"

#include <algorithm>
#include <limits>

namespace paceline {
namespace {

constexpr Seconds never{std::numeric_limits<double>::infinity()};

// Heaps of the standard library have the greatest on top.
constexpr auto is_later = [](const auto& a, const auto& b) {
  return std::pair(b.until, b.order) < std::pair(a.until, a.order);
};
constexpr auto is_over_later = [](const auto& a, const auto& b) {
  return std::pair(b.over_at, b.flow) < std::pair(a.over_at, a.flow);
};

[[nodiscard]] constexpr bool is_shared(std::uint64_t shared_links, std::size_t place) {
  return ((shared_links >> place) & 1U) != 0;
}

}  // namespace

FluidNetwork::FluidNetwork(JobNetwork& network) : network_(network) {
  for (std::size_t e = 0; e < network.network().edges.size(); ++e)
    for (int direction = 0; direction < 2; ++direction)
      links_.emplace_back().capacity = network.capacity(EdgeId{e});
}

FluidNetwork::Way& FluidNetwork::way(NodeId from, NodeId to) {
  const auto [found, is_new] = ways_.try_emplace(from.value * network_.network().nodes.size() + to.value);
  Way& way = found->second;
  if (!is_new) return way;
  way.route = &network_.route(from, to);
  check(way.route->hops.size() <= 64, "a route has at most 64 links");
  for (const Hop& hop : way.route->hops) way.links.push_back(static_cast<LinkNumber>(direction_index(hop)));
  return way;
}

FluidNetwork::FlowNumber FluidNetwork::new_flow() {
  if (free_flows_.empty()) {
    flows_.emplace_back();
    return static_cast<FlowNumber>(flows_.size() - 1);
  }
  const FlowNumber number = free_flows_.back();
  free_flows_.pop_back();
  return number;
}

void FluidNetwork::send(Seconds now, NodeId from, NodeId to, Bytes size, Token token,
                        std::optional<LineNumber> line) {
  Way& used = way(from, to);
  const MessageSegment factors = factors_of(network_.model(), size);
  const Seconds latency = factors.latency_factor * used.route->cost.latency;
  const FlowNumber number = new_flow();
  Flow& flow = flows_[number];
  flow.way = &used;
  flow.token = token;
  flow.line = line;
  flow.size = size;
  flow.penalty = latency > Seconds{} ? used.route->cost.latency.value() : 1.0;
  if (!line) flow.work = network_.take_burst(now, *used.route, size) / factors.bandwidth_factor;
  new_flows_.push_back(number);
  waiting_.push_back({now + latency, sent_++, number});
  std::ranges::push_heap(waiting_, is_later);
  ++under_way_;
}

// Links may still change at the date at which a message is sent: SimGrid looks at them after that.
void FluidNetwork::set_bounds() {
  const Bytes gamma = network_.model().tcp_gamma;
  for (const FlowNumber number : new_flows_) {
    Flow& flow = flows_[number];
    flow.bound = BytesPerSecond{std::numeric_limits<double>::infinity()};
    const Seconds latency = flow.way->route->cost.latency;
    if (latency > Seconds{} && gamma <= Bytes{}) continue;
    for (const LinkNumber link : flow.way->links) flow.bound = std::min(flow.bound, links_[link].capacity);
    if (latency > Seconds{}) flow.bound = std::min(flow.bound, gamma / (2.0 * latency));
  }
  new_flows_.clear();
}

Seconds FluidNetwork::next_date(Seconds now) {
  if (!new_flows_.empty()) set_bounds();
  settle(now);
  const Seconds next_transfer = waiting_.empty() ? never : waiting_.front().until;
  return next_over_.empty() ? next_transfer : std::min(next_transfer, next_over_.top_date());
}

void FluidNetwork::advance(Seconds now, std::vector<Token>& arrived) {
  while (!next_over_.empty() && next_over_.top_date() <= now) finish_due(now, next_over_.top(), arrived);
  while (!waiting_.empty() && waiting_.front().until <= now) {
    std::ranges::pop_heap(waiting_, is_later);
    const FlowNumber number = waiting_.back().flow;
    waiting_.pop_back();
    latency_over(now, number);
  }
}

void FluidNetwork::capacities_changed(Seconds now, const std::vector<EdgeId>& edges) {
  if (edges.empty()) return;
  settle(now);
  std::vector<bool> is_changed(links_.size(), false);
  for (const EdgeId edge : edges)
    for (const bool forward : {true, false}) is_changed[direction_index({edge, forward})] = true;
  // Until now they were held up by the capacities of before.
  for (FlowNumber number = 0; number < flows_.size(); ++number) {
    const Flow& flow = flows_[number];
    if (flow.of_class == none ||
        std::ranges::none_of(flow.way->links, [&](LinkNumber link) { return is_changed[link]; }))
      continue;
    leave(now, number);
    note(number);
  }
  for (LinkNumber number = 0; number < links_.size(); ++number) {
    if (!is_changed[number]) continue;
    pass_time(now, links_[number]);
    links_[number].capacity = network_.capacity(direction(number).edge);
    mark_dirty(number);
  }
  // Bounds may be others: classes are looked up anew, and those without messages are forgotten.
  for (auto& [ends, one] : ways_) one.known.clear();
  std::erase_if(class_numbers_, [this](const auto& known) {
    if (classes_[known.second].flows > 0) return false;
    free_classes_.push_back(known.second);
    return true;
  });
}

void FluidNetwork::latency_over(Seconds now, FlowNumber number) {
  const std::optional<LineNumber> in_line = flows_[number].line;
  if (!in_line) return begin_transfer(number);
  if (*in_line >= lines_.size()) lines_.resize(*in_line + 1);
  Line& line = lines_[*in_line];
  if (std::exchange(line.is_transferring, true))
    line.others.push_back(number);
  else
    begin_in_line(now, number);
}

void FluidNetwork::begin_in_line(Seconds now, FlowNumber number) {
  Flow& flow = flows_[number];
  flow.work = network_.take_burst(now, *flow.way->route, flow.size) /
              factors_of(network_.model(), flow.size).bandwidth_factor;
  begin_transfer(number);
}

void FluidNetwork::begin_transfer(FlowNumber number) {
  for (const LinkNumber on : flows_[number].way->links) {
    Link& link = links_[on];
    if (link.flows == 1) note(link.all_flows);
    ++link.flows;
    link.all_flows ^= number;
  }
  note(number);
}

void FluidNetwork::finish_due(Seconds now, ClassNumber number, std::vector<Token>& arrived) {
  Class& of_class = classes_[number];
  next_over_.erase(number);
  pass_time(now, of_class);
  forget_outdated(of_class);
  // Rounding must not leave what is due now a little short of its end.
  of_class.transferred = std::max(of_class.transferred, of_class.queue.front().over_at);
  while (!of_class.queue.empty() && of_class.queue.front().over_at <= of_class.transferred) {
    const FlowNumber over = of_class.queue.front().flow;
    arrived.push_back(flows_[over].token);
    leave(now, over);
    end_transfer(now, over);
    forget_outdated(of_class);
  }
}

void FluidNetwork::end_transfer(Seconds now, FlowNumber number) {
  Flow& flow = flows_[number];
  for (const LinkNumber on : flow.way->links) {
    Link& link = links_[on];
    link.totals.carried += flow.size;
    --link.flows;
    link.all_flows ^= number;
    if (link.flows == 1) note(link.all_flows);
  }
  flow.is_noted = false;
  free_flows_.push_back(number);
  --under_way_;
  if (!flow.line) return;
  Line& line = lines_[*flow.line];
  line.is_transferring = !line.others.empty();
  if (!line.is_transferring) return;
  const FlowNumber next = line.others.front();
  line.others.pop_front();
  begin_in_line(now, next);
}

void FluidNetwork::note(FlowNumber number) {
  if (std::exchange(flows_[number].is_noted, true)) return;
  noted_.push_back(number);
}

void FluidNetwork::sort_noted(Seconds now) {
  for (const FlowNumber number : noted_) {
    Flow& flow = flows_[number];
    if (!std::exchange(flow.is_noted, false)) continue;
    std::uint64_t shared_links = 0;
    for (std::size_t i = 0; i < flow.way->links.size(); ++i)
      if (links_[flow.way->links[i]].flows > 1) shared_links |= std::uint64_t{1} << i;
    const ClassNumber number_of_class = class_of(flow, shared_links);
    if (number_of_class == flow.of_class) continue;
    if (flow.of_class != none) leave(now, number);
    flow.shared_links = shared_links;
    join(now, number, number_of_class);
  }
  noted_.clear();
}

void FluidNetwork::join(Seconds now, FlowNumber number, ClassNumber number_of_class) {
  Class& joined = classes_[number_of_class];
  if (joined.flows == 0) {
    joined.transferred = {};
    joined.at_bound = {};
    joined.since = now;
    joined.rate = {};
    joined.queue.clear();
    for (std::size_t i = 0; i < joined.key.links.size(); ++i) {
      std::vector<PlaceOfClass>& on_link = links_[joined.key.links[i]].classes;
      joined.places[i] = static_cast<std::uint32_t>(on_link.size());
      on_link.push_back({number_of_class, static_cast<std::uint32_t>(i)});
    }
  }
  pass_time(now, joined);
  Flow& flow = flows_[number];
  flow.of_class = number_of_class;
  flow.since = now;
  flow.at_bound_before = joined.at_bound;
  flow.work += joined.transferred;
  joined.queue.push_back({flow.work, number, flow.attempt});
  std::ranges::push_heap(joined.queue, is_over_later);
  ++joined.flows;
  change(number_of_class);
}

void FluidNetwork::leave(Seconds now, FlowNumber number) {
  Flow& flow = flows_[number];
  const ClassNumber number_of_class = std::exchange(flow.of_class, none);
  Class& left = classes_[number_of_class];
  pass_time(now, left);
  add_use_alone(flow, left, links_);
  flow.work = std::max(Bytes{}, flow.work - left.transferred);
  ++flow.attempt;
  if (--left.flows == 0)
    for (std::size_t i = 0; i < left.key.links.size(); ++i) {
      std::vector<PlaceOfClass>& on_link = links_[left.key.links[i]].classes;
      const PlaceOfClass moved = on_link.back();
      on_link[left.places[i]] = moved;
      classes_[moved.number].places[moved.link] = left.places[i];
      on_link.pop_back();
    }
  change(number_of_class);
}

// Outdated entries go when they are on top.
void FluidNetwork::forget_outdated(Class& of_class) const {
  std::vector<QueuedFlow>& queue = of_class.queue;
  while (!queue.empty() && queue.front().attempt != flows_[queue.front().flow].attempt) {
    std::ranges::pop_heap(queue, is_over_later);
    queue.pop_back();
  }
}

FluidNetwork::ClassNumber FluidNetwork::class_of(const Flow& flow, std::uint64_t shared_links) {
  Way& way = *flow.way;
  for (const KnownClass& known : way.known)
    if (known.shared_links == shared_links && known.penalty == flow.penalty && known.bound == flow.bound)
      return known.number;
  ClassKey key{flow.penalty, flow.bound, {}};
  for (std::size_t i = 0; i < way.links.size(); ++i) {
    if (is_shared(shared_links, i))
      key.links.push_back(way.links[i]);
    else
      key.bound = std::min(key.bound, links_[way.links[i]].capacity);
  }
  const auto [found, is_new] = class_numbers_.try_emplace(key, static_cast<ClassNumber>(classes_.size()));
  if (is_new) {
    if (free_classes_.empty()) {
      classes_.emplace_back();
    } else {
      found->second = free_classes_.back();
      free_classes_.pop_back();
    }
    Class& created = classes_[found->second];
    created.places.assign(key.links.size(), 0);
    created.key = std::move(key);
  }
  way.known.push_back({shared_links, flow.penalty, flow.bound, found->second});
  return found->second;
}

template <class Totals>
void FluidNetwork::add_use_alone(const Flow& flow, const Class& of_class, Totals& totals) const {
  for (std::size_t i = 0; i < flow.way->links.size(); ++i) {
    if (is_shared(flow.shared_links, i)) continue;
    const LinkNumber number = flow.way->links[i];
    LinkTotals& use = totals_of(totals[number]);
    use.busy += of_class.since - flow.since;
    if (is_saturated(of_class.key.bound.value(), links_[number].capacity.value()))
      use.saturated += of_class.at_bound - flow.at_bound_before;
  }
}

std::vector<LinkTotals> FluidNetwork::link_totals(Seconds now) const {
  std::vector<LinkTotals> totals;
  for (Link link : links_) {
    pass_time(now, link);
    totals.push_back(link.totals);
  }
  for (const Flow& flow : flows_) {
    if (flow.of_class == none) continue;
    Class of_class;
    of_class.key.bound = classes_[flow.of_class].key.bound;
    of_class.since = classes_[flow.of_class].since;
    of_class.at_bound = classes_[flow.of_class].at_bound;
    of_class.rate = classes_[flow.of_class].rate;
    pass_time(now, of_class);
    add_use_alone(flow, of_class, totals);
  }
  return totals;
}

}  // namespace paceline
