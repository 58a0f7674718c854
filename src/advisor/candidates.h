// Tables that may be worth having: for every query the table that answers it alone, the tables that answer a
// part of it, look-ups by key, and the same for what changes must look up.
#pragma once

#include <string>
#include <vector>

#include "advisor/lookup.h"

namespace sibyl::advisor {

// Equal texts: the same table, whatever the order of its values or the numbers of its nodes.
std::string layout_text(const Layout& layout);

// The same without keys at the end of the clustering that the rest determines: changes then need not know
// them.
Layout with_shortest_key(const Model& model, Layout layout);

// What partitions may hold at most; how often each key may be written.
struct Limits {
  std::optional<double> partition_bytes, partition_rate;
};

// Spreads a table's partitions over as many buckets as the limits ask for. False: not even the most help.
bool fit_to_limits(const Model& model, const Limits& limits, double writes_per_second, Layout& layout);

// A time that orders the rows of a table, and how far back they lie at the horizon.
struct TimeField {
  FieldReference field;
  double kept = 0;  // seconds
};
// The same by periods of that time, the widest that the limits allow, with as many buckets as they need
// then. `model`: that of the horizon.
bool fit_by_time(const Model& model, const Limits& limits, double writes_per_second, const TimeField& time,
                 Layout& layout);

class Candidates {
 public:
  explicit Candidates(const Model& model) : model_(model) {}

  void add(Layout layout);
  // Everything that may help to find what is needed. `split`: parts of it too.
  void add_for(const Need& need, bool split);
  // Tables with the same key, united: over the same entities, and over more where none gets lost by that.
  void add_unions();

  const std::vector<Layout>& tables() const { return tables_; }

 private:
  void add_for_part(const Need& need, const std::vector<bool>& part);
  void add_entry(const Need& need, const std::vector<bool>& part,
                 const std::vector<FieldReference>& partition);
  void add_shape(const Need& need, const std::vector<bool>& part,
                 const std::vector<FieldReference>& partition, const std::vector<FieldReference>& clustering);

  const Model& model_;
  std::vector<Layout> tables_;
  std::vector<std::string> texts_;
};

}  // namespace sibyl::advisor
