// Reviewed schemas as trials: the given one, and the one that the review suggests.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "advisor/review_buckets.h"
#include "advisor/review_fix.h"
#include "advisor/trial_fit.h"
#include "advisor/trial_pick.h"
#include "advisor/trial_rewrite.h"
#include "advisor/trial_suggest.h"
#include "cql/parser.h"
#include "cql/printer.h"

namespace sibyl::advisor {
namespace {

// A statement with its scaled review.
struct Source {
  const StatementFacts* facts = nullptr;
  QueryReview review;
  DataPtr data;  // of the first table that it uses; a view's are its base's
};

bool same_table(const schema::Table& table, const std::string& keyspace, const std::string& name) {
  return table.keyspace == keyspace && table.name == name;
}

// Whether statements use the table, or one of its views.
bool is_used(const ReviewModel& model, const schema::Table& table) {
  for (const StatementFacts& statement : model.statements) {
    for (const plan::Explanation::TableUse& use : statement.explanation.uses) {
      const std::string& name = use.table->is_view() ? use.table->view->base_table : use.table->name;
      if (same_table(table, use.table->keyspace, name)) return true;
    }
  }
  return false;
}

// Replicas and data centres are the database's own, not the trial's.
std::string definition_text(const Definition& definition) {
  const auto* keyspace = std::get_if<cql::CreateKeyspace>(&definition.tree->node);
  if (keyspace == nullptr) return definition.text;
  return fmt::format(
      "CREATE KEYSPACE IF NOT EXISTS {} WITH replication = {{'class': 'SimpleStrategy', "
      "'replication_factor': 1}}",
      cql::print_name(keyspace->name));
}

class TrialMaker {
 public:
  TrialMaker(const std::vector<Workload>& workloads, const TrialOptions& options)
      : workloads_(workloads), options_(options) {}

  base::Result<std::vector<Trial>> run() {
    ReviewOptions reviewing;
    reviewing.observation = options_.observation;
    SIBYL_ASSIGN(review_, review_workloads(workloads_, reviewing));
    SIBYL_ASSIGN(model_, read_review_model(workloads_, reviewing));
    if (options_.observation != nullptr) {
      SIBYL_TRY(check_recorded(model_, options_.observation->source));
      fit_columns(model_, assumed_);
    }
    scale_model(model_, options_.scale, assumed_);
    make_data();
    find_sources();
    find_suggestions();
    std::vector<Trial> trials;
    trials.push_back(given());
    if (!replaced_.empty() || !beside_.empty()) trials.push_back(suggested());
    if (trials.size() == 1) {
      trials[0].notes.insert(trials[0].notes.end(), not_run_.begin(), not_run_.end());
      trials[0].notes.emplace_back("the review suggests no other tables that can be run");
    }
    return trials;
  }

 private:
  void make_data() {
    for (TableFacts& facts : model_.tables) {
      if (facts.table->is_view() || !is_used(model_, *facts.table)) continue;
      data_.push_back(std::make_shared<TableData>(facts, options_.seed, literals_for(facts), assumed_));
      facts = data_.back()->facts();
      constexpr double many_tombstones = 10;
      if (facts.tombstones_p99.value_or(0) >= many_tombstones)
        assumed_.push_back(fmt::format("{}: reads have met {} tombstones (p99); none are loaded", facts.name,
                                       count_text(*facts.tombstones_p99)));
    }
  }

  std::vector<ColumnLiteral> literals_for(const TableFacts& table) const {
    std::vector<ColumnLiteral> out;
    for (const StatementFacts& statement : model_.statements) {
      if (statement.explanation.uses.empty()) continue;
      const schema::Table& used = *statement.explanation.uses[0].table;
      const std::string& name = used.is_view() ? used.view->base_table : used.name;
      if (!same_table(*table.table, used.keyspace, name)) continue;
      for (ColumnLiteral& literal : literals_of(*statement.tree, *table.table))
        out.push_back(std::move(literal));
    }
    return out;
  }

  DataPtr data_of(const schema::Table& table) const {
    const std::string& name = table.is_view() ? table.view->base_table : table.name;
    for (const DataPtr& data : data_) {
      if (same_table(data->table(), table.keyspace, name)) return data;
    }
    return nullptr;
  }

  void find_sources() {
    for (const StatementFacts& facts : model_.statements) {
      Source found{&facts, {}, nullptr};
      if (!facts.explanation.uses.empty()) found.data = data_of(*facts.explanation.uses[0].table);
      Review scaled;
      review_statement(model_, facts, scaled);
      if (!scaled.queries.empty()) found.review = scaled.queries[0];
      sources_.push_back(std::move(found));
    }
  }

