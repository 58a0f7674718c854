// Reviewed schemas as trials: the given one, and the one that the review suggests.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "advisor/trial_rewrite.h"
#include "advisor/trial_target.h"
#include "cql/parser.h"
#include "cql/printer.h"

namespace sibyl::advisor {
namespace {

constexpr double most_prefixes = 1000;  // that one request can ask for

// A statement of the files with where it stands among those of the model.
struct Source {
  const StatementFacts* facts = nullptr;
  std::string keyspace;
  QueryReview review;
  DataPtr data;
};

class TrialMaker {
 public:
  TrialMaker(const std::vector<Workload>& workloads, const TrialOptions& options)
      : workloads_(workloads), options_(options) {}

  base::Result<std::vector<Trial>> run() {
    SIBYL_ASSIGN(review_, review_workloads(workloads_, {}));
    SIBYL_ASSIGN(model_, read_review_model(workloads_, {}));
    for (TableFacts& facts : model_.tables) scale(facts);
    for (const TableFacts& facts : model_.tables)
      data_.push_back(std::make_shared<TableData>(facts, options_.seed, assumed_));
    for (size_t i = 0; i < data_.size(); ++i) model_.tables[i] = data_[i]->facts();
    SIBYL_TRY(find_sources());
    find_suggestions();
    std::vector<Trial> trials;
    trials.push_back(given());
    if (!replaced_.empty() || !beside_.empty()) trials.push_back(suggested());
    return trials;
  }

 private:
  // A table of the review's that takes the place of one, or stands beside it for one query.
  struct Suggestion {
    std::string text;
    TrialTable target;
    double partitions = 1;
    const StatementFacts* query = nullptr;
  };

  void scale(TableFacts& facts) const {
    if (facts.rows) facts.rows = std::max(1.0, std::round(*facts.rows * options_.scale));
    if (facts.partitions) facts.partitions = std::max(1.0, std::round(*facts.partitions * options_.scale));
    // What arrives at a partition stays what it was.
    if (facts.growth) facts.growth = *facts.growth * options_.scale;
    for (auto& [name, column] : facts.columns) {
      if (!column.distinct) continue;
      const schema::Column* known = facts.table->find(name);
      if (known->is_partition_key() && facts.table->partition_key_count == 1)
        column.distinct = facts.partitions.value_or(*column.distinct);
      column.distinct = std::min(*column.distinct, facts.rows.value_or(*column.distinct));
    }
  }

  DataPtr data_of(const schema::Table& table) const {
    for (const DataPtr& data : data_) {
      if (data->table().keyspace == table.keyspace && data->table().name == table.name) return data;
    }
    return nullptr;
  }

  base::Status find_sources() {
    std::string keyspace = Trial::trial_keyspace;
    size_t next = 0;
    for (const Workload& workload : workloads_) {
      for (const CqlStatement& source : workload.cql) {
        SIBYL_ASSIGN(const auto tree, cql::parse_statement(source.text));
        if (const auto* use = std::get_if<cql::Use>(&tree->node)) keyspace = use->keyspace;
        if (defines_tables(*tree)) definitions_.push_back({source.text, keyspace});
        if (!is_data_statement(*tree) || next >= model_.statements.size()) continue;
        const StatementFacts& facts = model_.statements[next++];
        Source found{&facts, keyspace, {}, nullptr};
        if (!facts.explanation.uses.empty()) found.data = data_of(*facts.explanation.uses[0].table);
        Review scaled;
        review_statement(model_, facts, scaled);
        if (!scaled.queries.empty()) found.review = scaled.queries[0];
        sources_.push_back(std::move(found));
      }
    }
    return {};
  }

  void find_suggestions() {
    for (const Finding& finding : review_.findings) {
      if (finding.cql.find("CREATE TABLE") == std::string::npos) continue;
      if (!suggest(finding)) not_run_.push_back(fmt::format("{}: its fix is not run", finding.id()));
    }
  }

