#include "advisor/trial/suggest.h"

#include <fmt/format.h>

#include <algorithm>

#include "advisor/review/fix.h"
#include "cql/parser.h"
#include "cql/printer.h"

namespace sibyl::advisor {
namespace {

constexpr double max_prefixes = 1000;  // per request
constexpr double max_rows = 1e6;       // limit for a table that joins others

// The columns that split partitions, from all findings that the replacement table resolves.
std::vector<Proposal::Added> read_splits(const Review& review, const Finding& finding, Suggestion& out) {
  std::vector<Proposal::Added> splits;
  for (const Finding& other : review.findings) {
    if (other.table != finding.table || other.replaces != finding.replaces) continue;
    if (finding.replaces.empty() && &other != &finding) continue;
    for (const Choice& choice : other.choices)
      if (choice.chosen) out.partitions = std::max(out.partitions, choice.partitions);
    if (other.proposal == nullptr) continue;
    for (const Proposal::Added& added : other.proposal->partition)
      if (added.modulo > 0 || added.width > 0) splits.push_back(added);
  }
  return splits;
}

// Reads columns that the base table lacks, or has with another type.
std::string read_columns(const cql::CreateTable& create, const std::vector<Proposal::Added>& splits,
                         Suggestion& out) {
  const schema::Table& base = out.target.data->table();
  for (const cql::ColumnDefinition& column : create.columns) {
    out.target.columns.push_back(column.name);
    if (out.target.looked_up.contains(column.name)) continue;
    const schema::Column* old = base.find(column.name);
    const std::string type = cql::print(column.type);
    if (old != nullptr && type == old->type->cql_name()) continue;
    const types::TypePtr scalar = types::scalar_by_name(type);
    if (scalar == nullptr) return fmt::format("values of {} are of type {}", column.name, type);
    if (old != nullptr) {
      out.target.types[column.name] = scalar;
    } else if (const auto split =
                   std::find_if(splits.begin(), splits.end(),
                                [&](const auto& one) { return column.name.starts_with(one.name); });
               split != splits.end()) {
      if (split->modulo > max_prefixes)
        return fmt::format("a request cannot read {:.0f} prefixes", split->modulo);
      out.target.splits.push_back({column.name, split->modulo, split->width});
    } else if (const auto& keys = create.partition_keys;
               std::any_of(keys.begin(), keys.end(), [&](const auto& names) {
                 return std::find(names.begin(), names.end(), column.name) != names.end();
               })) {
      return fmt::format("only the application knows the values of {}", column.name);
    } else {
      out.target.types[column.name] = scalar;
    }
  }
  for (size_t i = 0; out.replaces && i < base.partition_key_count; ++i) {
    const std::string& key = base.partition_key(i).name;
    if (std::find(out.target.columns.begin(), out.target.columns.end(), key) == out.target.columns.end())
      return fmt::format("statements restrict {}, which it does not have", key);
  }
  return {};
}

// Reads columns that come from the tables of the chain.
void read_looked_up(const Finding& finding, const ChainPtr& chain, Suggestion& out) {
  out.target.chain = chain;
  out.group = finding.query;
  for (size_t i = 0; i < finding.proposal->looked_up.size(); ++i) {
    for (const auto& [name, column] : finding.proposal->looked_up[i].columns)
      out.target.looked_up[name] = {i + 1, column};
  }
}

// Reads an existing table that the query can use.
std::string read_existing(const Finding& finding, const std::vector<DataPtr>& data, Suggestion& out) {
  if (!finding.replaces.empty()) return {};
  if (finding.proposal == nullptr || !finding.proposal->beside)
    return finding.cql.empty() ? "it is advice for the application and has no CQL"
                               : "it changes the statement, not the tables";
  if (finding.fix_kind != FixKind::existing_table) return "its table already runs for another statement";
  const Shape& shape = *finding.proposal->beside;
  for (const DataPtr& one : data) {
    const std::string keyspace = shape.keyspace.empty() ? default_keyspace : shape.keyspace;
    if (one->table().name != shape.name || one->table().keyspace != keyspace) continue;
    out.target = trial_table(one);
    out.exists = true;
    return {};
  }
  return fmt::format("no statement uses {}, so it has no rows", shape.name);
}

std::string obstacle(const Finding& finding, const Workload& fix, const DataPtr& base,
                     const Prepared& prepared) {
  if (!prepared.obstacle.empty()) return prepared.obstacle;
  if (prepared.chain != nullptr && base != nullptr) {
    const double rows = static_cast<double>(base->rows()) * prepared.chain->multiplied();
    if (rows > max_rows)
      return fmt::format("it would have {} rows at this scale; use a smaller --scale", count_text(rows));
  }
  const auto is_table = [](const CqlStatement& one) {
    return one.text.find("CREATE TABLE") != std::string::npos;
  };
  if (std::count_if(fix.cql.begin(), fix.cql.end(), is_table) != 1) return "it needs several tables";
  if (base == nullptr) return "its table is a view, or no statement uses it";
  if (base->table().is_counter) return "counters cannot be copied";
  if (!finding.replaces.empty() && !base->table().views.empty()) return "its views need the old key";
  return {};
}

}  // namespace

std::optional<Proposal::Queue> queue_of(const Review& review, const std::string& table) {
  for (const Finding& finding : review.findings)
    if (finding.table == table && finding.proposal != nullptr && finding.proposal->queue)
      return finding.proposal->queue;
  return std::nullopt;
}

DataPtr base_of(const Finding& finding, const std::vector<DataPtr>& data) {
  for (const DataPtr& one : data)
    if (one->facts().name == finding.table) return one;
  return nullptr;
}

std::string read_suggestion(const Review& review, const Finding& finding, const std::vector<DataPtr>& data,
                            const Prepared& prepared, Suggestion& out) {
  if (finding.fix_kind != FixKind::new_table || finding.cql.empty()) return read_existing(finding, data, out);
  const DataPtr base = base_of(finding, data);
  const auto workload = parse_workload(finding.cql, "fix");
  if (!workload) return "its definition cannot be parsed";
  if (std::string why = obstacle(finding, *workload, base, prepared); !why.empty()) return why;
  const auto tree = cql::parse_statement(workload->cql[0].text);
  const auto* create = tree ? std::get_if<cql::CreateTable>(&(*tree)->node) : nullptr;
  if (create == nullptr) return "its definition cannot be parsed";
  const schema::Table& old = base->table();
  Suggestion found;
  found.replaces = !finding.replaces.empty();
  found.text = workload->cql[0].text;
  // A replacement table runs under the name of the old one.
  if (found.replaces)
    found.text =
        fmt::format("CREATE TABLE {}{}", cql::print_name(old.name), found.text.substr(found.text.find(" (")));
  found.target.name = found.replaces ? old.name : create->table.name;
  found.target.keyspace = old.keyspace;
  found.target.data = base;
  if (prepared.chain != nullptr) read_looked_up(finding, prepared.chain, found);
  if (base->mean_tombstones_met() > 0) found.queue = queue_of(review, base->facts().name);
  const std::vector<Proposal::Added> splits = read_splits(review, finding, found);
  if (std::string why = read_columns(*create, splits, found); !why.empty()) return why;
  out = std::move(found);
  return {};
}

}  // namespace sibyl::advisor
