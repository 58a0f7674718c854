// Writes the CQL of fixes. It picks unused names, combines all changes of a table into one replacement table,
// and says what to do with the old one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "advisor/review/dependents.h"
#include "advisor/review/fix.h"
#include "advisor/review/judgement/collisions.h"
#include "advisor/review/judgement/held.h"
#include "types/identifier.h"

namespace sibyl::advisor {
namespace {

using std::string_view_literals::operator""sv;

std::string qualified(const Shape& shape) {
  return (shape.keyspace.empty() ? "" : types::quote_identifier(shape.keyspace) + ".") +
         types::quote_identifier(shape.name);
}

class ProposalWriter {
 public:
  ProposalWriter(const ReviewModel& model, Review& review) : model_(model), review_(review) {
    for (const TableFacts& facts : model.tables)
      taken_.insert(facts.table->keyspace + "." + facts.table->name);
  }

  void run() {
    for (Finding& finding : review_.findings) {
      if (finding.proposal == nullptr || done_.contains(&finding)) continue;
      if (finding.proposal->beside)
        write_additional(finding);
      else
        write_changes(finding);
    }
    for (Finding& finding : review_.findings) {
      if (!finding.cql.empty() && finding.proposal != nullptr) finding.fix_kind = FixKind::new_table;
      if (!finding.caution.empty()) finding.fix = finding.caution + " " + finding.fix;
    }
  }

 private:
  static std::string key_of(const Shape& shape, const std::string& name) {
    return (shape.keyspace.empty() ? default_keyspace : shape.keyspace) + "." + name;
  }

  // Picks the first candidate that is short enough and unused, otherwise a name with a number.
  void name(Shape& shape, const std::vector<std::string>& candidates) {
    for (const std::string& candidate : candidates) {
      if (candidate.size() > max_name_length || taken_.contains(key_of(shape, candidate))) continue;
      shape.name = candidate;
      taken_.insert(key_of(shape, candidate));
      return;
    }
    const std::string stem = candidates.back().substr(0, max_name_length - 4);
    size_t number = 2;
    while (taken_.contains(key_of(shape, fmt::format("{}_{}", stem, number)))) ++number;
    shape.name = fmt::format("{}_{}", stem, number);
    taken_.insert(key_of(shape, shape.name));
  }

  const TableFacts* find_table(const std::string& name) const {
    for (const TableFacts& facts : model_.tables)
      if (facts.name == name) return &facts;
    return nullptr;
  }

  // --- Additional tables

  static bool has_same_key(const Shape& have, const Shape& wanted) {
    const auto same = [](const Shape::Order& left, const Shape::Order& right) {
      return left.name == right.name && left.descending == right.descending;
    };
    return have.partition == wanted.partition && have.clustering.size() == wanted.clustering.size() &&
           std::equal(have.clustering.begin(), have.clustering.end(), wanted.clustering.begin(), same);
  }

  // Returns true if an existing table or another finding's table answers the query, and points the fix to it.
  bool use_existing_table(Finding& finding, const Shape& shape) {
    for (const TableFacts& facts : model_.tables) {
      const Shape have = shape_of(*facts.table);
      if (key_of(have, have.name) != key_of(shape, shape.name) || !has_same_key(have, shape)) continue;
      if (have.columns.size() < shape.columns.size()) continue;
      finding.fix =
          fmt::format("Read {} instead: this existing table has the key that the query needs.", facts.name);
      finding.cost = "No additional cost.";
      finding.fix_kind = FixKind::existing_table;
      finding.caution.clear();
      return true;
    }
    for (const auto& [other, written] : beside_) {
      if (written != beside_text(*finding.proposal, shape)) continue;
      finding.fix = fmt::format("The table that {} proposes also answers this query.", other);
      finding.cost = "No additional cost.";
      return true;
    }
    return false;
  }

  static std::string beside_text(const Proposal& proposal, Shape shape) {
    const std::string comments = add_partition(proposal.partition, shape);
    return comments + shape.cql();
  }