  void find_suggestions() {
    for (const Finding& finding : review_.findings) {
      Suggestion found;
      const std::string why = read_suggestion(review_, finding, data_, found);
      if (!found.is_any()) {
        if (!why.empty()) not_run_.push_back(fmt::format("{}: its fix is not run: {}", finding.id(), why));
        continue;
      }
      if (const std::string other = keep(finding, std::move(found)); !other.empty())
        not_run_.push_back(fmt::format("{}: its fix is not run: {}", finding.id(), other));
    }
  }

  // Why it is not run; empty: it is.
  std::string keep(const Finding& finding, Suggestion found) {
    if (found.replaces) {
      const std::string name = found.target.data->facts().name;
      return replaced_.try_emplace(name, std::move(found)).second ? "" : "another fix changes the table";
    }
    const DataPtr base = base_of(finding, data_);
    for (const Source& source : sources_) {
      if (source.facts->name == finding.query && source.data == base && source.facts->select() != nullptr)
        found.query = source.facts;
    }
    if (found.query == nullptr) return "no statement here is answered by it alone";
    const auto same = [&](const Suggestion& other) { return other.query == found.query; };
    if (std::any_of(beside_.begin(), beside_.end(), same)) return "another fix mends the statement";
    beside_.push_back(std::move(found));
    return {};
  }

  static void load_all(const std::vector<TrialTable>& targets, Trial& trial) {
    std::vector<std::pair<TrialTable, size_t>> loads;
    for (const TrialTable& target : targets) {
      loads.emplace_back(target, trial.place(target.load_text(), target.keyspace));
      trial.rows += static_cast<double>(target.data->rows());
    }
    trial.load = [loads](const Trial::Sink& sink) -> base::Status {
      for (const auto& [target, statement] : loads) {
        for (uint64_t i = 0; i < target.data->rows(); ++i)
          SIBYL_TRY(sink(statement, target.row_cells(target.data->row(i))));
      }
      return {};
    };
  }

  static Work reading(double partitions, double rows) { return {1, partitions, rows, 0, 0, 0}; }

  static Work writing(const cql::Statement& statement) {
    Work work;
    const auto add = [&](const auto& node) {
      (std::holds_alternative<cql::Delete>(node) ? work.removes : work.inserts) += 1;
    };
    const auto* batch = std::get_if<cql::Batch>(&statement.node);
    if (batch == nullptr) add(statement.node);
    for (size_t i = 0; batch != nullptr && i < batch->statements.size(); ++i) add(batch->statements[i]);
    return work;
  }

  static std::optional<Work> work_of(const Source& source) {
    if (source.facts->select() == nullptr) return writing(*source.facts->tree);
    if (!source.review.partitions || !source.review.rows_read) return std::nullopt;
    const auto& uses = source.facts->explanation.uses;
    const bool scans = !uses.empty() && (uses[0].access == plan::Explanation::Access::full_scan ||
                                         uses[0].access == plan::Explanation::Access::token_range);
    Work work = reading(scans ? 1 : *source.review.partitions, *source.review.rows_read);
    if (scans) work.scanned = std::max(0.0, *source.review.partitions - 1);
    return work;
  }

  static Operation operation_of(const Source& source) {
    const StatementFacts& facts = *source.facts;
    Operation operation;
    // Names of recorded statements are those of what they compare, the same for several tables.
    operation.name = facts.observed ? source.review.table + "/" + facts.name : facts.name;
    operation.group = facts.group;
    operation.weight = (facts.rate > 0 ? facts.rate : 1) * facts.times;
    operation.work = work_of(source);
    if (facts.select() != nullptr) operation.rows = source.review.rows_returned;
    operation.may_fail = facts.observed.has_value();
    return operation;
  }

  // Why a statement is not run; empty: it is.
  static std::string obstacle(const Source& source) {
    if (source.facts->error) return "is refused";
    const auto* insert = std::get_if<cql::Insert>(&source.facts->tree->node);
    return insert != nullptr && insert->json != nullptr ? "takes JSON" : "";
  }

