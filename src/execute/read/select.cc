#include "execute/read/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "execute/interruptible.h"
#include "execute/read/index_reader.h"
#include "execute/read/paging.h"
#include "execute/read/reader.h"
#include "execute/read/select_nearest.h"
#include "execute/read/select_output.h"
#include "execute/read/select_row.h"
#include "execute/trace.h"
#include "execute/write_limits.h"
#include "plan/evaluation/clustering.h"
#include "plan/evaluation/filters.h"
#include "plan/evaluation/intervals.h"
#include "plan/evaluation/partitions.h"
#include "plan/statements/modify.h"
#include "plan/statements/select.h"
#include "types/keys/murmur3.h"

namespace sibyl::execute {

using base::invalid;

namespace {

constexpr int64_t unlimited = std::numeric_limits<int32_t>::max();
// A page ends early rather than exceed the first limit. A result that cannot be paged is refused beyond the
// second. A page gets only a part of the statement's memory, because memory is also needed to grow it and to
// build its rows.
constexpr size_t max_page_bytes = 64u << 20;
constexpr size_t max_result_bytes = 256u << 20;

size_t page_bytes() {
  return std::min(max_page_bytes, static_cast<size_t>(base::memory_limits().statement_bytes / 4));
}

class Selecting {
 public:
  Selecting(const plan::Prepared& prepared, const plan::Select& plan, const Request& request,
            Environment& environment)
      : plan_(plan),
        text_(prepared.text),
        guardrails_(*environment.guardrails),
        request_(request),
        store_(environment.store_of(*plan.table)),
        observer_(environment.observer),
        bindings_{request.values, now_micros(request, environment), {}, {}, request.unmasked},
        writer_(plan, bindings_),
        inputs_(plan, bindings_, bindings_.now_micros / 1'000'000) {
    result_.kind = ResultSet::Kind::rows;
    result_.metadata = prepared.result;
  }

  base::Result<ResultSet> run() {
    SIBYL_TRY(read_limits());
    SIBYL_TRY(read_paging_state());
    SIBYL_ASSIGN(const bool may_match, make_read_plan());
    if (may_match || plan_.aggregates()) SIBYL_TRY(check_sorting());
    if (may_match) SIBYL_TRY(read());
    if (plan_.aggregates()) SIBYL_TRY(finish_groups());
    if (sorted_) sorted_->write(remaining_, result_.rows);
    warn();
    return std::move(result_);
  }

 private:
  static int64_t now_micros(const Request& request, Environment& environment) {
    return request.now_seconds ? int64_t{*request.now_seconds} * 1'000'000 : environment.clock.now_micros();
  }

  // --- Before reading

  base::Result<int64_t> limit(const plan::TermPtr& term) {
    if (term == nullptr) return unlimited;
    SIBYL_ASSIGN(const ValueView value, term->evaluate(bindings_, scratch_));
    if (value.is_null()) return invalid("Invalid null value of limit");
    if (value.is_unset()) return unlimited;
    if (value.bytes.size() != 4) return invalid("Invalid limit value");
    const int64_t count = types::decode_integer(types::Kind::int_, value.bytes);
    if (count <= 0) return invalid("LIMIT must be strictly positive");
    return count;
  }

  base::Status read_limits() {
    SIBYL_ASSIGN(remaining_, limit(plan_.limit));
    SIBYL_ASSIGN(partition_limit_, limit(plan_.per_partition_limit));
    if (plan_.distinct) partition_limit_ = 1;
    remaining_in_partition_ = partition_limit_;
    // Without groups an aggregate is a single row, however much was read for it.
    is_single_ = plan_.aggregates() && plan_.group_by == nullptr;
    is_paged_ = request_.page_size > 0 && !is_single_;
    if (!plan_.sort.empty()) sorted_.emplace(plan_);
    if (plan_.aggregates()) groups_.emplace(plan_, bindings_);
    return {};
  }

