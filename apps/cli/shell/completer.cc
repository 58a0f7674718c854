#include "cli/shell/completer.h"

#include <array>
#include <cctype>

#include "base/ascii.h"
#include "cli/command_line/text.h"
#include "cql/keyword.h"
#include "types/identifier.h"

namespace sibyl::cli::shell {
namespace {

constexpr std::array type_names = {
    "ascii", "bigint",    "blob",     "boolean", "counter", "date", "decimal", "double",   "duration",
    "float", "frozen",    "inet",     "int",     "list",    "map",  "set",     "smallint", "text",
    "time",  "timestamp", "timeuuid", "tinyint", "tuple",   "uuid", "varchar", "varint",   "vector"};
constexpr std::array function_names = {
    "cast",  "count",  "max",         "maxTimeuuid",     "min", "minTimeuuid", "now",
    "token", "toDate", "toTimestamp", "toUnixTimestamp", "ttl", "uuid",        "writetime"};

}  // namespace

void Completer::strip_batch() {
  if (!begins("BEGIN")) return;
  size_t batch = 0;
  while (batch < before_.size() && !before_[batch].is("BATCH")) ++batch;
  if (batch == before_.size()) return;
  // Keeps the last statement of the batch, or the clauses of the batch itself.
  size_t start = batch + 1;
  for (size_t i = start; i < before_.size(); ++i)
    if (before_[i].is("INSERT") || before_[i].is("UPDATE") || before_[i].is("DELETE") ||
        before_[i].is("APPLY"))
      start = i;
  before_.erase(before_.begin(), before_.begin() + static_cast<std::ptrdiff_t>(start));
}

void Completer::add(std::string text, char follow) {
  if (base::starts_with_ignoring_case(text, prefix_)) found_.push_back({std::move(text), follow});
}

void Completer::keywords(std::initializer_list<std::string_view> words) {
  const bool lower = !prefix_.empty() && std::islower(static_cast<unsigned char>(prefix_[0])) != 0;
  for (std::string_view word : words) add(lower ? base::ascii_lower(word) : std::string(word));
}

void Completer::any_keyword() {
  if (prefix_.empty()) return;
  for (std::string_view word : cql::keywords()) keywords({word});
}

void Completer::keyspaces(char follow) {
  for (const auto& [name, keyspace] : names_.keyspaces) add(types::quote_identifier(name), follow);
}

void Completer::tables_of(std::string_view keyspace) {
  const auto found = names_.keyspaces.find(keyspace);
  if (found == names_.keyspaces.end()) return;
  for (const auto& [name, table] : found->second.tables) add(types::quote_identifier(name));
}

void Completer::tables() {
  tables_of(keyspace_);
  keyspaces('.');
}

void Completer::columns(char follow) {
  if (const TableNames* table = statement_table()) {
    for (const TableNames::Column& column : table->columns) add(types::quote_identifier(column.name), follow);
    return;
  }
  const auto found = names_.keyspaces.find(keyspace_);
  if (found == names_.keyspaces.end() || has("FROM")) return;
  for (const auto& [name, table] : found->second.tables)
    for (const TableNames::Column& column : table.columns) add(types::quote_identifier(column.name), follow);
}

void Completer::types() {
  for (const char* name : type_names) {
    const std::string_view type = name;
    const bool parameters = type == "frozen" || type == "list" || type == "map" || type == "set" ||
                            type == "tuple" || type == "vector";
    add(name, parameters ? '<' : ' ');
  }
  user_types();
}

void Completer::user_types() {
  const auto found = names_.keyspaces.find(keyspace_);
  if (found == names_.keyspaces.end()) return;
  for (const std::string& type : found->second.types) add(types::quote_identifier(type));
}

void Completer::functions() {
  for (const char* name : function_names) add(name, '(');
}

const TableNames* Completer::statement_table() const {
  std::vector<Token> all = before_;
  all.insert(all.end(), after_.begin(), after_.end());
  for (size_t i = 0; i + 1 < all.size(); ++i) {
    const bool opens = all[i].is("FROM") || all[i].is("INTO") || (i == 0 && all[i].is("UPDATE")) ||
                       (i == 1 && all[i].is("TABLE")) || (all[i].is("ON") && all[0].is("CREATE")) ||
                       (i == 0 && all[i].is("COPY"));
    if (!opens) continue;
    size_t k = i + 1;
    if (k + 1 < all.size() && all[k].is("IF")) k += 2;
    if (k >= all.size() || !all[k].is_name()) return nullptr;
    if (k + 2 < all.size() && all[k + 1].is('.')) return names_.find_table(all[k].name(), all[k + 2].name());
    return names_.find_table(keyspace_, all[k].name());
  }
  return nullptr;
}

std::string Completer::clause() const {
  static constexpr std::array words = {"SELECT", "FROM",   "WHERE",  "BY",        "LIMIT",
                                       "SET",    "USING",  "VALUES", "WITH",      "DELETE",
                                       "INTO",   "UPDATE", "IF",     "FILTERING", "APPLY"};
  for (size_t i = 0; i < before_.size(); ++i) {
    const Token& token = back(i);
    for (const char* word : words)
      if (token.is(word)) return word;
  }
  return {};
}

}  // namespace sibyl::cli::shell
