#include "script/transcript.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/bytes.h"
#include "cql/script.h"
#include "types/identifier.h"
#include "types/print_value.h"

namespace sibyl::script {
namespace {

std::string one_line(std::string_view text) {
  std::string folded;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (space && (folded.empty() || folded.back() == ' ')) continue;
    folded.push_back(space ? ' ' : c);
  }
  while (!folded.empty() && folded.back() == ' ') folded.pop_back();
  return folded;
}

// The name of a type as sent in the protocol, which does not say whether it is frozen.
std::string wire_name(const types::Type& type) {
  if (type.kind() == types::Kind::empty) return types::quote_string(type.class_name());
  static constexpr std::string_view frozen = "frozen<";
  std::string name = type.cql_name();
  for (size_t at = name.find(frozen); at != std::string::npos; at = name.find(frozen, at)) {
    int depth = 1;
    size_t end = at + frozen.size();
    for (; depth > 0 && end < name.size(); ++end) depth += name[end] == '<' ? 1 : name[end] == '>' ? -1 : 0;
    name.erase(end - 1, 1).erase(at, frozen.size());
  }
  return name;
}

std::string literal_of(const types::Type& type, const std::string& value) {
  return type.kind() == types::Kind::empty ? "0x" : types::to_literal(type, value);
}

// Returns the end of the signature at `start`: a comma before the next `keyspace.name : (`.
size_t end_of_signature(std::string_view list, size_t start) {
  for (size_t comma = list.find(", ", start); comma != std::string_view::npos;
       comma = list.find(", ", comma + 2)) {
    const size_t colon = list.find(" : (", comma + 2);
    if (colon == std::string_view::npos) break;
    if (list.substr(comma + 2, colon - comma - 2).find_first_of(",)<>") == std::string_view::npos)
      return comma;
  }
  return list.size();
}

// Cassandra lists the signatures of a function in no particular order. Sorted lists can be compared.
std::string sort_signatures(std::string message) {
  static constexpr std::string_view opening = "signatures: ";
  const size_t at = message.find(opening);
  const size_t close =
      message.ends_with("): use type casts to disambiguate") ? message.rfind("): use") : message.size() - 1;
  if (at == std::string::npos || message[close] != ')') return message;
  const size_t start_of_list = at + opening.size();
  const std::string_view list = std::string_view(message).substr(start_of_list, close - start_of_list);
  std::vector<std::string> signatures;
  for (size_t start = 0; start < list.size();) {
    const size_t end = end_of_signature(list, start);
    signatures.emplace_back(list.substr(start, end - start));
    start = end + 2;
  }
  std::sort(signatures.begin(), signatures.end());
  return fmt::format("{}{}{}", message.substr(0, start_of_list), fmt::join(signatures, ", "),
                     message.substr(close));
}

// Parses for example "0x01, null, unset".
std::vector<BoundValue> read_values(std::string_view list) {
  std::vector<BoundValue> values;
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    const std::string word = one_line(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
    BoundValue& value = values.emplace_back();
    if (word == "unset") value.state = types::ValueView::State::unset;
    if (word.starts_with("0x") && base::from_hex(std::string_view(word).substr(2), value.bytes))
      value.state = types::ValueView::State::present;
  }
  return values;
}

// Reads the directives among the comments before a statement.
void read_directives(std::string_view comments, ScriptStatement& statement) {
  while (!comments.empty()) {
    const size_t end = std::min(comments.find('\n'), comments.size());
    const std::string_view line = comments.substr(0, end);
    if (line.starts_with("--! hint ")) statement.hints.emplace_back(line.substr(9));
    if (line.starts_with("--! warning ")) statement.own_warnings.emplace_back(line.substr(12));
    if (line.starts_with("--! pages ")) statement.page_size = std::atoi(std::string(line.substr(10)).c_str());
    if (line.starts_with("--! now ")) statement.now_seconds = std::atoi(std::string(line.substr(8)).c_str());
    if (line.starts_with("--! values ")) statement.values = read_values(line.substr(11));
    if (line.starts_with("--! one-page")) statement.one_page = true;
    if (line.starts_with("--! unordered")) statement.unordered = true;
    if (line.starts_with("--! columns-only")) statement.columns_only = true;
    comments.remove_prefix(std::min(end + 1, comments.size()));
  }
}

void render_rows(const ScriptStatement& statement, const Outcome& outcome, std::string& out) {
  std::vector<std::string> names;
  for (const auto& column : outcome.columns)
    names.push_back(fmt::format("{} {}", types::quote_identifier(column.name), wire_name(*column.type)));
  out += fmt::format("{}\n", fmt::join(names, " | "));
  if (statement.columns_only) return;
  std::vector<std::string> lines;
  for (const auto& row : outcome.rows) {
    std::vector<std::string> cells;
    for (size_t i = 0; i < row.size(); ++i)
      cells.push_back(row[i] ? literal_of(*outcome.columns[i].type, *row[i]) : "null");
    lines.push_back(fmt::format("{}", fmt::join(cells, " | ")));
  }
  if (statement.unordered) std::sort(lines.begin(), lines.end());
  for (size_t i = 0; i < lines.size(); ++i) {
    out += lines[i] + "\n";
    const auto& ends = outcome.page_ends;
    if (statement.page_size > 0 && std::find(ends.begin(), ends.end(), i + 1) != ends.end())
      out += "(page)\n";
  }
  out += fmt::format("({} rows)\n", outcome.rows.size());
}

}  // namespace

