#include "advisor/trial/chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace sibyl::advisor {
namespace {

using Access = plan::Explanation::Access;

bool is_marker(const cql::ExpressionPtr& value) {
  return value != nullptr && std::holds_alternative<cql::BindMarker>(value->node);
}

// Returns where the result of a SELECT has the table's columns.
std::vector<std::pair<std::string, size_t>> answers_of(const cql::Select& select,
                                                       const schema::Table& table) {
  std::vector<std::pair<std::string, size_t>> out;
  for (size_t i = 0; i < select.selectors.size(); ++i) {
    const auto* name = std::get_if<cql::ColumnReference>(&select.selectors[i].expression->node);
    if (name != nullptr) out.emplace_back(name->name, i);
  }
  for (size_t i = 0; select.selectors.empty() && i < table.columns.size(); ++i)
    out.emplace_back(table.columns[i].name, i);
  return out;
}

// Returns true if a client that has run the SELECT knows the column's value: it was selected or given.
bool knows_column(const cql::Select& select, const Chain::Read& read, const std::string& column) {
  const auto asked = [&](const auto& one) { return one.first == column; };
  if (std::any_of(read.answers.begin(), read.answers.end(), asked)) return true;
  return std::any_of(select.where.begin(), select.where.end(), [&](const cql::Relation& relation) {
    return relation.target == cql::Relation::Target::column && relation.columns[0] == column &&
           relation.op == cql::Operator::equal && is_marker(relation.value);
  });
}

// Returns true if the SELECT compares the linked columns and nothing else: by =, or, for a single column, by
// IN.
bool asks_by_link(const cql::Select& select, const TableLink& link, bool& lists) {
  if (select.where.size() != link.columns.size()) return false;
  for (const cql::Relation& relation : select.where) {
    if (relation.target != cql::Relation::Target::column || !is_marker(relation.value)) return false;
    const bool known = std::any_of(link.columns.begin(), link.columns.end(),
                                   [&](const auto& one) { return one.second == relation.columns[0]; });
    if (!known) return false;
    lists = relation.op == cql::Operator::in;
    if (relation.op != cql::Operator::equal && !(lists && link.columns.size() == 1)) return false;
  }
  return true;
}

bool leads_to(const TableData& from, const TableData& to) {
  return &from == &to || std::any_of(from.links().begin(), from.links().end(),
                                     [&](const TableLink& link) { return leads_to(*link.to, to); });
}

// Returns true if the linked columns are all key columns or all other columns: the two kinds are numbered
// differently.
bool are_alike(const TableLink& link, const schema::Table& table) {
  const schema::Column& first = *table.find(link.columns[0].first);
  return std::all_of(link.columns.begin(), link.columns.end(), [&](const auto& one) {
    const schema::Column& column = *table.find(one.first);
    return column.kind == first.kind;
  });
}

class Linker {
 public:
  Linker(const std::vector<std::shared_ptr<TableData>>& data, Chain& out) : data_(data), out_(out) {}

  std::string add_first(const Source& source) { return add(source, false); }

  // `looked_up`: the finding's description of the table.
  std::string add_next(const Source& source, const Proposal::LookedUp& looked_up) {
    if (looked_up.by.empty())
      return fmt::format(
          "the column that leads to {} is unknown: name it like the key of that table, or select only this "
          "column",
          looked_up.table);
    if (std::string why = add(source, looked_up.several); !why.empty()) return why;
    Chain::Read& read = out_.reads.back();
    const plan::Explanation::TableUse& use = source.facts->explanation.uses[0];
    read.link = {read.data, looked_up.by, use.access == Access::rows && use.table->clustering_count > 0};
    read.from = find(looked_up.from);
    if (std::string why = follow(looked_up, read); !why.empty()) return why;
    const cql::Select& select = *source.facts->select();
    if (!asks_by_link(select, read.link, read.lists))
      return fmt::format("{} compares columns other than {}, by which it is looked up", source.facts->name,
                         read.link.columns[0].second);
    if (!read.several && !read.link.to_rows && use.table->clustering_count > 0)
      return fmt::format("it stores only the first row of each partition of {}", looked_up.table);
    for (const auto& [here, there] : read.link.columns) {
      if (!knows_column(*selects_[read.from], out_.reads[read.from], here))
        return fmt::format("no read before {} returns {}", source.facts->name, here);
    }
    expect(source.facts->times, read);
    return {};
  }

  // Links the data of the tables. REQUIRES: all reads have been added.
  void link() const {
    for (size_t i = 1; i < out_.reads.size(); ++i) {
      const Chain::Read& read = out_.reads[i];
      TableData& from = *made(*out_.reads[read.from].data);
      if (existing(from, read.link) == nullptr) from.add_link(read.link);
    }
  }

