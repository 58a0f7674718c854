// Enumerates candidate tables. For every query: the table that answers it alone, tables that answer parts of
// it, and look-up tables by key. The same is done for the look-ups that updates need.
#pragma once

#include <string>
#include <vector>

#include "advisor/design/lookup.h"

namespace sibyl::advisor {

// A canonical text. Two layouts have equal texts if they are the same table, regardless of the order of their
// values and the numbering of their nodes.
std::string layout_text(const Layout& layout);

// Removes trailing clustering keys that the rest of the key determines, so that updates need not know them.
Layout with_shortest_key(const Model& model, Layout layout);

// Limits for partitions: maximum size, and maximum writes per second to one key.
struct Limits {
  std::optional<double> partition_bytes, partition_rate;
};

// Sets the number of hash buckets so that partitions meet the limits. Returns false if even the maximum
// number of buckets is not enough.
bool fit_to_limits(const Model& model, const Limits& limits, double writes_per_second, Layout& layout);

// A time field that orders the rows of a table, and the age of the oldest row at the horizon.
struct TimeField {
  FieldReference field;
  double kept = 0;  // seconds
};
// Splits the table by periods of `time`, using the widest period that meets the limits, and adds hash buckets
// if needed. `model` is the model at the horizon.
bool fit_by_time(const Model& model, const Limits& limits, double writes_per_second, const TimeField& time,
                 Layout& layout);

class Candidates {
 public:
  explicit Candidates(const Model& model) : model_(model) {}

  void add(Layout layout);
  // Adds every table that can help to answer `need`. With `split`, also tables for parts of it.
  void add_for(const Requirement& need, bool split);
  // Adds unions of tables with the same key: those over the same entities, and those over more entities if no
  // entity is lost.
  void add_unions();

  const std::vector<Layout>& tables() const { return tables_; }

 private:
  // Removes values that need tables of their own, and adds those tables. Returns false if nothing is left, or
  // if the key cannot have such a value.
  bool move_values(Layout& layout);
  void add_once(Layout layout);
  void add_for_part(const Requirement& need, const std::vector<bool>& part);
  void add_entry(const Requirement& need, const std::vector<bool>& part,
                 const std::vector<FieldReference>& partition);
  void add_shape(const Requirement& need, const std::vector<bool>& part,
                 const std::vector<FieldReference>& partition, const std::vector<FieldReference>& clustering);

  const Model& model_;
  std::vector<Layout> tables_;
  std::vector<std::string> texts_;
};

}  // namespace sibyl::advisor
