#include "plan/indexes/index_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "plan/options/options.h"
#include "types/identifier.h"

namespace sibyl::plan {

using base::ErrorCode;
using base::invalid;
using schema::Index;
using types::Kind;

namespace {

constexpr std::array<std::string_view, 3> analysis_options = {"case_sensitive", "normalize", "ascii"};
constexpr std::array<std::string_view, 4> vector_options = {
    "maximum_node_connections", "construction_beam_width", "similarity_function", "optimize_for"};

template <size_t size>
bool is_among(const std::array<std::string_view, size>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string printed(const OptionMap& options) {
  std::string out;
  for (const auto& [name, value] : options)
    out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", types::quote_string(name),
                       types::quote_string(value));
  return "{" + out + "}";
}

std::unexpected<base::Error> config(std::string message) {
  return base::fail(ErrorCode::config, std::move(message));
}

base::Status check_boolean(const std::string& name, const std::string& value) {
  if (value.empty()) return invalid(fmt::format("Empty value for boolean option '{}'", name));
  const std::string large = base::ascii_upper(value);
  if (large != "TRUE" && large != "FALSE")
    return invalid(fmt::format("Illegal value for boolean option '{}': {}", name, value));
  return {};
}

bool is_text(const types::Type& type) {
  return type.kind() == Kind::text || type.kind() == Kind::ascii;
}

// The indexed type as spelled in Cassandra's texts: entries are a composite of key and value.
std::string type_text(const schema::Column& column, Index::Target target) {
  if (target != Index::Target::entries) return schema::indexed_type(column, target)->cql_name();
  return fmt::format("'org.apache.cassandra.db.marshal.CompositeType({},{})'",
                     column.type->map_key()->class_name(), column.type->map_value()->class_name());
}

base::Status check_analysis(const Index& index, const schema::Column& column) {
  OptionMap given;
  for (const auto& [name, value] : index.options)
    if (is_among(analysis_options, name)) given[name] = value;
  if (given.empty()) return {};
  if (column.is_primary_key())
    return invalid("Analysis options are not supported on primary key columns, but found " + printed(given));
  if (index.target == Index::Target::entries || !is_text(*schema::indexed_type(column, index.target)))
    return invalid(fmt::format("CQL type {} cannot be analyzed.", type_text(column, index.target)));
  for (const auto& [name, value] : given) SIBYL_TRY(check_boolean(name, value));
  return {};
}

base::Status check_vector_options(const Index& index, const schema::Column& column) {
  const auto has = [&](std::string_view name) { return index.options.contains(std::string(name)); };
  if (std::none_of(vector_options.begin(), vector_options.end(), has)) return {};
  if (column.type->kind() != Kind::vector)
    return invalid(fmt::format("CQL type {} cannot have vector options", type_text(column, index.target)));
  if (has("maximum_node_connections"))
    return invalid(
        "Maximum node connections cannot be set without enabling SAI_VECTOR_ALLOW_CUSTOM_PARAMETERS");
  if (has("construction_beam_width"))
    return invalid(
        "Construction beam width cannot be set without enabling SAI_VECTOR_ALLOW_CUSTOM_PARAMETERS");
  if (has("similarity_function")) {
    const std::string function = base::ascii_upper(index.options.at("similarity_function"));
    if (function != "EUCLIDEAN" && function != "DOT_PRODUCT" && function != "COSINE")
      return invalid(
          fmt::format("Similarity function {} was not recognized for index null. Valid values are: "
                      "EUCLIDEAN, DOT_PRODUCT, COSINE",
                      function));
  }
  if (has("optimize_for")) {
    const std::string goal = base::ascii_upper(index.options.at("optimize_for"));
    if (goal != "LATENCY" && goal != "RECALL")
      return invalid(fmt::format(
          "optimize_for '{}' was not recognized for index null. Valid values are: LATENCY, RECALL", goal));
  }
  return {};
}

constexpr const char* vector_warning =
    "SAI ANN indexes on vector columns are experimental and are not recommended for production use.\n"
    "They don't yet support SELECT queries with:\n"
    " * Consistency level higher than ONE/LOCAL_ONE.\n"
    " * Paging.\n"
    " * No LIMIT clauses.\n"
    " * PER PARTITION LIMIT clauses.\n"
    " * GROUP BY clauses.\n"
    " * Aggregation functions.\n"
    " * Filters on columns without a SAI index.";

base::Status check_vector(const Index& index, const types::Type& type, std::vector<std::string>& warnings) {
  if (type.element()->kind() != Kind::float_)
    return invalid("SAI ANN indexes are only allowed on vector columns with float elements");
  const auto function = index.options.find("similarity_function");
  const bool is_cosine = function == index.options.end() || base::ascii_upper(function->second) == "COSINE";
  if (type.dimension() == 1 && is_cosine)
    return invalid("Cosine similarity is not supported for single-dimension vectors");
  warnings.push_back(vector_warning);
  return {};
}

bool is_supported(const types::Type& type) {
  switch (type.kind()) {
    case Kind::list:
    case Kind::set:
    case Kind::map:
    case Kind::udt:
      return !type.is_multi_cell();
    case Kind::tuple:
      return true;
    case Kind::blob:
    case Kind::duration:
    case Kind::counter:
    case Kind::custom:
      return false;
    default:
      return true;
  }
}

base::Status check_type(const schema::Column& column, Index::Target target) {
  std::vector<types::TypePtr> indexed = {schema::indexed_type(column, target)};
  if (target == Index::Target::entries) indexed.insert(indexed.begin(), column.type->map_key());
  for (const types::TypePtr& type : indexed)
    if (!is_supported(*type)) return invalid("Unsupported type: " + type->cql_name());
  return {};
}

}  // namespace

base::Status check_attached_index(const schema::Table& table, const Index& index, size_t targets,
                                  std::vector<std::string>& warnings) {
  // This is checked first, because Cassandra validates existing indexes again before it looks at the new one.
  if (targets == 1)
    for (const Index& other : table.indexes)
      if (schema::class_of(other) == schema::IndexClass::attached && other.column_id == index.column_id &&
          other.target == index.target)
        return invalid("Cannot create more than one storage-attached index on the same column: " +
                       table.find_by_id(index.column_id)->name);
  std::string unknown;
  for (const auto& [name, value] : index.options) {
    const bool is_known = name == schema::index_target_option || name == schema::index_class_option ||
                          is_among(analysis_options, name) || is_among(vector_options, name);
    if (!is_known) unknown += (unknown.empty() ? "" : ", ") + name;
  }
  if (!unknown.empty())
    return config(
        fmt::format("Properties specified [{}] are not understood by StorageAttachedIndex", unknown));
  const std::string& target = index.options.at(schema::index_target_option);
  if (targets > 1)
    return invalid("A storage-attached index cannot be created over multiple columns: " + target);
  if (targets == 0) return invalid("Failed to retrieve target column for: " + target);
  const schema::Column& column = *table.find_by_id(index.column_id);
  SIBYL_TRY(check_analysis(index, column));
  SIBYL_TRY(check_vector_options(index, column));
  if (column.type->kind() == Kind::vector) return check_vector(index, *column.type, warnings);
  return check_type(column, index.target);
}

// --- SASI

namespace {

constexpr const char* analyzer_package = "org.apache.cassandra.index.sasi.analyzer.";

// True for a character that Java represents in one unit.
bool is_one_character(std::string_view text) {
  if (text.empty() || text.size() > 3) return false;
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }) == 1;
}

