// The results of a CQL script as text that is readable and comparable.
//
// A script is a .cql file of statements. NAME.expected beside it is the transcript of a real Cassandra, or of
// Sibyl for scripts under tests/compat/own. Lines that begin with `--!` are directives for the next
// statement:
//
//   --! hint TEXT        Sibyl's error must have a hint that contains TEXT
//   --! warning TEXT     Sibyl must warn with a text that contains TEXT, which Cassandra does not
//   --! pages N          fetch N rows at a time; the transcript shows where each page ends
//   --! now SECONDS      time since 1970 at which expiry is evaluated; default: the clock
//   --! values V, V...   prepare, and execute with these values: 0x… (bytes), null or unset
//   --! one-page         never fetch in pages (Cassandra rejects paging for ORDER BY with IN on the key)
//   --! unordered        compare rows ignoring their order
//   --! columns-only     compare only the columns (for values that differ in every run: now(), uuid())
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schema/schema.h"
#include "types/type.h"
#include "types/value.h"

namespace sibyl::script {

struct Outcome {
  std::optional<base::Error> error;  // message() has no hint
  struct Column {
    std::string name;
    types::TypePtr type;
  };
  bool has_rows = false;
  std::vector<Column> columns;
  std::vector<std::vector<std::optional<std::string>>> rows;
  std::vector<size_t> page_ends;  // number of rows read when a page ended and more followed
  std::string note;               // "KEYSPACE ks", "CREATED TABLE ks.t"; empty for a plain success
  std::vector<std::string> warnings;
};

// Adds warnings that are not in the outcome yet: every page of a result repeats them.
void add_warnings(const std::vector<std::string>& warnings, Outcome& outcome);

struct BoundValue {
  types::ValueView::State state = types::ValueView::State::null;
  std::string bytes;
};

struct ScriptStatement {
  std::string text;
  size_t line = 0;
  std::vector<std::string> hints;
  std::vector<std::string> own_warnings;
  bool unordered = false;
  bool one_page = false;
  bool columns_only = false;
  int page_size = 0;  // 0: the default of the run
  std::optional<int32_t> now_seconds;
  std::vector<BoundValue> values;  // bound to the statement's markers
};

std::vector<ScriptStatement> read_script(std::string_view text);

// Returns one block: the statement after "> ", then the result.
std::string render(const ScriptStatement& statement, const Outcome& outcome);

// Returns for example "CREATED TABLE ks.t". The numbers of kind and target are those of schema::Change and
// protocol::SchemaChange, which agree.
std::string describe_change(int kind, int target, const std::string& keyspace, const std::string& name);

// Separates the hint from a message of a server (`... [hint: ...]`).
base::Error split_hint(const base::Error& error);

}  // namespace sibyl::script
