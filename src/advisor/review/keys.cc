// Reviews a table's key and the size of its cells.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advisor/review/fix.h"
#include "advisor/review/judgement/collisions.h"
#include "advisor/review/judgement/periods.h"
#include "advisor/review/judgement/short_periods.h"
#include "advisor/workload/stored_size.h"

namespace sibyl::advisor {
namespace {

using types::Kind;

constexpr double year = 365 * 86'400.0;
constexpr double least_element = 24;  // bytes of an element while it is read
constexpr double large_cell = 1e6, huge_cell = 10e6, chunk_bytes = 512e3;
constexpr double many_elements = 10'000;  // of a collection, which is read as a whole

bool is_unique_type(const schema::Column& column) {
  return column.type->kind() == Kind::uuid || column.type->kind() == Kind::timeuuid;
}

class KeyReviewer {
 public:
  KeyReviewer(const ReviewModel& model, const TableFacts& table, Review& review)
      : model_(model), facts_(table), table_(*table.table), review_(review) {}

  void run() {
    // If every partition has one row, no row overwrites another.
    if (!too_unique() && !review_capacity(model_, facts_, review_)) collisions();
    review_short_period(model_, facts_, review_);
    large_cells();
  }

 private:
  Finding begin(Verdict verdict, Severity severity, std::string message) const {
    return begin_finding(facts_, verdict, severity, std::move(message));
  }

  // Reports tables with about one row per partition, whose clustering key orders nothing.
  bool too_unique() {
    // A view's key contains its base table's key; its clustering columns are needed to distinguish rows.
    if (table_.is_view() || table_.clustering_count == 0 || !facts_.rows || *facts_.rows < 100) return false;
    const schema::Column* unique = nullptr;
    for (size_t i = 0; i < table_.partition_key_count; ++i) {
      const std::optional<double> distinct = facts_.column(table_.partition_key(i)).distinct;
      if (distinct && *distinct >= 0.9 * rows_then()) unique = &table_.partition_key(i);
    }
    const bool declared = facts_.partitions && *facts_.partitions >= 0.9 * rows_then();
    if (unique == nullptr && !declared) return false;
    // A table with fewer rows may be new: more rows per partition may follow.
    constexpr double begun = 1000;
    if (facts_.origin == Origin::measured && *facts_.rows < begun) return false;
    // Some partitions are known to have several rows.
    if (facts_.max.value_or(1) > 1 || facts_.p99.value_or(1) > 1) return false;
    if (unique == nullptr) unique = &table_.partition_key(0);
    Finding finding =
        begin(Verdict::too_unique, Severity::warning,
              fmt::format("Every partition holds about one row, so clustering by {} has no effect.",
                          table_.clustering(0).name));
    finding.evidence.push_back(
        {fmt::format("{} rows, {}", count_text(*facts_.rows), keys_text(*unique)), facts_.origin});
    if (!has_one_row_each(*unique)) {
      finding.fix =
          "If rows are needed in order, partition by the column that the query compares with =, and put this "
          "column last in the key. Keep the clustering columns: some partitions may have several rows.";
      finding.cost = "The rows must be copied once.";
      review_.findings.push_back(std::move(finding));
      return true;
    }
    Proposal proposal;
    proposal.unclustered = true;
    finding.proposal = std::make_shared<const Proposal>(std::move(proposal));
    finding.fix =
        "Remove the clustering columns. If rows are needed in order, partition by the column that the query "
        "compares with =, and put this column last in the key.";
    finding.cost = "None: the partition key already identifies the row.";
    review_.findings.push_back(std::move(finding));
    return true;
  }

  std::string keys_text(const schema::Column& unique) const {
    const std::optional<double>& distinct = facts_.column(unique).distinct;
    return distinct ? fmt::format("{} distinct {}", count_text(*distinct), unique.name)
                    : fmt::format("{} partitions", count_text(*facts_.partitions));
  }

  // Every value has one row if there are as many values as rows, no new rows, and an even distribution. If
  // there are more values than rows, they are possible values, and some may occur twice.
  bool has_one_row_each(const schema::Column& unique) const {
    const double values = facts_.column(unique).distinct.value_or(facts_.partitions.value_or(0));
    const bool even = facts_.key_skew() == 0 && facts_.column(unique).skew == 0;
    constexpr double rounding = 1e-9;
    return even && !facts_.growth && facts_.inserts <= 0 &&
           std::abs(values - *facts_.rows) <= rounding * *facts_.rows;
  }

