// Prepared statements: names bound, types checked, restrictions turned into key ranges. Immutable and shared
// by threads.
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
#include "plan/execution_profile.h"
#include "plan/guardrails.h"
#include "schema/schema.h"
#include "types/type.h"

namespace sibyl::plan {

// A column of a result, or a bind marker described by the column that receives its value.
struct ColumnSpec {
  std::string keyspace, table, name;
  types::TypePtr type;
};

struct ResultMetadata {
  std::vector<ColumnSpec> columns;
};
using ResultMetadataPtr = std::shared_ptr<const ResultMetadata>;
// A 16-byte hash of everything that clients need to decode rows: names and types of the columns, and names
// and types of the fields of user types at any depth. Protocol v5 clients compare it.
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
// Definitions are planned with the newest schema when they run, one at a time (definitions.h).
struct Definition {
  std::shared_ptr<const cql::Statement> statement;
};
// DESCRIBE needs the schema only.
struct Describe {
  std::shared_ptr<const cql::Statement> statement;
};

// A called name, and the user-defined functions and aggregates with that name (none: only native functions).
struct FunctionUse {
  std::string keyspace, name;
  std::vector<std::shared_ptr<const void>> overloads;  // schema::UserFunction, schema::UserAggregate
};

// The user-defined function or aggregate that a call resolved to, by its signature (schema::signature_of).
struct CalledFunction {
  std::string keyspace, signature;
};

// EXPLAIN describes the plan of the statement after it, without running that statement (explain.h).
struct Prepared;
struct Explain {
  std::shared_ptr<const cql::Statement> statement;  // EXPLAIN itself
  std::shared_ptr<const Prepared> explained;
};

// Marks a prepared statement whose markers or result columns have changed since clients prepared it. All
// plans made until the next such change share one Redefinition.
struct Redefinition {
  std::atomic<uint64_t> prepares{0};  // PREPARE requests answered since the change
};

// Counts the executions of all statements of one shape (cql/shape.h). The counting layer defines it
// (engine/statistics/usage.h); plans only carry it. Thread-safe.
class QueryShape;

struct Prepared {
  std::string text;                      // the text as the client sent it
  std::string keyspace;                  // the session's keyspace when it was prepared; may be empty
  base::Bytes id;                        // used by clients to execute it; empty for a statement sent as text
  std::vector<schema::TablePtr> tables;  // tables it reads or writes; if one is replaced, prepare again
  std::vector<FunctionUse> functions;    // names it calls; if one changes, prepare again
  std::vector<schema::UserTypePtr>
      user_types;                     // types named in the statement, in casts; if one changes, prepare again
  std::vector<CalledFunction> calls;  // in the order in which Cassandra checks permissions
  std::vector<ColumnSpec> markers;
  // The markers that give the partition key, in key order; empty unless markers give all of the key.
  std::vector<uint16_t> partition_key_markers;
  ResultMetadataPtr result;                    // nullptr if it returns no rows
  base::Bytes result_id;                       // metadata_id() of `result`, or of no columns
  std::shared_ptr<Redefinition> redefinition;  // nullptr: markers and columns have never changed
  std::vector<std::string> warnings;
  std::shared_ptr<QueryShape> shape;  // nullptr: executions are not counted
  ExecutionProfile profile;           // how it is scheduled, timed and reported
  std::variant<std::shared_ptr<const Select>, std::shared_ptr<const Modification>,
               std::shared_ptr<const Batch>, Truncate, Use, Definition, Describe, Explain>
      plan;
};
using PreparedPtr = std::shared_ptr<const Prepared>;

// Tells whether a plan can be used with a newer schema than the one it was made for.
enum class Validity : uint8_t {
  current,  // nothing that the statement uses has been replaced
  // Must be prepared again from its text; clients do not notice (a comment, a view, an index that is now
  // built).
  stale,
  invalid  // clients must prepare it again: its effect, or how they encode or decode values, may have changed
};
// A SELECT, a modification or a batch is invalid in the same cases in which Cassandra evicts it. Its table
// was dropped or re-created; the table's columns, indexes, default_time_to_live or gc_grace_seconds changed;
// or a function, aggregate or user type that it names changed. Other statements are at most stale.
Validity validity(const Prepared& prepared, const schema::Snapshot& schema);
// True if clients encode values and decode rows of both in the same way.
bool is_same_for_clients(const Prepared& left, const Prepared& right);

// Plans a parsed statement; reads no data. `keyspace` is the session's, or empty. Errors are Cassandra's,
// with positions. Definitions and statements about roles are bound later, when they run. The caller may set
// the id, the shape and the redefinition before it shares the plan, which is immutable from then on.
base::Result<std::shared_ptr<Prepared>> prepare(std::shared_ptr<const cql::Statement> statement,
                                                std::string text, std::string keyspace,
                                                schema::SnapshotPtr schema,
                                                const Guardrails& guardrails = default_guardrails);

}  // namespace sibyl::plan