  void write_additional(Finding& finding) {
    Shape shape = *finding.proposal->beside;
    if (use_existing_table(finding, shape)) return;
    beside_.emplace_back(finding.id(), beside_text(*finding.proposal, shape));
    const std::string wanted = shape.name;
    std::vector<std::string> candidates = {wanted};
    if (!shape.clustering.empty()) candidates.push_back(wanted + "_and_" + shape.clustering[0].name);
    candidates.push_back(wanted);
    name(shape, candidates);
    for (std::string* text : {&finding.fix, &finding.caution})
      for (size_t at = text->find(wanted); shape.name != wanted && at != std::string::npos;
           at = text->find(wanted, at + shape.name.size()))
        text->replace(at, wanted.size(), shape.name);
    finding.cql = beside_text(*finding.proposal, shape);
  }

  // --- Replacement tables

  // Appends the columns to the partition key. Returns comments that explain them.
  static std::string add_partition(const std::vector<Proposal::Added>& added, Shape& shape) {
    std::string comments;
    for (const Proposal::Added& one : added) {
      const std::string name = shape.free_name(one.name);
      shape.add_to_partition({name, one.type, false});
      if (!one.instead_of.empty()) shape.remove_from_partition(one.instead_of);
      comments += fmt::format("-- {}: {}\n", name, one.meaning);
    }
    return comments;
  }

  static void change(const Proposal& proposal, Shape& shape) {
    for (const Shape::Column& column : proposal.columns) {
      const auto same = [&](const Shape::Column& one) { return one.name == column.name; };
      const auto found = std::find_if(shape.columns.begin(), shape.columns.end(), same);
      if (found != shape.columns.end())
        found->type = column.type;
      else
        shape.columns.push_back(column);
    }
    if (!proposal.clustering.empty()) shape.clustering = proposal.clustering;
    if (proposal.reversed)
      for (Shape::Order& one : shape.clustering) one.descending = !one.descending;
    if (proposal.unclustered) {
      shape.clustering.clear();
      for (Shape::Column& column : shape.columns) column.is_static = false;
    }
    if (!proposal.last.empty() && !shape.in_key(proposal.last))
      shape.clustering.push_back({proposal.last, false});
  }

  // Names the table after its key.
  void name_new(const TableFacts& facts, bool reversed, Shape& shape) {
    const std::string stem = stem_of(facts.table->name);
    std::vector<std::string> candidates;
    const std::string by = fmt::format("{}_by_{}", stem, fmt::join(shape.partition, "_and_"));
    const bool same_key = shape.partition == shape_of(*facts.table).partition;
    // Without clustering columns, the partition key identifies a row.
    if (!same_key && shape.clustering.empty()) candidates.push_back(by);
    if (same_key && !shape.clustering.empty()) {
      const Shape::Order& first = shape.clustering[0];
      const schema::Column* column = facts.table->find(first.name);
      const bool time = column != nullptr && facts.is_time(*column);
      if (reversed && time) candidates.push_back(by + (first.descending ? "_newest" : "_oldest") + "_first");
      candidates.push_back(by + "_and_" + first.name);
    }
    candidates.push_back(by);
    candidates.push_back(fmt::format("{}_by_{}", stem, shape.partition.back()));
    candidates.push_back(stem + "_new");
    name(shape, candidates);
  }

  static bool adds(const std::vector<Proposal::Added>& added, const std::string& name) {
    return std::any_of(added.begin(), added.end(),
                       [&](const Proposal::Added& one) { return one.name == name; });
  }

  // Recomputes the split if other changes make rows longer. All findings that share the split get the new
  // one.
  void split_again(const TableFacts& facts, const Shape& shape) {
    const double more = additional_bytes(facts, shape);
    for (Finding& finding : review_.findings) {
      if (more <= 0 || changed_table(finding) != facts.name) continue;
      const std::shared_ptr<const Proposal> old = finding.proposal;
      if (old->least <= 0 || finding.choices.empty()) continue;
      Split split = split_partitions(model_, facts, old->least, more);
      if (split.is_advice()) return;
      finding.choices = std::move(split.choices);
      finding.fix = std::move(split.fix);
      finding.cost = std::move(split.cost);
      const auto again = std::make_shared<const Proposal>(std::move(split.proposal));
      for (Finding& other : review_.findings)
        if (other.proposal == old) other.proposal = again;
      return;
    }
  }

