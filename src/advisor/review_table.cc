// How large and how hot partitions become, and what is wrong with a table's key.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advisor/review_fix.h"

namespace sibyl::advisor {
namespace {

using types::Kind;

constexpr double day = 86'400, year = 365 * day;
constexpr double large_cell = 1e6, huge_cell = 10e6, chunk_bytes = 512e3;
constexpr double small_table = 1e6;  // bytes: however it lies, it does no harm

bool is_unique_type(const schema::Column& column) {
  return column.type->kind() == Kind::uuid || column.type->kind() == Kind::timeuuid;
}

class TableReviewer {
 public:
  TableReviewer(const ReviewModel& model, const TableFacts& table, Review& review)
      : model_(model), facts_(table), table_(*table.table), review_(review) {}

  void run() {
    measure();
    growth();
    hot();
    low_cardinality();
    // Where every partition has one row, none overwrites another.
    if (!too_unique()) collisions();
    large_cells();
    review_.tables.push_back(std::move(out_));
  }

 private:
  void measure() {
    out_.name = facts_.name;
    out_.columns = review_columns(table_);
    if (table_.is_view()) out_.view_of = table_.view->base_table;
    out_.rows = facts_.rows;
    out_.partitions = facts_.partitions;
    out_.row_bytes = facts_.row_bytes;
    if (facts_.rows) out_.bytes = *facts_.rows * facts_.row_bytes;
    out_.reads = facts_.reads;
    out_.writes = facts_.writes;
    out_.hottest_share = facts_.hottest_share();
    out_.hottest_read = facts_.read_key;
    out_.hottest_write = facts_.write_key;
    out_.origin = facts_.origin;
    if (const auto rows = facts_.rows_per_partition()) out_.now = facts_.bytes_of(*rows);
    out_.horizon_seconds = foretold();
    out_.horizon = sizes_after(foretold());
    follow_growth();
    if (out_.horizon && out_.horizon->max > model_.target.partition_bytes)
      out_.days_to_target = time_to_target(foretold()) / day;
    if (!facts_.partitions) return;
    SpreadInput input{.partitions = *facts_.partitions,
                      .byte_skew = facts_.skew,
                      .request_skew = facts_.request_skew.value_or(facts_.skew),
                      .reads = facts_.reads,
                      .writes = facts_.writes,
                      .nodes = model_.target.nodes,
                      .replicas = model_.target.replicas,
                      .vnodes = model_.target.vnodes};
    out_.spread = spread_over_nodes(table_, input);
    input.nodes *= 2;
    out_.spread_doubled = spread_over_nodes(table_, input);
  }

  void follow_growth() {
    constexpr int steps = 24;
    for (int i = 0; i <= steps && out_.horizon; ++i) {
      const double seconds = foretold() * i / steps;
      if (const std::optional<Sizes> sizes = sizes_after(seconds)) out_.growth.push_back({seconds, *sizes});
    }
  }

  std::optional<Sizes> sizes_after(double seconds) const {
    const auto rows = facts_.rows_per_partition_after(seconds);
    return rows ? std::optional(facts_.bytes_of(*rows)) : std::nullopt;
  }

  // When the largest partition reaches the target, by halving. REQUIRES: it does within `seconds`.
  double time_to_target(double seconds) const {
    double from = 0, to = seconds;
    for (int i = 0; i < 60; ++i) {
      const double middle = (from + to) / 2;
      const std::optional<Sizes> sizes = sizes_after(middle);
      (sizes && sizes->max > model_.target.partition_bytes ? to : from) = middle;
    }
    return to < 1 ? 0 : to;
  }

  // How far ahead is looked: the horizon, or as far as what was seen tells.
  double foretold() const { return std::min(model_.target.horizon, facts_.farthest()); }

  Finding begin(Verdict verdict, Severity severity, std::string message) const {
    Finding finding;
    finding.verdict = verdict;
    finding.severity = severity;
    finding.table = facts_.name;
    finding.file = facts_.file;
    finding.line = facts_.line;
    finding.message = std::move(message);
    return finding;
  }

