#include "schema/index.h"

#include <algorithm>

#include "base/ascii.h"
#include "types/identifier.h"

namespace sibyl::schema {

using types::Kind;

namespace {

std::string text_option(const Index& index, const char* option, const char* otherwise = "") {
  const auto found = index.options.find(option);
  return found == index.options.end() ? otherwise : found->second;
}

bool is_true(const Index& index, const char* option, bool otherwise) {
  return base::ascii_lower(text_option(index, option, otherwise ? "true" : "false")) == "true";
}

TextAnalysis::Case letter_case(const Index& index, const std::string& lower_option,
                               const std::string& upper_option) {
  if (is_true(index, lower_option.c_str(), false)) return TextAnalysis::Case::lower;
  if (is_true(index, upper_option.c_str(), false)) return TextAnalysis::Case::upper;
  return TextAnalysis::Case::keep;
}

// Returns the analysis of a SASI index, which depends on its analyzer.
TextAnalysis sasi_analysis(const Index& index) {
  TextAnalysis analysis;
  const bool has_class = index.options.contains("analyzer_class");
  if (!is_true(index, "analyzed", has_class)) return analysis;
  const std::string analyzer = text_option(index, "analyzer_class", "StandardAnalyzer");
  if (analyzer.ends_with("DelimiterAnalyzer")) {
    analysis.words = TextAnalysis::Words::delimited;
    analysis.delimiter = text_option(index, "delimiter", ",");
  } else if (analyzer.ends_with("StandardAnalyzer")) {
    analysis.words = TextAnalysis::Words::standard;
    analysis.normalise = true;
    analysis.letters =
        letter_case(index, "tokenization_normalize_lowercase", "tokenization_normalize_uppercase");
    analysis.skips_stop_words = is_true(index, "tokenization_skip_stop_words", false);
    analysis.stems = is_true(index, "tokenization_enable_stemming", false);
    analysis.language = base::ascii_lower(text_option(index, "tokenization_locale")).substr(0, 2);
  } else if (analyzer.ends_with("NonTokenizingAnalyzer")) {
    analysis.letters = is_true(index, "case_sensitive", true)
                           ? letter_case(index, "normalize_lowercase", "normalize_uppercase")
                           : TextAnalysis::Case::lower;
  }
  return analysis;
}

}  // namespace

std::optional<IndexClass> index_class_by_name(std::string_view name) {
  const std::string small = base::ascii_lower(name);
  if (small == "sai" || small == "storageattachedindex" ||
      name == "org.apache.cassandra.index.sai.StorageAttachedIndex")
    return IndexClass::attached;
  if (name == "org.apache.cassandra.index.sasi.SASIIndex") return IndexClass::sasi;
  return std::nullopt;
}

IndexClass class_of(const Index& index) {
  if (!index.is_custom) return IndexClass::regular;
  const auto name = index.options.find(index_class_option);
  return name == index.options.end() ? IndexClass::regular
                                     : index_class_by_name(name->second).value_or(IndexClass::regular);
}

const char* target_name(Index::Target target) {
  switch (target) {
    case Index::Target::simple:
      return "";
    case Index::Target::values:
      return "values";
    case Index::Target::keys:
      return "keys";
    case Index::Target::entries:
      return "entries";
    case Index::Target::full:
      return "full";
  }
  return "";
}

std::string target_text(Index::Target target, const std::string& column) {
  const std::string name = types::quote_identifier(column);
  return target == Index::Target::simple ? name : std::string(target_name(target)) + "(" + name + ")";
}

const types::TypePtr& indexed_type(const Column& column, Index::Target target) {
  if (!column.type->is_collection() || !column.type->is_multi_cell()) return column.type;
  if (column.type->kind() != Kind::map || target == Index::Target::keys) return column.type->parameters()[0];
  return column.type->parameters()[1];
}

TextAnalysis analysis_of(const Index& index, const Column& column) {
  TextAnalysis analysis;
  const IndexClass kind = class_of(index);
  if (kind == IndexClass::attached) {
    if (!is_true(index, "case_sensitive", true)) analysis.letters = TextAnalysis::Case::lower;
    analysis.normalise = is_true(index, "normalize", false);
    analysis.ascii = is_true(index, "ascii", false);
  } else if (kind == IndexClass::sasi &&
             (column.type->kind() == Kind::text || column.type->kind() == Kind::ascii)) {
    return sasi_analysis(index);
  }
  return analysis;
}

bool is_vector_index(const Table& table, const Index& index) {
  const Column* column = table.find_by_id(index.column_id);
  return class_of(index) == IndexClass::attached && column != nullptr && column->type->kind() == Kind::vector;
}

}  // namespace sibyl::schema
