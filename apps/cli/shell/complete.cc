#include "cli/shell/complete.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/consistency.h"
#include "cli/command_line/text.h"
#include "cli/shell/completer.h"
#include "cli/shell/script.h"

namespace sibyl::cli::shell {

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
    user_types();
  }
}

void Completer::copy_arguments() {
  if (before_.size() == 1) return tables();
  if (depth('(', ')') > 0) {
    columns(0);
  } else if (has("WITH")) {
    if (back(0).is("WITH") || back(0).is("AND"))
      for (const char* option : {"DELIMITER", "ESCAPE", "HEADER", "NULL", "NUMPROCESSES", "QUOTE", "TTL"})
        add(option, '=');
    if (back(0).is('=') && back(1).is("HEADER")) keywords({"FALSE", "TRUE"});
    if (back(1).is('=')) keywords({"AND"});
  } else if (back(0).is("FROM")) {
    keywords({"STDIN"});
  } else if (back(0).is("TO")) {
    keywords({"STDOUT"});
  } else if (has("FROM") || has("TO")) {
    keywords({"WITH"});
  } else {
    keywords({"FROM", "TO"});
  }
}

void Completer::command_arguments() {
  const std::optional<Command> command = parse_command(before_[0].text);
  if (!command) return;
  switch (command->kind) {
    case Command::Kind::describe:
      describe_arguments();
      break;
    case Command::Kind::copy:
      copy_arguments();
      break;
    case Command::Kind::serial:
      if (before_.size() == 1) keywords({"CONSISTENCY"});
      if (before_.size() == 2) keywords({"LOCAL_SERIAL", "SERIAL"});
      break;
    case Command::Kind::consistency:
      if (before_.size() > 1) break;
      for (const char* level : base::consistency_names) keywords({level});
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

// Contexts that take the name of a keyspace or a table.
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
      user_types();
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

std::vector<Candidate> Completer::run() {
  if (before_.empty()) {
    keywords({"ALTER", "APPLY BATCH", "BEGIN BATCH", "BEGIN COUNTER BATCH", "BEGIN UNLOGGED BATCH", "CREATE",
              "DELETE", "DROP", "GRANT", "INSERT INTO", "LIST", "REVOKE", "SELECT", "TRUNCATE", "UPDATE",
              "USE"});
    for (std::string_view name : command_names()) keywords({name});
  } else if (before_[0].kind == Token::Kind::word && parse_command(before_[0].text)) {
    if (!(back(0).is('.') && name_places())) command_arguments();
  } else if (name_places() || definitions()) {
    // each of these calls has added the candidates
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

std::string Completions::common_prefix() const {
  if (candidates.empty()) return {};
  std::string prefix = candidates.front().text;
  for (const Candidate& candidate : candidates) {
    size_t same = 0;
    while (same < prefix.size() && same < candidate.text.size() &&
           base::equal_ignoring_case(prefix.substr(same, 1), candidate.text.substr(same, 1)))
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

}  // namespace sibyl::cli::shell