  void add_split(Finding& finding) const {
    Split split = split_partitions(model_, facts_, least_spread());
    finding.choices = std::move(split.choices);
    finding.fix = std::move(split.fix);
    finding.cost = std::move(split.cost);
    if (!finding.fix.empty()) {
      finding.proposal = std::make_shared<const Proposal>(std::move(split.proposal));
      return;
    }
    finding.fix = "Add a column to the partition key that splits what is read together least.";
    finding.cost = "Reads name that column, too, or ask several partitions.";
  }

  void growth() {
    const double target = model_.target.partition_bytes;
    const std::optional<Sizes> last = sizes_after(model_.target.horizon);
    if (!last || last->max <= target) return;
    const bool now = out_.now && out_.now->max > target;
    // What was seen for an hour says little about a year.
    const bool young = foretold() < model_.target.horizon, far = out_.horizon->max <= target;
    const Sizes& then = far ? *last : *out_.horizon;
    const double ahead = far ? model_.target.horizon : foretold();
    Finding finding = begin(Verdict::partition_growth,
                            now                 ? Severity::error
                            : young             ? Severity::note
                            : then.p99 > target ? Severity::error
                                                : Severity::warning,
                            "");
    finding.message =
        now ? fmt::format("The largest partition holds {}; the target is {}.", size_text(out_.now->max),
                          size_text(target))
            : fmt::format("The largest partition reaches {} in {} and {} {}.", size_text(target),
                          duration_text(time_to_target(ahead)), size_text(then.max),
                          ahead < model_.target.horizon ? "in " + duration_text(ahead)
                                                        : std::string("at the horizon"));
    if (facts_.rows)
      finding.evidence.push_back(
          {fmt::format("{} rows of {}", count_text(*facts_.rows), size_text(facts_.row_bytes)),
           facts_.origin});
    if (facts_.partitions)
      finding.evidence.push_back(
          {fmt::format("{} partitions{}", count_text(*facts_.partitions),
                       facts_.skew > 0 ? fmt::format(", Zipf {:.3g}", facts_.skew) : ""),
           facts_.origin});
    if (facts_.partition_bytes)
      finding.evidence.push_back({fmt::format("p50 {}, p99 {}, largest {} now", size_text(out_.now->p50),
                                              size_text(out_.now->p99), size_text(out_.now->max)),
                                  Origin::measured});
    if (facts_.growth) add_growth(finding);
    finding.evidence.push_back({fmt::format("p50 {}, p99 {}, largest {} after {}", size_text(then.p50),
                                            size_text(then.p99), size_text(then.max), duration_text(ahead)),
                                Origin::estimated});
    if (far && !now)
      wait_and_see(finding);
    else
      add_split(finding);
    review_.findings.push_back(std::move(finding));
  }

  void wait_and_see(Finding& finding) const {
    finding.fix =
        fmt::format("Look again when it has been seen for longer: {} say little about {}.",
                    duration_text(facts_.observed_seconds.value_or(0)), duration_text(model_.target.horizon));
    finding.cost = "Nothing yet.";
  }

  void add_growth(Finding& finding) const {
    const bool measured = facts_.growth_origin == Origin::measured && facts_.observed_seconds;
    finding.evidence.push_back(
        {fmt::format("{} rows more{}", rate_text(*facts_.growth),
                     measured ? ", seen for " + duration_text(*facts_.observed_seconds) : ""),
         facts_.growth_origin});
  }

  double hottest_reads() const {
    if (facts_.read_share) return facts_.reads * *facts_.read_share;
    const double share = out_.hottest_share;
    double reads = 0;
    for (const StatementFacts& statement : model_.statements) {
      if (statement.select() == nullptr || statement.explanation.uses.empty()) continue;
      if (model_.find(*statement.explanation.uses[0].table) != &facts_) continue;
      const double own =
          statement.skew >= 0 && facts_.partitions ? 1 / zipf_sum(*facts_.partitions, statement.skew) : share;
      reads += statement.rate * statement.times * own;
    }
    return reads == 0 ? facts_.reads * share : reads;
  }