  Trial given() const {
    Trial trial;
    trial.name = "given";
    for (const Definition& definition : model_.definitions)
      trial.definitions.push_back({definition_text(definition), definition.keyspace});
    trial.notes = assumed_;
    std::vector<TrialTable> tables;
    for (const DataPtr& data : data_) tables.push_back(trial_table(data));
    load_all(tables, trial);
    for (const Source& source : sources_) {
      if (source.data == nullptr) continue;
      Operation operation = operation_of(source);
      if (const std::string why = obstacle(source); !why.empty()) {
        trial.notes.push_back(fmt::format("{} {}: not run", operation.name, why));
        continue;
      }
      set_actions(source, {run_as_it_is(source, plain_text(source), trial_table(source.data), trial)},
                  operation);
      trial.operations.push_back(std::move(operation));
    }
    return trial;
  }

  // Of the rows that the table's INSERTs write, those that it did not have before.
  double new_share(const DataPtr& data) const {
    double inserted = 0;
    for (const Source& source : sources_) {
      if (source.data == data && source.facts->observed &&
          std::holds_alternative<cql::Insert>(source.facts->tree->node))
        inserted += source.facts->rate * source.facts->times;
    }
    const TableFacts& facts = data->facts();
    if (inserted <= 0 || facts.growth_origin != Origin::measured) return 1;
    return std::clamp(facts.growth.value_or(0) / options_.scale / inserted, 0.0, 1.0);
  }

  // A part of what a statement takes, for the row that it is about.
  using Action = std::function<base::Status(TrialSession&, Random&, const TableData::Row&)>;
  void set_actions(const Source& source, std::vector<Action> actions, Operation& operation) const {
    operation.run = [picker = Picker(*source.facts, source.data, new_share(source.data)),
                     actions = std::move(actions)](TrialSession& connection, Random& random) -> base::Status {
      const TableData::Row row = picker.pick(random);
      for (const Action& action : actions) SIBYL_TRY(action(connection, random, row));
      return {};
    };
  }

  static Trial::Text plain_text(const Source& source) {
    return {print_plain(source.facts->text), source.facts->keyspace};
  }

  RequestShape shape_of(const Source& source, const std::string& text) const {
    RequestShape shape;
    shape.bounds = find_bounds(text);
    shape.range_share = model_.cost.range_selectivity;
    if (source.facts->partitions) shape.listed = *source.facts->partitions;
    const std::optional<ObservedShape>& seen = source.facts->observed;
    if (!seen || seen->calls <= 0) return shape;
    shape.limit = std::max(1.0, std::round(seen->rows_returned / seen->calls));
    if (seen->partitions_read > 0) shape.range_rows = seen->rows_read / seen->partitions_read;
    const auto& uses = source.facts->explanation.uses;
    if (seen->rows_read > 0 && !uses.empty() && !uses[0].filters.empty())
      shape.range_share = seen->rows_returned / seen->rows_read;
    return shape;
  }

  Action run_as_it_is(const Source& source, const Trial::Text& statement, const TrialTable& target,
                      Trial& trial) const {
    const size_t place = trial.place(statement.text, statement.keyspace);
    return [target, place, shape = shape_of(source, statement.text)](
               TrialSession& connection, Random& random, const TableData::Row& row) -> base::Status {
      const Binding binding{target.data, target.added_cells(row), shape};
      SIBYL_TRY(connection.run(place, binding.cells(connection.markers(place), row, random)));
      return {};
    };
  }

  // Whether rows come from the newest on.
  static bool is_newest_first(const Source& source) {
    const schema::Column* time = time_column(source.data->table());
    if (time == nullptr) return true;
    for (const cql::Ordering& ordering : source.facts->select()->order_by)
      if (ordering.column == time->name) return ordering.descending;
    return time->descending;
  }

  // Buckets that one execution asks; none: nobody knows.
  static std::optional<double> buckets_of(const Source& source, double width, double wanted) {
    const TableData& data = *source.data;
    const plan::Explanation::TableUse& use = source.facts->explanation.uses[0];
    if (!use.filters.empty() || !use.clustering.empty() || data.apart() <= 0) return std::nullopt;
    const double rows = static_cast<double>(data.rows()) / static_cast<double>(data.partitions());
    const double all = 1 + rows * data.apart() / 1000 / width;
    return std::isinf(wanted) ? all
                              : std::min(all, TimeBucket{1000 / data.apart(), width, wanted}.expected());
  }

