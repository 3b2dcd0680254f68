#include "sim/cluster/conditions.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/base/csv.hpp"

namespace paceline {
namespace {

bool is_reached(const Moment& moment, const JobPosition& position) {
  struct Reached {
    const JobPosition& position;
    bool operator()(Seconds date) const { return position.now >= date; }
    bool operator()(AtEpoch at) const { return position.epoch >= at.epoch; }
    bool operator()(AtProgress at) const { return position.progress >= at.fraction; }
  };
  return std::visit(Reached{position}, moment);
}

// Hands what is reached to `happen`, in the order written, with the time it began: on the dot, even if
// several dates are caught up with at once. What recurs then waits for its next date, the rest is removed.
template <class Item, class Happen>
void take_reached(std::vector<Item>& plan, Moment Item::*at, const JobPosition& position,
                  const Happen& happen) {
  for (Item& item : plan)
    while (is_reached(item.*at, position)) {
      const auto* date = std::get_if<Seconds>(&(item.*at));
      const Seconds began = date != nullptr ? *date : position.now;
      happen(item, began);
      if constexpr (requires { item.every; }) {
        if (!item.every) break;
        item.*at = began + *item.every;
      } else {
        break;
      }
    }
  std::erase_if(plan, [&](const Item& item) { return is_reached(item.*at, position); });
}

// What one list of a level says about a worker, if anything.
template <class Value>
std::optional<Value> entry_of(const Level& level, const std::vector<Value>& list, std::size_t worker) {
  const auto named = std::ranges::find(level.workers, worker);
  const auto index = level.workers.empty() ? worker : static_cast<std::size_t>(named - level.workers.begin());
  return index < list.size() ? std::optional(list[index]) : std::nullopt;
}

void consider(std::optional<Seconds>& earliest, const Moment& moment) {
  const auto* date = std::get_if<Seconds>(&moment);
  if (date != nullptr && (!earliest || *date < *earliest)) earliest = *date;
}

// Of windows of this length the one that `now` lies in; whether it is another one.
bool moves_on(std::uint64_t& window, Seconds length, Seconds now) {
  const std::uint64_t before = window;
  while (static_cast<double>(window + 1) * length <= now) ++window;
  return window != before;
}

constexpr std::array<std::string_view, 4> known_columns = {"time_s", "worker", "speed", "bandwidth"};

void check_trace_header(const CsvFile& file) {
  for (const std::string& column : file.columns())
    if (std::ranges::find(known_columns, column) == known_columns.end())
      file.fail(fmt::format("unknown column `{}`", column));
  const auto count = [&](const char* column) { return std::ranges::count(file.columns(), column); };
  if (count("speed") + count("bandwidth") == 0 || count("speed") > 1 || count("bandwidth") > 1)
    file.fail("`speed`, `bandwidth` or both must be there, once each");
}

std::optional<double> trace_factor(const CsvFile& file, const CsvRow& row, const char* column) {
  const std::optional<double> value = file.has(column) ? row.number_if_given(column) : std::nullopt;
  if (value && *value <= 0.0)
    row.fail_at(column, fmt::format("`{}` must be above 0, not {}", column, *value),
                "a worker that leaves belongs in `heterogeneity.membership`");
  return value;
}

}  // namespace

std::vector<TraceRow> read_trace(const std::filesystem::path& path, std::size_t workers) {
  const CsvFile file(
      path, {"time_s", "worker"},
      {.hint = "a trace has the columns time_s, worker, speed, bandwidth", .is_hand_written = true});
  check_trace_header(file);
  std::vector<TraceRow> rows;
  for (const CsvRow& cells : file.rows()) {
    const TraceRow row{.time = Seconds{cells.number("time_s")},
                       .worker = cells.count("worker"),
                       .speed = trace_factor(file, cells, "speed"),
                       .bandwidth = trace_factor(file, cells, "bandwidth")};
    if (row.worker >= workers)
      cells.fail_at("worker",
                    fmt::format("there is no worker `{}`: they are 0 to {}", row.worker, workers - 1));
    if (row.time < Seconds{}) cells.fail_at("time_s", "a time before the start of the job");
    if (!rows.empty() && row.time < rows.back().time) cells.fail_at("time_s", "rows must ascend in time");
    rows.push_back(row);
  }
  if (rows.empty()) file.fail("the trace has no rows");
  return rows;
}

std::vector<bool> present_at_start(const std::vector<MembershipChange>& membership, std::size_t workers) {
  std::vector<bool> present(workers, true);
  std::vector<bool> mentioned(workers, false);
  for (const MembershipChange& change : membership) {
    if (!mentioned.at(change.worker) && change.event == MembershipEvent::joins)
      present[change.worker] = false;
    mentioned[change.worker] = true;
  }
  return present;
}

Conditions::Conditions(Heterogeneity heterogeneity, std::vector<std::uint32_t> random_streams, Seed seed)
    : plan_(std::move(heterogeneity)),
      random_streams_(std::move(random_streams)),
      seed_(seed),
      factors_(random_streams_.size()),
      conditions_(random_streams_.size()) {
  const std::vector<bool> present = present_at_start(plan_.membership, conditions_.size());
  for (std::size_t w = 0; w < conditions_.size(); ++w) conditions_[w].is_present = present[w];
  if (plan_.random_stragglers) {
    check(plan_.random_stragglers->window > Seconds{}, "a window of random stragglers has a length");
    draw_window();
  }
  if (plan_.spells) {
    check(plan_.spells->length > Seconds{}, "a spell has a length");
    draw_spells();
  }
}

std::vector<WorkerId> Conditions::advance(const JobPosition& position) {
  const std::vector<WorkerCondition> before = conditions_;
  take_reached(plan_.schedule, &Level::at, position, [this](const Level& level, Seconds began) {
    if (level.for_long) return active_levels_.push_back({level, began + *level.for_long});
    for (std::size_t w = 0; w < factors_.size(); ++w) factors_[w].levels.adopt(level, w);
  });
  take_reached(plan_.stragglers, &Straggler::from, position,
               [this](const Straggler& straggler, Seconds began) {
                 active_.push_back({straggler, began + straggler.lasts()});
               });
  const auto is_over = [&](const auto& active) { return active.until <= position.now; };
  std::erase_if(active_levels_, is_over);
  std::erase_if(active_, is_over);
  follow_trace(position.now);
  enter_windows(position.now);
  take_reached(plan_.membership, &MembershipChange::at, position,
               [this](const MembershipChange& change, Seconds) {
                 conditions_.at(change.worker).is_present = change.event == MembershipEvent::joins;
               });
  std::vector<WorkerId> changed;
  for (std::size_t w = 0; w < conditions_.size(); ++w) {
    conditions_[w] = condition(w);
    if (conditions_[w] != before[w]) changed.push_back(WorkerId{w});
  }
  return changed;
}

bool Conditions::is_due(const JobPosition& position) const {
  const auto reached = [&](const Moment& moment) { return is_reached(moment, position); };
  return std::ranges::any_of(plan_.schedule, reached, &Level::at) ||
         std::ranges::any_of(plan_.stragglers, reached, &Straggler::from) ||
         std::ranges::any_of(plan_.membership, reached, &MembershipChange::at);
}

std::optional<Seconds> Conditions::next_date() const {
  std::optional<Seconds> earliest;
  for (const Level& level : plan_.schedule) consider(earliest, level.at);
  for (const Straggler& straggler : plan_.stragglers) consider(earliest, straggler.from);
  for (const MembershipChange& change : plan_.membership) consider(earliest, change.at);
  for (const auto& active : active_levels_) consider(earliest, active.until);
  for (const auto& active : active_) consider(earliest, active.until);
  if (trace_rows_done_ < plan_.trace.size()) consider(earliest, plan_.trace[trace_rows_done_].time);
  if (plan_.random_stragglers)
    consider(earliest, static_cast<double>(window_ + 1) * plan_.random_stragglers->window);
  if (plan_.spells) consider(earliest, static_cast<double>(spell_ + 1) * plan_.spells->length);
  return earliest;
}

bool Conditions::awaits_workers() const {
  return std::ranges::any_of(plan_.membership, [](const MembershipChange& change) {
    return change.event == MembershipEvent::joins && std::holds_alternative<Seconds>(change.at);
  });
}

void Conditions::Levels::adopt(const Level& level, std::size_t worker) {
  speed = entry_of(level, level.speeds, worker).value_or(speed);
  bandwidth = entry_of(level, level.bandwidths, worker).value_or(bandwidth);
  if (const std::optional<int> changed = entry_of(level, level.cores, worker)) cores = changed;
}

void Conditions::follow_trace(Seconds now) {
  for (; trace_rows_done_ < plan_.trace.size() && plan_.trace[trace_rows_done_].time <= now;
       ++trace_rows_done_) {
    const TraceRow& row = plan_.trace[trace_rows_done_];
    Factors& factors = factors_.at(row.worker);
    factors.trace_speed = row.speed.value_or(factors.trace_speed);
    factors.trace_bandwidth = row.bandwidth.value_or(factors.trace_bandwidth);
  }
}

void Conditions::enter_windows(Seconds now) {
  if (plan_.random_stragglers && moves_on(window_, plan_.random_stragglers->window, now)) draw_window();
  if (plan_.spells && moves_on(spell_, plan_.spells->length, now)) draw_spells();
}

void Conditions::draw_spells() {
  for (std::size_t w = 0; w < factors_.size(); ++w) {
    factors_[w].spell =
        RandomStream(seed_, Purpose::spell, random_streams_[w], spell_).log_normal(1.0, plan_.spells->cv);
    conditions_[w].spell = factors_[w].spell;
  }
}

void Conditions::draw_window() {
  for (std::size_t w = 0; w < factors_.size(); ++w) {
    RandomStream stream(seed_, Purpose::straggler, random_streams_[w], window_);
    factors_[w].straggles_in_window = stream.uniform() < plan_.random_stragglers->probability;
  }
}

WorkerCondition Conditions::condition(std::size_t worker) const {
  const Factors& factors = factors_[worker];
  Levels levels = factors.levels;
  for (const auto& active : active_levels_) levels.adopt(active.item, worker);
  WorkerCondition condition{.is_present = conditions_[worker].is_present,
                            .speed = levels.speed * factors.trace_speed,
                            .bandwidth = levels.bandwidth * factors.trace_bandwidth,
                            .spell = factors.spell,
                            .cores = levels.cores,
                            .added_latency = {},
                            .message_latency = {}};
  const auto slow_down = [&](double slowdown, Seconds added_latency, double round_trips) {
    condition.speed /= slowdown;
    condition.added_latency += round_trips * added_latency;
    condition.message_latency += added_latency;
  };
  for (const auto& [straggler, until] : active_)
    if (straggler.worker == worker)
      slow_down(straggler.slowdown, straggler.added_latency, straggler.round_trips);
  if (const auto& random = plan_.random_stragglers; random && factors.straggles_in_window)
    slow_down(random->slowdown, random->added_latency, random->round_trips);
  return condition;
}

}  // namespace paceline