  // Rows of several partitions can only be sorted once all have been read, so they cannot be paged.
  base::Status check_sorting() const {
    if (!sorted_ || request_.page_size <= 0) return {};
    return invalid(
        "Cannot page queries with both ORDER BY and a IN restriction on the partition key; you must either "
        "remove the ORDER BY or the IN and sort client side, or disable paging for this query");
  }

  base::Status read_paging_state() {
    if (!request_.paging_state || request_.paging_state->empty() || is_single_) return {};
    SIBYL_ASSIGN(PagingState state, decode_paging_state(*plan_.table, *request_.paging_state));
    remaining_ = std::min(remaining_, state.remaining);
    continued_in_partition_ = std::min(partition_limit_, state.remaining_in_partition);
    read_.after = std::move(state.position);
    return {};
  }

  // Returns false if nothing can match.
  base::Result<bool> make_read_plan() {
    const plan::Restrictions& where = *plan_.where;
    read_.table = plan_.table.get();
    read_.select = &plan_;
    read_.now_seconds = bindings_.now_micros / 1'000'000;
    read_.reversed = plan_.reversed;
    read_.interrupt = request_.interrupt;
    read_.is_range = where.partitions() == plan::Restrictions::Partitions::range;
    SIBYL_TRY(make_filters());
    if (read_.is_range) {
      SIBYL_ASSIGN(read_.tokens, plan::token_range(where, bindings_, scratch_));
    } else {
      SIBYL_ASSIGN(read_.keys, plan::partition_keys(where, bindings_, scratch_));
    }
    read_.names_rows = where.names_whole_row() && !plan_.distinct;
    if (read_.names_rows) {
      SIBYL_ASSIGN(std::vector<plan::NamedRow> rows, plan::named_rows(where, bindings_, scratch_));
      read_.rows.reserve(rows.size());
      for (plan::NamedRow& row : rows) read_.rows.push_back(std::move(row.clustering));
    } else {
      SIBYL_ASSIGN(read_.intervals, plan::clustering_intervals(where, bindings_, scratch_));
    }
    if (!plan_.table->is_virtual) {
      SIBYL_TRY(guard_keys());
      if (guardrails_.tombstone_failure_threshold > 0)
        read_.max_tombstones = guardrails_.tombstone_failure_threshold;
    }
    const bool no_partition = read_.is_range ? read_.tokens.empty() : read_.keys.empty();
    const bool no_row = read_.names_rows ? read_.rows.empty() : read_.intervals.empty();
    return !no_partition && !no_row;
  }

  base::Status guard_keys() {
    const plan::Restrictions& where = *plan_.where;
    if (where.has_partition_in()) {
      const auto keys = static_cast<int64_t>(read_.keys.size());
      SIBYL_TRY(guard(guardrails_, plan::cartesian_product_guard, keys, "partition key", result_.warnings));
      SIBYL_TRY(guard(guardrails_, plan::partition_keys_guard, keys, plan_.table->name, result_.warnings));
    }
    if (!where.has_clustering_in()) return {};
    const auto rows = static_cast<int64_t>(read_.names_rows ? read_.rows.size() : read_.intervals.size());
    return guard(guardrails_, plan::cartesian_product_guard, rows, "clustering key", result_.warnings);
  }

  base::Status make_filters() {
    if (!plan_.where->needs_filtering()) return {};
    SIBYL_ASSIGN(std::vector<InputFilter> filters, input_filters(plan_, bindings_, scratch_));
    for (InputFilter& one : filters) {
      const bool of_partition = one.filter.column->is_partition_key() || one.filter.column->is_static();
      (of_partition ? partition_filters_ : row_filters_).push_back(std::move(one));
    }
    return {};
  }

  // --- Reading

  static std::string names_of(const std::vector<plan::IndexUse>& uses) {
    std::string names;
    for (const plan::IndexUse& use : uses) names += (names.empty() ? "" : ", ") + use.index->name;
    return names;
  }