  void add_share(Finding& finding, bool by_writes) const {
    const std::optional<double>& measured = by_writes ? facts_.write_share : facts_.read_share;
    const double share = by_writes ? out_.hottest_share : measured.value_or(out_.hottest_share);
    if (measured && *measured >= share)
      finding.evidence.push_back(
          {fmt::format("{:.1f}% of the {} on {}", 100 * share, by_writes ? "writes" : "reads",
                       by_writes ? facts_.write_key : facts_.read_key),
           Origin::measured});
    else
      finding.evidence.push_back(
          {fmt::format("{:.1f}% of them on one key{}", 100 * std::max(share, 1e-9),
                       facts_.has_period() ? ": the current period takes every write" : ""),
           Origin::estimated});
  }

  void hot() {
    const double ceiling = model_.target.partition_rate;
    const double writes = facts_.writes * out_.hottest_share, reads = hottest_reads();
    if (writes <= ceiling && reads <= ceiling) return;
    const bool by_writes = writes > ceiling;
    Finding finding = begin(Verdict::hot_partition,
                            std::max(writes, reads) > 10 * ceiling ? Severity::error : Severity::warning,
                            fmt::format("The hottest partition gets {} {}; one partition bears {}.",
                                        rate_text(by_writes ? writes : reads), by_writes ? "writes" : "reads",
                                        rate_text(ceiling)));
    finding.evidence.push_back(
        {fmt::format("{}{} writes in all", facts_.reads > 0 ? rate_text(facts_.reads) + " reads and " : "",
                     rate_text(facts_.writes)),
         facts_.rate_origin});
    add_share(finding, by_writes);
    if (const Finding* split = split_already(); by_writes && split != nullptr) {
      finding.proposal = split->proposal;
      finding.cost = "Nothing more.";
    } else if (by_writes) {
      add_split(finding);
    } else {
      fix_hot_reads(finding, reads);
    }
    review_.findings.push_back(std::move(finding));
  }

  // The finding that splits this table's partitions.
  const Finding* split_already() const {
    for (const Finding& other : review_.findings) {
      if (other.table == facts_.name && other.proposal != nullptr && !other.choices.empty()) return &other;
    }
    return nullptr;
  }

  // Copies of each row under several keys: a reader takes any one of them.
  void fix_hot_reads(Finding& finding, double reads) const {
    const double copies = std::ceil(reads / model_.target.partition_rate);
    Proposal proposal;
    proposal.partition.push_back(
        {"copy", "int",
         fmt::format("0 to {}; every one is written, a random one is read", count_text(copies - 1))});
    finding.proposal = std::make_shared<const Proposal>(std::move(proposal));
    finding.fix = fmt::format(
        "Keep {} copies of each row under as many keys, and read any one of them; or cache what the hottest "
        "keys hold in the application.",
        count_text(copies));
    finding.cost = fmt::format(
        "Every change is written {} times{}; readers of a cache see it late.", count_text(copies),
        facts_.writes > 0
            ? fmt::format(" ({} instead of {})", rate_text(facts_.writes * copies), rate_text(facts_.writes))
            : "");
  }

  // Partitions for each that there is, so that every node gets some; 1: there are enough.
  double least_spread() const {
    if (table_.clustering_count == 0 || facts_.has_period() || !facts_.partitions) return 1;
    const double partitions = *facts_.partitions;
    const auto nodes = static_cast<double>(model_.target.nodes);
    const bool all_boolean = [&] {
      for (size_t i = 0; i < table_.partition_key_count; ++i)
        if (table_.partition_key(i).type->kind() != Kind::boolean) return false;
      return true;
    }();
    const double bytes = facts_.rows_after(foretold()) * facts_.row_bytes;
    if (bytes < small_table && !(all_boolean && !facts_.rows)) return 1;
    return std::max(1.0, std::ceil(10 * nodes / partitions));
  }

