#include "cli/migrate/ranges.h"

#include <fmt/format.h>

#include <limits>

#include "base/bytes.h"

namespace sibyl::cli::migrate {
namespace {

constexpr auto save_interval = std::chrono::milliseconds(300);
constexpr uint64_t progress_units = 1'000'000;

std::string fact_name(const Part& part, const char* what) {
  std::string name =
      fmt::format("{}-{}.{}{}", what, part.keyspace, part.table, part.is_static ? "-static" : "");
  for (char& c : name)
    if (c == ' ' || c == '\n') c = '_';  // spaces separate names and values, so they are replaced
  return name;
}

}  // namespace

std::pair<int64_t, int64_t> range_of(unsigned i) {
  constexpr uint64_t step = std::numeric_limits<uint64_t>::max() / ranges_per_part + 1;
  constexpr uint64_t bias = uint64_t{1} << 63;
  const uint64_t first = step * i + bias;
  return {static_cast<int64_t>(first), static_cast<int64_t>(first + step - 1)};
}

Ranges::Ranges(const std::vector<Part>& parts, copy::Journal& journal, copy::Progress& progress)
    : parts_(parts), journal_(journal), progress_(progress), states_(parts.size()) {
  const base::MutexLock lock(mutex_);
  for (size_t i = 0; i < parts.size(); ++i) load(i);
}

void Ranges::load(size_t part) {
  PartState& state = states_[part];
  state.ranges.resize(ranges_per_part);
  state.rows = journal_.number(fact_name(parts_[part], "rows"));
  rows_ += state.rows;
  const double weight = static_cast<double>(parts_[part].weight) / ranges_per_part;
  total_weight_ += weight * ranges_per_part;
  const std::string done = journal_.get(fact_name(parts_[part], "done"));
  for (unsigned i = 0; i < ranges_per_part && i < done.size(); ++i) state.ranges[i].is_done = done[i] == '1';
  for (unsigned i = 0; i < ranges_per_part; ++i) {
    RangeState& range = state.ranges[i];
    if (range.is_done) {
      ++resumed_;
      range.share = 1;
      done_weight_ += weight;
    } else {
      range.paging_state = journal_.get(fact_name(parts_[part], fmt::format("page-{}", i).c_str()));
    }
  }
}

std::optional<Task> Ranges::next() {
  const base::MutexLock lock(mutex_);
  while (!error_ && !is_interrupted_ && next_ < count()) {
    const size_t part = next_ / ranges_per_part;
    const auto range = static_cast<unsigned>(next_ % ranges_per_part);
    ++next_;
    const RangeState& state = states_[part].ranges[range];
    if (state.is_done) continue;
    Task task{part, range, std::nullopt};
    base::Bytes paging_state;
    if (!state.paging_state.empty() && base::from_hex(state.paging_state, paging_state))
      task.paging_state = std::move(paging_state);
    return task;
  }
  return std::nullopt;
}

void Ranges::advance(const Task& task, const std::optional<base::Bytes>& paging_state, double share,
                     uint64_t rows, uint64_t bytes) {
  const base::MutexLock lock(mutex_);
  PartState& part = states_[task.part];
  RangeState& range = part.ranges[task.range];
  range.is_done = !paging_state;
  const double gained = (range.is_done ? 1.0 : share) - range.share;
  done_weight_ += gained * static_cast<double>(parts_[task.part].weight) / ranges_per_part;
  range.share += gained;
  range.paging_state = paging_state ? base::to_hex(*paging_state) : "";
  part.rows += rows;
  rows_ += rows;
  new_rows_ += rows;
  bytes_ += bytes;
  if (const auto now = Clock::now(); now - saved_ >= save_interval) {
    saved_ = now;
    if (const base::Status saved = save_locked(); !saved && !error_) {
      error_ = saved.error();
      is_stopped_ = true;
    }
  }
  progress_.update(static_cast<uint64_t>(done_weight_ / total_weight_ * progress_units), progress_units,
                   rows_, bytes_);
}

base::Status Ranges::save() {
  const base::MutexLock lock(mutex_);
  return save_locked();
}

base::Status Ranges::save_locked() {
  for (size_t i = 0; i < parts_.size(); ++i) {
    std::string done;
    for (unsigned range = 0; range < ranges_per_part; ++range) {
      const RangeState& state = states_[i].ranges[range];
      done.push_back(state.is_done ? '1' : '0');
      const std::string name = fact_name(parts_[i], fmt::format("page-{}", range).c_str());
      if (!state.paging_state.empty() || !journal_.get(name).empty()) journal_.set(name, state.paging_state);
    }
    journal_.set(fact_name(parts_[i], "done"), done);
    journal_.set(fact_name(parts_[i], "rows"), std::to_string(states_[i].rows));
  }
  return journal_.save();
}

void Ranges::stop(const base::Error& error) {
  const base::MutexLock lock(mutex_);
  if (!error_) error_ = error;
  is_stopped_ = true;
}

std::optional<base::Error> Ranges::error() const {
  const base::MutexLock lock(mutex_);
  return error_;
}

uint64_t Ranges::rows() const {
  const base::MutexLock lock(mutex_);
  return rows_;
}

uint64_t Ranges::new_rows() const {
  const base::MutexLock lock(mutex_);
  return new_rows_;
}

}  // namespace sibyl::cli::migrate
