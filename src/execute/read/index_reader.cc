#include "execute/read/index_reader.h"

#include <algorithm>

#include "base/check.h"
#include "execute/corrupt.h"
#include "execute/read/index_entries.h"
#include "plan/evaluation/intervals.h"
#include "row/record_key.h"

namespace sibyl::execute {

using base::Result;
using storage::Iterator;
using storage::Snapshot;

namespace {

// Limits for rows that are sorted in memory. With more rows, a scan of the table is about as fast.
constexpr size_t max_gathered_rows = 65'536;
constexpr size_t max_gathered_bytes = 16u << 20;
// Rows of one partition to fetch at once.
constexpr size_t rows_at_once = 64;

constexpr size_t id_size = sizeof(uint32_t);

// Rows that may match, identified by row_suffix(), in table order.
class Candidates {
 public:
  virtual ~Candidates() = default;
  // Moves to the first candidate at or after `suffix`. Returns false if there is none.
  virtual Result<bool> seek(BytesView suffix) = 0;
  virtual Result<bool> next() = 0;
  virtual BytesView suffix() const = 0;
};

using Runs = std::span<const storage::EntryRun>;

// The entries of one term, run after run.
class TermEntries final : public Candidates {
 public:
  // REQUIRES: there are runs.
  TermEntries(const Snapshot& snapshot, const schema::Index& index, const Bytes& term, Runs runs)
      : snapshot_(snapshot), index_(index), term_(term), runs_(runs) {
    open(0);
  }

  Result<bool> seek(BytesView suffix) override {
    const auto run =
        static_cast<size_t>(&storage::Store::run_of(runs_, token_of_suffix(suffix)) - runs_.data());
    if (run != run_) open(run);
    key_.assign(prefix_);
    key_ += suffix;
    iterator_->seek(key_);
    return find_entry();
  }
  Result<bool> next() override {
    iterator_->next();
    return find_entry();
  }
  BytesView suffix() const override { return iterator_->key().substr(prefix_.size()); }

 private:
  void open(size_t run) {
    run_ = run;
    prefix_ = index_prefix(index_, runs_[run]) + term_;
    iterator_ = snapshot_.iterate(prefix_, row::after(prefix_).value_or(row::table_end(index_.storage_id)));
  }
  Result<bool> find_entry() {
    while (true) {
      SIBYL_TRY(iterator_->status());
      if (iterator_->valid()) return true;
      if (run_ + 1 == runs_.size()) return false;
      open(run_ + 1);
      iterator_->seek_to_first();
    }
  }

  const Snapshot& snapshot_;
  const schema::Index& index_;
  const Bytes term_;
  const Runs runs_;
  size_t run_ = 0;
  Bytes prefix_, key_;
  std::unique_ptr<Iterator> iterator_;
};

// The intersection of several runs. The run that is behind seeks to the position of the one that is ahead.
class Intersection final : public Candidates {
 public:
  explicit Intersection(std::vector<std::unique_ptr<Candidates>> parts) : parts_(std::move(parts)) {}

  Result<bool> seek(BytesView suffix) override {
    SIBYL_ASSIGN(const bool found, parts_[0]->seek(suffix));
    return found ? meet() : Result<bool>(false);
  }
  Result<bool> next() override {
    SIBYL_ASSIGN(const bool found, parts_[0]->next());
    return found ? meet() : Result<bool>(false);
  }
  BytesView suffix() const override { return parts_[0]->suffix(); }

 private:
  Result<bool> meet() {
    for (size_t agreed = 1, i = 1; agreed < parts_.size(); i = (i + 1) % parts_.size()) {
      const Bytes wanted(parts_[(i + parts_.size() - 1) % parts_.size()]->suffix());
      SIBYL_ASSIGN(const bool found, parts_[i]->seek(wanted));
      if (!found) return false;
      agreed = parts_[i]->suffix() == wanted ? agreed + 1 : 1;
    }
    return true;
  }

  std::vector<std::unique_ptr<Candidates>> parts_;
};

// The rows of several terms, sorted.
class Sorted final : public Candidates {
 public:
  explicit Sorted(std::vector<Bytes> suffixes) : suffixes_(std::move(suffixes)) {
    std::sort(suffixes_.begin(), suffixes_.end());
    suffixes_.erase(std::unique(suffixes_.begin(), suffixes_.end()), suffixes_.end());
  }