  // Defines the table of the first rows, which holds at most twice as many rows as reads want.
  std::string first_rows_cql(const TableFacts& facts, const Proposal& proposal, Shape shape) {
    name(shape, {stem_of(facts.table->name) + "_to_read"});
    if (proposal.first_reversed)
      for (Shape::Order& one : shape.clustering) one.descending = !one.descending;
    std::string text = fmt::format(
        "-- for reads: only the first {:.0f} rows of each key; delete the others when there are {:.0f}\n",
        proposal.first_rows, 2 * proposal.first_rows);
    if (facts.partitions) {
      double rows = 2 * proposal.first_rows * *facts.partitions;
      if (facts.rows)
        rows = std::min(rows, std::max(*facts.partitions, facts.rows_after(model_.horizon_of(facts))));
      text +=
          fmt::format("-- @table {} rows={:.0f} partitions={:.0f} max={:.0f} growth=0/s\n", qualified(shape),
                      std::floor(rows), *facts.partitions, std::min(rows, 2 * proposal.first_rows));
    }
    return text + shape.cql();
  }

  void write_changes(Finding& first) {
    const TableFacts* facts = find_table(changed_table(first));
    if (facts == nullptr) return;
    Shape shape = shape_of(*facts->table);
    const std::string old = qualified(shape);
    std::vector<Finding*> changing;
    bool reversed = false;
    for (Finding& finding : review_.findings) {
      if (changed_table(finding) != facts->name) continue;
      change(*finding.proposal, shape);
      reversed = reversed || finding.proposal->reversed;
      changing.push_back(&finding);
      done_.insert(&finding);
    }
    split_again(*facts, shape);
    std::vector<Proposal::Added> added;
    std::string second;
    for (const Finding* finding : changing) {
      for (const Proposal::Added& one : finding->proposal->partition)
        if (!adds(added, one.name)) added.push_back(one);
      if (finding->proposal->first_rows > 0 && second.empty())
        second = first_rows_cql(*facts, *finding->proposal, shape);
    }
    for (const Finding* finding : changing)
      for (const std::string& column : finding->proposal->promoted) shape.promote(column);
    const TableFacts kept = divide_kept_rows(*facts, shape, changing, first, added);
    const Shape unsplit = shape;
    const std::string comments = add_partition(added, shape);
    name_new(*facts, reversed, shape);
    first.cql = comments + shape.cql() + second;
    hold(kept, unsplit, shape.name, added, changing, first);
    first.replaces = facts->name;
    std::erase(changing, &first);
    describe_replacement(first, changing, *facts, old, qualified(shape));
    add_dependents(first, *facts->table, shape);
  }

  // If rows no longer overwrite each other, the table keeps all of them, and its partitions may need a split.
  // Returns the facts of the table with that growth.
  TableFacts divide_kept_rows(const TableFacts& facts, const Shape& shape,
                              const std::vector<Finding*>& changing, Finding& first,
                              std::vector<Proposal::Added>& added) const {
    const bool overwrites = std::any_of(changing.begin(), changing.end(), [](const Finding* finding) {
      return finding->verdict == Verdict::key_collision;
    });
    TableFacts kept = facts;
    if (!overwrites) return kept;
    kept.max_rows.reset();
    if (!kept.growth && kept.inserts > 0) kept.growth = kept.inserts;
    // The table is a history that UPDATEs have overwritten.
    const schema::Column* time = time_of_rows(facts);
    const auto updates = time != nullptr ? kept.updates.find(time->name) : kept.updates.end();
    if (!kept.growth && updates != kept.updates.end() && updates->second > 0) kept.growth = updates->second;
    TableFacts then = facts_of(kept, shape);
    then.row_bytes += additional_bytes(facts, shape);
    const auto rows = then.rows_per_partition_after(model_.horizon_of(then));
    if (!added.empty() || !rows || then.bytes_of(*rows).max <= model_.target.partition_bytes) return kept;
    Split split = split_partitions(model_, then, 1);
    if (split.is_advice()) return kept;
    added = std::move(split.proposal.partition);
    first.choices = std::move(split.choices);
    first.fix += " As the table then keeps every row: " + split.fix;
    // The cost of the split says the same.
    for (const std::string_view said : {std::string_view(keeps_every_row), "The rows must be copied once."sv})
      if (const size_t at = first.cost.find(said); at != std::string::npos) first.cost.erase(at, said.size());
    first.cost += (first.cost.empty() ? "" : " ") + split.cost;
    return kept;
  }

