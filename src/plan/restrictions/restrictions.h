// WHERE: relations turned into partition keys, token ranges, clustering intervals and filters.
//
// The rules and the error texts are Cassandra's. Bound once, evaluated per request.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "plan/terms/term.h"
#include "schema/index.h"

namespace sibyl::plan {

// A half-open interval of clustering bytes (record_key.h). Without an end it extends to the end of the
// partition.
struct Interval {
  Bytes begin;
  std::optional<Bytes> end;
};

// Inclusive. empty() if nothing can match.
struct TokenRange {
  int64_t first = INT64_MIN;
  int64_t last = INT64_MAX;
  bool empty() const { return first > last; }
};

enum class Purpose { select, update, delete_ };

// A condition that a row in the intervals must satisfy, for one request. Values borrow from bindings and
// scratch.
struct Filter {
  const schema::Column* column = nullptr;
  cql::Operator op = cql::Operator::equal;  // =, <, <=, >, >=, IN, CONTAINS, CONTAINS KEY
  bool is_entry = false;                    // column[key] = value
  BytesView key;
  BytesView value;                // all operators but IN
  std::vector<BytesView> values;  // IN
  // LIKE: where `value` must occur.
  enum class Place : uint8_t { whole, beginning, end, anywhere };
  Place place = Place::whole;
  // The text analysis of the index that serves the relation. `value` has already been analysed.
  schema::TextAnalysis analysis;
};

// An index that finds the rows. Borrows from the table.
struct IndexUse {
  const schema::Index* index = nullptr;
  const schema::Column* column = nullptr;
  enum class Match : uint8_t { term, range };  // one term, or a range of them
  Match match = Match::term;
};

class Restrictions {
 public:
  virtual ~Restrictions() = default;

  // --- Restricted columns, known when prepared.
  enum class Partitions {
    keys,   // every component is restricted by = or IN: see partition_keys()
    range,  // all partitions, or those of token_range()
  };
  virtual Partitions partitions() const = 0;
  virtual bool restricts_partition() const = 0;   // any relation on the partition key, including token()
  virtual bool has_partition_in() const = 0;      // some component is restricted by IN
  virtual bool restricts_clustering() const = 0;  // any relation on a clustering column
  virtual bool names_whole_row() const = 0;       // every clustering column is restricted by = or IN
  virtual bool restricts_regular() const = 0;     // any relation on a regular column
  virtual bool needs_filtering() const = 0;
  // Refuses clustering restrictions on a scan of partitions, unless ALLOW FILTERING was written. Separate
  // from bind_restrictions() because Cassandra reports a SELECT's other errors first.
  virtual base::Status check_scan() const = 0;
  virtual bool has_clustering_in() const = 0;
  virtual bool is_equal_restricted(const schema::Column& column) const = 0;  // by =
  // Columns of any kind that filters() read.
  virtual const std::vector<const schema::Column*>& filtered_columns() const = 0;
  virtual const std::vector<uint16_t>& partition_key_markers() const = 0;
  // True if an index can serve one of the relations, in which case Cassandra would use it.
  virtual bool uses_index() const = 0;
  // How to find the rows: through the first of these, keeping only rows that are in all of them. If empty, by
  // the partitions and intervals alone. They find all matching rows and perhaps others, so filters() must
  // still be checked. Contains built indexes only.
  virtual const std::vector<IndexUse>& index_uses() const = 0;
  // Indexes that index_uses() would contain if they were built.
  virtual const std::vector<const schema::Index*>& unbuilt_indexes() const = 0;

  // --- Evaluated per request. Errors are Cassandra's (null in a key, too long a key, ...).
  // Serialised partition keys in the order of their values, without duplicates. If no row can match
  // (!reaches_rows()), an empty or too long key is not an error: the result is empty. REQUIRES: partitions()
  // == keys.
  virtual base::Result<std::vector<Bytes>> partition_keys(const Bindings& bindings,
                                                          Scratch& scratch) const = 0;
  virtual base::Result<TokenRange> token_range(const Bindings& bindings, Scratch& scratch) const = 0;
  // Disjoint intervals in storage order. One unbounded interval if no clustering column is restricted.
  virtual base::Result<std::vector<Interval>> intervals(const Bindings& bindings, Scratch& scratch) const = 0;
  // True if the bounds of the clustering columns leave room for rows. This only compares the bounds: for c >
  // 1 AND c < 2 it is true although no value lies between them and intervals() is empty.
  virtual base::Result<bool> reaches_rows(const Bindings& bindings, Scratch& scratch) const = 0;
  // One named row: its clustering bytes and, if those are lossy, the original bytes of the values.
  struct NamedRow {
    Bytes clustering;
    Bytes original;  // serialise_clustering() of the values; empty if the clustering bytes are lossless
  };
  // The named rows in storage order, without duplicates. REQUIRES: names_whole_row().
  virtual base::Result<std::vector<NamedRow>> rows(const Bindings& bindings, Scratch& scratch) const = 0;
  virtual base::Result<std::vector<Filter>> filters(const Bindings& bindings, Scratch& scratch) const = 0;
  // The terms to look up for index_uses()[use]: a single term (begin, no end), or all from begin up to before
  // end. An end of no bytes is after all terms.
  virtual base::Result<Interval> terms(size_t use, const Bindings& bindings, Scratch& scratch) const = 0;
};
using RestrictionsPtr = std::shared_ptr<const Restrictions>;

// `only_static`: the statement reads or writes only static columns, so clustering columns must not be
// restricted. DELETE of single columns needs names_whole_row(); the caller must check that.
base::Result<RestrictionsPtr> bind_restrictions(Binder& binder, const schema::TablePtr& table,
                                                const std::vector<cql::Relation>& relations, Purpose purpose,
                                                bool allow_filtering = false, bool only_static = false);

// Returns "Undefined column name x in table k.t" if there is no such column.
base::Result<const schema::Column*> existing_column(const schema::Table& table, const std::string& name);

// --- Sorted lists of disjoint intervals.
std::vector<Interval> intersect(const std::vector<Interval>& left, const std::vector<Interval>& right);
// Sorts, removes empty intervals and joins those that touch.
void coalesce(std::vector<Interval>& intervals);

}  // namespace sibyl::plan
