// Operations on columns turned into cells. Private to this room.
#pragma once

#include "execute/modify_moment.h"

namespace sibyl::execute {

// Adds what operations write to `fragment`. Views in it borrow from the bindings, the terms and the scratch.
class CellWriter {
 public:
  CellWriter(const Moment& moment, const plan::Bindings& bindings, plan::Scratch& scratch,
             row::Fragment& fragment)
      : moment_(moment), bindings_(bindings), scratch_(scratch), fragment_(fragment) {}

  // `existing` is the row as a reader sees it, for operations that read first; else nullptr. Counters are not
  // written here (counter.h).
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

  // The live cells of a column in their order, as the row has them and the operations before this one leave
  // them. Valid until the next call.
  std::span<const row::Cell> cells_of(const schema::Column& column, const row::Fragment* existing);

  // The path of a set element or map key; `original` is what it loses.
  BytesView element_path(const types::Type& type, BytesView element, BytesView& original);
  BytesView field_path(uint16_t field);
  base::Result<types::Elements> elements_of(const types::Type& type, BytesView bytes);

  const Moment& moment_;
  const plan::Bindings& bindings_;
  plan::Scratch& scratch_;
  row::Fragment& fragment_;
  row::Fragment current_;  // of a column that was written before it is read
};

}  // namespace sibyl::execute
