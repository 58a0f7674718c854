#include "sibyl/shell_complete.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <span>

#include "cql/parser.h"
#include "sibyl/shell_scan.h"
#include "sibyl/shell_script.h"
#include "sibyl/shell_text.h"
#include "types/print.h"

namespace sibyl::shell {
namespace {

constexpr std::array type_names = {
    "ascii", "bigint",    "blob",     "boolean", "counter", "date", "decimal", "double",   "duration",
    "float", "frozen",    "inet",     "int",     "list",    "map",  "set",     "smallint", "text",
    "time",  "timestamp", "timeuuid", "tinyint", "tuple",   "uuid", "varchar", "varint",   "vector"};
constexpr std::array function_names = {
    "cast",  "count",  "max",         "maxTimeuuid",     "min", "minTimeuuid", "now",
    "token", "toDate", "toTimestamp", "toUnixTimestamp", "ttl", "uuid",        "writetime"};
constexpr std::array table_options = {"additional_write_policy",
                                      "bloom_filter_fp_chance",
                                      "caching",
                                      "cdc",
                                      "comment",
                                      "compaction",
                                      "compression",
                                      "crc_check_chance",
                                      "default_time_to_live",
                                      "gc_grace_seconds",
                                      "max_index_interval",
                                      "memtable_flush_period_in_ms",
                                      "min_index_interval",
                                      "read_repair",
                                      "speculative_retry"};

// One completion: collects candidates that begin with the word at the cursor.
class Completer {
 public:
  Completer(const SchemaNames& names, std::string_view keyspace, std::vector<Token> before,
            std::vector<Token> after, std::string_view prefix)
      : names_(names),
        keyspace_(keyspace),
        before_(std::move(before)),
        after_(std::move(after)),
        prefix_(prefix) {
    strip_batch();
  }

  std::vector<Candidate> run();

 private:
  // --- Looking at the tokens before the cursor; 0 is the nearest.
  const Token& back(size_t i) const {
    static const Token none;
    return i < before_.size() ? before_[before_.size() - 1 - i] : none;
  }
  bool ends(std::initializer_list<std::string_view> words) const {
    size_t i = words.size();
    for (std::string_view word : words)
      if (!back(--i).is(word)) return false;
    return true;
  }
  bool begins(std::string_view word) const { return !before_.empty() && before_[0].is(word); }
  bool has(std::string_view word) const {
    return std::any_of(before_.begin(), before_.end(), [&](const Token& t) { return t.is(word); });
  }
  size_t depth(char open, char close) const {
    int depth = 0;
    for (const Token& token : before_) depth += token.is(open) ? 1 : token.is(close) ? -1 : 0;
    return depth > 0 ? static_cast<size_t>(depth) : 0;
  }
  // The last of the clause words that was typed outside of the words' arguments.
  std::string clause() const;
  const TableNames* statement_table() const;

  // --- What can be offered.
  void strip_batch();
  void add(std::string text, char follow = ' ');
  void keywords(std::initializer_list<std::string_view> words);
  void any_keyword();
  void keyspaces(char follow);
  void tables();
  void tables_of(std::string_view keyspace);
  void columns(char follow = ' ');
  void types();
  void functions();

  // --- Contexts: true when the place is known, even when it offers nothing.
  void command_arguments();
  void describe_arguments();
  bool name_places();
  bool definitions();
  void select();
  void insert();
  void update();
  void remove();
  void where();
  bool create_table();
  bool alter_table();

