// Terms: the bytes by which index entries are sorted and looked up.
//
// Terms sort like the values of their type. Long values are truncated and texts are folded as the index
// defines, so several values may share a term. After finding a row by a term, the caller must compare the
// row's value. docs/storage-format.md describes the bytes.
#pragma once

#include "base/bytes.h"
#include "schema/index.h"

namespace sibyl::plan {

using base::Bytes;
using base::BytesView;

// The text as the index analyses it. Other values are returned unchanged.
Bytes analysed(const schema::TextAnalysis& analysis, BytesView value);

// How an index builds terms. Borrows from the table.
struct TermForm {
  const types::Type* key = nullptr;  // index on entries: the map's key type, which comes first
  const types::Type* value = nullptr;
  schema::TextAnalysis analysis;

  // REQUIRES: the index belongs to the table and is not on a vector.
  static TermForm of(const schema::Table& table, const schema::Index& index);

  // REQUIRES: the values have these types. `entry_key` is used only by indexes on entries.
  Bytes term(BytesView entry_key, BytesView indexed) const;
  // The common prefix of the terms of all texts that begin with `text`. No other term has it.
  Bytes prefix_of(BytesView text) const;
  // Removes one term from the front. Returns false if there is none.
  bool skip(BytesView& bytes) const;
};

}  // namespace sibyl::plan
