// Prepared statements: names bound, types checked, restrictions turned into key ranges. Immutable, shared by
// threads.
#pragma once

#include <atomic>
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
// 16 bytes that differ when anything differs that a client decodes by: names and types of the columns, and
// names and types of the fields of user types at any depth. v5 clients compare them.
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

// A prepared statement whose markers or result columns are not those that clients were told before. All plans
// that are made until the next such change share one.
struct Redefinition {
  std::atomic<uint64_t> prepares{0};  // PREPARE requests answered since the change
};

struct Prepared {
  std::string text;                      // as the client sent it
  std::string keyspace;                  // the session's when it was prepared; may be empty
  base::Bytes id;                        // clients execute it by; empty for a statement sent as text
  std::vector<schema::TablePtr> tables;  // those it reads or writes: when one is replaced, prepare again
  std::vector<FunctionUse> functions;    // names that it uses: when one changes, prepare again
  std::vector<schema::UserTypePtr> user_types;  // those it names itself, in casts: likewise
  std::vector<CalledFunction> calls;            // in the order in which Cassandra asks for permissions
  std::vector<ColumnSpec> markers;
  std::vector<uint16_t>
      partition_key_markers;  // markers that give the partition key, in key order; empty if not all
  ResultMetadataPtr result;   // nullptr when it returns no rows
  base::Bytes result_id;      // metadata_id() of `result`, or of no columns
  std::shared_ptr<Redefinition> redefinition;  // nullptr: clients know no other markers and columns
  std::vector<std::string> warnings;
  std::shared_ptr<void> usage;  // what whoever runs it counts for it; set before it is shared
  std::variant<std::shared_ptr<const Select>, std::shared_ptr<const Modification>,
               std::shared_ptr<const Batch>, Truncate, Use, Definition, Describe, Explain>
      plan;
};
using PreparedPtr = std::shared_ptr<const Prepared>;

// Whether a plan may still be used with a schema that is newer than the one it was made for.
enum class Validity : uint8_t {
  current,  // nothing that it uses was replaced
  stale,    // make it again from its text; clients need not know (a comment, a view, an index that is now
            // built)
  invalid   // clients must prepare it again: what they encode or decode by, or what it does, may have changed
};
// A SELECT, a modification or a batch is invalid where Cassandra forgets it: a table was dropped or created
// again, or its columns, indexes, default_time_to_live or gc_grace_seconds changed; a function, an aggregate
// or a user type that it names changed. Other statements are never more than stale.
Validity validity(const Prepared& prepared, const schema::Snapshot& schema);
// Whether clients encode values and decode rows of both in the same way.
bool same_for_clients(const Prepared& left, const Prepared& right);

// Parses nothing and touches no data. `keyspace` is the session's, or empty. Errors are Cassandra's, with
// positions. Statements that are not built yet (indexes, views, functions, roles...) are refused
// here, saying so.
base::Result<PreparedPtr> prepare(std::shared_ptr<const cql::Statement> statement, std::string text,
                                  std::string keyspace, schema::SnapshotPtr schema,
                                  const Guardrails& guardrails = default_guardrails);

}  // namespace sibyl::plan