  Result<bool> seek(BytesView suffix) override {
    at_ = static_cast<size_t>(
        std::lower_bound(suffixes_.begin(), suffixes_.end(), suffix,
                         [](const Bytes& left, BytesView right) { return left < right; }) -
        suffixes_.begin());
    return at_ < suffixes_.size();
  }
  Result<bool> next() override { return ++at_ < suffixes_.size(); }
  BytesView suffix() const override { return suffixes_[at_]; }

 private:
  std::vector<Bytes> suffixes_;
  size_t at_ = 0;
};

// Half-open. Without an end, it extends to the last row.
struct ByteRange {
  Bytes begin;
  std::optional<Bytes> end;
};

// The range of the plan's rows: a range of tokens or one partition, because plans with IN do not use an
// index. Returns nullopt if it is empty.
std::optional<ByteRange> range_of(const ReadPlan& plan) {
  const uint32_t table = plan.table->storage_id;
  if (plan.is_range) {
    ByteRange range{row::token_begin(table, plan.tokens.first).substr(id_size), std::nullopt};
    if (plan.tokens.last != INT64_MAX) range.end = row::token_end(table, plan.tokens.last).substr(id_size);
    return range;
  }
  SIBYL_CHECK(plan.keys.size() <= 1);
  if (plan.keys.empty()) return std::nullopt;
  const Bytes prefix = row::partition_prefix(table, plan.keys[0]).substr(id_size);
  return ByteRange{prefix, row::after(prefix)};
}

// Skips what earlier pages have returned. The position's partition is included if some of its rows are left.
std::optional<ByteRange> continue_after(const Position& position, bool by_partition, ByteRange range) {
  const Bytes prefix = row::partition_prefix(0, position.partition_key).substr(id_size);
  if (prefix < range.begin || (range.end && prefix >= *range.end)) return range;
  std::optional<Bytes> begin;
  if (!position.clustering)
    begin = row::after(prefix);
  else if (by_partition)
    begin = prefix;
  else  // No clustering key is a prefix of another, so the next one is at or above the last plus a zero byte.
    begin = row_suffix(position.partition_key, false, *position.clustering) + '\0';
  if (!begin) return std::nullopt;
  range.begin = std::move(*begin);
  return range;
}

// Returns the runs that have entries of rows in the range.
Runs runs_of(Runs runs, const ByteRange& range) {
  const storage::EntryRun& first = storage::Store::run_of(runs, token_of_suffix(range.begin));
  const storage::EntryRun& last =
      range.end ? storage::Store::run_of(runs, token_of_suffix(*range.end)) : runs.back();
  return &last < &first ? Runs() : Runs(&first, &last + 1);
}

// Returns which records of a run belong to a range of terms.
ByteRange records_of(const IndexLookup& lookup, const storage::EntryRun& run) {
  const Bytes prefix = index_prefix(*lookup.index, run);
  const Bytes& end = *lookup.terms.end;
  return {prefix + lookup.terms.begin,
          end.empty() ? row::after(prefix).value_or(row::table_end(lookup.index->storage_id)) : prefix + end};
}

// Collects the rows of a range of terms.
class Gathering {
 public:
  // Returns false if there are too many.
  Result<bool> add(const Snapshot& snapshot, const plan::TermForm& form, const IndexLookup& lookup,
                   const storage::EntryRun& run, const ByteRange& range) {
    const ByteRange records = records_of(lookup, run);
    if (*records.end <= records.begin) return true;
    const size_t prefix_size = index_prefix(*lookup.index, run).size();
    const auto iterator = snapshot.iterate(records.begin, *records.end);
    for (iterator->seek_to_first(); iterator->valid(); iterator->next()) {
      BytesView suffix = iterator->key().substr(prefix_size);
      if (!form.skip(suffix)) return base::fail(corrupt_index_entry());
      if (suffix < range.begin || (range.end && suffix >= *range.end)) continue;
      suffixes_.emplace_back(suffix);
      bytes_ += suffix.size() + sizeof(Bytes);
      if (suffixes_.size() > max_gathered_rows || bytes_ > max_gathered_bytes) return false;
    }
    SIBYL_TRY(iterator->status());
    return true;
  }
  std::vector<Bytes> take() { return std::move(suffixes_); }

