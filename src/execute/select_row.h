// A row's inputs: the values that a selection takes out of stored rows.
#pragma once

#include <span>
#include <vector>

#include "plan/select.h"
#include "row/fragment.h"

namespace sibyl::execute {

using base::Bytes;
using base::BytesView;
using types::ValueView;

// Fills the inputs of one row after another, reusing everything. Views are valid until the next row, those of
// partition key and static columns until the next partition.
class RowInputs {
 public:
  // REQUIRES: `plan` and what `bindings` borrows outlive this.
  RowInputs(const plan::Select& plan, const plan::Bindings& bindings, int64_t now_seconds)
      : plan_(plan), bindings_(bindings), now_seconds_(now_seconds), values_(plan.selection.inputs.size()) {}

  base::Status start_partition(const Bytes& serialised_key, const row::Fragment& static_row);
  base::Status fill(BytesView clustering, const row::Fragment& row);
  // A partition that has only static columns: everything else is null.
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

// The value of a column that is stored as several cells; null when there is none.
ValueView assemble(const types::Type& type, std::span<const row::Cell> cells, plan::Scratch& scratch);

// Whether a value satisfies a filter. Null never does.
bool satisfies(const plan::Filter& filter, const ValueView& value);

// A filter and the input that it looks at.
struct InputFilter {
  plan::Filter filter;
  size_t input;
};
base::Result<std::vector<InputFilter>> input_filters(const plan::Select& plan, const plan::Bindings& bindings,
                                                     plan::Scratch& scratch);
bool satisfies(const std::vector<InputFilter>& filters, std::span<const ValueView> inputs);

}  // namespace sibyl::execute
