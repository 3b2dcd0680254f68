// The rates of all classes, solved anew for those that an event affects.
#include <algorithm>
#include <limits>
#include <utility>

#include "sim/engine/fluid/fluid_network.hpp"

namespace paceline {

void FluidNetwork::change(ClassNumber number) {
  touch(number);
  for (const LinkNumber link : classes_[number].key.links) mark_dirty(link);
}

void FluidNetwork::touch(ClassNumber number) {
  if (std::exchange(classes_[number].is_touched, true)) return;
  touched_.push_back(number);
}

void FluidNetwork::mark_dirty(LinkNumber number) {
  if (std::exchange(links_[number].is_dirty, true)) return;
  dirty_.push_back(number);
}

void FluidNetwork::settle(Seconds now) {
  if (!noted_.empty()) sort_noted(now);
  for (const LinkNumber link : dirty_)
    if (links_[link].is_dirty) solve_component(now, link);
  dirty_.clear();
  for (const ClassNumber number : touched_) {
    if (classes_[number].key.links.empty()) set_rate(now, number, classes_[number].key.bound);
    schedule(now, number);
    classes_[number].is_touched = false;
  }
  touched_.clear();
}

// Everything connected with `start` by classes.
void FluidNetwork::solve_component(Seconds now, LinkNumber start) {
  ++components_;
  component_links_.clear();
  component_classes_.clear();
  const auto reach = [this](LinkNumber number) {
    Link& link = links_[number];
    if (std::exchange(link.component, components_) == components_) return;
    link.is_dirty = false;
    link.capacity_left = link.capacity;
    link.classes_left = static_cast<std::uint32_t>(link.classes.size());
    link.weight_left = 0.0;
    component_links_.push_back(number);
  };
  reach(start);
  for (std::size_t l = 0; l < component_links_.size(); ++l)
    for (const PlaceOfClass& on_link : links_[component_links_[l]].classes) {
      Class& reached = classes_[on_link.number];
      if (std::exchange(reached.component, components_) == components_) continue;
      component_classes_.push_back(on_link.number);
      reached.is_fixed = false;
      for (const LinkNumber link : reached.key.links) {
        reach(link);
        links_[link].weight_left += static_cast<double>(reached.flows) / reached.key.penalty;
      }
    }
  open_links_ = component_links_;
  fill();
  for (const LinkNumber number : component_links_) {
    Link& link = links_[number];
    pass_time(now, link);
    link.used = link.classes.empty() ? BytesPerSecond{} : link.capacity - link.capacity_left;
  }
  for (const ClassNumber number : component_classes_) set_rate(now, number, classes_[number].new_rate);
}

// The level rises to where the next link is full; classes on it that were held up by their bounds before do
// not take part in that.
void FluidNetwork::fill() {
  while (true) {
    double lowest = std::numeric_limits<double>::infinity();
    LinkNumber fullest = none;
    for (std::size_t l = 0; l < open_links_.size();) {
      const Link& link = links_[open_links_[l]];
      if (link.classes_left == 0) {
        open_links_[l] = open_links_.back();
        open_links_.pop_back();
        continue;
      }
      const double level = std::max(0.0, link.capacity_left.value()) / link.weight_left;
      if (level < lowest || fullest == none) {
        lowest = level;
        fullest = open_links_[l];
      }
      ++l;
    }
    if (fullest == none) return;
    bool one_is_bound = false;
    for (const PlaceOfClass& on_link : links_[fullest].classes) {
      Class& candidate = classes_[on_link.number];
      if (candidate.is_fixed || candidate.key.bound.value() * candidate.key.penalty > lowest) continue;
      fix(candidate, candidate.key.bound);
      one_is_bound = true;
    }
    if (one_is_bound) continue;
    for (const PlaceOfClass& on_link : links_[fullest].classes) {
      Class& held_up = classes_[on_link.number];
      if (!held_up.is_fixed) fix(held_up, BytesPerSecond{lowest / held_up.key.penalty});
    }
  }
}

void FluidNetwork::fix(Class& of_class, BytesPerSecond rate) {
  of_class.is_fixed = true;
  of_class.new_rate = rate;
  const auto flows = static_cast<double>(of_class.flows);
  for (const LinkNumber number : of_class.key.links) {
    Link& link = links_[number];
    link.capacity_left -= flows * rate;
    link.weight_left -= flows / of_class.key.penalty;
    --link.classes_left;
  }
}

void FluidNetwork::set_rate(Seconds now, ClassNumber number, BytesPerSecond rate) {
  Class& of_class = classes_[number];
  if (of_class.rate == rate) return;
  pass_time(now, of_class);
  of_class.rate = rate;
  touch(number);
}

void FluidNetwork::schedule(Seconds now, ClassNumber number) {
  Class& of_class = classes_[number];
  if (of_class.flows == 0 || of_class.rate <= BytesPerSecond{}) return next_over_.erase(number);
  forget_outdated(of_class);
  const Seconds over =
      of_class.since + (of_class.queue.front().over_at - of_class.transferred) / of_class.rate;
  next_over_.set(number, std::max(now, over));
}

void FluidNetwork::pass_time(Seconds now, Class& of_class) {
  const Seconds duration = now - of_class.since;
  of_class.since = now;
  of_class.transferred += Bytes{of_class.rate.value() * duration.value()};
  if (is_saturated(of_class.rate.value(), of_class.key.bound.value())) of_class.at_bound += duration;
}

void FluidNetwork::pass_time(Seconds now, Link& link) {
  const Seconds duration = now - link.since;
  link.since = now;
  if (link.used <= BytesPerSecond{}) return;
  link.totals.busy += duration;
  if (is_saturated(link.used.value(), link.capacity.value())) link.totals.saturated += duration;
}

}  // namespace paceline
