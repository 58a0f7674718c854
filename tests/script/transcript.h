// What a server answered to a CQL script, as text that a person can read and a test can compare.
//
// A script is a .cql file of statements; beside it lies NAME.expected, the transcript that a real Cassandra
// gave (or, under tests/compat/own, the one that is ours alone). Lines that begin with `--!` are directives
// for the statement after them:
//   --! hint TEXT        Sibyl's error must carry a hint that contains TEXT
//   --! pages N          fetched N rows at a time; the transcript shows where each page ended
//   --! now SECONDS      the moment that decides what has expired, since 1970; without it, the clock
//   --! values V, V...   prepared, and executed with these values: 0x… (the bytes), null or unset
//   --! one-page         never fetched in pages (Cassandra refuses that for ORDER BY with IN on the partition
//   key)
//   --! unordered        rows are compared without their order
//   --! columns-only     only the result's columns are compared (values that no two runs share: now(),
//   uuid())
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
  std::optional<base::Error> error;  // message() without the hint
  struct Column {
    std::string name;
    types::TypePtr type;
  };
  bool has_rows = false;
  std::vector<Column> columns;
  std::vector<std::vector<std::optional<std::string>>> rows;
  std::vector<size_t> page_ends;  // rows that had come when a page ended and more were to follow
  std::string note;               // "KEYSPACE ks", "CREATED TABLE ks.t"; empty for a plain success
  std::vector<std::string> warnings;
};

// Every page of a result repeats its warnings; one is enough.
void add_warnings(const std::vector<std::string>& warnings, Outcome& outcome);

struct BoundValue {
  types::ValueView::State state = types::ValueView::State::null;
  std::string bytes;
};

struct ScriptStatement {
  std::string text;
  size_t line = 0;
  std::vector<std::string> hints;
  bool unordered = false;
  bool one_page = false;
  bool columns_only = false;
  int page_size = 0;  // 0: as the run says
  std::optional<int32_t> now_seconds;
  std::vector<BoundValue> values;  // given to the statement's markers
};

std::vector<ScriptStatement> read_script(std::string_view text);

// One block: the statement behind "> ", then the answer.
std::string render(const ScriptStatement& statement, const Outcome& outcome);

// "CREATED TABLE ks.t"; kind and target count as schema::Change and protocol::SchemaChange both do.
std::string describe_change(int kind, int target, const std::string& keyspace, const std::string& name);

// Cuts the hint off a message that came over the wire (`... [hint: ...]`).
base::Error split_hint(const base::Error& error);

}  // namespace sibyl::script
