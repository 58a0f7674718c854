#include "cli/shell/help.h"

#include <fmt/format.h>

#include <array>

#include "base/ascii.h"
#include "cli/command_line/text.h"

namespace sibyl::cli::shell {
namespace {

struct Topic {
  std::string_view name, usage;
  std::string_view text;  // the overview shows the first line
};

constexpr std::array commands = {
    Topic{"CAPTURE", "CAPTURE ['file' | OFF]",
          "Append results to a file instead of showing them.\nWithout an argument, show the current file."},
    Topic{"CLEAR", "CLEAR", "Clear the screen. CLS does the same."},
    Topic{"CONSISTENCY", "CONSISTENCY [level]",
          "Show or set the consistency level of statements.\n"
          "ANY, ONE, TWO, THREE, QUORUM, ALL, LOCAL_ONE, LOCAL_QUORUM, EACH_QUORUM, SERIAL or LOCAL_SERIAL;\n"
          "The default is ONE."},
    Topic{"COPY",
          "COPY [keyspace.]table [(column, ...)] FROM | TO 'file' | STDIN | STDOUT\n  [WITH HEADER = true "
          "AND ...]",
          "Import or export a CSV file, as cqlsh does. Options: HEADER, DELIMITER, QUOTE, ESCAPE, NULL,\n"
          "NUMPROCESSES, and for FROM also TTL and MAXINSERTERRORS. `sibyl import` and `sibyl export` have "
          "more."},
    Topic{"DESCRIBE",
          "DESCRIBE KEYSPACES | TABLES | TYPES | [FULL] SCHEMA | CLUSTER\n"
          "DESCRIBE KEYSPACE [name] | TABLE name | TYPE name | name",
          "Show definitions as CQL that creates them again. DESC does the same."},
    Topic{"EXIT", "EXIT", "Leave the shell. QUIT and Ctrl-D do the same."},
    Topic{"EXPAND", "EXPAND [ON | OFF]", "Show each row as a list of its columns, for wide tables."},
    Topic{"HELP", "HELP [topic]", "Show this list, or the syntax of a command or a statement."},
    Topic{"LOGIN", "LOGIN user [password]",
          "Log in as another user.\nAsks for the password if it is not given. A script ends if the login "
          "fails."},
    Topic{"PAGING", "PAGING [ON | OFF | rows]",
          "Show results page by page: any key continues, q stops.\nThe default is 100 rows per page."},
    Topic{"SERIAL CONSISTENCY", "SERIAL CONSISTENCY [SERIAL | LOCAL_SERIAL]",
          "Show or set the consistency level of conditional statements."},
    Topic{"SHOW", "SHOW VERSION | HOST | SESSION id",
          "Show the versions of the server, its address, or a trace recorded by TRACING."},
    Topic{"SOURCE", "SOURCE 'file'", "Run the statements in a file. ~ is the home directory."},
    Topic{"TRACING", "TRACING [ON | OFF]",
          "After each statement, show the steps that the server took and their times."},
};

constexpr std::array statements = {
    Topic{"USE", "USE keyspace", ""},
    Topic{"CREATE KEYSPACE",
          "CREATE KEYSPACE [IF NOT EXISTS] name\n  WITH replication = {'class': 'SimpleStrategy', "
          "'replication_factor': 1}",
          ""},
    Topic{"CREATE TABLE",
          "CREATE TABLE [IF NOT EXISTS] [keyspace.]name (\n  column type [STATIC], ...,\n"
          "  PRIMARY KEY ((partition column, ...), clustering column, ...)\n"
          ") [WITH CLUSTERING ORDER BY (column DESC, ...) AND option = value ...]",
          "The partition key determines where rows are stored; a query must give all of its columns. The\n"
          "clustering columns sort the rows of a partition; a query may give a prefix of them, the last "
          "as a range."},
    Topic{"CREATE TYPE", "CREATE TYPE [IF NOT EXISTS] name (field type, ...)", ""},
    Topic{"CREATE INDEX",
          "CREATE INDEX [IF NOT EXISTS] [name] ON table (column) [USING 'sai']\n"
          "CREATE INDEX [name] ON table (KEYS(map) | VALUES(map) | ENTRIES(map) | FULL(frozen column))",
          "Queries may then restrict the column without the partition key. SAI also supports ranges of "
          "numbers and times."},
    Topic{
        "CREATE MATERIALIZED VIEW",
        "CREATE MATERIALIZED VIEW [IF NOT EXISTS] name AS\n  SELECT * | column, ... FROM table\n"
        "  WHERE key column IS NOT NULL AND ...\n  PRIMARY KEY ((partition column, ...), clustering column, "
        "...)",
        "The rows of a table under another key, kept up to date by the server. The key must contain all\n"
        "primary key columns of the table, and may contain one other column."},
    Topic{"CREATE FUNCTION",
          "CREATE [OR REPLACE] FUNCTION [keyspace.]name (argument type, ...)\n"
          "  CALLED ON NULL INPUT | RETURNS NULL ON NULL INPUT\n  RETURNS type LANGUAGE lua AS $$ return ... "
          "$$",
          ""},
    Topic{"CREATE AGGREGATE",
          "CREATE [OR REPLACE] AGGREGATE [keyspace.]name (type, ...)\n"
          "  SFUNC function STYPE type [FINALFUNC function] [INITCOND value]",
          ""},
    Topic{
        "CREATE ROLE",
        "CREATE ROLE [IF NOT EXISTS] name [WITH PASSWORD = 'secret' AND LOGIN = true AND SUPERUSER = false]",
        ""},
    Topic{"GRANT",
          "GRANT SELECT | MODIFY | CREATE | ALTER | DROP | AUTHORIZE | ALL PERMISSIONS | ...\n"
          "  ON ALL KEYSPACES | KEYSPACE name | [TABLE] name | ALL ROLES | ROLE name TO role\n"
          "GRANT role TO role",
          "REVOKE ... FROM revokes it; LIST ALL PERMISSIONS OF role lists the permissions of a role."},
    Topic{"EXPLAIN", "EXPLAIN statement",
          "Show which partitions and rows a statement would access, without running it."},
    Topic{"ALTER TABLE",
          "ALTER TABLE name ADD column type | DROP column | RENAME key column TO name | WITH option = value",
          ""},
    Topic{"SELECT",
          "SELECT * | column, ... FROM table\n  [WHERE column = value AND ...] [ORDER BY clustering column "
          "[DESC]]\n"
          "  [PER PARTITION LIMIT n] [LIMIT n] [ALLOW FILTERING]",
          ""},
    Topic{"INSERT",
          "INSERT INTO table (column, ...) VALUES (value, ...) [USING TTL seconds AND TIMESTAMP micros]", ""},
    Topic{"UPDATE",
          "UPDATE table [USING TTL seconds] SET column = value, ... WHERE key column = value AND ...", ""},
    Topic{"DELETE",
          "DELETE [column, ...] FROM table [USING TIMESTAMP micros] WHERE key column = value AND ...", ""},
    Topic{"BATCH", "BEGIN [UNLOGGED | COUNTER] BATCH\n  INSERT ...; UPDATE ...; DELETE ...;\nAPPLY BATCH",
          ""},
    Topic{"TRUNCATE", "TRUNCATE [TABLE] table", "Delete all rows."},
};

bool names_topic(const Topic& topic, std::string_view wanted) {
  const std::string upper = base::ascii_upper(wanted);
  if (upper == "DESC") return topic.name == "DESCRIBE";
  if (upper == "QUIT") return topic.name == "EXIT";
  if (upper == "CLS") return topic.name == "CLEAR";
  return topic.name == upper || topic.name.starts_with(upper + " ");
}

}  // namespace

std::string help_overview() {
  std::string text = "\nShell commands, with or without a semicolon:\n\n";
  for (const Topic& topic : commands)
    text += fmt::format("  {:<20}{}\n", topic.name, topic.text.substr(0, topic.text.find('\n')));
  text += "\nStatements, which end with a semicolon (HELP CREATE TABLE shows the syntax of one):\n\n  ";
  for (size_t i = 0; i < statements.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i % 6 == 0 ? ",\n  " : ", ", statements[i].name);
  text += "\n\nTAB completes keywords and names, Ctrl-R searches the history, Ctrl-C discards the input.\n";
  return text;
}

std::string help_topic(std::string_view wanted) {
  std::string text;
  const auto add = [&](const Topic& topic) {
    if (!names_topic(topic, wanted)) return;
    text += fmt::format("\n{}\n", topic.usage);
    if (!topic.text.empty()) text += fmt::format("\n{}\n", topic.text);
  };
  for (const Topic& topic : commands) add(topic);
  for (const Topic& topic : statements) add(topic);
  return text;
}

}  // namespace sibyl::cli::shell