  bool suggest(const Finding& finding) {
    const auto workload = parse_workload(finding.cql, "fix");
    if (!workload || workload->cql.size() != 1) return false;
    const auto tree = cql::parse_statement(workload->cql[0].text);
    const auto* create = tree ? std::get_if<cql::CreateTable>(&(*tree)->node) : nullptr;
    const auto base = std::find_if(data_.begin(), data_.end(),
                                   [&](const DataPtr& data) { return data->facts().name == finding.table; });
    if (create == nullptr || base == data_.end() || (*base)->table().is_counter) return false;
    Suggestion out;
    out.text = workload->cql[0].text;
    const bool replaces = !finding.replaces.empty();
    // What takes a table's place is run under its name.
    if (replaces) {
      const schema::Table& old = (*base)->table();
      out.text =
          fmt::format("CREATE TABLE {}{}", cql::print_name(old.name), out.text.substr(out.text.find(" (")));
    }
    out.target = {
        replaces ? (*base)->table().name : create->table.name, (*base)->table().keyspace, *base, {}, {}};
    for (const cql::ColumnDefinition& column : create->columns) {
      const schema::Column* old = (*base)->table().find(column.name);
      // Values of another type, or of two new columns: nothing here makes them.
      if (old != nullptr ? cql::print(column.type) != old->type->cql_name() : !out.target.split.name.empty())
        return false;
      out.target.columns.push_back(column.name);
      if (old == nullptr) out.target.split.name = column.name;
    }
    for (const Choice& choice : finding.choices) {
      if (!choice.chosen) continue;
      if (choice.modulo > most_prefixes) return false;
      if (choice.modulo > 0 && choice.partitions < choice.modulo)
        return false;  // a second table, not written out
      out.target.split.modulo = choice.modulo;
      out.target.split.width = choice.width;
      out.partitions = choice.partitions;
    }
    if (!out.target.split.name.empty() && out.target.split.modulo <= 0 && out.target.split.width <= 0)
      return false;  // a column that only its owner can fill
    if (replaces) {
      return replaced_.try_emplace((*base)->facts().name, std::move(out)).second;
    }
    if (!out.target.split.name.empty()) return false;  // a split of its own
    for (const Source& source : sources_) {
      if (source.facts->name == finding.query && source.facts->select() != nullptr) out.query = source.facts;
    }
    if (out.query == nullptr) return false;
    const auto same = [&](const Suggestion& other) { return other.query == out.query; };
    if (std::any_of(beside_.begin(), beside_.end(), same)) return false;
    beside_.push_back(std::move(out));
    return true;
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

  static std::optional<Work> work_of(const Source& source) {
    if (source.facts->select() == nullptr) {
      const bool removes = std::holds_alternative<cql::Delete>(source.facts->tree->node);
      return Work{0, 0, 0, removes ? 0.0 : 1.0, removes ? 1.0 : 0.0, 0};
    }
    if (!source.review.partitions || !source.review.rows_read) return std::nullopt;
    return reading(*source.review.partitions, *source.review.rows_read);
  }

  Operation operation_of(const Source& source) const {
    Operation operation;
    operation.name = source.facts->name;
    operation.group = source.facts->group;
    operation.weight = (source.facts->rate > 0 ? source.facts->rate : 1) * source.facts->times;
    operation.work = work_of(source);
    return operation;
  }

  Trial given() const {
    Trial trial;
    trial.name = "given";
    trial.definitions = definitions_;
    trial.notes = assumed_;
    std::vector<TrialTable> tables;
    for (const DataPtr& data : data_) tables.push_back(trial_table(data));
    load_all(tables, trial);
    for (const Source& source : sources_) {
      if (source.data == nullptr) continue;
      if (source.facts->error) {
        trial.notes.push_back(fmt::format("{} is refused: not run", source.facts->name));
        continue;
      }
      Operation operation = operation_of(source);
      const size_t place = trial.place(print_plain(source.facts->text), source.keyspace);
      set_actions(source, {run_as_it_is(source, place, SplitColumn())}, operation);
      trial.operations.push_back(std::move(operation));
    }
    return trial;
  }

  // A row that a request is about.
  struct Picker {
    DataPtr data;
    std::optional<Ranks> ranks;  // of partitions
    bool is_new = false;
    std::shared_ptr<uint64_t> count = std::make_shared<uint64_t>(0);

    TableData::Row pick(Random& random) const {
      if (is_new) return data->new_row((*count)++, random);
      return data->row(ranks ? ranks->at(random.unit()) : random.below(data->rows()));
    }
  };

  static Picker picker_of(const Source& source) {
    Picker picker{source.data, std::nullopt};
    if (source.facts->skew >= 0) picker.ranks.emplace(source.data->partitions(), source.facts->skew);
    picker.is_new = std::holds_alternative<cql::Insert>(source.facts->tree->node);
    return picker;
  }

  // A part of what a statement takes, for the row that it is about.
  using Action = std::function<base::Status(TrialSession&, Random&, const TableData::Row&)>;
  static void set_actions(const Source& source, std::vector<Action> actions, Operation& operation) {
    operation.run = [picker = picker_of(source), actions = std::move(actions)](
                        TrialSession& connection, Random& random) -> base::Status {
      const TableData::Row row = picker.pick(random);
      for (const Action& action : actions) SIBYL_TRY(action(connection, random, row));
      return {};
    };
  }

  static Action run_as_it_is(const Source& source, size_t place, const SplitColumn& split) {
    return [data = source.data, place, split, listed = source.facts->partitions.value_or(3)](
               TrialSession& connection, Random& random, const TableData::Row& row) -> base::Status {
      const Binding binding{data, split.name, split.of(*data, row), listed};
      SIBYL_TRY(connection.run(place, binding.cells(connection.markers(place), row, random)));
      return {};
    };
  }

  // Bucket after bucket, from now backwards, until there are enough rows.
  static Action run_by_time(const Source& source, size_t place, const SplitColumn& split, double wanted) {
    return [data = source.data, place, split, wanted](TrialSession& connection, Random& random,
                                                      const TableData::Row& row) -> base::Status {
      const double now = data->moment(data->newest(row.partition)) + data->apart() * random.unit();
      const int64_t first = split.number(0);
      double found = 0;
      for (int64_t bucket = split.number(now); bucket >= first && found < wanted; --bucket) {
        const Binding binding{data, split.name, split.bucket(bucket)};
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
    for (const Trial::Text& definition : definitions_) {
      const auto tree = cql::parse_statement(definition.text);
      const auto* create = tree ? std::get_if<cql::CreateTable>(&(*tree)->node) : nullptr;
      const Suggestion* instead = create != nullptr ? replacement(create->table.name) : nullptr;
      trial.definitions.push_back(instead != nullptr ? Trial::Text{instead->text, instead->target.keyspace}
                                                     : definition);
    }
    std::vector<TrialTable> targets;
    for (const DataPtr& data : data_) {
      const auto instead = replaced_.find(data->facts().name);
      targets.push_back(instead != replaced_.end() ? instead->second.target : trial_table(data));
    }
    for (const Suggestion& one : beside_) {
      trial.definitions.push_back({one.text, one.target.keyspace});
      targets.push_back(one.target);
    }
    load_all(targets, trial);
    for (const Source& source : sources_) {
      if (source.data != nullptr) add_suggested(source, trial);
    }
    return trial;
  }

  const Suggestion* replacement(const std::string& name) const {
    for (const auto& [base, suggestion] : replaced_) {
      if (suggestion.target.name == name) return &suggestion;
    }
    return nullptr;
  }

  void add_suggested(const Source& source, Trial& trial) const {
    Operation operation = operation_of(source);
    for (const Suggestion& one : beside_) {
      if (one.query != source.facts) continue;
      const std::string text = print_from(source.facts->text, one.target.name);
      operation.work = std::nullopt;
      if (source.review.rows_returned) operation.work = reading(1, *source.review.rows_returned);
      set_actions(source, {run_as_it_is(source, trial.place(text, source.keyspace), SplitColumn())},
                  operation);
      trial.operations.push_back(std::move(operation));
      return;
    }
    if (source.facts->error) {
      trial.notes.push_back(fmt::format("{} is refused: not run", source.facts->name));
      return;
    }
    std::vector<Action> actions;
    if (source.facts->select() == nullptr) add_upkeep(source, operation, actions, trial);
    const auto replaced = replaced_.find(source.data->facts().name);
    if (replaced != replaced_.end() && !replaced->second.target.split.name.empty())
      actions.push_back(run_split(source, replaced->second, operation, trial));
    else
      actions.push_back(
          run_as_it_is(source, trial.place(print_plain(source.facts->text), source.keyspace), SplitColumn()));
    set_actions(source, std::move(actions), operation);
    trial.operations.push_back(std::move(operation));
  }

  Action run_split(const Source& source, const Suggestion& suggestion, Operation& operation,
                   Trial& trial) const {
    const SplitColumn& split = suggestion.target.split;
    const plan::Explanation::TableUse& use = source.facts->explanation.uses[0];
    const bool reads = source.facts->select() != nullptr;
    if (reads && !use.partitions)  // of whatever partitions there are
      return run_as_it_is(source, trial.place(print_plain(source.facts->text), source.keyspace), split);
    const SplitStatement written = print_split(source.facts->text, split.name, reads ? split.modulo : 0);
    const size_t place = trial.place(written.text, source.keyspace);
    if (reads && source.review.rows_read)
      operation.work = reading(suggestion.partitions, *source.review.rows_read);
    if (!reads || split.width <= 0 || use.access == plan::Explanation::Access::rows)
      return run_as_it_is(source, place, split);
    return run_by_time(source, place, split, written.limit.value_or(std::numeric_limits<double>::infinity()));
  }

  // What a write to a table means for those beside it: the new row; of a change the old key, looked up first.
  void add_upkeep(const Source& source, Operation& operation, std::vector<Action>& actions,
                  Trial& trial) const {
    const bool inserts = std::holds_alternative<cql::Insert>(source.facts->tree->node);
    const bool removes = std::holds_alternative<cql::Delete>(source.facts->tree->node);
    for (const Suggestion& one : beside_) {
      if (one.target.data != source.data) continue;
      const schema::Table& table = source.data->table();
      if (!inserts)
        actions.push_back(
            run_as_it_is(source, trial.place(print_by_key(table), table.keyspace), SplitColumn()));
      const std::string text = removes ? print_delete(one.text) : one.target.load_text();
      actions.push_back(run_as_it_is(source, trial.place(text, one.target.keyspace), SplitColumn()));
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
  std::vector<Trial::Text> definitions_;
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

base::Result<double> declared_rows(const std::vector<Workload>& workloads) {
  SIBYL_ASSIGN(const ReviewModel model, read_review_model(workloads, {}));
  double rows = 0;
  for (const TableFacts& facts : model.tables) rows += facts.rows.value_or(10'000);
  return rows;
}

}  // namespace sibyl::advisor
