// Turns operations on columns into cells. Internal to src/execute/write.
#pragma once

#include "execute/write/write_context.h"
#include "types/elements.h"

namespace sibyl::execute {

// Adds the cells of operations to `fragment`. Its views borrow from the bindings, the terms and the scratch.
class CellWriter {
 public:
  CellWriter(const WriteContext& context, const plan::Bindings& bindings, plan::Scratch& scratch,
             row::Fragment& fragment)
      : context_(context), bindings_(bindings), scratch_(scratch), fragment_(fragment) {}

  // `existing` is the row as a reader sees it, for operations that read first; otherwise nullptr. Counters
  // are written elsewhere (counter.h).
  base::Status apply(const plan::Operation& operation, const row::Fragment* existing);
  // c = value.
  base::Status set(const schema::Column& column, const types::ValueView& value);

 private:
  void add_cell(const schema::Column& column, BytesView path, BytesView original_path, BytesView value);
  void add_tombstone(const schema::Column& column, BytesView path, BytesView original_path);
  void delete_column(const schema::Column& column, int64_t timestamp);

  base::Status set_multi_cell(const schema::Column& column, const types::ValueView& value);
  base::Status append(const schema::Column& column, BytesView list);
  base::Status prepend(const schema::Column& column, BytesView list);
  base::Status add_elements(const schema::Column& column, BytesView elements);
  base::Status remove_elements(const plan::Operation& operation, BytesView keys);
  base::Status remove_values(const schema::Column& column, BytesView list, const row::Fragment* existing);
  base::Status set_element(const plan::Operation& operation);
  base::Status change_index(const plan::Operation& operation, const row::Fragment* existing);
  base::Status set_field(const plan::Operation& operation);
  base::Status add_value(const plan::Operation& operation, const row::Fragment* existing);
  void set_fields(const schema::Column& column, const types::Elements& fields);

  // Returns the live cells of a column in order: the cells of the row, changed by the preceding operations.
  // Valid until the next call.
  std::span<const row::Cell> cells_of(const schema::Column& column, const row::Fragment* existing);

  // The path of a set element or map key. `original` receives the element's bytes if the path is lossy.
  BytesView element_path(const types::Type& type, BytesView element, BytesView& original);
  BytesView field_path(uint16_t field);
  base::Result<types::Elements> elements_of(const types::Type& type, BytesView bytes);

  const WriteContext& context_;
  const plan::Bindings& bindings_;
  plan::Scratch& scratch_;
  row::Fragment& fragment_;
  row::Fragment current_;  // cells of the column, if it was written before it is read
};

}  // namespace sibyl::execute
