// The meaning of an index definition: its class, the contents of its entries, and its analysis of text.
#pragma once

#include <string>
#include <string_view>

#include "schema/schema.h"

namespace sibyl::schema {

enum class IndexClass : uint8_t {
  regular,   // Cassandra's built-in index: = on a value, CONTAINS, CONTAINS KEY, entries
  attached,  // SAI: serves ranges too, and several indexes in one query
  sasi,      // SASI: ranges and LIKE
};
IndexClass class_of(const Index& index);
// Returns the class that USING names, in any spelling that Cassandra accepts; nullopt if unknown.
std::optional<IndexClass> index_class_by_name(std::string_view name);

// Option names that a definition must not set.
inline constexpr const char* index_target_option = "target";
inline constexpr const char* index_class_option = "class_name";

// The target as options spell it: `values(m)`, `"C"`.
std::string target_text(Index::Target target, const std::string& column);
// `values`, `keys`, ...; empty for a simple target.
const char* target_name(Index::Target target);

// The type of the indexed values: that of the column, or of its elements, keys or values. For an index of
// entries, which has two types, the type of the value. REQUIRES: the index belongs to the table.
const types::TypePtr& indexed_type(const Column& column, Index::Target target);

// How an index transforms text. Values with the same result are equal in its queries.
struct TextAnalysis {
  enum class Case : uint8_t { keep, lower, upper };
  enum class Words : uint8_t {
    whole,      // a value is one term
    standard,   // a term for each word
    delimited,  // a term for each part between delimiters
  };
  Case letters = Case::keep;
  bool normalise = false;  // to Unicode's NFC
  bool ascii = false;      // replaces accented letters and the like by ASCII

  Words words = Words::whole;
  std::string delimiter;  // one character
  bool skips_stop_words = false;
  bool stems = false;
  std::string language;  // language of stop words and stems: two letters, or empty

  bool has_words() const { return words != Words::whole; }
  bool exists() const { return letters != Case::keep || normalise || ascii || has_words(); }
};
// REQUIRES: the index is on this column.
TextAnalysis analysis_of(const Index& index, const Column& column);

// A SAI index on a vector column, which only serves ANN queries.
bool is_vector_index(const Table& table, const Index& index);

}  // namespace sibyl::schema
