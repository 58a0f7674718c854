// Conditions that a request checks row by row, and the entries of indexes that it reads.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/evaluation/intervals.h"
#include "plan/restrictions/restrictions.h"

namespace sibyl::plan {

// A condition that a row in the intervals must satisfy, for one request. Values borrow from bindings and
// scratch.
struct Filter {
  const schema::Column* column = nullptr;
  cql::Operator op = cql::Operator::equal;  // =, <, <=, >, >=, IN, CONTAINS, CONTAINS KEY
  bool is_entry = false;                    // column[key] = value
  BytesView key;
  BytesView value;  // the value for all operators except IN
  // The values of IN; for LIKE through an index of words, the words, which must all match.
  std::vector<BytesView> values;
  // For LIKE, where `value` must occur.
  enum class Place : uint8_t { whole, beginning, end, anywhere };
  Place place = Place::whole;
  // The text analysis of the index that serves the relation. `value` has already been analysed.
  schema::TextAnalysis analysis;
};

base::Result<std::vector<Filter>> row_filters(const Restrictions& where, const Bindings& bindings,
                                              Scratch& scratch);

// The terms to look up for where.index_uses()[use]: a single term (begin, no end), or all terms in [begin,
// end). An empty end is after all terms.
base::Result<Interval> index_interval(const Restrictions& where, size_t use, const Bindings& bindings,
                                      Scratch& scratch);

}  // namespace sibyl::plan
