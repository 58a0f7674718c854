// Completion of CREATE, ALTER and DROP.
#include "cli/shell/completer.h"
#include "plan/options/options.h"

namespace sibyl::cli::shell {

// Handles the parentheses of CREATE TABLE and CREATE TYPE, and WITH.
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

// Handles CREATE INDEX after the table's name: ON t (column) USING 'sai' WITH OPTIONS.
bool Completer::create_index() {
  if (depth('(', ')') > 0) {
    const bool starts = back(0).is('(');
    if (starts) {
      columns(')');
      for (const char* part : {"entries", "full", "keys", "values"})
        if (depth('(', ')') == 1) add(part, '(');
    }
    return true;
  }
  if (back(0).is(')')) keywords({"USING", "WITH OPTIONS ="});
  if (back(0).is("USING")) {
    add("'sai'");
    add("'legacy_local_table'");
  }
  return true;
}

// Handles CREATE, ALTER, DROP and other statements about definitions or permissions.
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
    for (const std::string_view name : plan::table_property_names()) add(std::string(name));
    return true;
  }
  if (before_.size() > 2 && (before_[1].is("TABLE") || before_[1].is("TYPE"))) {
    if (begins("CREATE")) return create_table();
    if (begins("ALTER")) return alter_table();
  }
  if (begins("CREATE") && has("ON") && (before_[1].is("INDEX") || before_[1].is("CUSTOM")))
    return create_index();
  if (begins("CREATE") && before_.size() > 2 && before_[1].is("KEYSPACE")) {
    if (!has("WITH") && !back(0).is("IF") && !back(0).is("NOT")) keywords({"WITH"});
    return true;
  }
  return false;
}

}  // namespace sibyl::cli::shell
