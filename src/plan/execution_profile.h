// How a statement is scheduled, timed and reported. Computed once, when the statement is prepared, so
// that the server need not inspect the statement itself.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cql/ast.h"

namespace sibyl::plan {

struct Prepared;  // prepared.h

// Kinds of requests with separate latency histograms.
enum class StatementKind : uint8_t {
  select,  // of named partitions
  scan,    // reads of a range of partitions, or by an index
  insert,
  update,
  delete_,
  conditional,  // with IF
  counter,
  batch,
  truncate,
  definition,  // changes of schema, roles and permissions
  other,       // USE, DESCRIBE, EXPLAIN, and requests rejected before their kind was known
  prepare,
};
inline constexpr size_t statement_kinds = 12;
const char* to_string(StatementKind kind);

// A larger batch takes more than about a millisecond.
inline constexpr size_t max_quick_batch_statements = 256;

struct ExecutionProfile {
  // The timeout of an execution. Each page of a read has its own.
  enum class Deadline : uint8_t {
    none,  // for aggregates, which read many pages
    read,
    range,
  };

  StatementKind kind = StatementKind::other;
  Deadline deadline = Deadline::read;
  bool is_conditional = false;  // has conditions, itself or in a statement of its batch
  bool may_block =
      false;  // scans, reads many partitions, reads before it writes, or calls functions of users
  bool may_run_long = false;  // reads a user table; system tables are small, and drivers read them to connect
  bool reads_slice = false;   // reads a range of rows: without paging there may be many
  bool is_compute_heavy = false;                           // calculates with numbers of any length
  bool is_about_roles = false;                             // a definition of roles, permissions or identities
  cql::Batch::Kind batch_kind = cql::Batch::Kind::logged;  // for batches
  size_t batch_statements = 0;                             // for batches

  bool is_read() const { return kind == StatementKind::select || kind == StatementKind::scan; }
  bool is_write() const { return kind >= StatementKind::insert && kind <= StatementKind::batch; }
};

// REQUIRES: everything but the profile of `prepared` is complete.
ExecutionProfile make_execution_profile(const Prepared& prepared, bool is_compute_heavy);

// True for statements about roles, permissions and identities.
bool is_about_roles(const cql::Statement& statement);

}  // namespace sibyl::plan
