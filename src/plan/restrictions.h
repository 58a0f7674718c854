// WHERE: relations turned into partition keys, token ranges, clustering intervals and filters.
//
// The rules, and the texts of what they refuse, are Cassandra's. Bound once, evaluated per request.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "plan/term.h"
#include "schema/index.h"

namespace sibyl::plan {

// A half-open interval of clustering bytes (record_key.h); no end: to the end of the partition.
struct Interval {
  Bytes begin;
  std::optional<Bytes> end;
};

// Inclusive. empty() when nothing can match.
struct TokenRange {
  int64_t first = INT64_MIN;
  int64_t last = INT64_MAX;
  bool empty() const { return first > last; }
};

enum class Purpose { select, update, delete_ };

// What a row must satisfy beyond lying in the intervals, for one request. Values borrow from bindings and
// scratch.
struct Filter {
  const schema::Column* column = nullptr;
  cql::Operator op = cql::Operator::equal;  // =, <, <=, >, >=, IN, CONTAINS, CONTAINS KEY
  bool is_entry = false;                    // column[key] = value
  BytesView key;
  BytesView value;                // all but IN
  std::vector<BytesView> values;  // IN
  // LIKE: where `value` must be found.
  enum class Place : uint8_t { whole, beginning, end, anywhere };
  Place place = Place::whole;
  // As the index that serves the relation sees texts; `value` already is so.
  schema::TextAnalysis analysis;
};

// An index that leads to the rows. Borrows from the table.
struct IndexUse {
  const schema::Index* index = nullptr;
  const schema::Column* column = nullptr;
  enum class Match : uint8_t { term, range };  // one term, or a range of them
  Match match = Match::term;
};

class Restrictions {
 public:
  virtual ~Restrictions() = default;

  // --- What was restricted, known when prepared.
  enum class Partitions {
    keys,   // every component by = or IN: partition_keys() says which
    range,  // all partitions, or those of token_range()
  };
  virtual Partitions partitions() const = 0;
  virtual bool restricts_partition() const = 0;   // any relation on the partition key, token() included
  virtual bool has_partition_in() const = 0;      // some component by IN
  virtual bool restricts_clustering() const = 0;  // any relation on a clustering column
  virtual bool names_whole_row() const = 0;       // every clustering column by = or IN
  virtual bool restricts_regular() const = 0;     // any relation on a regular column
  virtual bool needs_filtering() const = 0;
  // The refusal of clustering restrictions on a scan of partitions, unless ALLOW FILTERING was written. Apart
  // from bind_restrictions() because Cassandra finds a SELECT's other mistakes first.
  virtual base::Status check_scan() const = 0;
  virtual bool has_clustering_in() const = 0;
  virtual bool is_equal_restricted(const schema::Column& column) const = 0;  // by =
  // Columns that filters() looks at, of any kind.
  virtual const std::vector<const schema::Column*>& filtered_columns() const = 0;
  virtual const std::vector<uint16_t>& partition_key_markers() const = 0;
  // Some relation has an index that can serve it, so that Cassandra would go through an index.
  virtual bool uses_index() const = 0;
  // How to find the rows: through the first of these, and only rows that are in all of them. Empty: by the
  // partitions and intervals alone. They find all rows that match and perhaps others, so filters() still
  // hold. Built indexes only.
  virtual const std::vector<IndexUse>& index_uses() const = 0;
  // Those that could be among them if they were built.
  virtual const std::vector<const schema::Index*>& unbuilt_indexes() const = 0;

  // --- Evaluated for a request. Errors are Cassandra's (null in a key, too long a key, ...).
  // Serialised partition keys in the order of their values, without duplicates. An empty or too long one is
  // no mistake of a SELECT whose slice has no room (!reaches_rows()): there are no keys then. REQUIRES:
  // partitions() == keys.
  virtual base::Result<std::vector<Bytes>> partition_keys(const Bindings& bindings,
                                                          Scratch& scratch) const = 0;
  virtual base::Result<TokenRange> token_range(const Bindings& bindings, Scratch& scratch) const = 0;
  // Disjoint, in storage order. One unbounded interval when clustering is not restricted.
  virtual base::Result<std::vector<Interval>> intervals(const Bindings& bindings, Scratch& scratch) const = 0;
  // Whether the bounds of clustering columns leave room for rows. They do when they differ, though perhaps no
  // value lies between them (c > 1 AND c < 2), so that intervals() are none.
  virtual base::Result<bool> reaches_rows(const Bindings& bindings, Scratch& scratch) const = 0;
  // The clustering values of the single rows named. REQUIRES: names_whole_row(). One entry per row: the
  // clustering bytes and, where those lose the original, the values' original bytes.
  struct NamedRow {
    Bytes clustering;
    Bytes original;  // serialise_clustering() of the values; empty when the bytes are lossless
  };
  // In storage order, without duplicates.
  virtual base::Result<std::vector<NamedRow>> rows(const Bindings& bindings, Scratch& scratch) const = 0;
  virtual base::Result<std::vector<Filter>> filters(const Bindings& bindings, Scratch& scratch) const = 0;
  // The terms to look up, for index_uses()[use]: one (begin, no end), or those from begin up to before end;
  // an end of no bytes is beyond all.
  virtual base::Result<Interval> terms(size_t use, const Bindings& bindings, Scratch& scratch) const = 0;
};
using RestrictionsPtr = std::shared_ptr<const Restrictions>;

// `only_static`: the statement reads or writes static columns alone, so no clustering column may be
// restricted. DELETE of single columns needs names_whole_row(): the caller checks that.
base::Result<RestrictionsPtr> bind_restrictions(Binder& binder, const schema::TablePtr& table,
                                                const std::vector<cql::Relation>& relations, Purpose purpose,
                                                bool allow_filtering = false, bool only_static = false);

// "Undefined column name x in table k.t", when there is none.
base::Result<const schema::Column*> existing_column(const schema::Table& table, const std::string& name);

// --- Sorted lists of disjoint intervals.
std::vector<Interval> intersect(const std::vector<Interval>& left, const std::vector<Interval>& right);
// Sorts, drops empty ones and joins those that touch.
void coalesce(std::vector<Interval>& intervals);

}  // namespace sibyl::plan
