// Reviews what a statement reads.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advisor/review/by_period.h"
#include "advisor/review/judgement/aggregates.h"
#include "advisor/review/judgement/prefix.h"
#include "advisor/review/judgement/requests.h"
#include "advisor/review/judgement/severity.h"
#include "advisor/review/judgement/supply.h"
#include "advisor/review/statement.h"
#include "types/identifier.h"

namespace sibyl::advisor {
namespace {

using Access = plan::Explanation::Access;
using TableUse = plan::Explanation::TableUse;

constexpr double few_rows = 1000;                          // a scan of so few rows is harmless
constexpr double wasteful = 100;                           // rows read for each row returned
constexpr double several = 4, many = 20, very_many = 200;  // partitions per request

std::optional<double> limit_of(const cql::Select& select) {
  if (select.limit == nullptr) return std::nullopt;
  const auto* literal = std::get_if<cql::Literal>(&select.limit->node);
  return literal != nullptr ? read_number(literal->text) : std::nullopt;
}

class StatementReview {
 public:
  StatementReview(const ReviewModel& model, const StatementFacts& statement, Review& review)
      : model_(model), statement_(statement), review_(review) {}

  void run() {
    QueryReview out;
    out.name = statement_.name;
    out.group = statement_.group;
    out.file = statement_.file;
    out.line = statement_.line;
    out.write = statement_.is_write();
    out.rate = statement_.rate;
    out.times = statement_.times;
    out.supported = !statement_.error;
    out.text = statement_.text;
    out.origin = statement_.origin;
    out.ad_hoc = statement_.ad_hoc;
    out.goal_p50 = statement_.slo_p50;
    out.goal_p99 = statement_.slo_p99 ? statement_.slo_p99 : model_.target.latency;
    if (statement_.observed) take_observed(out);
    out.table = table_name();
    for (const TableUse& use : statement_.explanation.uses) {
      const TableFacts* table = model_.find(*use.table);
      const std::string& name = table != nullptr ? table->name : use.table->name;
      if (std::find(out.tables.begin(), out.tables.end(), name) == out.tables.end())
        out.tables.push_back(name);
    }
    if (!statement_.explanation.uses.empty()) {
      find_filters(statement_.explanation.uses[0]);
      use_ = &statement_.explanation.uses[0];
      table_ = model_.find(*use_->table);
      out.table = table_ != nullptr ? table_->name : use_->table->name;
      bound(out);
      if (!statement_.error && table_ != nullptr) estimate_rows(model_, statement_, *table_, filters_, out);
      if (!statement_.error) compare(out);
    }
    if (statement_.error) {
      out.bound = "-";
      if (!statement_.ad_hoc && !is_mixed(model_, written_table())) unsupported();
    } else if (statement_.ad_hoc) {
      // The statement is listed, but causes no findings.
    } else if (statement_.select() != nullptr && table_ != nullptr) {
      scan(out);
      filtering(out);
      several_partitions(out);
      order(out);
      index(out);
      aggregate(out);
    }
    if (!statement_.ad_hoc) review_latency(statement_, table_, out, review_);
    review_.queries.push_back(std::move(out));
  }

 private:
  void take_observed(QueryReview& out) const {
    out.calls = statement_.observed->calls;
    out.partitions_max = statement_.observed->partitions_max;
    out.latency_p50 = statement_.observed->latency_p50;
    out.latency_p99 = statement_.observed->latency_p99;
  }

  // The bound is proved from the plan that was executed. If a call read more partitions, one of the two is
  // wrong.
  void compare(const QueryReview& out) {
    // In an observed batch, equal statements count as one. A statement of a file may have fewer values than
    // others of the same shape.
    if (!statement_.observed || statement_.text != statement_.observed->text) return;
    if (is_batch() || !use_->partitions) return;
    const auto proved = static_cast<double>(*use_->partitions);
    if (out.partitions_max.value_or(0) <= proved) return;
    review_.internal_errors.push_back(
        fmt::format("the plan proves that this statement reads at most {} partitions, but {} were read: {}",
                    count_text(proved), count_text(*out.partitions_max), statement_.observed->text));
  }

  // Divides a total by the number of calls, if calls were observed.
  std::optional<double> observed_each(double total) const {
    return statement_.observed && statement_.observed->calls > 0
               ? std::optional(total / statement_.observed->calls)
               : std::nullopt;
  }

