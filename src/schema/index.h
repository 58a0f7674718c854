// What an index's definition means: its class, what its entries hold, and how it looks at text.
#pragma once

#include <string>
#include <string_view>

#include "schema/schema.h"

namespace sibyl::schema {

enum class IndexClass : uint8_t {
  regular,   // Cassandra's own: = on a value, CONTAINS, CONTAINS KEY, entries
  attached,  // SAI: ranges too, and several at once
  sasi,      // SASI: ranges and LIKE
};
IndexClass class_of(const Index& index);
// The class that USING names, in any of the spellings that Cassandra takes; nullopt for an unknown one.
std::optional<IndexClass> index_class_by_name(std::string_view name);

// The option names that a definition may not choose itself.
inline constexpr const char* index_target_option = "target";
inline constexpr const char* index_class_option = "class_name";

// As options spell a target: `values(m)`, `"C"`.
std::string target_text(Index::Target target, const std::string& column);
// `values`, `keys`, ...; empty for a simple target.
const char* target_name(Index::Target target);

// The type of what is indexed: the column's, or that of its elements, keys or values. An index of entries has
// two: this is the value's. REQUIRES: the index is the table's.
const types::TypePtr& indexed_type(const Column& column, Index::Target target);

// How an index looks at text. Values that become the same are the same to its queries.
struct TextAnalysis {
  enum class Case : uint8_t { keep, lower, upper };
  Case letters = Case::keep;
  bool normalise = false;  // to Unicode's NFC
  bool ascii = false;      // letters with accents and such to plain ones
  bool exists() const { return letters != Case::keep || normalise || ascii; }
};
TextAnalysis analysis_of(const Index& index);

// A SAI index on a vector column: it answers ANN queries alone.
bool is_vector_index(const Table& table, const Index& index);

}  // namespace sibyl::schema