  const SchemaNames& names_;
  std::string_view keyspace_;
  std::vector<Token> before_, after_;
  std::string_view prefix_;
  std::vector<Candidate> found_;
};

void Completer::strip_batch() {
  if (!begins("BEGIN")) return;
  size_t batch = 0;
  while (batch < before_.size() && !before_[batch].is("BATCH")) ++batch;
  if (batch == before_.size()) return;
  // The statement that was begun last, or the batch's own clauses.
  size_t start = batch + 1;
  for (size_t i = start; i < before_.size(); ++i)
    if (before_[i].is("INSERT") || before_[i].is("UPDATE") || before_[i].is("DELETE") ||
        before_[i].is("APPLY"))
      start = i;
  before_.erase(before_.begin(), before_.begin() + static_cast<std::ptrdiff_t>(start));
}

void Completer::add(std::string text, char follow) {
  if (starts_with_ignoring_case(text, prefix_)) found_.push_back({std::move(text), follow});
}

void Completer::keywords(std::initializer_list<std::string_view> words) {
  const bool lower = !prefix_.empty() && std::islower(static_cast<unsigned char>(prefix_[0])) != 0;
  for (std::string_view word : words) add(lower ? to_lower(word) : std::string(word));
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
                       (i == 1 && all[i].is("TABLE")) || (all[i].is("ON") && all[0].is("CREATE"));
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

void Completer::describe_arguments() {
  if (before_.size() == 1 || (before_.size() == 2 && back(0).is("FULL"))) {
    keywords({"AGGREGATE", "AGGREGATES", "CLUSTER", "FULL SCHEMA", "FUNCTION", "FUNCTIONS", "INDEX",
              "KEYSPACE", "KEYSPACES", "MATERIALIZED VIEW", "SCHEMA", "TABLE", "TABLES", "TYPE", "TYPES"});
    tables();
  } else if (back(0).is("KEYSPACE")) {
    keyspaces(' ');
  } else if (back(0).is("TABLE") || back(0).is("COLUMNFAMILY")) {
    tables();
  } else if (back(0).is("TYPE")) {
    const auto found = names_.keyspaces.find(keyspace_);
    if (found == names_.keyspaces.end()) return;
    for (const std::string& type : found->second.types) add(types::quote_identifier(type));
  }
}

void Completer::command_arguments() {
  const std::optional<Command> command = parse_command(before_[0].text);
  if (!command) return;
  switch (command->kind) {
    case Command::Kind::describe:
      describe_arguments();
      break;
    case Command::Kind::serial:
      if (before_.size() == 1) keywords({"CONSISTENCY"});
      if (before_.size() == 2) keywords({"LOCAL_SERIAL", "SERIAL"});
      break;
    case Command::Kind::consistency:
      if (before_.size() > 1) break;
      keywords({"ALL", "ANY", "EACH_QUORUM", "LOCAL_ONE", "LOCAL_QUORUM", "LOCAL_SERIAL", "ONE", "QUORUM",
                "SERIAL", "THREE", "TWO"});
      break;
    case Command::Kind::expand:
    case Command::Kind::tracing:
    case Command::Kind::paging:
      if (before_.size() == 1) keywords({"OFF", "ON"});
      break;
    case Command::Kind::capture:
      if (before_.size() == 1) keywords({"OFF"});
      break;
    case Command::Kind::show:
      if (before_.size() == 1) keywords({"HOST", "VERSION"});
      break;
    case Command::Kind::help:
      for (std::string_view name : command_names()) keywords({name});
      break;
    default:
      break;
  }
}

// Places that take the name of a keyspace or a table.
bool Completer::name_places() {
  if (back(0).is('.') && back(1).is_name()) {
    const std::string qualifier = back(1).name();
    if (names_.keyspaces.contains(qualifier)) tables_of(qualifier);
    return true;
  }
  const bool creates = begins("CREATE");
  const Token& place = ends({"IF", "EXISTS"}) ? back(2) : ends({"IF", "NOT", "EXISTS"}) ? back(3) : back(0);
  if (place.is("USE") || place.is("KEYSPACE")) {
    if (!creates) keyspaces(' ');
    if (place.is("KEYSPACE") && back(0).is("KEYSPACE") && before_.size() == 2)
      keywords({creates ? "IF NOT EXISTS" : "IF EXISTS"});
    return true;
  }
  if (place.is("TABLE") || place.is("COLUMNFAMILY") || place.is("TYPE")) {
    if (back(0).is(place.text)) keywords({creates ? "IF NOT EXISTS" : "IF EXISTS"});
    if (creates) {
      keyspaces('.');
    } else if (place.is("TYPE")) {
      const auto found = names_.keyspaces.find(keyspace_);
      if (found != names_.keyspaces.end())
        for (const std::string& type : found->second.types) add(types::quote_identifier(type));
    } else {
      tables();
    }
    return true;
  }
  const bool table = place.is("FROM") || place.is("INTO") || (before_.size() == 1 && place.is("UPDATE")) ||
                     (place.is("ON") && creates) || (before_.size() == 1 && place.is("TRUNCATE"));
  if (before_.size() == 1 && place.is("TRUNCATE")) keywords({"TABLE"});
  if (table) tables();
  return table;
}

void Completer::where() {
  const Token& last = back(0);
  if (last.is("WHERE") || last.is("AND") || last.is('(')) {
    columns();
    if (!last.is('(')) add("token", '(');
  } else if (last.is(',') && depth('(', ')') > 0) {
    columns();
  } else if (last.is_name() && (back(1).is("WHERE") || back(1).is("AND"))) {
    keywords({"CONTAINS", "CONTAINS KEY", "IN", "LIKE"});
  } else if (!last.is('=') && !last.is('<') && !last.is('>')) {
    keywords({"AND"});
    if (begins("SELECT"))
      keywords({"ALLOW FILTERING", "GROUP BY", "LIMIT", "ORDER BY", "PER PARTITION LIMIT"});
    if (begins("UPDATE") || begins("DELETE")) keywords({"IF"});
  }
}

void Completer::select() {
  const std::string place = clause();
  const Token& last = back(0);
  if (place == "SELECT") {
    if (last.is("SELECT") || last.is("DISTINCT") || last.is(',') || last.is('(')) {
      columns();
      functions();
      if (before_.size() == 1) keywords({"DISTINCT", "JSON"});
      if (last.is("SELECT") || last.is("DISTINCT")) add("*");
    } else {
      keywords({"AS", "FROM"});
    }
  } else if (place == "FROM") {
    keywords({"ALLOW FILTERING", "GROUP BY", "LIMIT", "ORDER BY", "PER PARTITION LIMIT", "WHERE"});
  } else if (place == "WHERE") {
    where();
  } else if (place == "BY") {
    if (last.is("BY") || last.is(',')) {
      columns();
    } else {
      if (has("ORDER")) keywords({"ASC", "DESC"});
      keywords({"ALLOW FILTERING", "LIMIT", "ORDER BY", "PER PARTITION LIMIT"});
    }
  } else if (place == "LIMIT") {
    if (!last.is("LIMIT")) keywords({"ALLOW FILTERING", "LIMIT"});
  } else {
    any_keyword();
  }
}

void Completer::insert() {
  const std::string place = clause();
  const bool inside = depth('(', ')') > 0;
  if (place == "INTO") {
    if (inside) {
      if (back(0).is('(') || back(0).is(',')) columns(0);
    } else if (back(0).is(')')) {
      add("VALUES", '(');
    } else {
      add("(", 0);
      keywords({"JSON"});
    }
  } else if (place == "VALUES") {
    if (!inside && back(0).is(')')) keywords({"IF NOT EXISTS", "USING TIMESTAMP", "USING TTL"});
    if (inside && !prefix_.empty()) functions();
  } else if (begins("INSERT") && before_.size() == 1) {
    keywords({"INTO"});
  } else {
    any_keyword();
  }
}

void Completer::update() {
  const std::string place = clause();
  const Token& last = back(0);
  if (place == "UPDATE") {
    keywords({"SET", "USING TIMESTAMP", "USING TTL"});
  } else if (place == "USING") {
    keywords({"AND", "SET"});
  } else if (place == "SET") {
    if (last.is("SET") || (last.is(',') && depth('[', ']') + depth('{', '}') + depth('(', ')') == 0)) {
      columns();
    } else if (last.is('=')) {
      columns();
      functions();
    } else {
      keywords({"WHERE"});
    }
  } else if (place == "WHERE") {
    where();
  } else if (last.is("IF") || last.is("AND")) {
    columns();
    if (last.is("IF")) keywords({"EXISTS"});
  } else {
    any_keyword();
  }
}

void Completer::remove() {
  const std::string place = clause();
  if (place == "DELETE") {
    keywords({"FROM"});
    if (back(0).is("DELETE") || back(0).is(',')) columns();
  } else if (place == "FROM") {
    keywords({"USING TIMESTAMP", "WHERE"});
  } else if (place == "USING") {
    keywords({"WHERE"});
  } else if (place == "WHERE") {
    where();
  } else if (back(0).is("IF") || back(0).is("AND")) {
    columns();
    if (back(0).is("IF")) keywords({"EXISTS"});
  } else {
    any_keyword();
  }
}

// Between the parentheses of CREATE TABLE and CREATE TYPE, and in WITH.
bool Completer::create_table() {
  if (back(0).is('<') || depth('<', '>') > 0) {
    types();
    return true;
  }
  if (depth('(', ')') > 0) {
    const bool starts = back(0).is('(') || back(0).is(',');
    if (back(0).is_name() && (back(1).is('(') || back(1).is(','))) {
      types();
    } else if (starts && depth('(', ')') == 1) {
      add("PRIMARY KEY", '(');
    } else if (!starts) {
      keywords({"PRIMARY KEY", "STATIC"});
    }
    return true;
  }
  if (back(0).is(')') && !has("WITH")) {
    keywords({"WITH"});
    return true;
  }
  return false;
}

bool Completer::alter_table() {
  const Token& last = back(0);
  if (last.is("DROP") || last.is("RENAME")) {
    columns();
  } else if (back(1).is("ADD") || back(1).is(',') || last.is('<') || depth('<', '>') > 0) {
    types();
  } else if (back(1).is("TABLE") || back(2).is('.')) {
    keywords({"ADD", "DROP", "RENAME", "WITH"});
  } else {
    return last.is("ADD");
  }
  return true;
}

// CREATE, ALTER, DROP and the others that change definitions or permissions.
bool Completer::definitions() {
  if (before_.size() == 1) {
    if (begins("CREATE")) {
      keywords({"AGGREGATE", "CUSTOM INDEX", "FUNCTION", "INDEX", "KEYSPACE", "MATERIALIZED VIEW",
                "OR REPLACE", "ROLE", "TABLE", "TRIGGER", "TYPE"});
      return true;
    }
    if (begins("DROP")) {
      keywords({"AGGREGATE", "FUNCTION", "INDEX", "KEYSPACE", "MATERIALIZED VIEW", "ROLE", "TABLE", "TRIGGER",
                "TYPE"});
      return true;
    }
    if (begins("ALTER")) {
      keywords({"KEYSPACE", "MATERIALIZED VIEW", "ROLE", "TABLE", "TYPE"});
      return true;
    }
  }
  const bool option = back(0).is("WITH") || (back(0).is("AND") && has("WITH"));
  if (option && before_.size() > 1 && before_[1].is("KEYSPACE")) {
    keywords({"DURABLE_WRITES", "REPLICATION"});
    return true;
  }
  if (option && before_.size() > 1 && before_[1].is("TABLE")) {
    if (begins("CREATE")) keywords({"CLUSTERING ORDER BY"});
    for (const char* name : table_options) add(name);
    return true;
  }
  if (before_.size() > 2 && (before_[1].is("TABLE") || before_[1].is("TYPE"))) {
    if (begins("CREATE")) return create_table();
    if (begins("ALTER")) return alter_table();
  }
  if (begins("CREATE") && before_.size() > 2 && before_[1].is("KEYSPACE")) {
    if (!has("WITH") && !back(0).is("IF") && !back(0).is("NOT")) keywords({"WITH"});
    return true;
  }
  return false;
}

std::vector<Candidate> Completer::run() {
  if (before_.empty()) {
    keywords({"ALTER", "APPLY BATCH", "BEGIN BATCH", "BEGIN COUNTER BATCH", "BEGIN UNLOGGED BATCH", "CREATE",
              "DELETE", "DROP", "GRANT", "INSERT INTO", "LIST", "REVOKE", "SELECT", "TRUNCATE", "UPDATE",
              "USE"});
    for (std::string_view name : command_names()) keywords({name});
  } else if (before_[0].kind == Token::Kind::word && parse_command(before_[0].text)) {
    if (!(back(0).is('.') && name_places())) command_arguments();
  } else if (name_places() || definitions()) {
    // offered there
  } else if (begins("SELECT")) {
    select();
  } else if (begins("INSERT")) {
    insert();
  } else if (begins("UPDATE")) {
    update();
  } else if (begins("DELETE")) {
    remove();
  } else if (begins("BEGIN")) {
    keywords({"BATCH", "COUNTER BATCH", "UNLOGGED BATCH"});
  } else if (begins("APPLY")) {
    keywords({"BATCH"});
  } else {
    any_keyword();
  }
  std::sort(found_.begin(), found_.end(),
            [](const Candidate& a, const Candidate& b) { return a.text < b.text; });
  found_.erase(std::unique(found_.begin(), found_.end(),
                           [](const Candidate& a, const Candidate& b) { return a.text == b.text; }),
               found_.end());
  return std::move(found_);
}

}  // namespace

std::string Completions::common_prefix() const {
  if (candidates.empty()) return {};
  std::string prefix = candidates.front().text;
  for (const Candidate& candidate : candidates) {
    size_t same = 0;
    while (same < prefix.size() && same < candidate.text.size() &&
           equal_ignoring_case(prefix.substr(same, 1), candidate.text.substr(same, 1)))
      ++same;
    prefix.resize(same);
  }
  return prefix;
}

Completions complete(std::string_view text, size_t cursor, const SchemaNames& names,
                     std::string_view keyspace) {
  Completions result;
  Scan before = scan(text.substr(0, cursor));
  result.start = cursor;
  const bool in_quoted_name = before.open < cursor && text[before.open] == '"';
  if (before.open != std::string_view::npos && !in_quoted_name) return result;  // in a string or a comment
  if (in_quoted_name) {
    result.start = before.open;
  } else if (!before.tokens.empty() && before.tokens.back().end == cursor && !before.tokens.back().is(';') &&
             before.tokens.back().kind != Token::Kind::symbol) {
    result.start = before.tokens.back().start;
    before.tokens.pop_back();
  }
  auto last_end =
      std::find_if(before.tokens.rbegin(), before.tokens.rend(), [](const Token& t) { return t.is(';'); });
  before.tokens.erase(before.tokens.begin(), last_end.base());

  std::vector<Token> after;
  for (Token& token : scan(text.substr(cursor)).tokens) {
    if (token.is(';')) break;
    after.push_back(std::move(token));
  }
  const std::string_view prefix = text.substr(result.start, cursor - result.start);
  Completer completer(names, keyspace, std::move(before.tokens), std::move(after), prefix);
  result.candidates = completer.run();
  return result;
}

}  // namespace sibyl::shell