  // Returns the table of a statement without a plan.
  std::string table_name() const {
    const schema::Table* table = table_of(model_, statement_);
    const TableFacts* facts = table != nullptr ? model_.find(*table) : nullptr;
    if (facts != nullptr) return facts->name;
    return statement_.observed ? statement_.observed->keyspace + "." + statement_.observed->table : "";
  }

  // The name in the statement; empty: a batch.
  std::string written_table() const {
    return std::visit(
        []<typename Node>(const Node& node) -> std::string {
          if constexpr (requires { node.table.name; })
            return (node.table.keyspace.empty() ? "" : node.table.keyspace + ".") + node.table.name;
          else
            return {};
        },
        statement_.tree->node);
  }

  bool is_batch() const { return std::holds_alternative<cql::Batch>(statement_.tree->node); }

  // Columns that an index serves are not filters.
  void find_filters(const TableUse& use) {
    for (const std::string& name : use.filtered_columns) {
      const schema::Column* column = use.table->find(name);
      const bool by_index =
          std::any_of(use.table->indexes.begin(), use.table->indexes.end(), [&](const auto& index) {
            return column != nullptr && index.column_id == column->id &&
                   (" " + use.index + " ").find(" " + index.name + " ") != std::string::npos;
          });
      if (use.access != Access::index || !by_index) filters_.push_back(name);
    }
  }

  void bound(QueryReview& out) const {
    if (statement_.observed && is_batch()) {
      out.bound = "n";
      out.formula = "statements of the batch";
      return;
    }
    if (statement_.explanation.uses.size() > 1) {
      out.bound = fmt::format("{}", statement_.explanation.uses.size());
      out.formula = "statements of the batch";
      out.partitions = static_cast<double>(statement_.explanation.uses.size());
      return;
    }
    if (statement_.span && table_ != nullptr && table_->has_period()) {
      bound_of_span(statement_, *table_, out);
      return;
    }
    const std::optional<double> all = table_ != nullptr ? table_->partitions : std::nullopt;
    out.exact = use_->exact;
    switch (use_->access) {
      case Access::rows:
      case Access::partitions:
        if (use_->partitions) {
          out.bound = count_text(static_cast<double>(*use_->partitions));
          out.partitions = static_cast<double>(*use_->partitions);
          if (*use_->partitions > 1) out.formula = "values of IN";
        } else {
          out.bound = "n";
          out.formula = "one per value of IN";
          out.partitions = statement_.partitions;
          take_supply(statement_, out);
        }
        return;
      case Access::index:
        out.bound = use_->partitions ? count_text(static_cast<double>(*use_->partitions)) : "n";
        out.formula = fmt::format("as many as the index {} returns", use_->index);
        out.partitions = statement_.partitions;
        return;
      case Access::token_range:
        out.bound = "n";
        out.formula = "partitions of the token range";
        out.partitions = statement_.partitions;
        return;
      case Access::full_scan:
        break;
    }
    out.bound = "all";
    out.partitions = all;
    // Without filters, reading stops after enough rows. Deleted rows do not count.
    if (!use_->exact && use_->has_limit) out.bound = "≤ all";
    const std::optional<double> limit = stop_after();
    if (!limit && ends_with_limit() && statement_.partitions) out.partitions = statement_.partitions;
    if (!limit) return;
    out.formula = fmt::format("stops at LIMIT {}", count_text(*limit));
    out.partitions = all ? std::min(*all, *limit) : *limit;
  }

  bool ends_with_limit() const {
    const cql::Select* select = statement_.select();
    return select != nullptr && select->limit != nullptr && filters_.empty() && !use_->sorts &&
           !use_->aggregates && !use_->groups;
  }

  // The LIMIT, if reading ends with it.
  std::optional<double> stop_after() const {
    return ends_with_limit() ? limit_of(*statement_.select()) : std::nullopt;
  }

  Finding begin(Verdict verdict, Severity severity, std::string message) const {
    Finding finding;
    finding.verdict = verdict;
    finding.severity = severity;
    finding.table = table_ != nullptr ? table_->name : table_name();
    finding.query = statement_.name;
    finding.file = statement_.file;
    finding.line = statement_.line;
    finding.message = std::move(message);
    if (statement_.observed) finding.evidence.push_back({statement_.observed->text, Origin::measured});
    return finding;
  }

