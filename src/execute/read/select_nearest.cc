#include "execute/read/select_nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/consistency.h"
#include "base/memory.h"
#include "execute/read/reader.h"
#include "execute/read/select_output.h"
#include "execute/read/select_row.h"
#include "execute/vector/vector_indexes.h"
#include "plan/evaluation/clustering.h"
#include "plan/evaluation/intervals.h"
#include "plan/evaluation/partitions.h"
#include "types/keys/murmur3.h"

namespace sibyl::execute {

using base::invalid;

namespace {

// With more candidates than this, comparing all rows is not slower.
constexpr size_t max_candidates = 20'000;

// Keeps the most similar rows.
class BestRows {
 public:
  explicit BestRows(size_t count) : count_(count) {}

  void add(float similarity, Bytes row) {
    rows_.push_back({similarity, added_++, std::move(row)});
    if (rows_.size() >= 2 * count_ + 16) shrink();
  }
  size_t size() const { return std::min(rows_.size(), count_); }
  void clear() { rows_.clear(); }
  void write(RowBuffer& out) {
    shrink();
    for (const Row& row : rows_) out.add_encoded_row(row.bytes);
  }

 private:
  struct Row {
    float similarity;
    size_t order;  // among equal rows, the one that was found first comes first
    Bytes bytes;
  };
  void shrink() {
    std::sort(rows_.begin(), rows_.end(), [](const Row& left, const Row& right) {
      return left.similarity != right.similarity ? left.similarity > right.similarity
                                                 : left.order < right.order;
    });
    if (rows_.size() > count_) rows_.resize(count_);
  }

  size_t count_, added_ = 0;
  std::vector<Row> rows_;
};

bool asks_for_one_copy(Consistency consistency) {
  return consistency == Consistency::any || consistency == Consistency::one ||
         consistency == Consistency::local_one;
}

class SelectingNearest {
 public:
  SelectingNearest(const plan::Prepared& prepared, const plan::Select& plan, const Request& request,
                   Environment& environment)
      : plan_(plan),
        request_(request),
        environment_(environment),
        bindings_{
            request.values,
            request.now_seconds ? int64_t{*request.now_seconds} * 1'000'000 : environment.clock.now_micros(),
            {},
            {},
            request.unmasked},
        writer_(plan, bindings_),
        inputs_(plan, bindings_, bindings_.now_micros / 1'000'000) {
    result_.kind = ResultSet::Kind::rows;
    result_.metadata = prepared.result;
  }

  base::Result<ResultSet> run() {
    SIBYL_TRY(read_limit());
    SIBYL_TRY(check_consistency());
    SIBYL_TRY(read_query());
    SIBYL_ASSIGN(const bool has_keys, make_read_plan());
    BestRows best(limit_);
    if (has_keys) {
      SIBYL_ASSIGN(const bool is_complete, compare_candidates(best));
      if (!is_complete) SIBYL_TRY(scan_all(best));
    }
    best.write(result_.rows);
    const base::UnlimitedMemory unlimited;  // statistics are shared by all statements
    if (environment_.observer != nullptr)
      environment_.observer->read(*plan_.table, read_.keys, result_.tombstones_read);
    return std::move(result_);
  }

 private:
  base::Status read_limit() {
    constexpr const char* no_limit =
        "Top-K queries must have a limit specified and the limit must be less than the query page size";
    if (plan_.limit == nullptr) return invalid(no_limit);
    SIBYL_ASSIGN(const ValueView value, plan_.limit->evaluate(bindings_, scratch_));
    if (value.is_null()) return invalid("Invalid null value of limit");
    if (value.is_unset()) return invalid(no_limit);
    const int64_t limit = types::decode_integer(types::Kind::int_, value.bytes);
    if (limit <= 0) return invalid("LIMIT must be strictly positive");
    if (limit > plan::Nearest::max_limit)
      return invalid(fmt::format(
          "Use of ANN OF in an ORDER BY clause requires a LIMIT that is not greater than {}. LIMIT was {}",
          plan::Nearest::max_limit, limit));
    if (request_.page_size > 0 && request_.page_size < limit)
      result_.warnings.push_back(fmt::format(
          "Top-K queries do not support paging and the page size is set to {}, which is less than "
          "LIMIT {}. The page size has been set to {} to match the LIMIT.",
          request_.page_size, limit, limit));
    limit_ = static_cast<size_t>(limit);
    return {};
  }

  base::Status check_consistency() {
    const Consistency wanted = request_.consistency;
    if (asks_for_one_copy(wanted)) return {};
    if (is_serial(wanted))
      return invalid(
          fmt::format("Top-K queries can only be run with consistency level ONE/LOCAL_ONE. "
                      "Consistency level {} was used.",
                      base::consistency_name(wanted)));
    result_.warnings.push_back(fmt::format(
        "Top-K queries can only be run with consistency level ONE / LOCAL_ONE / NODE_LOCAL. "
        "Consistency level {} was requested. Downgrading the consistency level to {}.",
        base::consistency_name(wanted), wanted == Consistency::local_quorum ? "LOCAL_ONE" : "ONE"));
    return {};
  }

  base::Status read_query() {
    const plan::Nearest& nearest = *plan_.nearest;
    SIBYL_ASSIGN(const ValueView value, nearest.vector->evaluate(bindings_, scratch_));
    if (value.is_null()) return invalid("Unsupported null value for column " + nearest.column->name);
    if (value.is_unset()) return invalid("Unsupported unset value for column " + nearest.column->name);
    query_ = plan::decode_floats(value.bytes);
    return plan::check_indexable(nearest.similarity, query_);
  }