  // Bucket after bucket until there are enough rows: from now backwards, or from the first on.
  Action run_by_time(const Source& source, const SplitStatement& statement, const TrialTable& target,
                     Operation& operation, Trial& trial) const {
    const SplitColumn& split = *target.by_time();
    const size_t place = trial.place(statement.text, source.facts->keyspace);
    const RequestShape shape = shape_of(source, statement.text);
    const bool limited = source.facts->explanation.uses[0].has_limit;
    const double wanted =
        limited ? statement.limit.value_or(shape.limit) : std::numeric_limits<double>::infinity();
    const bool newest_first = is_newest_first(source);
    operation.requests = buckets_of(source, split.width, wanted);
    return [data = source.data, place, split, shape, wanted, newest_first](
               TrialSession& connection, Random& random, const TableData::Row& row) -> base::Status {
      const double now = data->moment(data->newest(row.partition)) + data->apart() * random.unit();
      const int64_t first = split.number(row.partition, 0), last = split.number(row.partition, now);
      double found = 0;
      for (int64_t i = 0; i <= last - first && found < wanted; ++i) {
        const int64_t bucket = newest_first ? last - i : first + i;
        const Binding binding{data, {{split.name, split.bucket(bucket)}}, shape};
        SIBYL_ASSIGN(const std::vector<Cells> rows,
                     connection.run(place, binding.cells(connection.markers(place), row, random)));
        found += static_cast<double>(rows.size());
      }
      return {};
    };
  }

  Trial suggested() const {
    Trial trial;
    trial.name = "suggested";
    trial.notes = not_run_;
    for (const Definition& definition : model_.definitions) {
      const auto* create = std::get_if<cql::CreateTable>(&definition.tree->node);
      const Suggestion* instead =
          create != nullptr ? replacement(create->table, definition.keyspace) : nullptr;
      trial.definitions.push_back(instead != nullptr
                                      ? Trial::Text{instead->text, instead->target.keyspace}
                                      : Trial::Text{definition_text(definition), definition.keyspace});
    }
    std::vector<TrialTable> targets;
    for (const DataPtr& data : data_) {
      const auto instead = replaced_.find(data->facts().name);
      targets.push_back(instead != replaced_.end() ? instead->second.target : trial_table(data));
    }
    for (const Suggestion& one : beside_) {
      if (one.exists) continue;
      trial.definitions.push_back({one.text, one.target.keyspace});
      targets.push_back(one.target);
    }
    load_all(targets, trial);
    for (const Source& source : sources_) {
      if (source.data != nullptr) add_suggested(source, trial);
    }
    return trial;
  }

  const Suggestion* replacement(const cql::QualifiedName& name, const std::string& keyspace) const {
    for (const auto& [base, suggestion] : replaced_) {
      if (same_table(suggestion.target.data->table(), name.keyspace.empty() ? keyspace : name.keyspace,
                     name.name))
        return &suggestion;
    }
    return nullptr;
  }

  void add_suggested(const Source& source, Trial& trial) const {
    Operation operation = operation_of(source);
    for (const Suggestion& one : beside_) {
      if (one.query != source.facts) continue;
      const std::string text = print_from(source.facts->text, one.target.name);
      if (one.exists) {  // its own rows are asked for
        Source there = source;
        there.data = one.target.data;
        set_actions(there, {run_as_it_is(there, {text, source.facts->keyspace}, one.target, trial)},
                    operation);
        operation.work = reading(1, source.review.rows_returned.value_or(1));
        trial.operations.push_back(std::move(operation));
        return;
      }
      if (source.facts->error)
        trial.notes.push_back(fmt::format(
            "{} is refused by the given tables: the totals are not of the same work", operation.name));
      operation.work = std::nullopt;
      if (source.review.rows_returned) operation.work = reading(1, *source.review.rows_returned);
      set_actions(source, {run_split(source, one, text, operation, trial)}, operation);
      trial.operations.push_back(std::move(operation));
      return;
    }
    if (const std::string why = obstacle(source); !why.empty()) {
      trial.notes.push_back(fmt::format("{} {}: not run", operation.name, why));
      return;
    }
    std::vector<Action> actions;
    if (source.facts->select() == nullptr) add_upkeep(source, operation, actions, trial);
    const auto replaced = replaced_.find(source.data->facts().name);
    if (replaced != replaced_.end()) {
      // What the new types or columns do not allow is left out.
      operation.may_fail = operation.may_fail || !replaced->second.target.types.empty();
      actions.push_back(run_split(source, replaced->second, plain_text(source).text, operation, trial));
    } else
      actions.push_back(run_as_it_is(source, plain_text(source), trial_table(source.data), trial));
    set_actions(source, std::move(actions), operation);
    trial.operations.push_back(std::move(operation));
  }