 private:
  std::vector<Bytes> suffixes_;
  size_t bytes_ = 0;
};

// Returns nullptr if there are too many.
Result<std::unique_ptr<Candidates>> gather(const Snapshot& snapshot, const ReadPlan& plan,
                                           const IndexLookup& lookup, Runs runs, const ByteRange& range) {
  const plan::TermForm form = plan::TermForm::of(*plan.table, *lookup.index);
  Gathering gathering;
  for (const storage::EntryRun& run : runs) {
    SIBYL_ASSIGN(const bool fits, gathering.add(snapshot, form, lookup, run, range));
    if (!fits) return std::unique_ptr<Candidates>();
  }
  return std::unique_ptr<Candidates>(std::make_unique<Sorted>(gathering.take()));
}

uint64_t size_of_terms(const storage::Store& store, const IndexLookup& lookup, Runs runs) {
  uint64_t size = 0;
  for (const storage::EntryRun& run : runs) {
    const ByteRange records = records_of(lookup, run);
    if (*records.end > records.begin) size += store.approximate_size(records.begin, *records.end);
  }
  return size;
}

class IndexReader final : public Reader {
 public:
  IndexReader(std::shared_ptr<const Snapshot> snapshot, const ReadPlan& plan, bool by_partition,
              std::optional<ByteRange> range, std::unique_ptr<Candidates> candidates)
      : snapshot_(std::move(snapshot)),
        plan_(plan),
        by_partition_(by_partition),
        range_(std::move(range)),
        candidates_(std::move(candidates)) {
    inner_plan_.table = plan.table;
    inner_plan_.now_seconds = plan.now_seconds;
    inner_plan_.interrupt = plan.interrupt;
    inner_plan_.keys.resize(1);
    if (by_partition_) {
      inner_plan_.names_rows = plan.names_rows;
      inner_plan_.rows = plan.rows;
      inner_plan_.intervals = plan.intervals;
    } else {
      inner_plan_.names_rows = true;
      if (plan_.names_rows)
        for (const Bytes& row : plan_.rows) named_.push_back({row, row::after(row)});
    }
  }

  Result<bool> next_partition() override {
    while (true) {
      SIBYL_ASSIGN(const bool found, find_partition());
      if (!found) return false;
      is_continued_ =
          plan_.after && plan_.after->clustering && plan_.after->partition_key == inner_plan_.keys[0];
      if (!by_partition_) {
        SIBYL_ASSIGN(const bool any, take_rows());
        if (!any) continue;
      } else {
        inner_plan_.after = is_continued_ ? plan_.after : std::nullopt;
      }
      later_.reset();
      SIBYL_ASSIGN(first_, open_reader(snapshot_, inner_plan_));
      SIBYL_ASSIGN(const bool opened, first_->next_partition());
      if (opened) return true;
    }
  }

  Result<bool> next_row() override {
    while (true) {
      SIBYL_ASSIGN(const bool found, current().next_row());
      if (found) return true;
      if (by_partition_) return false;
      SIBYL_ASSIGN(const bool any, take_rows());
      if (!any) return false;
      // The first reader is kept because it holds the partition's static row.
      SIBYL_ASSIGN(later_, open_reader(snapshot_, inner_plan_));
      SIBYL_ASSIGN(const bool opened, later_->next_partition());
      SIBYL_CHECK(opened);
    }
  }

  const Bytes& partition_key() const override { return inner_plan_.keys[0]; }
  const row::Fragment& static_row() const override { return first_->static_row(); }
  BytesView clustering() const override { return current().clustering(); }
  const row::Fragment& row() const override { return current().row(); }
  bool is_continued() const override { return is_continued_; }

 private:
  Reader& current() const { return later_ != nullptr ? *later_ : *first_; }