  void low_cardinality() {
    if (least_spread() <= 1) return;
    const double partitions = *facts_.partitions;
    const auto nodes = static_cast<double>(model_.target.nodes);
    Finding finding =
        begin(Verdict::low_cardinality, partitions < 2 * nodes ? Severity::error : Severity::warning,
              fmt::format("{} partitions for {} nodes: the data cannot spread.", count_text(partitions),
                          model_.target.nodes));
    for (size_t i = 0; i < table_.partition_key_count; ++i) {
      const ColumnFacts& known = facts_.column(table_.partition_key(i));
      if (known.distinct)
        finding.evidence.push_back({fmt::format("{} has {} distinct values", table_.partition_key(i).name,
                                                count_text(*known.distinct)),
                                    known.distinct_origin});
    }
    if (finding.evidence.empty())
      finding.evidence.push_back({fmt::format("{} partitions", count_text(partitions)), facts_.origin});
    if (out_.spread && out_.spread_doubled)
      finding.evidence.push_back(
          {fmt::format("the fullest node holds {:.1f} times the mean, {:.1f} times with {} nodes",
                       out_.spread->bytes, out_.spread_doubled->bytes, out_.spread_doubled->nodes),
           Origin::estimated});
    fix_low_cardinality(finding);
    review_.findings.push_back(std::move(finding));
  }

  void fix_low_cardinality(Finding& finding) const {
    const double wanted = least_spread();
    if (const Finding* split = split_already()) {
      finding.proposal = split->proposal;
      finding.fix = "Another column that every query names is the best part of a key; where none is:";
      finding.cost = "Nothing more.";
      return;
    }
    Proposal proposal;
    proposal.partition.push_back(
        {"hash_prefix", "int",
         fmt::format("hash of {} modulo {}", table_.clustering(0).name, count_text(wanted))});
    finding.proposal = std::make_shared<const Proposal>(std::move(proposal));
    finding.fix = fmt::format(
        "Put another column that every query names into the partition key; where none is, a hash prefix "
        "modulo {}.",
        count_text(wanted));
    finding.cost = fmt::format("A read of all rows of a {} asks {} partitions instead of 1.",
                               table_.partition_key(0).name, count_text(wanted));
  }

  // Rows a partition ≈ 1: clustering orders nothing.
  bool too_unique() {
    // A view's key has all of its base's: its clustering tells rows apart, however few they are.
    if (table_.is_view() || table_.clustering_count == 0 || !facts_.rows || *facts_.rows < 100) return false;
    const schema::Column* unique = nullptr;
    for (size_t i = 0; i < table_.partition_key_count; ++i) {
      const std::optional<double> distinct = facts_.column(table_.partition_key(i)).distinct;
      if (distinct && *distinct >= 0.9 * *facts_.rows) unique = &table_.partition_key(i);
    }
    const bool declared = facts_.partitions && *facts_.partitions >= 0.9 * *facts_.rows;
    if (unique == nullptr && !declared) return false;
    // A table that has just begun has one row in each partition, too.
    constexpr double begun = 1000;
    if (facts_.origin == Origin::measured && (*facts_.rows < begun || facts_.max.value_or(1) > 1))
      return false;
    if (unique == nullptr) unique = &table_.partition_key(0);
    Finding finding =
        begin(Verdict::too_unique, Severity::warning,
              fmt::format("Every partition holds about one row: clustering by {} orders nothing.",
                          table_.clustering(0).name));
    finding.evidence.push_back(
        {fmt::format("{} rows, {} distinct {}", count_text(*facts_.rows),
                     count_text(facts_.column(*unique).distinct.value_or(*facts_.partitions)), unique->name),
         facts_.origin});
    Proposal proposal;
    proposal.unclustered = true;
    finding.proposal = std::make_shared<const Proposal>(std::move(proposal));
    finding.fix =
        "Leave the clustering away; if rows are wanted in order, partition by what the query compares by "
        "= and put this column behind the order.";
    finding.cost = "Nothing: the key alone already names the row.";
    review_.findings.push_back(std::move(finding));
    return true;
  }