  void add_rates(Finding& finding) const {
    if (statement_.rate > 0)
      finding.evidence.push_back({fmt::format("runs {}", rate_text(statement_.rate)), statement_.origin});
  }

  void add_rows(Finding& finding, const QueryReview& out) const {
    if (table_->rows)
      finding.evidence.push_back({count_of(*table_->rows, "row") + " in the table", table_->rows_origin()});
    if (out.rows_read && out.rows_returned)
      finding.evidence.push_back({fmt::format("{} read for {} returned",
                                              count_of(std::max(*out.rows_read, *out.rows_returned), "row"),
                                              count_text(*out.rows_returned)),
                                  statement_.observed ? Origin::measured : Origin::estimated});
  }

  // Returns true if one of the columns identifies a row by itself. If more values than rows are declared,
  // they are possible values, and some may occur twice.
  bool names_one_row(const std::vector<std::string>& columns) const {
    if (!table_->rows) return false;
    // A new row may repeat a value. Then the column no longer identifies a row.
    if (table_->growth) return false;
    return std::any_of(columns.begin(), columns.end(), [&](const std::string& name) {
      const schema::Column* column = table_->table->find(name);
      constexpr double rounding = 1e-9;
      return column != nullptr && std::abs(table_->column(*column).distinct.value_or(0) - *table_->rows) <=
                                      rounding * *table_->rows;
    });
  }

  // Proposes a table that answers the query from one partition, and states the cost of its maintenance.
  void fix_by_table(Finding& finding) const {
    if (table_ != nullptr && fix_by_requests(statement_, *table_, finding)) return;
    if (fix_by_order(model_, statement_, review_, finding)) return;
    Shape shape;
    if (table_ == nullptr || statement_.select() == nullptr) return;
    if (fix_by_prefix(model_, statement_, finding)) return cost_of_table(finding);
    if (fix_contains(model_, statement_, *table_, finding)) return;
    if (fix_by_period(model_, statement_, *table_, finding)) return cost_of_table(finding);
    if (!shape_for(*use_->table, *statement_.select(), shape)) return;
    if (names_one_row(shape.partition)) shape.clustering.clear();
    const std::string name = shape.name;
    finding.fix = propose_within_target(model_, *table_, std::move(shape), statement_, finding)
                      ? fmt::format("Add a table for this query: {}. {}", name, finding.fix)
                      : fmt::format("Add a table for this query: a read of {} takes one partition.", name);
    cost_of_table(finding);
  }

  void cost_of_table(Finding& finding) const {
    if (!finding.cost.empty()) finding.cost += " ";
    finding.cost += "One more write per change of a row";
    if (table_->writes > 0) finding.cost += fmt::format(" ({} in total)", rate_text(table_->writes));
    if (table_->rows)
      finding.cost +=
          fmt::format(", and {} more on each replica", size_text(*table_->rows * table_->row_bytes));
    finding.cost += "; a change of the key is a delete and an insert.";
  }

  void unsupported() {
    const bool ran = statement_.observed.has_value();
    Finding finding = begin(
        Verdict::unsupported_query, ran ? Severity::note : Severity::error,
        ran ? fmt::format(
                  "It last ran {} ago. Since then the schema has changed, and the database now rejects it.",
                  duration_text(statement_.observed->since_last))
            : std::string("The database rejects this statement."));
    if (std::string_view(statement_.error->message()).find("counter") != std::string_view::npos &&
        statement_.select() == nullptr) {
      finding.verdict = Verdict::counter_mix;
      finding.message = "Counters and other columns cannot change in one statement.";
      finding.fix = "Run the counter's UPDATE separately, or in a COUNTER BATCH with only counters.";
      finding.cost = "One more request; the two changes are no longer atomic.";
    }
    finding.evidence.push_back({statement_.error->message(), Origin::measured});
    if (use_ != nullptr)
      fix_by_table(finding);
    else if (statement_.select() != nullptr && !fix_by_order(model_, statement_, review_, finding))
      fix_by_prefix(model_, statement_, finding);
    if (finding.fix.empty()) finding.fix = without_default_keyspace(statement_.error->hint());
    if (finding.fix.empty()) fix_refusal(model_, statement_, finding);
    if (finding.cost.empty()) finding.cost = "None: the statement does not run as it is.";
    if (use_ != nullptr && table_ != nullptr && use_->access == Access::full_scan && table_->rows)
      finding.evidence.push_back(
          {fmt::format("ALLOW FILTERING would read {} rows", count_text(*table_->rows)), table_->origin});
    review_.findings.push_back(std::move(finding));
  }