  // Reads through an index if there is one and it does not lead to too many rows.
  base::Result<std::unique_ptr<Reader>> open() {
    const std::vector<plan::IndexUse>& uses = plan_.where->index_uses();
    if (uses.empty()) return open_reader(store_, read_);
    std::vector<IndexLookup> lookups;
    for (size_t i = 0; i < uses.size(); ++i) {
      SIBYL_ASSIGN(plan::Interval terms, plan::index_interval(*plan_.where, i, bindings_, scratch_));
      lookups.push_back({uses[i].index, std::move(terms)});
    }
    SIBYL_ASSIGN(std::unique_ptr<Reader> reader, open_index_reader(store_, read_, lookups));
    if (request_.trace != nullptr)
      request_.trace->step(reader != nullptr
                               ? fmt::format("Reading through {}", names_of(uses))
                               : fmt::format("{} would lead to too many rows: reading all", names_of(uses)));
    if (reader != nullptr) return reader;
    return open_reader(store_, read_);
  }

  base::Status read() {
    SIBYL_ASSIGN(reader_, open());
    while (!done_) {
      SIBYL_TRY(check_interrupt());
      SIBYL_ASSIGN(const bool more, reader_->next_partition());
      if (!more) break;
      ++partitions_read_;
      SIBYL_TRY(read_partition());
    }
    if (request_.trace != nullptr)
      request_.trace->step(fmt::format("Read {} rows of {} partitions of {}", rows_read_, partitions_read_,
                                       plan_.table->name));
    return {};
  }

  // Reading a row takes a microsecond, but calling a function for it may take a thousand times as long.
  base::Status check_interrupt() {
    constexpr uint32_t steps = 8;
    if (request_.interrupt == nullptr || ++steps_ % steps != 0) return {};
    return request_.interrupt->check();
  }

  // The number of rows that may be taken from the partition. Groups are counted separately.
  int64_t rows_of_partition() const {
    if (groups_) return plan_.distinct ? 1 : unlimited;
    const int64_t rows = reader_->is_continued() ? continued_in_partition_ : partition_limit_;
    // Within a partition rows come in order, so rows beyond the limit cannot be among the first after
    // sorting.
    return sorted_ ? std::min(rows, remaining_) : rows;
  }

  base::Status read_partition() {
    remaining_in_partition_ = rows_of_partition();
    last_read_partition_.assign(reader_->partition_key());
    SIBYL_TRY(inputs_.start_partition(reader_->partition_key(), reader_->static_row()));
    if (!satisfies(partition_filters_, inputs_.values())) return {};
    bool has_rows = reader_->is_continued();
    while (!done_ && remaining_in_partition_ > 0) {
      SIBYL_TRY(check_interrupt());
      SIBYL_ASSIGN(const bool more, reader_->next_row());
      if (!more) break;
      ++rows_read_;
      has_rows = true;
      ++live_rows_;
      SIBYL_TRY(inputs_.fill(reader_->clustering(), reader_->row()));
      if (!satisfies(row_filters_, inputs_.values())) continue;
      SIBYL_TRY(take(reader_->clustering()));
    }
    const bool only_static = !has_rows && !reader_->static_row().cells.empty() &&
                             !plan_.where->restricts_clustering() && !plan_.where->restricts_regular();
    if (!only_static || done_) return {};
    inputs_.fill_static_only();
    return take(std::nullopt);
  }

  // Handles one matching row. Without clustering, it has only static columns.
  base::Status take(std::optional<BytesView> clustering) {
    if (groups_) return take_into_group(clustering);
    if (sorted_) {
      RowBuffer row;
      SIBYL_TRY(writer_.write(inputs_.values(), {}, row));
      sorted_->add(inputs_.values(), std::move(row));
      --remaining_in_partition_;
      return sorted_->byte_size() > max_result_bytes ? too_large() : base::Status();
    }
    SIBYL_TRY(writer_.write(inputs_.values(), {}, result_.rows));
    return count_row(clustering);
  }