  // Two rows with the same key: the later one overwrites the earlier.
  void collisions() {
    if (table_.is_counter || table_.is_view()) return;
    double product = 1;
    bool all_known = true;
    const schema::Column* last = &table_.columns[table_.partition_key_count + table_.clustering_count - 1];
    for (size_t i = 0; i < table_.partition_key_count + table_.clustering_count; ++i) {
      const schema::Column& column = table_.columns[i];
      if (is_unique_type(column) && table_.clustering_count > 0 && column.is_clustering()) return;
      if (column.type->kind() == Kind::timeuuid) return;
      const std::optional<double> distinct = facts_.column(column).distinct;
      if (distinct && facts_.rows && *distinct >= *facts_.rows) return;  // names the row by itself
      all_known = all_known && distinct.has_value();
      product *= distinct.value_or(1);
    }
    if (all_known && facts_.rows && product < *facts_.rows) {
      Finding finding =
          begin(Verdict::key_collision, Severity::error,
                fmt::format("The key has {} values, the table {} rows: rows overwrite each other.",
                            count_text(product), count_text(*facts_.rows)));
      finding.evidence.push_back({"distinct values of the key's columns, multiplied", facts_.origin});
      fix_collision(finding, *last);
      review_.findings.push_back(std::move(finding));
      return;
    }
    if (last->type->kind() == Kind::timestamp && last->is_clustering())
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
        {fmt::format("{} is the last column of the key and identifies nothing", last.name),
         Origin::estimated});
    fix_collision(finding, last);
    review_.findings.push_back(std::move(finding));
  }

  // Rows that arrive at random meet in one millisecond.
  void time_collisions(const schema::Column& last) {
    constexpr double tick = 0.001;
    const double ahead = std::min(year, facts_.farthest());
    std::optional<double> lost;  // rows in that time
    if (facts_.growth && out_.hottest_share > 0) {
      double squares = out_.hottest_share;  // sum of squared shares, at most that of the largest
      if (facts_.partitions && !facts_.has_period())
        squares = facts_.skew > 0 ? zipf_sum(*facts_.partitions, 2 * facts_.skew) /
                                        std::pow(zipf_sum(*facts_.partitions, facts_.skew), 2)
                                  : 1 / *facts_.partitions;
      // As if 1 / squares partitions were filled alike. Of n rows of one millisecond n - 1 are lost.
      const double each = *facts_.growth * squares * tick;
      const double lost_each = each < 1e-4 ? each * each / 2 : each - 1 + std::exp(-each);
      lost = lost_each / squares / tick * ahead;
    }
    if (lost && *lost < 0.01) return;
    Finding finding =
        begin(Verdict::key_collision,
              !lost        ? Severity::note
              : *lost >= 1 ? Severity::error
                           : Severity::warning,
              lost ? fmt::format("About {} rows {} overwrite another one of the same millisecond.",
                                 count_text(*lost),
                                 ahead < year ? "in " + duration_text(ahead) : std::string("a year"))
                   : fmt::format("Two rows with the same {} overwrite each other.", last.name));
    if (facts_.growth) add_growth(finding);
    finding.evidence.push_back(
        {fmt::format("{} is a timestamp: milliseconds", last.name), Origin::estimated});
    fix_collision(finding, last);
    review_.findings.push_back(std::move(finding));
  }

