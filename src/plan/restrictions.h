// WHERE: relations turned into partition keys, token ranges, clustering intervals and filters.
//
// The rules, and the texts of what they refuse, are Cassandra's. Bound once, evaluated per request.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "plan/term.h"

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

class Restrictions {
 public:
  virtual ~Restrictions() = default;

  // --- What was restricted, known when prepared.
  enum class Partitions {
    keys,   // every component by = or IN: partition_keys() says which
    range,  // all partitions, or those of token_range()
  };
  virtual Partitions partitions() const = 0;
  virtual bool has_partition_in() const = 0;           // some component by IN
  virtual bool restricts_clustering() const = 0;       // any relation on a clustering column
  virtual bool names_whole_row() const = 0;            // every clustering column by = or IN
  virtual bool needs_filtering() const = 0;
  virtual const std::vector<uint16_t>& partition_key_markers() const = 0;

  // --- Evaluated for a request. Errors are Cassandra's (null in a key, too long a key, ...).
  // Serialised partition keys, in token order, without duplicates. REQUIRES: partitions() == keys.
  virtual base::Result<std::vector<Bytes>> partition_keys(const Bindings& bindings, Scratch& scratch) const = 0;
  virtual base::Result<TokenRange> token_range(const Bindings& bindings, Scratch& scratch) const = 0;
  // Disjoint, in storage order. One unbounded interval when clustering is not restricted.
  virtual base::Result<std::vector<Interval>> intervals(const Bindings& bindings, Scratch& scratch) const = 0;
  // The clustering values of the single rows named. REQUIRES: names_whole_row(). One entry per row: the clustering
  // bytes and, where those lose the original, the values' original bytes.
  struct NamedRow {
    Bytes clustering;
    Bytes original;  // serialise_clustering() of the values; empty when the bytes are lossless
  };
  virtual base::Result<std::vector<NamedRow>> rows(const Bindings& bindings, Scratch& scratch) const = 0;
};
using RestrictionsPtr = std::shared_ptr<const Restrictions>;

// Binds a WHERE clause. `only_static_columns`: the statement reads or writes no regular column, so that rows need not
// be named.
base::Result<RestrictionsPtr> bind_restrictions(Binder& binder, const schema::TablePtr& table,
                                                const std::vector<cql::Relation>& where, Purpose purpose,
                                                bool only_static_columns, bool allow_filtering);

}  // namespace sibyl::plan
