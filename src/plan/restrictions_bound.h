// Relations after binding, merged per column. Private to this room.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plan/restrictions.h"

namespace sibyl::plan {

// The value that stands against one column or several: a term per column, or one term for the whole tuple (a
// marker).
struct RowTerm {
  std::vector<TermPtr> parts;
  TermPtr whole;
  std::string name;  // of the whole: `(c,d)`

  base::Result<std::vector<ValueView>> evaluate(const Bindings& bindings, Scratch& scratch) const;
};

struct Bound {
  RowTerm value;
  bool inclusive = false;
};

// What one or more relations say about one column, or about several at once.
struct Restriction {
  enum class Kind { equal, in, slice, contains, like };
  struct Contained {
    cql::Operator op = cql::Operator::contains;
    TermPtr key;  // of an entry: column[key] = value
    TermPtr value;
  };

  Kind kind = Kind::equal;
  bool is_multi_column = false;
  std::vector<const schema::Column*> columns;
  RowTerm value;                     // equal, like
  std::vector<RowTerm> values;       // in
  TermPtr list;                      // in: one marker for the list
  std::optional<Bound> start, end;   // slice
  std::vector<Contained> contained;  // contains

  const schema::Column& first() const { return *columns.front(); }
  const schema::Column& last() const { return *columns.back(); }
  bool is_slice() const { return kind == Kind::slice; }
  // Can only be checked row by row, whichever columns precede.
  bool is_filter() const { return kind == Kind::contains || kind == Kind::like; }

  // The rows of values that an = or IN allows.
  base::Result<std::vector<std::vector<ValueView>>> allowed(const Bindings& bindings, Scratch& scratch) const;
};
using RestrictionPtr = std::shared_ptr<const Restriction>;

// Both relations at once, or Cassandra's refusal.
base::Result<RestrictionPtr> merged(const RestrictionPtr& left, const RestrictionPtr& right);

// token(...) relations: the same, for the one token.
struct TokenRestriction {
  TermPtr equal;
  struct Side {
    TermPtr value;
    bool inclusive = false;
  };
  std::optional<Side> start, end;
  bool exists() const { return equal != nullptr || start || end; }
};

// One relation with its names resolved and its terms bound; nullptr for token relations (they go into
// `token`).
base::Result<RestrictionPtr> bind_relation(Binder& binder, const schema::Table& table,
                                           const cql::Relation& relation, TokenRestriction& token);
// As Cassandra's texts spell it.
std::string text_of(const cql::Relation& relation);

// Each restriction once, in the order of columns.
std::vector<RestrictionPtr> distinct(const std::vector<RestrictionPtr>& by_position);

// --- What indexes serve (restrictions_index.cc)
bool supports(const schema::Index& index, const schema::Column& column, cql::Operator op);
bool serves(const schema::Index& index, const Restriction& restriction, const schema::Column& column);
// Any of a table's indexes serves the restriction.
bool has_index(const schema::Table& table, const Restriction& restriction);
// Some index, or the table's SAI indexes together, serve all of the restrictions.
bool are_served(const schema::Table& table, const std::vector<RestrictionPtr>& restrictions);
// How the index that serves a filter sees texts.
schema::TextAnalysis analysis_for(const schema::Table& table, const Filter& filter);
// LIKE's value and place, or Cassandra's refusal.
base::Status bind_like(const schema::Table& table, const Restriction& restriction, const ValueView& value,
                       Filter& filter);

class BoundRestrictions final : public Restrictions {
 public:
  explicit BoundRestrictions(schema::TablePtr table)
      : table_(std::move(table)),
        partition_(table_->partition_key_count),
        clustering_(table_->clustering_count) {}

  Partitions partitions() const override { return names_partitions_ ? Partitions::keys : Partitions::range; }
  bool restricts_partition() const override;
  bool has_partition_in() const override { return has_partition_in_; }
  bool restricts_clustering() const override { return restricts_clustering_; }
  bool restricts_regular() const override { return restricts_regular_; }
  bool names_whole_row() const override { return names_whole_row_; }
  bool needs_filtering() const override { return needs_filtering_; }
  base::Status check_scan() const override;
  bool has_clustering_in() const override { return has_clustering_in_; }
  bool is_equal_restricted(const schema::Column& column) const override;
  const std::vector<const schema::Column*>& filtered_columns() const override { return filtered_columns_; }
  const std::vector<uint16_t>& partition_key_markers() const override { return partition_key_markers_; }

  base::Result<std::vector<Bytes>> partition_keys(const Bindings& bindings, Scratch& scratch) const override;
  base::Result<TokenRange> token_range(const Bindings& bindings, Scratch& scratch) const override;
  base::Result<std::vector<Interval>> intervals(const Bindings& bindings, Scratch& scratch) const override;
  base::Result<bool> reaches_rows(const Bindings& bindings, Scratch& scratch) const override;
  base::Result<std::vector<NamedRow>> rows(const Bindings& bindings, Scratch& scratch) const override;
  base::Result<std::vector<Filter>> filters(const Bindings& bindings, Scratch& scratch) const override;
  bool uses_index() const override { return uses_index_; }
  const std::vector<IndexUse>& index_uses() const override { return index_uses_; }
  const std::vector<const schema::Index*>& unbuilt_indexes() const override { return unbuilt_indexes_; }
  base::Result<Interval> terms(size_t use, const Bindings& bindings, Scratch& scratch) const override;

  // --- Building, while prepared.
  base::Status add(RestrictionPtr restriction, Purpose purpose, bool allow_filtering);
  base::Status finish(const schema::Snapshot& schema, Purpose purpose, bool allow_filtering,
                      bool only_static);
  TokenRestriction& token() { return token_; }

 private:
  base::Status finish_partition(Purpose purpose, bool may_filter);
  base::Status finish_clustering(Purpose purpose, bool allow_filtering, bool only_static);
  base::Status finish_others(Purpose purpose, bool may_filter);
  void plan_clustering();
  bool clustering_needs_filtering() const;
  void choose_indexes();
  void summarise();
  base::Error filtering_refused() const;
  std::string beside_indexes() const;
  base::Status add_filters(const Restriction& restriction, const Bindings& bindings, Scratch& scratch,
                           std::vector<Filter>& filters) const;

  schema::TablePtr table_;
  std::vector<RestrictionPtr> partition_;   // by position; nullptr: not restricted
  std::vector<RestrictionPtr> clustering_;  // by position; one that spans columns appears at each
  std::vector<std::pair<const schema::Column*, RestrictionPtr>> others_;  // static and regular, by name
  TokenRestriction token_;

  // Derived.
  std::vector<RestrictionPtr> prefix_;   // clustering, in order: what intervals come from
  std::vector<RestrictionPtr> filters_;  // everything that is checked row by row
  bool names_partitions_ = false, has_partition_in_ = false, restricts_clustering_ = false;
  bool restricts_regular_ = false, names_whole_row_ = false, needs_filtering_ = false,
       has_clustering_in_ = false;
  bool may_filter_ = false;
  bool is_write_ = false;
  bool has_index_ = false;               // some relation has an index
  bool uses_index_ = false;              // Cassandra would go through one
  std::vector<RestrictionPtr> unkeyed_;  // those that Cassandra would filter by if no index serves them
  std::vector<IndexUse> index_uses_;
  std::vector<const schema::Index*> unbuilt_indexes_;
  std::vector<RestrictionPtr> used_;  // what each of index_uses_ serves
  std::vector<const schema::Column*> filtered_columns_;
  std::vector<uint16_t> partition_key_markers_;
};

}  // namespace sibyl::plan
