// Prepared statements: names bound, types checked, restrictions turned into key ranges. Immutable, shared by
// threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "cql/ast.h"
#include "plan/guardrails.h"
#include "schema/schema.h"
#include "types/type.h"

namespace sibyl::plan {

// A column of a result, or a bind marker (the column it stands for).
struct ColumnSpec {
  std::string keyspace, table, name;
  types::TypePtr type;
};

struct ResultMetadata {
  std::vector<ColumnSpec> columns;
};
using ResultMetadataPtr = std::shared_ptr<const ResultMetadata>;
// 16 bytes that differ when the names or types of the columns do: v5 clients compare them.
base::Bytes metadata_id(const ResultMetadata& metadata);

struct Select;        // select.h
struct Modification;  // modify.h: INSERT, UPDATE, DELETE
struct Batch;         // modify.h
struct Truncate {
  schema::TablePtr table;
};
struct Use {
  std::string keyspace;
};
// Definitions are planned against the newest schema when they run, one after another (definitions.h).
struct Definition {
  std::shared_ptr<const cql::Statement> statement;
};
// DESCRIBE answers from the schema alone.
struct Describe {
  std::shared_ptr<const cql::Statement> statement;
};

// A name that was called, and the users' functions and aggregates it meant (none: only the server's own).
struct FunctionUse {
  std::string keyspace, name;
  std::vector<std::shared_ptr<const void>> overloads;  // schema::UserFunction, schema::UserAggregate
};

// A user's function or aggregate that a call was found to mean, by its signature (schema::signature_of).
struct CalledFunction {
  std::string keyspace, signature;
};

// EXPLAIN answers from the plan of the statement behind it, without running it (explain.h).
struct Prepared;
struct Explain {
  std::shared_ptr<const cql::Statement> statement;  // EXPLAIN itself
  std::shared_ptr<const Prepared> explained;
};

struct Prepared {
  std::string text;                      // as the client sent it
  std::string keyspace;                  // the session's when it was prepared; may be empty
  std::vector<schema::TablePtr> tables;  // those it reads or writes: when one is replaced, prepare again
  std::vector<FunctionUse> functions;    // names that it uses: when one changes, prepare again
  std::vector<CalledFunction> calls;     // in the order in which Cassandra asks for permissions
  std::vector<ColumnSpec> markers;
  std::vector<uint16_t>
      partition_key_markers;    // markers that give the partition key, in key order; empty if not all
  ResultMetadataPtr result;     // nullptr when it returns no rows
  base::Bytes result_id;        // metadata_id() of `result`, or of no columns
  bool result_changed = false;  // since the text was first prepared: clients may know older columns
  std::vector<std::string> warnings;
  std::shared_ptr<void> usage;  // what whoever runs it counts for it; set before it is shared
  std::variant<std::shared_ptr<const Select>, std::shared_ptr<const Modification>,
               std::shared_ptr<const Batch>, Truncate, Use, Definition, Describe, Explain>
      plan;
};
using PreparedPtr = std::shared_ptr<const Prepared>;

// Whether every table and function it names is still the one that it was prepared for.
bool holds_for(const Prepared& prepared, const schema::Snapshot& schema);

// Parses nothing and touches no data. `keyspace` is the session's, or empty. Errors are Cassandra's, with
// positions. Statements that are not built yet (indexes, views, functions, roles...) are refused
// here, saying so.
base::Result<PreparedPtr> prepare(std::shared_ptr<const cql::Statement> statement, std::string text,
                                  std::string keyspace, schema::SnapshotPtr schema,
                                  const Guardrails& guardrails = default_guardrails);

}  // namespace sibyl::plan