  // Adds the findings that the new table would still have, except findings that are reported for the old
  // table.
  void hold(const TableFacts& facts, Shape unsplit, const std::string& name,
            const std::vector<Proposal::Added>& added, const std::vector<Finding*>& changing,
            Finding& first) {
    unsplit.name = name;
    const std::string faults = shortcomings(model_, facts, unsplit, added);
    if (faults.empty()) return;
    for (const Finding& other : review_.findings) {
      const bool known = other.table == facts.name && other.query.empty() &&
                         faults.find(fmt::format("get {}:", to_string(other.verdict))) != std::string::npos;
      const bool resolves = std::find(changing.begin(), changing.end(), &other) != changing.end();
      if (known && !resolves) return;
    }
    first.caution += (first.caution.empty() ? "" : " ") + faults;
  }

  // Recreates the indexes and views of the old table.
  void add_dependents(Finding& first, const schema::Table& old, const Shape& now) {
    const Dependents made = dependents_of(model_, old, now, [&](const std::string& view) {
      Shape renamed = now;
      name(renamed, {view + "_new"});
      return renamed.name;
    });
    first.cql += made.cql;
    if (!made.indexes.empty()) first.fix += fmt::format(" The CQL also recreates {}.", listed(made.indexes));
    if (!made.views.empty())
      first.fix +=
          fmt::format(" {} {} recreated as well: drop the old {} first.", listed(made.views),
                      made.views.size() == 1 ? "is" : "are", made.views.size() == 1 ? "view" : "views");
    if (!made.left.empty())
      first.fix += fmt::format(" {} cannot be recreated automatically: {} for {} if queries need {}.",
                               listed(made.left), made.left.size() == 1 ? "create it" : "create them",
                               qualified(now), made.left.size() == 1 ? "it" : "them");
  }

  static void describe_replacement(Finding& first, const std::vector<Finding*>& others,
                                   const TableFacts& facts, const std::string& old, const std::string& now) {
    std::vector<std::string> codes;
    for (Finding* other : others) {
      other->replaces = facts.name;
      other->fix += fmt::format("{}{}, which {} proposes, also resolves this.", other->fix.empty() ? "" : " ",
                                now, to_string(first.verdict));
      const std::string code = to_string(other->verdict);
      if (std::find(codes.begin(), codes.end(), code) == codes.end() && other->verdict != first.verdict)
        codes.push_back(code);
    }
    first.fix +=
        facts.table->is_view()
            ? fmt::format(
                  " {} replaces the view {}: let the application write it, copy the old rows, then DROP "
                  "MATERIALIZED VIEW {}.",
                  now, old, old)
            : fmt::format(" {} replaces {}: write to both while you copy the old rows, then DROP TABLE {}.",
                          now, old, old);
    if (!codes.empty()) first.fix += fmt::format(" It also resolves {}.", listed(codes));
  }

  const ReviewModel& model_;
  Review& review_;
  std::set<std::string> taken_;
  std::set<const Finding*> done_;
  // Finding ids, and the definitions that they propose.
  std::vector<std::pair<std::string, std::string>> beside_;
};

}  // namespace

void write_proposals(const ReviewModel& model, Review& review) {
  ProposalWriter(model, review).run();
}

std::string changed_table(const Finding& finding) {
  if (finding.proposal == nullptr || finding.proposal->beside) return {};
  return finding.proposal->table.empty() ? finding.table : finding.proposal->table;
}

void propose(Finding& finding, Shape shape) {
  Proposal proposal;
  proposal.beside = std::move(shape);
  finding.proposal = std::make_shared<const Proposal>(std::move(proposal));
}

}  // namespace sibyl::advisor
