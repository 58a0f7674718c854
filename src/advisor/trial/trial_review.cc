// Builds trials of reviewed schemas: the given one, and the one that the review suggests.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "advisor/trial/fit.h"
#include "advisor/trial/maintenance.h"
#include "advisor/trial/queue.h"
#include "advisor/trial/suggest.h"
#include "cql/printer.h"

namespace sibyl::advisor {
namespace {

bool same_table(const schema::Table& table, const std::string& keyspace, const std::string& name) {
  return table.keyspace == keyspace && table.name == name;
}

// Returns true if statements use the table or one of its views.
bool is_used(const ReviewModel& model, const schema::Table& table) {
  for (const StatementFacts& statement : model.statements) {
    for (const plan::Explanation::TableUse& use : statement.explanation.uses) {
      const std::string& name = use.table->is_view() ? use.table->view->base_table : use.table->name;
      if (same_table(table, use.table->keyspace, name)) return true;
    }
  }
  return false;
}

// The trial uses its own replication settings.
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
    make_queues();
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
      made_.push_back(std::make_shared<TableData>(facts, options_.seed, literals_for(facts), assumed_));
      facts = made_.back()->facts();
      data_.push_back(made_.back());
    }
  }

  void make_queues() {
    for (const std::shared_ptr<TableData>& data : made_) {
      const TableFacts& facts = data->facts();
      const std::optional<Proposal::Queue> queue = queue_of(review_, facts.name);
      if (queue) no_queue_[facts.name] = make_queue(*queue, *data, assumed_);
      constexpr double many_tombstones = 10;
      if (facts.tombstones_p99.value_or(0) >= many_tombstones && data->mean_tombstones_met() <= 0)
        assumed_.push_back(fmt::format("{}: reads have scanned {} tombstones (p99); none are loaded",
                                       facts.name, count_text(*facts.tombstones_p99)));
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
      Source found;
      found.facts = &facts;
      found.range_share = model_.cost.range_selectivity;
      if (!facts.explanation.uses.empty()) found.data = data_of(*facts.explanation.uses[0].table);
      Review scaled;
      review_statement(model_, facts, scaled);
      if (!scaled.queries.empty()) found.review = scaled.queries[0];
      sources_.push_back(std::move(found));
    }
    for (Source& source : sources_)
      if (source.data != nullptr) source.new_share = new_share(source.data);
  }

  Prepared prepare(const Finding& finding) const {
    Prepared out;
    if (finding.verdict == Verdict::tombstone_scan) {
      const auto found = no_queue_.find(finding.table);
      if (found != no_queue_.end()) out.obstacle = found->second;
    }
    const bool joins = finding.proposal != nullptr && !finding.proposal->looked_up.empty();
    if (!joins || finding.cql.empty()) return out;
    auto chain = std::make_shared<Chain>();
    out.obstacle = link_group(finding, sources_, made_, *chain);
    if (out.obstacle.empty()) out.chain = chain;
    return out;
  }

  void find_suggestions() {
    for (const Finding& finding : review_.findings) {
      Suggestion found;
      const std::string why = read_suggestion(review_, finding, data_, prepare(finding), found);
      if (!found.has_table()) {
        if (!why.empty()) not_run_.push_back(fmt::format("{}: its fix is not run: {}", finding.id(), why));
        continue;
      }
      if (const std::string other = keep(finding, std::move(found)); !other.empty())
        not_run_.push_back(fmt::format("{}: its fix is not run: {}", finding.id(), other));
    }
  }

  // Adds a suggestion. Returns the reason if it cannot be run, otherwise an empty string.
  std::string keep(const Finding& finding, Suggestion found) {
    if (found.replaces) {
      const std::string name = found.target.data->facts().name;
      return replaced_.try_emplace(name, std::move(found)).second ? "" : "another fix changes the table";
    }
    const DataPtr base = base_of(finding, data_);
    for (const Source& source : sources_) {
      if (source.data != base || source.facts->select() == nullptr) continue;
      const bool fits = found.group.empty() ? source.facts->name == finding.query
                                            : source.facts->group == found.group && found.query == nullptr;
      if (fits) found.query = source.facts;
    }
    if (found.query == nullptr) return "it does not answer any statement by itself";
    const auto same = [&](const Suggestion& other) { return other.query == found.query; };
    if (std::any_of(beside_.begin(), beside_.end(), same)) return "another fix already covers the statement";
    beside_.push_back(std::move(found));
    return {};
  }

  static void load_all(const std::vector<TrialTable>& targets, Trial& trial) {
    struct Load {
      TrialTable target;
      size_t insert = 0, remove = 0;
    };
    std::vector<Load> loads;
    for (const TrialTable& target : targets) {
      Load& load = loads.emplace_back(Load{target, trial.place(target.load_text(), target.keyspace), 0});
      uint64_t deleted = 0;
      for (uint64_t i = 0; i < target.data->partitions(); ++i) deleted += target.data->deleted(i);
      if (deleted > 0) load.remove = trial.place(target.delete_text(), target.keyspace);
      if (deleted > 0)
        trial.notes.push_back(fmt::format("{}: {} tombstones are also loaded", target.data->facts().name,
                                          count_text(static_cast<double>(deleted))));
      trial.tombstones += deleted;
      trial.rows += static_cast<double>(target.data->rows()) *
                    (target.chain != nullptr ? target.chain->multiplied() : 1);
    }
    trial.load = [loads](const Trial::Sink& sink) -> base::Status {
      for (const auto& [target, insert, remove] : loads) {
        for (uint64_t i = 0; i < target.data->rows(); ++i) {
          for (const Cells& cells : target.rows_for(target.data->row(i))) SIBYL_TRY(sink(insert, cells));
        }
        for (uint64_t partition = 0; remove > 0 && partition < target.data->partitions(); ++partition) {
          for (uint64_t place = 0; place < target.data->deleted(partition); ++place)
            SIBYL_TRY(sink(remove, target.key_cells(target.data->deleted_row(partition, place))));
        }
      }
      return {};
    };
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
      if (source.data != nullptr) add_given(source, trial);
    }
    return trial;
  }

  void add_given(const Source& source, Trial& trial) const {
    if (const Suggestion* joined = joining(source)) {
      if (joined->query != source.facts) return;
      Operation operation = operation_of_group(*joined, source);
      const ChainPtr& chain = joined->target.chain;
      const std::optional<Chain::Expected> expected = chain->expected();
      if (expected) operation.work = expected->work;
      if (expected) operation.rows = expected->rows;
      operation.requests = chain->requests();
      set_actions(source, {run_chain(chain, source, trial)}, operation);
      trial.operations.push_back(std::move(operation));
      return;
    }
    Operation operation = operation_of(source);
    if (const std::string why = obstacle(source); !why.empty()) {
      trial.notes.push_back(fmt::format("{} {}: not run", operation.name, why));
      return;
    }
    if (operation.work && scans_tombstones(source))
      operation.work->tombstones = source.data->mean_tombstones_met();
    set_actions(source, {run_unchanged(source, plain_text(source), trial_table(source.data), trial)},
                operation);
    trial.operations.push_back(std::move(operation));
  }

  bool is_queue_read(const Source& source) const {
    const std::optional<Proposal::Queue> queue = queue_of(review_, source.data->facts().name);
    return queue && queue->read == source.facts->name;
  }

  // Returns true if the statement has to read over deleted rows first.
  bool scans_tombstones(const Source& source) const {
    const auto& uses = source.facts->explanation.uses;
    if (source.facts->select() == nullptr || uses.empty() || uses[0].table->is_view()) return false;
    if (uses[0].access != plan::Explanation::Access::partitions) return false;
    if (is_queue_read(source)) return true;
    const schema::Table& table = *uses[0].table;
    const bool from_least = table.clustering_count > 0 && table.clustering(0).descending == uses[0].reversed;
    return uses[0].clustering.empty() && (!uses[0].has_limit || from_least);
  }

  // The suggestion that answers the group of a read, or nullptr.
  const Suggestion* joining(const Source& source) const {
    for (const Suggestion& one : beside_) {
      if (!one.group.empty() && one.group == source.facts->group && source.facts->select() != nullptr)
        return &one;
    }
    return nullptr;
  }

  // `first`: the first read of the group.
  Operation operation_of_group(const Suggestion& joined, const Source& first) const {
    Operation operation = operation_of(first);
    operation.name = operation.group = joined.group;
    operation.work = std::nullopt;
    operation.rows = std::nullopt;
    double rate = 0;
    for (const Source& source : sources_)
      if (joining(source) == &joined) rate = std::max(rate, source.facts->rate);
    operation.weight = (rate > 0 ? rate : 1) * first.facts->times;
    return operation;
  }

  // Returns true if a suggested table joins this table with others and nothing else needs it.
  bool is_unused(const DataPtr& data) const {
    const auto reads = [&](const Source& source) {
      return source.data == data && source.facts->select() != nullptr && joining(source) == nullptr;
    };
    const auto joins = [&](const Suggestion& one) { return one.target.data == data && !one.group.empty(); };
    const auto needs = [&](const Suggestion& one) {
      if (one.target.data == data) return one.group.empty();
      return one.target.chain != nullptr &&
             std::any_of(one.target.chain->reads.begin(), one.target.chain->reads.end(),
                         [&](const Chain::Read& read) { return read.data == data; });
    };
    return std::any_of(beside_.begin(), beside_.end(), joins) &&
           std::none_of(beside_.begin(), beside_.end(), needs) &&
           std::none_of(sources_.begin(), sources_.end(), reads) && data->table().views.empty() &&
           !replaced_.contains(data->facts().name);
  }

  // Returns the share of new rows among the rows that the table's INSERTs write.
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
      if (is_unused(data)) continue;
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
    if (const Suggestion* joined = joining(source)) {
      if (joined->query == source.facts) add_joined(source, *joined, trial);
      return;
    }
    for (const Suggestion& one : beside_) {
      if (one.query == source.facts) return add_beside(source, one, trial);
    }
    Operation operation = operation_of(source);
    if (const std::string why = obstacle(source); !why.empty()) {
      trial.notes.push_back(fmt::format("{} {}: not run", operation.name, why));
      return;
    }
    std::vector<Action> actions;
    if (source.facts->select() == nullptr) {
      if (is_skipped(source)) operation.work = Work();
      for (const Suggestion& one : beside_) add_maintenance(source, one, operation, actions, trial);
    }
    const auto replaced = replaced_.find(source.data->facts().name);
    if (replaced != replaced_.end()) {
      // Statements that the new types or columns do not permit are skipped.
      operation.may_fail = operation.may_fail || !replaced->second.target.types.empty();
      actions.push_back(run_split(source, replaced->second, plain_text(source).text, operation, trial));
      if (operation.work && scans_tombstones(source) && !is_queue_read(source))
        operation.work->tombstones = source.data->mean_tombstones_met();
    } else if (!is_skipped(source)) {
      actions.push_back(run_unchanged(source, plain_text(source), trial_table(source.data), trial));
    }
    set_actions(source, std::move(actions), operation);
    trial.operations.push_back(std::move(operation));
  }

  // True for a write to a table that is no longer needed.
  bool is_skipped(const Source& source) const {
    return !std::holds_alternative<cql::Batch>(source.facts->tree->node) && is_unused(source.data);
  }

  // Adds one read that replaces the reads of a group.
  void add_joined(const Source& source, const Suggestion& joined, Trial& trial) const {
    Operation operation = operation_of_group(joined, source);
    Source all = source;
    if (source.review.rows_returned) {
      const double rows = *source.review.rows_returned * joined.target.chain->multiplied();
      all.review.rows_read = all.review.rows_returned = operation.rows = rows;
      operation.work = reading(source.review.partitions.value_or(1), rows);
    }
    const std::string text = print_from(source.facts->text, joined.target.name, true);
    set_actions(source, {run_split(all, joined, text, operation, trial)}, operation);
    trial.operations.push_back(std::move(operation));
  }

  static void add_beside(const Source& source, const Suggestion& suggestion, Trial& trial) {
    Operation operation = operation_of(source);
    const std::string text = print_from(source.facts->text, suggestion.target.name);
    if (suggestion.exists) {  // uses the table's own rows
      Source there = source;
      there.data = suggestion.target.data;
      set_actions(there, {run_unchanged(there, {text, source.facts->keyspace}, suggestion.target, trial)},
                  operation);
      operation.work = reading(1, source.review.rows_returned.value_or(1));
      trial.operations.push_back(std::move(operation));
      return;
    }
    if (source.facts->error)
      trial.notes.push_back(fmt::format(
          "{} is rejected by the given tables, so the totals do not cover the same work", operation.name));
    operation.work = std::nullopt;
    if (source.review.rows_returned) operation.work = reading(1, *source.review.rows_returned);
    set_actions(source, {run_split(source, suggestion, text, operation, trial)}, operation);
    trial.operations.push_back(std::move(operation));
  }

  const std::vector<Workload>& workloads_;
  const TrialOptions& options_;
  Review review_;
  ReviewModel model_;
  std::vector<std::shared_ptr<TableData>> made_;
  std::vector<DataPtr> data_;  // the data of the tables, shared with the statements
  std::vector<std::string> assumed_, not_run_;
  std::vector<Source> sources_;
  // For each table, the reason why no tombstones were made; empty: they were made.
  std::map<std::string, std::string> no_queue_;
  std::map<std::string, Suggestion> replaced_;  // suggestions, by the name of the table that they replace
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
