// Inputs of a row: the values that a selection takes from stored rows.
#pragma once

#include <span>
#include <vector>

#include "plan/evaluation/filters.h"
#include "plan/statements/select.h"
#include "row/fragment.h"

namespace sibyl::execute {

using base::Bytes;
using base::BytesView;
using types::ValueView;

// Fills the inputs of one row after another, reusing memory. Views are valid until the next row; views of
// partition key and static columns are valid until the next partition.
class RowInputs {
 public:
  // REQUIRES: `plan` and everything that `bindings` borrows outlive this object.
  RowInputs(const plan::Select& plan, const plan::Bindings& bindings, int64_t now_seconds)
      : plan_(plan), bindings_(bindings), now_seconds_(now_seconds), values_(plan.selection.inputs.size()) {}

  base::Status start_partition(const Bytes& serialised_key, const row::Fragment& static_row);
  base::Status fill(BytesView clustering, const row::Fragment& row);
  // For a partition with only static columns: all other inputs are null.
  void fill_static_only();

  std::span<const ValueView> values() const { return values_; }

 private:
  base::Status fill_cells(const std::vector<plan::Select::InputSource>& sources,
                          const row::Fragment& fragment, plan::Scratch& scratch);
  base::Result<ValueView> take(const plan::Input& input, std::span<const row::Cell> cells,
                               plan::Scratch& scratch);

  const plan::Select& plan_;
  const plan::Bindings& bindings_;
  int64_t now_seconds_;
  std::vector<ValueView> values_;
  std::vector<Bytes> partition_key_;
  std::vector<Bytes> clustering_;
  plan::Scratch partition_scratch_, row_scratch_;
};

// Assembles the value of a column that is stored as several cells. Returns null if there are none.
ValueView assemble(const types::Type& type, std::span<const row::Cell> cells, plan::Scratch& scratch);

// Returns true if the value satisfies the filter. Null never does.
bool satisfies(const plan::Filter& filter, const ValueView& value);

// A filter and the index of the input that it applies to.
struct InputFilter {
  plan::Filter filter;
  size_t input;
};
base::Result<std::vector<InputFilter>> input_filters(const plan::Select& plan, const plan::Bindings& bindings,
                                                     plan::Scratch& scratch);
bool satisfies(const std::vector<InputFilter>& filters, std::span<const ValueView> inputs);

}  // namespace sibyl::execute