  // Returns false if nothing can match.
  base::Result<bool> make_read_plan() {
    const plan::Restrictions& where = *plan_.where;
    read_.table = plan_.table.get();
    read_.now_seconds = bindings_.now_micros / 1'000'000;
    read_.interrupt = request_.interrupt;
    read_.is_range = where.partitions() == plan::Restrictions::Partitions::range;
    if (read_.is_range) {
      SIBYL_ASSIGN(read_.tokens, plan::token_range(where, bindings_, scratch_));
    } else {
      SIBYL_ASSIGN(read_.keys, plan::partition_keys(where, bindings_, scratch_));
    }
    SIBYL_ASSIGN(read_.intervals, plan::clustering_intervals(where, bindings_, scratch_));
    SIBYL_ASSIGN(filters_, input_filters(plan_, bindings_, scratch_));
    return (read_.is_range ? !read_.tokens.empty() : !read_.keys.empty()) && !read_.intervals.empty();
  }

  // Compares every row of the plan.
  base::Status compare_rows(const ReadPlan& plan, BestRows& best) {
    SIBYL_ASSIGN(const std::unique_ptr<Reader> reader,
                 open_reader(environment_.store_of(*plan_.table), plan));
    while (true) {
      if (request_.interrupt != nullptr) SIBYL_TRY(request_.interrupt->check());
      SIBYL_ASSIGN(const bool more_partitions, reader->next_partition());
      if (!more_partitions) {
        result_.tombstones_read += static_cast<uint64_t>(reader->tombstones());
        return {};
      }
      ++result_.partitions_read;
      SIBYL_TRY(inputs_.start_partition(reader->partition_key(), reader->static_row()));
      while (true) {
        SIBYL_ASSIGN(const bool more_rows, reader->next_row());
        if (!more_rows) break;
        if (++result_.rows_read % 64 == 0 && request_.interrupt != nullptr)
          SIBYL_TRY(request_.interrupt->check());
        SIBYL_TRY(inputs_.fill(reader->clustering(), reader->row()));
        if (satisfies(filters_, inputs_.values())) SIBYL_TRY(take(best));
      }
    }
  }

  base::Status take(BestRows& best) {
    const ValueView vector = inputs_.values()[static_cast<size_t>(plan_.nearest->input)];
    if (!vector.is_present()) return {};
    const std::vector<float> floats = plan::decode_floats(vector.bytes);
    if (floats.size() != query_.size()) return {};
    // Rows written before the index existed may have vectors that cannot be compared. Such rows are left
    // out.
    if (!plan::check_indexable(plan_.nearest->similarity, floats)) return {};
    RowBuffer row;
    SIBYL_TRY(writer_.write(inputs_.values(), {}, row));
    best.add(plan::similarity_between(plan_.nearest->similarity, floats, query_), row.take_bytes());
    return {};
  }

  base::Status scan_all(BestRows& best) {
    best.clear();
    return compare_rows(read_, best);
  }

  // Returns true if `best` has all requested rows.
  base::Result<bool> compare_candidates(BestRows& best) {
    const bool by_graph = read_.is_range && plan_.nearest->index->is_built && environment_.vectors != nullptr;
    if (!by_graph) return false;
    for (size_t wanted = 2 * limit_ + 16; wanted <= max_candidates; wanted *= 4) {
      SIBYL_ASSIGN(const std::vector<VectorIndexes::Row> rows, near_rows(wanted));
      best.clear();
      for (const VectorIndexes::Row& row : rows)
        if (may_match(row)) SIBYL_TRY(compare_rows(read_of(row), best));
      if (best.size() == limit_) return true;
      // there are few rows, so comparing all of them is cheap and misses none
      if (rows.size() < wanted) return false;
    }
    return false;
  }

  // The graph is shared by all statements and may be loaded here, so the memory limit of one statement must
  // not interrupt that.
  base::Result<std::vector<VectorIndexes::Row>> near_rows(size_t wanted) const {
    const base::UnlimitedMemory unlimited;
    return environment_.vectors->nearest(environment_.store, *plan_.table, *plan_.nearest->index, query_,
                                         wanted, read_.now_seconds);
  }

  // Checks the row against the requested keys, which the filters do not check.
  bool may_match(const VectorIndexes::Row& row) const {
    const int64_t token = types::murmur3_token(row.partition_key);
    if (token < read_.tokens.first || token > read_.tokens.last) return false;
    return std::any_of(read_.intervals.begin(), read_.intervals.end(), [&](const plan::Interval& interval) {
      return row.clustering >= interval.begin && (!interval.end || row.clustering < *interval.end);
    });
  }

  ReadPlan read_of(const VectorIndexes::Row& row) const {
    ReadPlan one;
    one.table = read_.table;
    one.now_seconds = read_.now_seconds;
    one.keys = {row.partition_key};
    one.names_rows = true;
    one.rows = {row.clustering};
    return one;
  }

  const plan::Select& plan_;
  const Request& request_;
  Environment& environment_;
  plan::Bindings bindings_;
  plan::Scratch scratch_;
  RowWriter writer_;
  RowInputs inputs_;
  ReadPlan read_;
  std::vector<InputFilter> filters_;
  std::vector<float> query_;
  size_t limit_ = 0;
  ResultSet result_;
};

}  // namespace

base::Result<ResultSet> select_nearest(const plan::Prepared& prepared, const plan::Select& plan,
                                       const Request& request, Environment& environment) {
  return SelectingNearest(prepared, plan, request, environment).run();
}

}  // namespace sibyl::execute
