// Terms: the bytes by which index entries are sorted and looked up.
//
// Terms sort like the values of their type. Long values are truncated and texts are folded as the index
// defines, so several values may share a term. After finding a row by a term, the caller must compare the
// row's value. docs/storage-format.md describes the bytes.
#pragma once

#include <vector>

#include "base/bytes.h"
#include "schema/index.h"

namespace sibyl::plan {

using base::Bytes;
using base::BytesView;

// The text as the index analyses it. Other values are returned unchanged. REQUIRES: the index has no words.
Bytes analysed(const schema::TextAnalysis& analysis, BytesView value);

// The words of the text as the index analyses them. Stop words are left out. REQUIRES: the index has words.
std::vector<Bytes> analysed_words(const schema::TextAnalysis& analysis, BytesView text);

// How an index builds terms. Borrows from the table.
struct TermForm {
  const types::Type* key = nullptr;  // index on entries: the map's key type, which comes first
  const types::Type* value = nullptr;
  schema::TextAnalysis analysis;

  // REQUIRES: the index belongs to the table and is not on a vector.
  static TermForm of(const schema::Table& table, const schema::Index& index);

  // REQUIRES: the values have these types, and the index has no words. `entry_key` is used only by indexes on
  // entries.
  Bytes term(BytesView entry_key, BytesView indexed) const;
  // All terms of a value: one, or one for each word.
  std::vector<Bytes> terms(BytesView entry_key, BytesView indexed) const;
  // The common prefix of the terms of all texts that begin with `text`. No other term has it. If the index has
  // words, `text` must be a result of analysed_words().
  Bytes prefix_of(BytesView text) const;
  // Removes one term from the front. Returns false if there is none.
  bool skip(BytesView& bytes) const;
};

}  // namespace sibyl::plan
