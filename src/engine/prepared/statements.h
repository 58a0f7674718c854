// Parses and plans statements, and caches the plans: prepared statements by id, and plans of repeated texts.
//
// Thread-safe. A schema change erases the prepared statements that it invalidates (plan::Validity); clients
// that execute one get UNPREPARED. Other plans are checked once after each schema change, and are planned
// again if one of their tables was replaced.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/result.h"
#include "engine/planner.h"
#include "engine/prepared/plan_cache.h"
#include "engine/prepared/statement_history.h"
#include "execute/trace.h"
#include "plan/prepared.h"
#include "schema/schema.h"

namespace sibyl::engine {

class Statements final : public Planner {
 public:
  static constexpr size_t max_prepared = 16'384;
  static constexpr size_t max_prepared_bytes = 64u << 20;
  static constexpr size_t max_prepared_statement = max_prepared_bytes / 2;
  static constexpr size_t max_query_plans = 512;
  static constexpr size_t max_query_plan_bytes = 4u << 20;

  // `guardrails` must outlive the object.
  explicit Statements(schema::SnapshotPtr schema,
                      const plan::Guardrails& guardrails = plan::default_guardrails)
      : guardrails_(guardrails), schema_(std::move(schema)) {}

  schema::SnapshotPtr schema() const;
  // Sets the schema for new plans. Blocks until all plans that it makes invalid have been removed.
  void set_schema(schema::SnapshotPtr schema);

  base::Result<PreparedStatement> prepare(std::string_view text, const std::string& keyspace) override;
  base::Result<plan::PreparedPtr> find_prepared(std::string_view id) override;
  base::Result<plan::PreparedPtr> plan_query(std::string_view text, const std::string& keyspace,
                                             execute::Trace* trace = nullptr) override;

  // Returns `plan` if the newest schema has its tables unchanged, else a new plan. Call it before a write,
  // which must know the indexes and views of its tables. Returns UNPREPARED if the client prepared the
  // statement and the plan became invalid, because the values were encoded for the old plan.
  base::Result<plan::PreparedPtr> renew(plan::PreparedPtr plan);

  // Returns the shape for a plan, which keeps it. Must be set before the first plan is made.
  using UsageFactory =
      std::function<std::shared_ptr<plan::QueryShape>(const cql::Statement&, const plan::Prepared&)>;
  void set_usage_factory(UsageFactory factory) { usage_factory_ = std::move(factory); }

  const PlanCache& prepared() const { return prepared_; }

 private:
  // The plan is not shared with other threads yet, so the caller may complete it.
  base::Result<std::shared_ptr<plan::Prepared>> bind(std::shared_ptr<const cql::Statement> statement,
                                                     std::string_view text, const std::string& keyspace);
  base::Result<std::shared_ptr<plan::Prepared>> make_plan(std::string_view text, const std::string& keyspace,
                                                          execute::Trace* trace = nullptr);
  // Returns the cached plan if it is valid for the schema of `generation`; plans it again if it is stale.
  // Returns nullptr if there is none, or if it was invalid and has been erased.
  base::Result<plan::PreparedPtr> current(PlanCache& cache, std::string_view key, uint64_t generation);
  // Plans the statement again for the newest schema. Fails if its meaning changed for clients that prepared
  // it.
  base::Result<plan::PreparedPtr> plan_again(const plan::Prepared& plan);
  bool was_seen_before(std::string_view key);

  const plan::Guardrails& guardrails_;
  UsageFactory usage_factory_;
  mutable base::Mutex schema_mutex_;
  schema::SnapshotPtr schema_ SIBYL_GUARDED_BY(schema_mutex_);
  std::atomic<uint64_t> generation_{1};  // the generation of schema_; incremented after schema_ is set
  PlanCache prepared_{{max_prepared, max_prepared_bytes}};
  PlanCache queries_{{max_query_plans, max_query_plan_bytes}};
  StatementHistory history_;
  // Hashes of texts seen once. A plan is cached only when its text is repeated.
  std::array<std::atomic<uint64_t>, 4096> seen_{};
};

// Cassandra's id of a prepared statement: MD5 of the keyspace (unless every table is qualified) and the text.
base::Bytes statement_id(std::string_view keyspace, std::string_view text);

}  // namespace sibyl::engine