  // Returns the rows at the horizon. A table that grows under the same partition keys does not keep one row
  // in each.
  double rows_then() const {
    const double ahead = model_.horizon_of(facts_);
    return std::max(*facts_.rows, facts_.growth ? facts_.rows_after(ahead) : 0);
  }

  // Reports rows with the same key, of which the later one overwrites the earlier one.
  void collisions() {
    if (table_.is_counter || table_.is_view()) return;
    double product = 1;
    bool all_known = true;
    const schema::Column* last = &table_.columns[table_.partition_key_count + table_.clustering_count - 1];
    for (size_t i = 0; i < table_.partition_key_count + table_.clustering_count; ++i) {
      const schema::Column& column = table_.columns[i];
      if (is_unique_type(column) && table_.clustering_count > 0 && column.is_clustering()) return;
      if (facts_.column(column).is_snowflake) return;
      if (column.type->kind() == Kind::timeuuid) return;
      const std::optional<double> distinct = facts_.column(column).distinct;
      if (distinct && facts_.rows && *distinct >= *facts_.rows) return;  // the column identifies the row
      all_known = all_known && distinct.has_value();
      product *= distinct.value_or(1);
    }
    if (all_known && facts_.rows && product < *facts_.rows) {
      Finding finding = begin(
          Verdict::key_collision, Severity::error,
          fmt::format("The key has {} possible values, but the table has {} rows: rows overwrite each other.",
                      count_text(product), count_text(*facts_.rows)));
      finding.evidence.push_back({"product of the distinct values of the key columns", facts_.origin});
      fix_collision(facts_, *last, finding);
      review_.findings.push_back(std::move(finding));
      return;
    }
    if (facts_.column(*last).growth) return;
    // A date, or a time rounded to a period, belongs to a summary, unless its rows are declared to arrive at
    // random.
    const bool rounded = last->type->kind() == Kind::date || summaries_per_second(facts_).has_value();
    const bool summary = rounded && facts_.arrival != Arrival::random;
    if (facts_.is_time(*last) && last->type->kind() != Kind::timeuuid && !summary)
      time_collisions(*last);
    else if (is_measure(*last) && last->is_clustering())
      measure_collisions(*last);
  }

  static bool is_measure(const schema::Column& column) {
    const Kind kind = column.type->kind();
    return kind == Kind::decimal || kind == Kind::double_ || kind == Kind::float_;
  }

  void measure_collisions(const schema::Column& last) {
    Finding finding = begin(Verdict::key_collision, Severity::warning,
                            fmt::format("Two rows with the same {} overwrite each other.", last.name));
    finding.evidence.push_back(
        {fmt::format("{} is the last key column and does not identify a row", last.name), Origin::estimated});
    fix_collision(facts_, last, finding);
    review_.findings.push_back(std::move(finding));
  }

  // Rows per `seconds` that are overwritten by a row with the same key and millisecond, if rows arrive at
  // random. Empty if unknown.
  std::optional<double> lost_rows(const schema::Column& last, double seconds) const {
    const double tick = 1 / facts_.ticks_per_second(last);
    const double share = table_.clustering_count == 0 ? 1 : facts_.hottest_share();
    if (!facts_.growth || share <= 0) return std::nullopt;
    // At regular intervals, two rows of a key share a millisecond only if the interval is shorter than that.
    if (facts_.arrival == Arrival::regular)
      return *facts_.growth * share * tick <= 1 ? 0 : *facts_.growth * share * seconds;
    double squares = share;  // upper bound of the sum of squared shares
    if (const std::optional<double> keys = facts_.keys(); keys && table_.clustering_count > 0) {
      const double skew = facts_.key_skew();
      squares = skew > 0 ? zipf_sum(*keys, 2 * skew) / std::pow(zipf_sum(*keys, skew), 2) : 1 / *keys;
    }
    // Equivalent to 1 / squares uniform partitions. Of n rows in one millisecond, n - 1 are lost.
    const double each = *facts_.growth * squares * tick;
    const double lost_each = each < 1e-4 ? each * each / 2 : each - 1 + std::exp(-each);
    return lost_each / squares / tick * seconds;
  }