  // Moves the candidates to the first row of the next partition and reads its key.
  Result<bool> find_partition() {
    if (!range_) return false;
    std::optional<Bytes> from = range_->begin;
    if (!partition_.empty()) from = row::after(partition_);
    if (!from) return false;
    SIBYL_ASSIGN(const bool found, candidates_->seek(*from));
    if (!found || (range_->end && candidates_->suffix() >= *range_->end)) return false;
    Bytes key(id_size, '\0');
    key += candidates_->suffix();
    row::RecordKey parsed;
    if (!row::parse_record_key(key, parsed)) return base::fail(corrupt_index_entry());
    const BytesView prefix = parsed.prefix(key);
    if (!row::decode_partition_key(prefix, inner_plan_.keys[0])) return base::fail(corrupt_index_entry());
    partition_.assign(prefix.substr(id_size));
    is_within_ = true;
    return true;
  }

  bool is_wanted(BytesView clustering) const {
    const std::vector<plan::Interval>& intervals = plan_.names_rows ? named_ : plan_.intervals;
    const auto after =
        std::upper_bound(intervals.begin(), intervals.end(), clustering,
                         [](BytesView key, const plan::Interval& interval) { return key < interval.begin; });
    return after != intervals.begin() && (!std::prev(after)->end || clustering < *std::prev(after)->end);
  }

  // Moves the next candidates of the partition into the inner plan. Returns false if there are none.
  Result<bool> take_rows() {
    inner_plan_.rows.clear();
    while (is_within_ && inner_plan_.rows.size() < rows_at_once) {
      const BytesView suffix = candidates_->suffix();
      const BytesView clustering = suffix.substr(partition_.size() + 1);
      if (is_wanted(clustering)) inner_plan_.rows.emplace_back(clustering);
      SIBYL_ASSIGN(const bool found, candidates_->next());
      is_within_ = found && candidates_->suffix().starts_with(partition_);
    }
    return !inner_plan_.rows.empty();
  }

  const std::shared_ptr<const Snapshot> snapshot_;
  const ReadPlan& plan_;
  const bool by_partition_;
  const std::optional<ByteRange> range_;
  const std::unique_ptr<Candidates> candidates_;
  std::vector<plan::Interval> named_;

  ReadPlan inner_plan_;  // the current partition, and rows of it
  std::unique_ptr<Reader> first_, later_;
  Bytes partition_;         // the bytes with which the suffixes of all its rows begin
  bool is_within_ = false;  // true: the candidates are positioned on a row of the partition
  bool is_continued_ = false;
};

}  // namespace

base::Result<std::unique_ptr<Reader>> open_index_reader(const storage::Store& store, const ReadPlan& plan,
                                                        std::span<const IndexLookup> lookups) {
  SIBYL_CHECK(!plan.reversed && !lookups.empty());
  const bool by_partition = leads_to_partitions(*plan.table, *lookups[0].index);
  std::optional<ByteRange> range = range_of(plan);
  const Runs all = range ? runs_of(store.entry_runs(), *range) : Runs();
  if (lookups[0].terms.end && size_of_terms(store, lookups[0], all) > max_gathered_bytes) return nullptr;
  if (plan.after && range) range = continue_after(*plan.after, by_partition, std::move(*range));
  const Runs runs = range ? runs_of(store.entry_runs(), *range) : Runs();
  std::shared_ptr<const Snapshot> snapshot = store.snapshot();
  std::unique_ptr<Candidates> candidates;
  if (runs.empty()) {
    candidates = std::make_unique<Sorted>(std::vector<Bytes>());
  } else if (lookups[0].terms.end) {
    SIBYL_ASSIGN(candidates, gather(*snapshot, plan, lookups[0], runs, *range));
    if (candidates == nullptr) return nullptr;
  } else {
    std::vector<std::unique_ptr<Candidates>> terms;
    for (const IndexLookup& lookup : lookups)
      terms.push_back(std::make_unique<TermEntries>(*snapshot, *lookup.index, lookup.terms.begin, runs));
    candidates = terms.size() == 1 ? std::move(terms[0]) : std::make_unique<Intersection>(std::move(terms));
  }
  return std::make_unique<IndexReader>(std::move(snapshot), plan, by_partition, std::move(range),
                                       std::move(candidates));
}

}  // namespace sibyl::execute
