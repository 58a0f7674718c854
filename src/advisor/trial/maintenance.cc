#include "advisor/trial/maintenance.h"

#include <fmt/format.h>

#include <algorithm>

namespace sibyl::advisor {
namespace {

template <typename Node>
bool is(const Source& source) {
  return std::holds_alternative<Node>(source.facts->tree->node);
}

// Handles a new row of the first table: looks up the related rows and stores them with it.
struct FirstWriter {
  TrialTable target;
  std::vector<size_t> lookups;  // look-ups for all reads except the first
  size_t insert = 0;

  base::Status operator()(TrialSession& connection, Random& random, const TableData::Row& row) const {
    std::vector<Chain::JoinedRows> all;
    target.chain->each(row, [&](const Chain::JoinedRows& together) { all.push_back(together); });
    for (size_t i = 0; i < lookups.size() && !all.empty(); ++i) {
      const Binding binding{target.chain->reads[i + 1].data, {}, {}, std::nullopt};
      SIBYL_TRY(
          connection.run(lookups[i], binding.cells(connection.markers(lookups[i]), all[0][i + 1], random)));
    }
    for (const Chain::JoinedRows& together : all)
      SIBYL_TRY(connection.run(insert, target.row_cells(together)));
    return {};
  }
};

// Handles a changed row of another table: writes each copy of it.
struct CopyWriter {
  TrialTable target;
  size_t read = 0, statement = 0;
  bool deletes = false, whole_partition = false;
  std::vector<std::vector<uint64_t>> copies;

  base::Status operator()(TrialSession& connection, Random&, const TableData::Row& row) const {
    const TableData& first = *target.chain->reads[0].data;
    const TableData& own = *target.chain->reads[read].data;
    const bool is_new = !own.has(row);
    if (row.partition >= copies.size() || (is_new && !target.chain->reads[read].several))
      return {};  // no row leads to it yet
    // A new row is stored together with the rows that are stored with the first row of its partition.
    const uint64_t beside = is_new ? own.row_at(row.partition, 0).number : row.number;
    std::vector<Cells> rows;
    for (const uint64_t number : copies[row.partition]) {
      target.chain->each(first.row(number), [&](Chain::JoinedRows together) {
        if (together[read].number != beside && (is_new || !whole_partition)) return;
        if (is_new) together[read] = row;
        rows.push_back(target.row_cells(together));
      });
    }
    for (const Cells& cells : rows)
      SIBYL_TRY(connection.run(statement, deletes ? key_of(connection, cells) : cells));
    return {};
  }

  Cells key_of(const TrialSession& connection, const Cells& cells) const {
    Cells out;
    for (const Marker& marker : connection.markers(statement)) {
      const auto found = std::find(target.columns.begin(), target.columns.end(), marker.name);
      out.push_back(cells[static_cast<size_t>(found - target.columns.begin())]);
    }
    return out;
  }
};

void keep_first(const Source& source, const Suggestion& suggestion, Operation& operation,
                std::vector<Action>& actions, Trial& trial) {
  const TrialTable& target = suggestion.target;
  const Chain& chain = *target.chain;
  const bool several =
      std::any_of(chain.reads.begin(), chain.reads.end(), [](const auto& read) { return read.several; });
  // The suggested table's key starts with the key of the first table.
  if (is<cql::Delete>(source) || (is<cql::Update>(source) && !several)) {
    const std::string text = print_onto(source.facts->text, target.name);
    actions.push_back(run_split(source, suggestion, text, operation, trial));
    if (operation.work) (is<cql::Delete>(source) ? operation.work->removes : operation.work->inserts) += 1;
    return;
  }
  FirstWriter writer{target, {}, trial.place(target.load_text(), target.keyspace)};
  for (size_t i = 1; i < chain.reads.size(); ++i) {
    const Chain::Read& read = chain.reads[i];
    const schema::Table& table = read.data->table();
    writer.lookups.push_back(trial.place(print_by_key(table, !read.link.to_rows), table.keyspace));
    if (!operation.work) continue;
    operation.work->requests += 1;
    operation.work->partitions += 1;
    operation.work->rows += read.several ? read.data->rows_per_partition() : 1;
  }
  if (operation.work) operation.work->inserts += chain.multiplied();
  actions.emplace_back(std::move(writer));
}

void keep_copies(const Source& source, const Suggestion& suggestion, size_t read, Operation& operation,
                 std::vector<Action>& actions, Trial& trial) {
  const TrialTable& target = suggestion.target;
  const Chain& chain = *target.chain;
  const bool several = chain.reads[read].several;
  const bool takes_all =
      several && !is<cql::Insert>(source) && source.facts->explanation.uses[0].clustering.empty();
  CopyWriter writer{target, read, 0, is<cql::Delete>(source), !several || takes_all, chain.copies(read)};
  writer.statement =
      trial.place(writer.deletes ? print_delete(suggestion.text) : target.load_text(), target.keyspace);
  actions.emplace_back(std::move(writer));
  const double copies = static_cast<double>(chain.reads[0].data->rows()) /
                        static_cast<double>(chain.reads[read].data->partitions());
  const double rows = takes_all ? chain.reads[read].data->rows_per_partition() : 1;
  const double changed = !is<cql::Insert>(source) ? rows : several ? 1 : 1 - source.new_share;
  if (operation.work)
    (is<cql::Delete>(source) ? operation.work->removes : operation.work->inserts) += copies * changed;
  if (changed > 0)
    trial.notes.push_back(
        fmt::format("{}: the application is assumed to know where the {} copies of a row are", operation.name,
                    count_text(copies)));
}

void keep_beside(const Source& source, const Suggestion& suggestion, Operation& operation,
                 std::vector<Action>& actions, Trial& trial) {
  const schema::Table& table = source.data->table();
  if (!is<cql::Insert>(source))
    actions.push_back(
        run_unchanged(source, {print_by_key(table), table.keyspace}, trial_table(source.data), trial));
  const bool removes = is<cql::Delete>(source);
  const std::string text = removes ? print_delete(suggestion.text) : suggestion.target.load_text();
  actions.push_back(run_unchanged(source, {text, suggestion.target.keyspace}, suggestion.target, trial));
  if (!operation.work) return;
  (removes ? operation.work->removes : operation.work->inserts) += 1;
  if (is<cql::Insert>(source)) return;
  operation.work->requests += 1;
  operation.work->partitions += 1;
  operation.work->rows += 1;
}

}  // namespace

void add_maintenance(const Source& source, const Suggestion& suggestion, Operation& operation,
                     std::vector<Action>& actions, Trial& trial) {
  const TrialTable& target = suggestion.target;
  if (suggestion.exists) return;
  if (target.chain == nullptr) {
    if (target.data == source.data) keep_beside(source, suggestion, operation, actions, trial);
    return;
  }
  for (size_t i = 0; i < target.chain->reads.size(); ++i) {
    if (target.chain->reads[i].data != source.data) continue;
    if (i == 0)
      keep_first(source, suggestion, operation, actions, trial);
    else
      keep_copies(source, suggestion, i, operation, actions, trial);
  }
}

}  // namespace sibyl::advisor
