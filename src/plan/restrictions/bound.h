// Relations after binding, merged per column. Internal to src/plan/restrictions.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plan/restrictions/restrictions.h"

namespace sibyl::plan {

// The value compared with one or several columns: a term per column, or one term (a marker) for the whole
// tuple.
struct RowTerm {
  std::vector<TermPtr> parts;
  TermPtr whole;
  std::string name;  // of the whole tuple: `(c,d)`

  base::Result<std::vector<ValueView>> evaluate(const Bindings& bindings, Scratch& scratch) const;
};

struct Bound {
  RowTerm value;
  bool inclusive = false;
};

// What one or more relations require of one column, or of several together.
struct Restriction {
  enum class Kind { equal, in, slice, contains, like };
  struct Contained {
    cql::Operator op = cql::Operator::contains;
    TermPtr key;  // for an entry: column[key] = value
    TermPtr value;
  };

  Kind kind = Kind::equal;
  bool is_multi_column = false;
  std::vector<const schema::Column*> columns;
  RowTerm value;                     // equal, like
  std::vector<RowTerm> values;       // in
  TermPtr list;                      // IN with one marker for the list
  std::optional<Bound> start, end;   // slice
  std::vector<Contained> contained;  // contains

  const schema::Column& first() const { return *columns.front(); }
  const schema::Column& last() const { return *columns.back(); }
  bool is_slice() const { return kind == Kind::slice; }
  // True if it can only be checked row by row, whichever columns precede.
  bool is_filter() const { return kind == Kind::contains || kind == Kind::like; }

  // The tuples of values that an = or IN allows.
  base::Result<std::vector<std::vector<ValueView>>> allowed(const Bindings& bindings, Scratch& scratch) const;
};
using RestrictionPtr = std::shared_ptr<const Restriction>;

// What relations on token(...) require.
struct TokenRestriction {
  TermPtr equal;
  struct Side {
    TermPtr value;
    bool inclusive = false;
  };
  std::optional<Side> start, end;
  bool exists() const { return equal != nullptr || start || end; }
};

// Each restriction once, in column order.
std::vector<RestrictionPtr> distinct(const std::vector<RestrictionPtr>& by_position);

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

  // --- Building, during preparation.
  base::Status add(RestrictionPtr restriction, Purpose purpose, bool allow_filtering);
  base::Status finish(const schema::Snapshot& schema, Purpose purpose, bool allow_filtering,
                      bool only_static);
  TokenRestriction& token() { return token_; }

 private:
  base::Status finish_partition(Purpose purpose, bool may_filter);
  base::Status finish_clustering(Purpose purpose, bool allow_filtering, bool only_static);
  // Refuses a restricted clustering column after an unrestricted one.
  base::Status check_prefix() const;
  base::Status finish_others(Purpose purpose, bool may_filter);
  void plan_clustering();
  bool clustering_needs_filtering() const;
  void choose_indexes();
  void summarise();
  base::Error filtering_refused() const;
  std::string hint_for_indexed() const;
  base::Status add_filters(const Restriction& restriction, const Bindings& bindings, Scratch& scratch,
                           std::vector<Filter>& filters) const;

  schema::TablePtr table_;
  std::vector<RestrictionPtr> partition_;   // by position; nullptr: not restricted
  std::vector<RestrictionPtr> clustering_;  // by position; a restriction of several columns appears at each
  std::vector<std::pair<const schema::Column*, RestrictionPtr>> others_;  // static and regular, by name
  TokenRestriction token_;

  // Derived members.
  std::vector<RestrictionPtr> prefix_;   // clustering restrictions that give the intervals, in order
  std::vector<RestrictionPtr> filters_;  // all restrictions that are checked row by row
  bool names_partitions_ = false, has_partition_in_ = false, restricts_clustering_ = false;
  bool restricts_regular_ = false, names_whole_row_ = false, needs_filtering_ = false,
       has_clustering_in_ = false;
  bool may_filter_ = false;
  bool is_write_ = false;
  bool has_index_ = false;               // some relation has an index
  bool uses_index_ = false;              // Cassandra would use an index
  std::vector<RestrictionPtr> unkeyed_;  // Cassandra would filter by these if no index serves them
  std::vector<IndexUse> index_uses_;
  std::vector<const schema::Index*> unbuilt_indexes_;
  std::vector<RestrictionPtr> used_;  // the restriction that each of index_uses_ serves
  std::vector<const schema::Column*> filtered_columns_;
  std::vector<uint16_t> partition_key_markers_;
};

}  // namespace sibyl::plan