  // Rows at regular intervals never collide. Unless random arrival is declared, collisions are likely only if
  // a key gets several rows per second.
  Severity collision_severity(const std::optional<double>& lost) const {
    // Less than one row per year.
    if (!lost || *lost < 1) return Severity::note;
    const double busiest = table_.clustering_count == 0 ? 1 : facts_.hottest_share();
    const bool sure = facts_.arrival || *facts_.growth * busiest > 1;
    return sure ? Severity::error : Severity::warning;
  }

  const char* precision_of(const schema::Column& last) const {
    const double ticks = facts_.ticks_per_second(last);
    return ticks < 1     ? "day"
           : ticks < 1e3 ? "second"
           : ticks < 1e6 ? "millisecond"
           : ticks < 1e9 ? "microsecond"
                         : "nanosecond";
  }

  void time_collisions(const schema::Column& last) {
    const double ahead = std::min(year, facts_.max_prediction_seconds());
    const std::optional<double> lost = lost_rows(last, ahead);
    if (lost && *lost < 0.01) return;
    if (!lost && facts_.arrival == Arrival::regular) return;
    Finding finding =
        begin(Verdict::key_collision, collision_severity(lost),
              lost ? fmt::format("About {} rows {} overwrite another row of the same {}.", count_text(*lost),
                                 ahead < year ? "in " + duration_text(ahead) : std::string("per year"),
                                 precision_of(last))
                   : fmt::format("Two rows with the same {} overwrite each other.", last.name));
    if (facts_.growth) finding.evidence.push_back(growth_evidence(facts_));
    if (facts_.growth && facts_.keys() && *facts_.growth > 0)
      finding.evidence.push_back(
          {fmt::format("one row per key every {}, {}", duration_text(*facts_.keys() / *facts_.growth),
                       facts_.arrival ? "at random" : "at random unless arrival=regular is declared"),
           facts_.arrival ? Origin::declared : Origin::estimated});
    finding.evidence.push_back(
        {fmt::format("the precision of {} is a {}", last.name, precision_of(last)), Origin::estimated});
    fix_collision(facts_, last, finding);
    review_.findings.push_back(std::move(finding));
  }

  // True if each added element is a new one: lists keep all of them, and other collections those with a new key.
  static bool keeps_all(const types::Type& type) {
    if (type.kind() == Kind::list) return true;
    const Kind key = type.kind() == Kind::map ? type.map_key()->kind() : type.element()->kind();
    return key == Kind::uuid || key == Kind::timeuuid || key == Kind::timestamp || key == Kind::bigint;
  }

  // The elements that statements will have added to the collection of the busiest row at the horizon. A declared
  // maximum limits them.
  double added_elements(const schema::Column& column) const {
    const auto appends = facts_.appends.find(column.name);
    if (appends == facts_.appends.end() || appends->second <= 0 || !facts_.rows || *facts_.rows <= 0)
      return 0;
    if (facts_.column(column).max_elements || !keeps_all(*column.type)) return 0;
    double seconds = model_.horizon_of(facts_);
    if (facts_.retention) seconds = std::min(seconds, *facts_.retention);
    const double rows = std::max(*facts_.rows, facts_.growth ? facts_.rows_after(seconds / 2) : 0);
    const double share =
        table_.clustering_count == 0 && facts_.key_skew() > 0 ? facts_.hottest_share() : 1 / rows;
    return appends->second * seconds * share;
  }

  void large_cells() {
    for (const schema::Column& column : table_.columns) {
      if (column.is_primary_key()) continue;
      const ColumnFacts& known = facts_.column(column);
      double size = known.size.value_or(0), elements = 0;
      if (column.type->is_collection()) {
        const double now = known.max_elements.value_or(known.elements.value_or(0));
        const double added = added_elements(column);
        elements = now + added;
        const double each =
            now > 0 ? std::max(size / now, element_bytes(*column.type)) : element_bytes(*column.type);
        size = std::max(size, elements * each);
      }
      if (std::max(size, elements * least_element) >= large_cell || elements >= many_elements)
        report_cell(column, size, elements);
    }
  }