  // What a read of split partitions takes: every prefix is asked for as many rows as are wanted.
  static void expect_split(const Source& source, const Suggestion& suggestion, double prefixes,
                           Operation& operation) {
    const TableData& data = *source.data;
    const double held = static_cast<double>(data.rows()) / static_cast<double>(data.partitions());
    const auto of_all = [&](double rows) {
      const bool limited = source.facts->explanation.uses[0].has_limit;
      return limited ? std::max(rows, std::min(rows * prefixes, held)) : rows;
    };
    const double rows =
        suggestion.replaces ? *source.review.rows_read : source.review.rows_returned.value_or(1);
    operation.work = reading(suggestion.partitions, of_all(rows));
    if (operation.rows) operation.rows = of_all(*operation.rows);
  }

  // A statement of a table whose partitions are split, or that has other columns.
  Action run_split(const Source& source, const Suggestion& suggestion, const std::string& text,
                   Operation& operation, Trial& trial) const {
    const TrialTable& target = suggestion.target;
    const plan::Explanation::TableUse& use = source.facts->explanation.uses[0];
    const bool reads = source.facts->select() != nullptr;
    if (reads && suggestion.replaces && !use.partitions)  // of whatever partitions there are
      return run_as_it_is(source, {text, source.facts->keyspace}, target, trial);
    SplitStatement written{text, std::nullopt};
    double prefixes = 1;
    for (const bool by_hash : {true, false}) {
      for (const SplitColumn& split : target.splits) {
        if ((split.modulo > 0) != by_hash) continue;
        if (by_hash) prefixes *= split.modulo;
        const SplitStatement next = print_split(written.text, split.name, reads ? split.modulo : 0);
        written = {next.text, written.limit ? written.limit : next.limit};
      }
    }
    if (!reads) written.text = print_insert_of(written.text, target);
    if (reads && source.review.rows_read && !target.splits.empty())
      expect_split(source, suggestion, prefixes, operation);
    const bool by_row = suggestion.replaces && use.access == plan::Explanation::Access::rows;
    if (!reads || target.by_time() == nullptr || by_row)
      return run_as_it_is(source, {written.text, source.facts->keyspace}, target, trial);
    Action action = run_by_time(source, written, target, operation, trial);
    if (operation.requests && operation.work) operation.work->partitions = *operation.requests * prefixes;
    return action;
  }

  // What a write to a table means for those beside it: the new row; of a change the old key, looked up first.
  void add_upkeep(const Source& source, Operation& operation, std::vector<Action>& actions,
                  Trial& trial) const {
    const bool inserts = std::holds_alternative<cql::Insert>(source.facts->tree->node);
    const bool removes = std::holds_alternative<cql::Delete>(source.facts->tree->node);
    for (const Suggestion& one : beside_) {
      if (one.exists || one.target.data != source.data) continue;
      const schema::Table& table = source.data->table();
      if (!inserts)
        actions.push_back(
            run_as_it_is(source, {print_by_key(table), table.keyspace}, trial_table(source.data), trial));
      const std::string text = removes ? print_delete(one.text) : one.target.load_text();
      actions.push_back(run_as_it_is(source, {text, one.target.keyspace}, one.target, trial));
      if (!operation.work) continue;
      (removes ? operation.work->removes : operation.work->inserts) += 1;
      if (inserts) continue;
      operation.work->requests += 1;
      operation.work->partitions += 1;
      operation.work->rows += 1;
    }
  }

  const std::vector<Workload>& workloads_;
  const TrialOptions& options_;
  Review review_;
  ReviewModel model_;
  std::vector<DataPtr> data_;
  std::vector<std::string> assumed_, not_run_;
  std::vector<Source> sources_;
  std::map<std::string, Suggestion> replaced_;  // by the name of the table they take the place of
  std::vector<Suggestion> beside_;
};

}  // namespace

base::Result<std::vector<Trial>> make_trials(const std::vector<Workload>& workloads,
                                             const TrialOptions& options) {
  TrialMaker maker(workloads, options);
  return maker.run();
}

base::Result<TrialVolume> trial_volume(const std::vector<Workload>& workloads,
                                       const Observation* observation) {
  ReviewOptions reviewing;
  reviewing.observation = observation;
  SIBYL_ASSIGN(const ReviewModel model, read_review_model(workloads, reviewing));
  TrialVolume volume;
  for (const TableFacts& facts : model.tables) {
    if (facts.table->is_view() || !is_used(model, *facts.table)) continue;
    constexpr double assumed = 10'000;
    const double rows = facts.rows.value_or(facts.origin == Origin::measured ? 1 : assumed);
    volume.rows += rows;
    volume.bytes += rows * facts.row_bytes;
  }
  return volume;
}

}  // namespace sibyl::advisor