  // Checks after each result row whether the page, the partition or the whole read is complete.
  base::Status count_row(std::optional<BytesView> last) {
    --remaining_;
    --remaining_in_partition_;
    const size_t bytes = result_.rows.bytes().size();
    if (remaining_ == 0) {
      done_ = true;
      return {};
    }
    if (!is_paged_) return bytes > max_result_bytes ? too_large() : base::Status();
    if (static_cast<int64_t>(result_.rows.count()) < request_.page_size && bytes < page_bytes()) return {};
    done_ = true;
    if (is_last_row(last)) return {};
    PagingState state;
    state.position.partition_key = reader_->partition_key();
    if (last && remaining_in_partition_ > 0) state.position.clustering = Bytes(*last);
    state.remaining = remaining_;
    state.remaining_in_partition = std::max<int64_t>(remaining_in_partition_, 0);
    result_.paging_state = encode_paging_state(*plan_.table, state);
    return {};
  }

  // Returns true if it is known, without reading further, that no row follows.
  bool is_last_row(std::optional<BytesView> clustering) const {
    if (read_.is_range || reader_->partition_key() != read_.keys.back()) return false;
    return !clustering || remaining_in_partition_ <= 0 || plan_.table->clustering_count == 0;
  }

  static base::Status too_large() {
    return base::fail(base::Error(base::ErrorCode::invalid, "The result is larger than 256 MiB")
                          .with_hint("read it page by page, or use a LIMIT"));
  }

  // --- Groups

  base::Status take_into_group(std::optional<BytesView> clustering) {
    SIBYL_ASSIGN(const bool continues,
                 groups_->continues(reader_->partition_key(), clustering, inputs_.values()));
    if (!continues) {
      if (groups_->has_group()) SIBYL_TRY(finish_group());
      if (done_) return {};
      if (group_partition_ != reader_->partition_key()) {
        group_partition_ = reader_->partition_key();
        groups_in_partition_ = reader_->is_continued() ? continued_in_partition_ : partition_limit_;
      }
      if (groups_in_partition_ == 0) {
        remaining_in_partition_ = 0;
        return {};
      }
      SIBYL_TRY(groups_->start(reader_->partition_key(), clustering, inputs_.values()));
    }
    --remaining_in_partition_;
    if (is_paged_) note_position(clustering);
    return groups_->add(inputs_.values());
  }

  void note_position(std::optional<BytesView> clustering) {
    last_partition_.assign(reader_->partition_key());
    if (!clustering) return last_clustering_.reset();
    if (!last_clustering_) last_clustering_.emplace();
    last_clustering_->assign(*clustering);
  }

  // Writes the group that has just ended, and ends the page if it is full.
  base::Status finish_group() {
    if (sorted_) {
      RowBuffer row;
      SIBYL_TRY(groups_->finish(writer_, row));
      sorted_->add(groups_->first(), std::move(row));
      --groups_in_partition_;
      return sorted_->byte_size() > max_result_bytes ? too_large() : base::Status();
    }
    SIBYL_TRY(groups_->finish(writer_, result_.rows));
    --remaining_;
    --groups_in_partition_;
    if (remaining_ == 0) {
      done_ = true;
      return {};
    }
    const size_t bytes = result_.rows.bytes().size();
    if (!is_paged_) return bytes > max_result_bytes ? too_large() : base::Status();
    if (static_cast<int64_t>(result_.rows.count()) < request_.page_size && bytes < page_bytes()) return {};
    done_ = true;
    if (!read_.is_range && groups_in_partition_ <= 0 && last_partition_ == read_.keys.back()) return {};
    PagingState state;
    state.position.partition_key = last_partition_;
    if (groups_in_partition_ > 0) state.position.clustering = last_clustering_;
    state.remaining = remaining_;
    state.remaining_in_partition = groups_in_partition_;
    result_.paging_state = encode_paging_state(*plan_.table, state);
    return {};
  }

  base::Status finish_groups() {
    if (groups_->has_group()) return finish_group();
    return is_single_ ? groups_->finish(writer_, result_.rows) : base::Status();
  }

  // A token would confirm a guessed key.
  bool hides_key() const {
    if (request_.unmasked) return false;
    for (size_t i = 0; i < plan_.table->partition_key_count; ++i)
      if (plan_.table->partition_key(i).mask) return true;
    return false;
  }