base::Status check_analyzer(const Index& index, const schema::Column& column) {
  const auto given = index.options.find("analyzer_class");
  if (given == index.options.end()) return {};
  std::string_view name = given->second;
  if (name.starts_with(analyzer_package)) name.remove_prefix(std::string_view(analyzer_package).size());
  const bool is_known = given->second.starts_with(analyzer_package) &&
                        (name == "NonTokenizingAnalyzer" || name == "StandardAnalyzer" ||
                         name == "DelimiterAnalyzer" || name == "NoOpAnalyzer");
  if (!is_known) return config(fmt::format("Unable to find analyzer class '{}'", given->second));
  if (name == "NoOpAnalyzer") return {};
  if (!is_text(*column.type) || column.descending)
    return config(fmt::format("{} does not support type {}", name, column.type->cql_name()));
  const auto has = [&](const char* option) { return index.options.contains(option); };
  if (name == "NonTokenizingAnalyzer" && has("case_sensitive") &&
      (has("normalize_lowercase") || has("normalize_uppercase")))
    return config(
        "case_sensitive option cannot be specified together with either normalize_lowercase or "
        "normalize_uppercase");
  return {};
}

// Options that Cassandra checks only when it creates the index, where the client gets a Java exception.
base::Status check_words(const Index& index, const schema::Column& column) {
  const auto is_true = [&](const char* option) {
    const auto found = index.options.find(option);
    return found != index.options.end() && base::ascii_upper(found->second) == "TRUE";
  };
  if ((is_true("normalize_lowercase") && is_true("normalize_uppercase")) ||
      (is_true("tokenization_normalize_lowercase") && is_true("tokenization_normalize_uppercase")))
    return config("Options to normalize terms cannot be both uppercase and lowercase at the same time");
  const schema::TextAnalysis analysis = schema::analysis_of(index, column);
  if (!analysis.has_words()) return {};
  if (index.options.contains("is_literal") && !is_true("is_literal"))
    return config("is_literal = false is not supported with an analyzer that splits texts into words");
  if (analysis.words == schema::TextAnalysis::Words::delimited && !is_one_character(analysis.delimiter))
    return config("Only single character delimiters supported, was " + analysis.delimiter);
  if ((analysis.stems || analysis.skips_stop_words) && analysis.language.size() == 1)
    return config(fmt::format("tokenization_locale '{}' is not a language code of two letters",
                              index.options.at("tokenization_locale")));
  return {};
}

}  // namespace

