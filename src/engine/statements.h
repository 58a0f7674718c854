// From text to plans, kept: prepared statements by id, and plans of texts that are sent again and again.
//
// Thread-safe. A change of the schema erases the prepared statements that it makes invalid (plan::Validity):
// clients that execute one are told to prepare it again. Other plans are checked once after each change of
// the schema, and made again when one of their tables was replaced.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/plan_cache.h"
#include "engine/statement_history.h"
#include "execute/trace.h"
#include "plan/prepared.h"
#include "schema/schema.h"

namespace sibyl::engine {

class Statements {
 public:
  static constexpr size_t max_prepared = 16'384;
  static constexpr size_t max_prepared_bytes = 64u << 20;
  static constexpr size_t max_prepared_statement = max_prepared_bytes / 2;
  static constexpr size_t max_query_plans = 512;
  static constexpr size_t max_query_plan_bytes = 4u << 20;

  // The guardrails must outlive it.
  explicit Statements(schema::SnapshotPtr schema,
                      const plan::Guardrails& guardrails = plan::default_guardrails)
      : guardrails_(guardrails), schema_(std::move(schema)) {}

  schema::SnapshotPtr schema() const;
  // From now on plans are made against this one. Returns when no invalid plan is kept any more.
  void set_schema(schema::SnapshotPtr schema);

  struct Prepared {
    base::Bytes id;
    plan::PreparedPtr plan;
  };
  base::Result<Prepared> prepare(std::string_view text, const std::string& keyspace);
  // UNPREPARED when it is not kept, or is invalid for the newest schema.
  base::Result<plan::PreparedPtr> find_prepared(std::string_view id);
  // A trace is told what had to be done.
  base::Result<plan::PreparedPtr> plan_query(std::string_view text, const std::string& keyspace,
                                             execute::Trace* trace = nullptr);

  // The plan itself when its tables are those of the newest schema, else one made again: to be called before
  // a write, which must know the indexes and views of its tables. UNPREPARED when the client prepared the
  // statement and its plan has become invalid: the values were encoded for that one.
  base::Result<plan::PreparedPtr> renew(plan::PreparedPtr plan);

  // What a plan of this statement keeps in `usage`. Before the first plan is made.
  using Counted = std::function<std::shared_ptr<void>(const cql::Statement&, const plan::Prepared&)>;
  void set_counted(Counted counted) { counted_ = std::move(counted); }

  const PlanCache& prepared() const { return prepared_; }

 private:
  base::Result<plan::PreparedPtr> bind(std::shared_ptr<const cql::Statement> statement, std::string_view text,
                                       const std::string& keyspace);
  base::Result<plan::PreparedPtr> make_plan(std::string_view text, const std::string& keyspace,
                                            execute::Trace* trace = nullptr);
  // The found plan when it is valid for the schema of `generation`; made again if it is stale. nullptr:
  // nothing was found, or it is invalid and was erased.
  base::Result<plan::PreparedPtr> current(PlanCache& cache, std::string_view key, uint64_t generation);
  // The plan made again for the newest schema. Fails when it has another meaning for clients that prepared
  // it.
  base::Result<plan::PreparedPtr> make_again(const plan::Prepared& plan);
  bool seen_before(std::string_view key);

  const plan::Guardrails& guardrails_;
  Counted counted_;
  mutable std::mutex schema_mutex_;
  schema::SnapshotPtr schema_;           // guarded by schema_mutex_
  std::atomic<uint64_t> generation_{1};  // of schema_; raised after it is set
  PlanCache prepared_{{max_prepared, max_prepared_bytes}};
  PlanCache queries_{{max_query_plans, max_query_plan_bytes}};
  StatementHistory history_;
  // Hashes of texts met once: only a text that comes again is worth keeping.
  std::array<std::atomic<uint64_t>, 4096> seen_{};
};

// Cassandra's id of a prepared statement: MD5 of the keyspace (unless every table is qualified) and the text.
base::Bytes statement_id(std::string_view keyspace, std::string_view text);

}  // namespace sibyl::engine