  void report_cell(const schema::Column& column, double size, double elements) {
    const ColumnFacts& known = facts_.column(column);
    const double added = column.type->is_collection() ? added_elements(column) : 0;
    const std::string much =
        size >= large_cell ? size_text(size) : fmt::format("{} elements", count_text(elements));
    Finding finding =
        begin(Verdict::large_cell, size >= huge_cell ? Severity::error : Severity::warning,
              added > elements / 2 ? fmt::format("Nothing removes elements from {}: in {}, a value has {}.",
                                                 column.name, duration_text(model_.horizon_of(facts_)), much)
                                   : fmt::format("A value of {} {} {}; it is read and written as a whole.",
                                                 column.name, size >= large_cell ? "takes" : "has", much));
    if (elements > added || known.size)
      finding.evidence.push_back({elements > added ? fmt::format("{} elements", count_text(elements - added))
                                                   : fmt::format("size={}", size_text(*known.size)),
                                  facts_.origin});
    if (added > 0)
      finding.evidence.push_back(
          {fmt::format("{} new elements in {} rows", rate_text(facts_.appends.at(column.name)),
                       count_text(*facts_.rows)),
           facts_.rate_origin});
    fix_large(finding, column, size);
    review_.findings.push_back(std::move(finding));
  }

  // The bytes of an element, including its overhead.
  static double element_bytes(const types::Type& type) {
    double bytes = 0;
    constexpr double around = 6;
    for (const types::TypePtr& part : type.parameters()) bytes += around + value_size(*part, 0, 0);
    return bytes;
  }

  void fix_large(Finding& finding, const schema::Column& column, double size) const {
    Shape shape = shape_of(table_);
    shape.name += "_" + column.name;
    std::erase_if(shape.columns, [&](const Shape::Column& one) {
      return one.name != column.name && !shape.in_key(one.name);
    });
    for (Shape::Column& one : shape.columns) one.is_static = false;
    if (column.type->is_collection()) {
      finding.fix =
          "Store each element as a row of a separate table: rows can be read in part and have no size limit.";
      add_elements(column, shape, finding);
      finding.cost = "One more request if the rest of the row is needed as well.";
    } else {
      const std::string chunk = shape.free_name("chunk");
      shape.columns.push_back({chunk, "int", false});
      shape.clustering.push_back({chunk, false});
      finding.fix = fmt::format("Store it in chunks of {}: {} rows, written and read one by one.",
                                size_text(chunk_bytes), count_text(std::ceil(size / chunk_bytes)));
      finding.cost =
          "The client must split and join the chunks. A reader may see a partly written value unless each "
          "version has its own key.";
    }
    finding.fix += fmt::format(" Then {} can be dropped from {}.", column.name, facts_.name);
    Proposal proposal;
    // A value that exceeds the limit of a partition must be stored in several partitions.
    const double held = 0.9 * model_.target.partition_bytes;
    if (size > held && !column.type->is_collection())
      proposal.partition.push_back(
          {"part", "int",
           fmt::format("chunk / {:.0f}, rounded down", std::max(1.0, std::floor(held / chunk_bytes))), ""});
    proposal.beside = std::move(shape);
    finding.proposal = std::make_shared<const Proposal>(std::move(proposal));
  }

  // Adds one row for each element. A list may contain equal elements, and its order counts.
  static void add_elements(const schema::Column& column, Shape& shape, Finding& finding) {
    const Kind kind = column.type->kind();
    std::erase_if(shape.columns, [&](const Shape::Column& one) { return one.name == column.name; });
    const auto add = [&](const char* name, const std::string& type, bool in_key) {
      const std::string free = shape.free_name(name);
      shape.columns.push_back({free, type, false});
      if (in_key) shape.clustering.push_back({free, false});
    };
    if (kind == Kind::list) {
      add("added", "timeuuid", true);
      add("element", column.type->element()->cql_name(), false);
      finding.fix += " Write now() to added: elements keep their order, and equal ones stay apart.";
    } else if (kind == Kind::map) {
      add("element", column.type->map_key()->cql_name(), true);
      add("value", column.type->map_value()->cql_name(), false);
    } else {
      add("element", column.type->element()->cql_name(), true);
    }
  }

  const ReviewModel& model_;
  const TableFacts& facts_;
  const schema::Table& table_;
  Review& review_;
};

}  // namespace

void review_key(const ReviewModel& model, const TableFacts& table, Review& review) {
  KeyReviewer(model, table, review).run();
}

}  // namespace sibyl::advisor