base::Status check_sasi_index(const schema::Table& table, const Index& index, size_t targets,
                              std::vector<std::string>& warnings) {
  if (targets != 1)
    return config("failed to retrieve target column for: " + index.options.at(schema::index_target_option));
  const schema::Column& column = *table.find_by_id(index.column_id);
  if (column.type->is_multi_cell()) return config("complex columns are not yet supported by SASI");
  if (column.is_partition_key()) return config("partition key columns are not yet supported by SASI");
  SIBYL_TRY(check_analyzer(index, column));
  const auto option = [&](const char* name) {
    const auto found = index.options.find(name);
    return found == index.options.end() ? std::string() : base::ascii_upper(found->second);
  };
  const std::string mode = option("mode");
  if (index.options.contains("mode") && mode != "PREFIX" && mode != "CONTAINS" && mode != "SPARSE")
    return config("Incorrect index mode: " + index.options.at("mode"));
  const bool has_analyzer = index.options.contains("analyzer_class");
  const bool is_analyzed =
      option("analyzed") == "TRUE" || (has_analyzer && !index.options.contains("analyzed"));
  const bool is_literal = index.options.contains("is_literal") ? option("is_literal") == "TRUE"
                                                               : is_text(*column.type) && !column.descending;
  if (mode == "SPARSE" && is_literal) return config("SPARSE mode is only supported on non-literal columns.");
  if (mode == "SPARSE" && is_analyzed) return config("SPARSE mode doesn't support analyzers.");
  SIBYL_TRY(check_words(index, column));
  warnings.push_back("SASI indexes are experimental and are not recommended for production use.");
  return {};
}

}  // namespace sibyl::plan