void add_warnings(const std::vector<std::string>& warnings, Outcome& outcome) {
  for (const auto& warning : warnings)
    if (std::find(outcome.warnings.begin(), outcome.warnings.end(), warning) == outcome.warnings.end())
      outcome.warnings.push_back(warning);
}

std::vector<ScriptStatement> read_script(std::string_view text) {
  std::vector<ScriptStatement> statements;
  size_t end_of_last = 0;
  for (const auto& piece : cql::split_script(text)) {
    ScriptStatement statement;
    read_directives(text.substr(end_of_last, piece.offset - end_of_last), statement);
    end_of_last = piece.offset + piece.text.size();
    statement.text = piece.text;
    statement.line = 1 + static_cast<size_t>(
                             std::count(text.begin(), text.begin() + static_cast<long>(piece.offset), '\n'));
    statements.push_back(std::move(statement));
  }
  return statements;
}

std::string render(const ScriptStatement& statement, const Outcome& outcome) {
  std::string out = fmt::format("> {}\n", one_line(statement.text));
  if (outcome.error) {
    out += fmt::format("ERROR {:04X} {}\n", static_cast<int>(outcome.error->code()),
                       sort_signatures(outcome.error->message()));
  } else if (outcome.has_rows) {
    render_rows(statement, outcome, out);
  } else {
    out += outcome.note.empty() ? "OK\n" : fmt::format("OK {}\n", outcome.note);
  }
  for (const auto& warning : outcome.warnings) out += fmt::format("WARNING {}\n", one_line(warning));
  return out + "\n";
}

std::string describe_change(int kind, int target, const std::string& keyspace, const std::string& name) {
  static constexpr const char* kinds[] = {"CREATED", "UPDATED", "DROPPED"};
  static constexpr const char* targets[] = {"KEYSPACE", "TABLE", "TYPE", "FUNCTION", "AGGREGATE"};
  return fmt::format("{} {} {}{}{}", kinds[kind], targets[target], keyspace, name.empty() ? "" : ".", name);
}

base::Error split_hint(const base::Error& error) {
  const std::string& message = error.message();
  const size_t at = message.rfind(" [hint: ");
  if (at == std::string::npos || message.back() != ']') return error;
  base::ErrorDetails details = error.details();
  details.hint = message.substr(at + 8, message.size() - at - 9);
  details.message = message.substr(0, at);
  return base::Error(std::move(details));
}

}  // namespace sibyl::script
