// Completion of statements that read and write rows.
#include "cli/shell/completer.h"

namespace sibyl::cli::shell {

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

}  // namespace sibyl::cli::shell