  void fix_collision(Finding& finding, const schema::Column& last) const {
    Proposal proposal;
    if (last.type->kind() == Kind::timestamp && last.is_clustering()) {
      proposal.columns.push_back({last.name, "timeuuid", false});
      finding.proposal = std::make_shared<const Proposal>(std::move(proposal));
      finding.fix =
          fmt::format("Make {} a timeuuid, written with now(): it sorts by time and is unique.", last.name);
      finding.cost =
          "8 bytes more a row; toTimestamp() gives the time, minTimeuuid() and maxTimeuuid() bound ranges.";
      return;
    }
    const schema::Column* own = nullptr;
    for (const schema::Column& column : table_.columns)
      if (!column.is_primary_key() && (is_unique_type(column) || column.name == "id")) own = &column;
    std::string name = own != nullptr ? own->name : "id";
    if (own == nullptr) {
      while (table_.find(name) != nullptr) name += "_unique";
      proposal.columns.push_back({name, "uuid", false});
    }
    proposal.last = name;
    finding.proposal = std::make_shared<const Proposal>(std::move(proposal));
    finding.fix = fmt::format("Put {} at the end of the key: it makes each row's key its own.", name);
    finding.cost = own != nullptr ? "Nothing but moving the rows once." : "16 bytes more a row.";
  }

  void large_cells() {
    for (const schema::Column& column : table_.columns) {
      const ColumnFacts& known = facts_.column(column);
      double size = known.size.value_or(0);
      if (column.type->is_collection() && known.elements) size = std::max(size, *known.elements * 24);
      if (size < large_cell || column.is_primary_key()) continue;
      Finding finding = begin(Verdict::large_cell, size >= huge_cell ? Severity::error : Severity::warning,
                              fmt::format("A value of {} takes {}; it is read and written as a whole.",
                                          column.name, size_text(size)));
      finding.evidence.push_back({known.size ? fmt::format("size={}", size_text(*known.size))
                                             : fmt::format("{} elements", count_text(*known.elements)),
                                  facts_.origin});
      fix_large(finding, column, size);
      review_.findings.push_back(std::move(finding));
    }
  }

  void fix_large(Finding& finding, const schema::Column& column, double size) const {
    Shape shape = shape_of(table_);
    shape.name += "_" + column.name;
    std::erase_if(shape.columns, [&](const Shape::Column& one) {
      return one.name != column.name && !shape.in_key(one.name);
    });
    for (Shape::Column& one : shape.columns) one.is_static = false;
    if (column.type->is_collection()) {
      const bool map = column.type->kind() == Kind::map;
      std::erase_if(shape.columns, [&](const Shape::Column& one) { return one.name == column.name; });
      const std::string element = shape.free_name("element");
      shape.columns.push_back(
          {element, (map ? column.type->map_key() : column.type->element())->cql_name(), false});
      if (map)
        shape.columns.push_back({shape.free_name("value"), column.type->map_value()->cql_name(), false});
      shape.clustering.push_back({element, false});
      finding.fix = "Make each element a row of its own table: they can be read in part, and have no limit.";
      finding.cost = "One more request where the rest of the row is wanted, too.";
    } else {
      const std::string chunk = shape.free_name("chunk");
      shape.columns.push_back({chunk, "int", false});
      shape.clustering.push_back({chunk, false});
      finding.fix = fmt::format("Store it in chunks of {}: {} rows, written and read one by one.",
                                size_text(chunk_bytes), count_text(std::ceil(size / chunk_bytes)));
      finding.cost =
          "The client cuts and joins the chunks; a reader may see a value half written unless each "
          "version has its own key.";
    }
    finding.fix += fmt::format(" Then {} can be dropped from {}.", column.name, facts_.name);
    propose(finding, std::move(shape));
  }

  const ReviewModel& model_;
  const TableFacts& facts_;
  const schema::Table& table_;
  Review& review_;
  TableReview out_;
};

}  // namespace

void review_table(const ReviewModel& model, const TableFacts& table, Review& review) {
  TableReviewer(model, table, review).run();
}

}  // namespace sibyl::advisor