  // Files need not name a keyspace. Then fixes must not name one either.
  static std::string without_default_keyspace(std::string text) {
    const std::string prefix = fmt::format(" {}.", default_keyspace);
    for (size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at + 1))
      text.erase(at + 1, prefix.size() - 1);
    return text;
  }

  void scan(const QueryReview& out) {
    if (use_->access != Access::full_scan) return;
    const std::optional<double> rows = stop_after()                               ? stop_after()
                                       : ends_with_limit() && statement_.observed ? out.rows_read
                                                                                  : rows_in_time();
    if (rows && *rows <= few_rows && is_harmless(out)) return;
    Finding finding =
        begin(Verdict::full_scan, severity_of_scan(statement_, rows, out),
              use_->filters.empty() ? std::string("Reads every partition: the latency grows with the table.")
                                    : fmt::format("Reads every partition to find rows by {}.",
                                                  fmt::join(use_->filtered_columns, ", ")));
    add_rows(finding, out);
    add_rates(finding);
    fix_by_table(finding);
    if (finding.fix.empty()) {
      finding.fix = "Query by key. A job that needs every row should read token ranges, several at a time.";
      const std::string all = select_by_key(*use_->table);
      finding.cql = fmt::format("{} WHERE token({}) > ? AND token({}) <= ?;\n",
                                all.substr(0, all.find(" WHERE ")), key_names(), key_names());
      finding.cost = "The same rows are read, but in pieces that do not delay other requests.";
      if (statement_.select()->distinct) list_keys(finding);
    }
    review_.findings.push_back(std::move(finding));
  }

  // Few rows are read, and either most are returned or the statement runs rarely.
  bool is_harmless(const QueryReview& out) const {
    constexpr double hourly = 1 / 3600.0;
    const bool rare = statement_.rate > 0 && statement_.rate <= hourly;
    return filters_.empty() || rare || waste_of(out).value_or(0) < wasteful;
  }

  // The number of rows now or at the horizon, whichever is larger.
  std::optional<double> rows_in_time() const {
    const bool grows = table_->growth && table_->growth_origin != Origin::measured;
    if (!grows) return table_->rows;
    return std::max(table_->rows.value_or(0), table_->rows_after(model_.horizon_of(*table_)));
  }

  // Even if only keys are read, a row of every partition is read.
  void list_keys(Finding& finding) const {
    finding.fix =
        "Keep the keys in a table of their own, with a row for each new key. A job that needs them once "
        "should "
        "read token ranges.";
    const size_t star = finding.cql.find('*');
    finding.cql.replace(star, 1, "DISTINCT " + key_names());
    finding.cost = "One more write for each new key.";
  }

  std::string key_names() const {
    std::vector<std::string> names;
    for (const std::string& name : shape_of(*table_->table).partition)
      names.push_back(types::quote_identifier(name));
    return fmt::format("{}", fmt::join(names, ", "));
  }

  void filtering(const QueryReview& out) {
    if (filters_.empty() || use_->access == Access::full_scan) return;
    constexpr double unknown = 10;
    const double waste = waste_of(out).value_or(unknown);
    if (out.rows_read && *out.rows_read <= few_rows && waste < wasteful) return;
    Finding finding = begin(
        Verdict::allow_filtering, severity_of_filter(waste),
        fmt::format("Rows that fail the filter on {} are read and discarded.", fmt::join(filters_, ", ")));
    add_rows(finding, out);
    add_rates(finding);
    fix_by_table(finding);
    review_.findings.push_back(std::move(finding));
  }