  // Cassandra's text, with the statement as it was sent.
  void warn_of_tombstones() {
    const int64_t threshold = guardrails_.tombstone_warn_threshold;
    if (reader_ == nullptr || plan_.table->is_virtual || threshold <= 0 || reader_->tombstones() <= threshold)
      return;
    result_.warnings.push_back(
        fmt::format("Read {} live rows and {} tombstone cells for query {:.512}; token {} (see "
                    "tombstone_warn_threshold)",
                    live_rows_, reader_->tombstones(), text_,
                    hides_key() ? "****" : fmt::format("{}", types::murmur3_token(last_read_partition_))));
  }

  // Those keys of the statement that this page has read: the first ones.
  std::span<const Bytes> named_partitions() const {
    if (partitions_read_ == 0 || !plan_.where->index_uses().empty()) return {};
    const auto last = std::find(read_.keys.begin(), read_.keys.end(), last_read_partition_);
    if (last == read_.keys.end()) return {};
    return {last + 1 - static_cast<ptrdiff_t>(partitions_read_), partitions_read_};
  }

  void warn() {
    result_.partitions_read = partitions_read_;
    result_.rows_read = static_cast<uint64_t>(live_rows_);
    if (reader_ != nullptr) result_.tombstones_read = static_cast<uint64_t>(reader_->tombstones());
    if (observer_ != nullptr) {
      const base::UnlimitedMemory unlimited;  // statistics are shared by all statements
      observer_->read(*plan_.table, named_partitions(), result_.tombstones_read);
    }
    warn_of_tombstones();
    if (!plan_.aggregates()) return;
    if (!plan_.where->restricts_partition())
      result_.warnings.push_back("Aggregation query used without partition key");
    else if (plan_.where->has_partition_in())
      result_.warnings.push_back("Aggregation query used on multiple partition keys (IN restriction)");
  }

  const plan::Select& plan_;
  const std::string& text_;
  const plan::Guardrails& guardrails_;
  const Request& request_;
  const storage::Store& store_;
  Observer* const observer_;
  plan::Bindings bindings_;
  plan::Scratch scratch_;
  RowWriter writer_;
  RowInputs inputs_;
  ReadPlan read_;
  std::unique_ptr<Reader> reader_;
  std::vector<InputFilter> partition_filters_, row_filters_;
  ResultSet result_;

  bool is_paged_ = false, is_single_ = false, done_ = false;
  uint32_t steps_ = 0;  // since the interrupt was last polled
  size_t partitions_read_ = 0, rows_read_ = 0;
  int64_t remaining_ = unlimited, partition_limit_ = unlimited;
  int64_t remaining_in_partition_ = unlimited, continued_in_partition_ = unlimited;

  int64_t live_rows_ = 0;
  Bytes last_read_partition_;

  std::optional<SortedRows> sorted_;
  std::optional<Groups> groups_;
  Bytes group_partition_, last_partition_;
  std::optional<Bytes> last_clustering_;
  int64_t groups_in_partition_ = unlimited;
};

}  // namespace

base::Result<ResultSet> select(const plan::Prepared& prepared, const Request& request,
                               Environment& environment) {
  const auto* plan = std::get_if<std::shared_ptr<const plan::Select>>(&prepared.plan);
  SIBYL_CHECK(plan != nullptr);
  if (request.values.size() != prepared.markers.size()) return invalid("Invalid amount of bind variables");
  if (request.consistency == Consistency::any)
    return invalid("ANY ConsistencyLevel is only supported for writes");
  // Every level reads the latest committed data. Cassandra needs a separate round for each partition.
  if (is_serial(request.consistency) && (*plan)->where->has_partition_in())
    return invalid("SERIAL/LOCAL_SERIAL consistency may only be requested for one partition at a time");
  const Counted counted = Counted::from_now(prepared.shape);
  base::Result<ResultSet> result = run_interruptible(request.interrupt, [&] {
    return (*plan)->nearest ? select_nearest(prepared, **plan, request, environment)
                            : Selecting(prepared, **plan, request, environment).run();
  });
  if (result && counted.shape != nullptr && environment.observer != nullptr)
    environment.observer->ended(counted, *result);
  return result;
}

}  // namespace sibyl::execute
