// A binary heap of numbered entries, the one with the earliest date on top; the date of an entry may change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/base/quantity.hpp"

namespace paceline {

class IndexedHeap {
 public:
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  // Of equal dates the entry with the lowest number is on top.
  [[nodiscard]] std::uint32_t top() const { return entries_.front().second; }
  [[nodiscard]] Seconds top_date() const { return entries_.front().first; }

  void set(std::uint32_t number, Seconds date) {
    if (number >= places_.size()) places_.resize(number + 1, none);
    std::size_t place = places_[number];
    if (place == none) {
      place = entries_.size();
      entries_.emplace_back(date, number);
    } else if (entries_[place].first == date) {
      return;
    }
    entries_[place].first = date;
    rise(sink(place));
  }
  void erase(std::uint32_t number) {
    if (number >= places_.size() || places_[number] == none) return;
    const std::size_t place = places_[number];
    places_[number] = none;
    const Entry last = entries_.back();
    entries_.pop_back();
    if (place == entries_.size()) return;
    entries_[place] = last;
    rise(sink(place));
  }

 private:
  using Entry = std::pair<Seconds, std::uint32_t>;
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  // Both put down the entry that is at `place`, and return where.
  std::size_t sink(std::size_t place) {
    const Entry entry = entries_[place];
    for (std::size_t child = 2 * place + 1; child < entries_.size(); child = 2 * place + 1) {
      if (child + 1 < entries_.size() && entries_[child + 1] < entries_[child]) ++child;
      if (!(entries_[child] < entry)) break;
      put(place, entries_[child]);
      place = child;
    }
    put(place, entry);
    return place;
  }
  void rise(std::size_t place) {
    const Entry entry = entries_[place];
    while (place > 0 && entry < entries_[(place - 1) / 2]) {
      put(place, entries_[(place - 1) / 2]);
      place = (place - 1) / 2;
    }
    put(place, entry);
  }
  void put(std::size_t place, const Entry& entry) {
    entries_[place] = entry;
    places_[entry.second] = place;
  }

  std::vector<Entry> entries_;
  std::vector<std::size_t> places_;  // by number
};

}  // namespace paceline