  void several_partitions(const QueryReview& out) {
    if (use_->access != Access::partitions && use_->access != Access::rows) return;
    const double read = std::max(out.partitions.value_or(0), out.partitions_p99.value_or(0));
    if (!out.partitions || read < several) return;
    const Severity severity = read > very_many ? Severity::error
                              : read > many    ? Severity::warning
                                               : Severity::note;
    if (statement_.span) {
      Finding finding = begin(Verdict::multi_partition, severity, "");
      finding.cql = select_by_key(*use_->table);
      describe_periods(model_, statement_, *table_, out, finding);
      add_rates(finding);
      review_.findings.push_back(std::move(finding));
      return;
    }
    Finding finding = begin(Verdict::multi_partition, severity,
                            fmt::format("One request reads {} partitions.", count_text(*out.partitions)));
    finding.evidence.push_back(
        {fmt::format("{} partitions: {}", count_text(*out.partitions), out.formula),
         use_->partitions || statement_.supply ? Origin::estimated : statement_.origin});
    if (out.partitions_p99)
      finding.evidence.push_back(
          {fmt::format("a read at p50 costs {:.1f} times that of one partition, at p99 {:.1f} times",
                       model_.cost.read(*out.partitions_p50, 0) / model_.cost.read(1, 0),
                       model_.cost.read(*out.partitions_p99, 0) / model_.cost.read(1, 0)),
           Origin::estimated});
    add_rates(finding);
    finding.fix =
        "Store data that is read together in one partition, or send one request per key in parallel.";
    finding.cql = select_by_key(*use_->table);
    finding.cost = fmt::format("Currently {:.1f} times the cost of reading one partition, by the cost model.",
                               model_.cost.read(*out.partitions, 0) / model_.cost.read(1, 0));
    review_.findings.push_back(std::move(finding));
  }

  void order(const QueryReview& out) {
    if (!use_->reversed && !use_->sorts) return;
    if (use_->sorts && out.partitions && *out.partitions <= 1) return;
    const schema::Table& table = *table_->table;
    Finding finding = begin(Verdict::order_mismatch, Severity::note, "");
    if (use_->sorts) {
      finding.message =
          "Rows of several partitions are collected and sorted in memory, so the result cannot be paged.";
      finding.fix =
          "Read the partitions one by one, each in its clustering order, and merge them in the client.";
      finding.cql = select_by_key(table);
      finding.cost = "One request per partition.";
      finding.evidence.push_back({fmt::format("partitions read: {}", out.bound), Origin::estimated});
      review_.findings.push_back(std::move(finding));
      return;
    }
    const bool all = all_reversed();
    const std::string others = unordered_reads();
    // Another read may need the rows as they are stored, as the tracks of an album. Times may come in either order.
    const bool either = others.empty() || table_->is_time(table.clustering(0));
    finding.severity = all && either ? Severity::warning : Severity::note;
    finding.message = all ? "All ordered reads of the table are in reverse clustering order."
                          : "Reads in reverse clustering order; other statements read in clustering order.";
    add_rates(finding);
    finding.evidence.push_back({"rows are read in reverse", Origin::estimated});
    if (all) {
      Proposal proposal;
      proposal.reversed = true;
      finding.proposal = std::make_shared<const Proposal>(std::move(proposal));
    } else {
      Shape shape = shape_of(table);
      for (Shape::Order& one : shape.clustering) one.descending = !one.descending;
      shape.name += "_reversed";
      propose(finding, std::move(shape));
    }
    finding.fix = all ? "Reverse the clustering order, so that the first rows of a read are stored first."
                      : "If this read is important, add a second table in its order.";
    finding.cost = all ? "The rows must be copied once." : "Every row is written twice.";
    if (all && !others.empty())
      finding.cost = fmt::format(
          "The rows must be copied once. Without an ORDER BY, the rows of {} then come in reverse order.",
          others);
    review_.findings.push_back(std::move(finding));
  }

  // The names of reads that take several rows in stored order.
  std::string unordered_reads() const {
    std::vector<std::string> names;
    for (const StatementFacts& other : model_.statements) {
      if (other.select() == nullptr || other.error || other.explanation.uses.empty()) continue;
      const TableUse& use = other.explanation.uses[0];
      if (model_.find(*use.table) != table_ || use.access == Access::rows || use.aggregates) continue;
      if (!use.has_limit && other.select()->order_by.empty()) names.push_back(other.name);
    }
    return fmt::format("{}", fmt::join(names, ", "));
  }

