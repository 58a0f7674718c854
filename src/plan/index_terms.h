// Terms: what index entries are sorted by, and what queries look them up by.
//
// A term sorts as the values of its type do. Long values are cut and texts are folded as the index asks, so
// that several values may share a term: whoever finds a row through one compares the row's value itself.
// docs/storage-format.md has the bytes.
#pragma once

#include "base/bytes.h"
#include "schema/index.h"

namespace sibyl::plan {

using base::Bytes;
using base::BytesView;

// A text as the index sees it; other values are themselves.
Bytes analysed(const schema::TextAnalysis& analysis, BytesView value);

// How an index makes terms. Borrows from the table.
struct TermForm {
  const types::Type* key = nullptr;  // entries: the map's key, which comes first
  const types::Type* value = nullptr;
  schema::TextAnalysis analysis;

  // REQUIRES: the index is the table's, and on no vector.
  static TermForm of(const schema::Table& table, const schema::Index& index);

  // REQUIRES: values of the types. `entry_key` is used by indexes on entries alone.
  Bytes term(BytesView entry_key, BytesView indexed) const;
  // What all terms of texts that begin so have in common, and no other term has.
  Bytes prefix_of(BytesView text) const;
  // Takes a term from the front. False when there is none.
  bool skip(BytesView& bytes) const;
};

}  // namespace sibyl::plan