 private:
  std::string add(const Source& source, bool several) {
    const StatementFacts& facts = *source.facts;
    if (facts.error || facts.explanation.uses.empty()) return fmt::format("{} is rejected", facts.name);
    const plan::Explanation::TableUse& use = facts.explanation.uses[0];
    if (use.table->is_view() || source.data == nullptr) return fmt::format("{} is a view", use.table->name);
    if (use.aggregates || use.groups) return fmt::format("{} returns computed values", facts.name);
    several_ = several_ || several;
    limited_ = limited_ || use.has_limit;
    if (several_ && limited_) return "a LIMIT would apply to different rows";
    Chain::Read& read = out_.reads.emplace_back();
    read.text = plain_text(source);
    read.data = source.data;
    read.answers = answers_of(*facts.select(), source.data->table());
    read.several = several;
    read.partitions = source.review.partitions;
    read.rows_read = source.review.rows_read;
    read.rows_returned = source.review.rows_returned;
    selects_.push_back(facts.select());
    return {};
  }

  size_t find(const std::string& table) const {
    for (size_t i = 0; i < out_.reads.size(); ++i)
      if (out_.reads[i].data->facts().name == table) return i;
    return 0;
  }

  const std::shared_ptr<TableData>& made(const TableData& data) const {
    return *std::find_if(data_.begin(), data_.end(), [&](const auto& one) { return one.get() == &data; });
  }

  static const TableLink* existing(const TableData& from, const TableLink& wanted) {
    for (const TableLink& link : from.links())
      if (link.to == wanted.to && link.columns == wanted.columns) return &link;
    return nullptr;
  }

  // If a column leads to two tables, the second one is linked through the key of the first.
  std::string follow(const Proposal::LookedUp& looked_up, Chain::Read& read) {
    const std::string& column = read.link.columns[0].first;
    for (size_t i = 1; i + 1 < out_.reads.size(); ++i) {
      const Chain::Read& other = out_.reads[i];
      if (other.from != read.from || !other.link.has(column)) continue;
      if (other.several || other.lists || other.link.columns.size() > 1 || read.link.columns.size() > 1)
        return fmt::format("{} leads to several tables", column);
      read.from = i;
      read.link.columns = {{other.link.columns[0].second, read.link.columns[0].second}};
      break;
    }
    const TableData& from = *out_.reads[read.from].data;
    if (!are_alike(read.link, from.table()))
      return fmt::format("the columns that lead to {} are partly key columns of {} and partly others",
                         looked_up.table, looked_up.from);
    if (existing(from, read.link) != nullptr) return {};
    for (const TableLink& link : from.links()) {
      for (const auto& [here, there] : read.link.columns)
        if (link.has(here)) return fmt::format("{} leads to another table in another group", here);
    }
    if (leads_to(*read.data, from))
      return fmt::format("{} and {} refer to each other", from.facts().name, looked_up.table);
    return {};
  }

  // Sets the share of the rows found for which the read runs, so that it runs as often as declared.
  void expect(double times, Chain::Read& read) const {
    read.times = times;
    double found = 1;  // rows that lead to the read, per execution of the first read
    for (size_t i = read.from;; i = out_.reads[i].from) {
      const Chain::Read& one = out_.reads[i];
      if (!one.rows_returned) return;
      found *= *one.rows_returned * (i > 0 && !one.lists ? one.share : 1);
      if (i == 0) break;
    }
    if (!read.lists && found > 0) read.share = std::min(1.0, times / found);
  }

  const std::vector<std::shared_ptr<TableData>>& data_;
  Chain& out_;
  std::vector<const cql::Select*> selects_;
  bool several_ = false, limited_ = false;
};

// The rows that a read has found, by column.
using FoundValues = std::vector<std::map<std::string, std::optional<base::Bytes>>>;

struct ChainRunner {
  ChainPtr chain;
  std::vector<size_t> places;  // the statement of each read
  RequestShape shape;          // shape of the first read

  base::Status operator()(TrialSession& connection, Random& random, const TableData::Row& row) const {
    std::vector<FoundValues> found(places.size());
    const Binding binding{chain->reads[0].data, {}, shape, std::nullopt};
    SIBYL_TRY(ask(connection, 0, binding.cells(connection.markers(places[0]), row, random), found[0]));
    for (size_t i = 1; i < places.size(); ++i) SIBYL_TRY(follow(connection, random, i, found));
    return {};
  }

  base::Status follow(TrialSession& connection, Random& random, size_t index,
                      std::vector<FoundValues>& found) const {
    const Chain::Read& read = chain->reads[index];
    FoundValues& leading = found[read.from];
    const double wanted = read.share * static_cast<double>(leading.size()) + random.unit();
    const size_t count = read.share < 1 ? static_cast<size_t>(wanted) : leading.size();
    const std::vector<Marker>& markers = connection.markers(places[index]);
    const Binding binding{read.data, {}, {}, std::nullopt};
    for (size_t i = 0; i < (read.lists ? std::min<size_t>(1, count) : count); ++i) {
      Cells values = binding.cells(markers, read.data->row(random.below(read.data->rows())), random);
      for (const auto& [here, there] : read.link.columns) {
        for (size_t m = 0; m < markers.size(); ++m) {
          if (markers[m].name == there) values[m] = leading[i][here];
          if (read.lists && markers[m].name == "in(" + there + ")") values[m] = listed(leading, here);
        }
      }
      SIBYL_TRY(ask(connection, index, values, found[index]));
    }
    return {};
  }