  bool all_reversed() const {
    for (const StatementFacts& other : model_.statements) {
      if (other.select() == nullptr || other.explanation.uses.empty()) continue;
      const TableUse& use = other.explanation.uses[0];
      if (model_.find(*use.table) != table_ || use.access == Access::rows) continue;
      const bool ordered = use.has_limit || !other.select()->order_by.empty();
      if (ordered && !use.reversed) return false;
    }
    // A proposal that changes the clustering order already sets the directions.
    return std::none_of(review_.findings.begin(), review_.findings.end(), [&](const Finding& other) {
      return changed_table(other) == table_->name && !other.proposal->clustering.empty();
    });
  }

  // An index read goes to every node unless the partition is given as well.
  void index(const QueryReview& out) {
    if (use_->access != Access::index || use_->partitions) return;
    const schema::Index* index = table_->table->find_index(use_->index);
    const schema::Column* column = index != nullptr ? table_->table->find_by_id(index->column_id) : nullptr;
    if (column == nullptr || !table_->rows) return;
    const ColumnFacts& facts = table_->column(*column);
    std::optional<double> found = out.rows_read;
    if (!statement_.observed)
      found = facts.distinct ? std::optional(*table_->rows / *facts.distinct) : std::nullopt;
    if (!found) return;
    const double each = *found;
    // Most nodes have none of the rows.
    const bool sparse =
        each < std::max(2.0, static_cast<double>(model_.target.nodes)) && *table_->rows > few_rows;
    const double rate = statement_.rate * statement_.times;
    const bool busy =
        model_.target.nodes > 1 && rate > model_.target.partition_rate && *table_->rows > few_rows;
    if (!sparse && !busy && each <= 10'000) return;
    Finding finding = begin(
        Verdict::index_cardinality, Severity::warning,
        sparse ? fmt::format("The index on {} finds {}, but the query goes to every node.", column->name,
                             each < 2 ? std::string("about one row") : count_text(each) + " rows")
        : busy && each <= 10'000
            ? fmt::format("Every node executes all {} of these queries, so more nodes do not help.",
                          rate_text(rate))
            : fmt::format("The index on {} returns {} rows per value.", column->name, count_text(each)));
    if (facts.distinct)
      finding.evidence.push_back(
          {fmt::format("{} has {}", column->name, count_of(*facts.distinct, "distinct value")),
           facts.distinct_origin});
    add_rows(finding, out);
    add_rates(finding);
    finding.evidence.push_back(
        {fmt::format("{} nodes queried instead of 1", model_.target.nodes), Origin::estimated});
    fix_by_table(finding);
    if (!finding.fix.empty() && is_only_user_of(index->name))
      finding.fix += fmt::format(" Then drop the index {}: no other statement uses it.", index->name);
    review_.findings.push_back(std::move(finding));
  }

  bool is_only_user_of(const std::string& index) const {
    return std::none_of(model_.statements.begin(), model_.statements.end(), [&](const StatementFacts& other) {
      return &other != &statement_ && !other.explanation.uses.empty() &&
             (" " + other.explanation.uses[0].index + " ").find(" " + index + " ") != std::string::npos;
    });
  }

  // An aggregate of given partitions reads all of their rows to return one.
  void aggregate(const QueryReview& out) {
    if (use_->access != Access::partitions || !use_->aggregates || use_->groups || !out.rows_read) return;
    const std::optional<Severity> severity = severity_of_aggregate(statement_, *out.rows_read);
    // Rows that a filter discards are reported as such.
    if (!severity || !filters_.empty()) return;
    Finding finding = begin(Verdict::aggregate_scan, *severity,
                            fmt::format("Reads {} rows to return one.", count_text(*out.rows_read)));
    add_rows(finding, out);
    add_rates(finding);
    fix_aggregate(statement_, *table_, finding);
    review_.findings.push_back(std::move(finding));
  }

  const ReviewModel& model_;
  const StatementFacts& statement_;
  Review& review_;
  const TableUse* use_ = nullptr;
  std::vector<std::string> filters_;  // columns that are checked row by row
  const TableFacts* table_ = nullptr;
};

}  // namespace

void review_statement(const ReviewModel& model, const StatementFacts& statement, Review& review) {
  StatementReview(model, statement, review).run();
}

}  // namespace sibyl::advisor
