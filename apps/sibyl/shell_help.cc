#include "sibyl/shell_help.h"

#include <fmt/format.h>

#include <array>

#include "sibyl/shell_text.h"

namespace sibyl::shell {
namespace {

struct Topic {
  std::string_view name, usage;
  std::string_view text;  // its first line is what the overview shows of a command
};

constexpr std::array commands = {
    Topic{"CAPTURE", "CAPTURE ['file' | OFF]",
          "Append results to a file instead of showing them.\nWithout an argument: says whether it does."},
    Topic{"CLEAR", "CLEAR", "Clear the screen. CLS is the same."},
    Topic{"CONSISTENCY", "CONSISTENCY [level]",
          "Show or set the consistency level of statements.\n"
          "ANY, ONE, TWO, THREE, QUORUM, ALL, LOCAL_ONE, LOCAL_QUORUM, EACH_QUORUM, SERIAL or LOCAL_SERIAL;\n"
          "ONE at the start."},
    Topic{"COPY", "sibyl import KEYSPACE.TABLE FILE\nsibyl export KEYSPACE.TABLE FILE",
          "Is not run by the shell: sibyl import and export read and write its files."},
    Topic{"DESCRIBE",
          "DESCRIBE KEYSPACES | TABLES | TYPES | [FULL] SCHEMA | CLUSTER\n"
          "DESCRIBE KEYSPACE [name] | TABLE name | TYPE name | name",
          "Show definitions as CQL that creates them again. DESC is the same."},
    Topic{"EXIT", "EXIT", "Leave the shell. QUIT and Ctrl-D do the same."},
    Topic{"EXPAND", "EXPAND [ON | OFF]", "Show each row as a list of its columns, for wide tables."},
    Topic{"HELP", "HELP [topic]", "Show this list, or how a command or a statement is written."},
    Topic{"LOGIN", "LOGIN user [password]",
          "Go on as somebody else.\nWithout a password it is asked for. When it fails a script ends."},
    Topic{"PAGING", "PAGING [ON | OFF | rows]",
          "Show results page by page: any key goes on, q stops.\nA page has 100 rows at the start."},
    Topic{"SERIAL CONSISTENCY", "SERIAL CONSISTENCY [SERIAL | LOCAL_SERIAL]",
          "Show or set the consistency level of conditions."},
    Topic{"SHOW", "SHOW VERSION | HOST | SESSION id",
          "Show the server's versions, where the shell is connected, or a trace of TRACING."},
    Topic{"SOURCE", "SOURCE 'file'", "Run the statements of a file. ~ is the home directory."},
    Topic{"TRACING", "TRACING [ON | OFF]",
          "After each statement, what the server did for it, step by step, and when."},
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
          "The partition key says where rows live, and a query must give it whole. The clustering columns "
          "sort the\n"
          "rows of a partition; a query may give them from the left, the last one as a range."},
    Topic{"CREATE TYPE", "CREATE TYPE [IF NOT EXISTS] name (field type, ...)", ""},
    Topic{
        "CREATE INDEX",
        "CREATE INDEX [IF NOT EXISTS] [name] ON table (column) [USING 'sai']\n"
        "CREATE INDEX [name] ON table (KEYS(map) | VALUES(map) | ENTRIES(map) | FULL(frozen column))",
        "A query may then give the column without the partition key; SAI takes ranges of numbers and times, "
        "too."},
    Topic{
        "CREATE MATERIALIZED VIEW",
        "CREATE MATERIALIZED VIEW [IF NOT EXISTS] name AS\n  SELECT * | column, ... FROM table\n"
        "  WHERE key column IS NOT NULL AND ...\n  PRIMARY KEY ((partition column, ...), clustering column, "
        "...)",
        "The rows of a table under another key, kept up to date. Its key has all columns of the table's and "
        "at "
        "most\none more."},
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
          "REVOKE ... FROM takes it back; LIST ALL PERMISSIONS OF role shows what there is."},
    Topic{"EXPLAIN", "EXPLAIN statement",
          "Says which partitions and rows a statement will touch, without running it."},
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
    Topic{"TRUNCATE", "TRUNCATE [TABLE] table", "Deletes all rows."},
};

bool names_topic(const Topic& topic, std::string_view wanted) {
  const std::string upper = to_upper(wanted);
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
  text += "\nStatements, which end with a semicolon (HELP CREATE TABLE shows how one is written):\n\n  ";
  for (size_t i = 0; i < statements.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i % 6 == 0 ? ",\n  " : ", ", statements[i].name);
  text += "\n\nTAB completes keywords and names, Ctrl-R searches the history, Ctrl-C drops what was typed.\n";
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

}  // namespace sibyl::shell
