// WHERE: relations bound, checked and sorted into keys, clustering ranges, index uses and filters.
//
// The rules and the error texts are Cassandra's. Immutable once bound. The functions of src/plan/evaluation
// compute the keys, intervals and filters of one request.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plan/restrictions/bound.h"
#include "plan/terms/term.h"
#include "schema/index.h"

namespace sibyl::plan {

enum class Purpose { select, update, delete_ };

// An index that finds the rows. Borrows from the table.
struct IndexUse {
  const schema::Index* index = nullptr;
  const schema::Column* column = nullptr;
  enum class Match : uint8_t { term, range };  // one term, or a range of them
  Match match = Match::term;
};

class Restrictions {
 public:
  explicit Restrictions(schema::TablePtr table)
      : table_(std::move(table)),
        partition_(table_->partition_key_count),
        clustering_(table_->clustering_count) {}

  const schema::Table& table() const { return *table_; }

  // --- Restricted columns.
  enum class Partitions {
    keys,   // every component is restricted by = or IN: see partition_keys() of evaluation/partitions.h
    range,  // all partitions, or the partitions of token_range()
  };
  Partitions partitions() const { return names_partitions_ ? Partitions::keys : Partitions::range; }
  bool restricts_partition() const;  // any relation on the partition key, including token()
  // True if some component is restricted by IN.
  bool has_partition_in() const { return has_partition_in_; }
  // True if there is any relation on a clustering column.
  bool restricts_clustering() const { return restricts_clustering_; }
  // True if every clustering column is restricted by = or IN.
  bool names_whole_row() const { return names_whole_row_; }
  // True if there is any relation on a regular column.
  bool restricts_regular() const { return restricts_regular_; }
  bool needs_filtering() const { return needs_filtering_; }
  bool is_write() const { return is_write_; }
  // Refuses clustering restrictions on a scan of partitions, unless ALLOW FILTERING was written. Not part of
  // bind_restrictions(), because Cassandra reports a SELECT's other errors first.
  base::Status check_scan() const;
  bool has_clustering_in() const { return has_clustering_in_; }
  bool is_equal_restricted(const schema::Column& column) const;  // by =
  // Columns of any kind that the filters read.
  const std::vector<const schema::Column*>& filtered_columns() const { return filtered_columns_; }
  const std::vector<uint16_t>& partition_key_markers() const { return partition_key_markers_; }
  // True if an index can serve one of the relations, in which case Cassandra would use it.
  bool uses_index() const { return uses_index_; }
  // The indexes that find the rows: a row must be in all of them. If empty, the partitions and intervals
  // alone find the rows. The indexes find all matching rows and perhaps others, so the filters must still be
  // checked. Contains only indexes that are built.
  const std::vector<IndexUse>& index_uses() const { return index_uses_; }
  // Indexes that index_uses() would contain if they were built.
  const std::vector<const schema::Index*>& unbuilt_indexes() const { return unbuilt_indexes_; }

  // --- The relations, for evaluation.
  const std::vector<RestrictionPtr>& partition() const { return partition_; }  // by position
  const TokenRestriction& token() const { return token_; }
  // The restrictions that give the intervals, in the order of the clustering columns.
  const std::vector<RestrictionPtr>& prefix() const { return prefix_; }
  // The restrictions that are checked row by row.
  const std::vector<RestrictionPtr>& filters() const { return filters_; }
  // The restriction that index_uses()[use] serves.
  const Restriction& served_by(size_t use) const { return *used_[use]; }

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

  schema::TablePtr table_;
  std::vector<RestrictionPtr> partition_;  // by position; nullptr: not restricted
  // By position of the column; a restriction of several columns is at each of their positions.
  std::vector<RestrictionPtr> clustering_;
  // Restrictions of static and regular columns, by name.
  std::vector<std::pair<const schema::Column*, RestrictionPtr>> others_;
  TokenRestriction token_;

  // Derived members.
  std::vector<RestrictionPtr> prefix_;   // restrictions that give the intervals, in the order of the
                                         // clustering columns
  std::vector<RestrictionPtr> filters_;  // all restrictions that are checked row by row
  bool names_partitions_ = false, has_partition_in_ = false, restricts_clustering_ = false;
  bool restricts_regular_ = false, names_whole_row_ = false, needs_filtering_ = false,
       has_clustering_in_ = false;
  bool may_filter_ = false;
  bool is_write_ = false;
  bool has_index_ = false;   // some relation has an index
  bool uses_index_ = false;  // Cassandra would use an index
  // Cassandra would filter by these restrictions if no index serves them.
  std::vector<RestrictionPtr> unkeyed_;
  std::vector<IndexUse> index_uses_;
  std::vector<const schema::Index*> unbuilt_indexes_;
  std::vector<RestrictionPtr> used_;  // for each of index_uses_, the restriction that it serves
  std::vector<const schema::Column*> filtered_columns_;
  std::vector<uint16_t> partition_key_markers_;
};

using RestrictionsPtr = std::shared_ptr<const Restrictions>;

// `only_static`: the statement reads or writes only static columns, so clustering columns must not be
// restricted. DELETE of single columns needs names_whole_row(); the caller must check that.
base::Result<RestrictionsPtr> bind_restrictions(Binder& binder, const schema::TablePtr& table,
                                                const std::vector<cql::Relation>& relations, Purpose purpose,
                                                bool allow_filtering = false, bool only_static = false);

}  // namespace sibyl::plan