  static std::optional<base::Bytes> listed(FoundValues& leading, const std::string& column) {
    base::Bytes out;
    base::append_big_endian(out, static_cast<uint32_t>(leading.size()));
    for (auto& row : leading) {
      const std::optional<base::Bytes>& value = row[column];
      base::append_big_endian(out, static_cast<uint32_t>(value ? value->size() : 0));
      out += value.value_or(base::Bytes());
    }
    return out;
  }

  base::Status ask(TrialSession& connection, size_t index, const Cells& values, FoundValues& found) const {
    SIBYL_ASSIGN(const std::vector<Cells> rows, connection.run(places[index], values));
    const std::vector<Marker>& markers = connection.markers(places[index]);
    for (const Cells& row : rows) {
      auto& said = found.emplace_back();
      for (size_t m = 0; m < markers.size(); ++m) said[markers[m].name] = values[m];
      for (const auto& [column, position] : chain->reads[index].answers)
        if (position < row.size()) said[column] = row[position];
    }
    return {};
  }
};

}  // namespace

void Chain::each(const TableData::Row& first, const std::function<void(const JoinedRows&)>& visit) const {
  JoinedRows together{first};
  const std::function<void(size_t)> extend = [&](size_t index) {
    if (index == reads.size()) return visit(together);
    const Read& read = reads[index];
    const Read& from = reads[read.from];
    const TableData::Row target = from.data->linked(read.link, together[read.from]);
    const bool there = together[read.from].number != missing_row.number && read.data->has(target);
    const uint64_t rows = !read.several ? 1 : there ? read.data->size(target.partition) : 0;
    for (uint64_t place = 0; place < rows; ++place) {
      together.push_back(read.several ? read.data->row_at(target.partition, place)
                         : there      ? target
                                      : missing_row);
      extend(index + 1);
      together.pop_back();
    }
  };
  extend(1);
}

std::vector<std::vector<uint64_t>> Chain::copies(size_t read) const {
  std::vector<std::vector<uint64_t>> out(reads[read].data->partitions());
  for (uint64_t i = 0; i < reads[0].data->rows(); ++i) {
    each(reads[0].data->row(i), [&](const JoinedRows& together) {
      if (!reads[read].data->has(together[read])) return;
      std::vector<uint64_t>& rows = out[together[read].partition];
      if (rows.empty() || rows.back() != i) rows.push_back(i);
    });
  }
  return out;
}

double Chain::multiplied() const {
  double rows = 1;
  for (const Read& read : reads) {
    if (read.several) rows *= read.data->rows_per_partition();
  }
  return rows;
}

std::optional<Chain::Expected> Chain::expected() const {
  Expected out;
  std::vector<double> found;  // number of rows that each read has found
  for (size_t i = 0; i < reads.size(); ++i) {
    const Read& read = reads[i];
    if (!read.rows_read || !read.rows_returned) return std::nullopt;
    const double keys = i == 0 ? 1 : found[read.from] * read.share;
    const double held = read.data->rows_per_partition();
    out.work.requests += read.lists ? std::min(1.0, keys) : keys;
    out.work.partitions += i == 0 ? read.partitions.value_or(1) : keys;
    out.work.rows += keys * (read.lists ? held : *read.rows_read);
    found.push_back(keys * (read.lists ? held : *read.rows_returned));
    out.rows += found.back();
  }
  return out;
}

double Chain::requests() const {
  double sum = 1;
  for (size_t i = 1; i < reads.size(); ++i) sum += reads[i].lists ? 1 : reads[i].times;
  return sum;
}

std::string link_group(const Finding& finding, const std::vector<Source>& sources,
                       const std::vector<std::shared_ptr<TableData>>& data, Chain& out) {
  std::vector<const Source*> reads;
  for (const Source& source : sources)
    if (source.facts->group == finding.query && source.facts->select() != nullptr) reads.push_back(&source);
  const std::vector<Proposal::LookedUp>& looked_up = finding.proposal->looked_up;
  if (reads.size() != looked_up.size() + 1) return "a table is read more than once";
  Chain chain;
  Linker linker(data, chain);
  if (std::string why = linker.add_first(*reads[0]); !why.empty()) return why;
  for (size_t i = 1; i < reads.size(); ++i)
    if (std::string why = linker.add_next(*reads[i], looked_up[i - 1]); !why.empty()) return why;
  linker.link();
  out = std::move(chain);
  return {};
}

Action run_chain(const ChainPtr& chain, const Source& first, Trial& trial) {
  ChainRunner runner{chain, {}, shape_of(first, chain->reads[0].text.text)};
  for (const Chain::Read& read : chain->reads)
    runner.places.push_back(trial.place(read.text.text, read.text.keyspace));
  return runner;
}

}  // namespace sibyl::advisor
