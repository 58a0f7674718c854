#include "engine/consistency.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/consistency.h"
#include "execute/write/batch.h"
#include "plan/statements/modify.h"
#include "plan/statements/select.h"

namespace sibyl::engine {
namespace {

using execute::Consistency;

int32_t factor_of(std::string_view text) {
  int32_t factor = 0;
  std::from_chars(text.data(), text.data() + text.size(), factor);
  return factor;
}

// The sum of the replication factors of all datacenters. System keyspaces have one copy.
int32_t replication_factor(const schema::Keyspace& keyspace) {
  int32_t factor = 0;
  for (const auto& [name, value] : keyspace.replication)
    if (name != "class") factor += factor_of(value);
  return std::max(factor, 1);
}

base::Error unavailable(Consistency consistency, int32_t required) {
  base::ErrorDetails details;
  details.code = base::ErrorCode::unavailable;
  details.message = fmt::format("Cannot achieve consistency level {}", base::consistency_name(consistency));
  details.consistency = static_cast<uint16_t>(consistency);
  details.required = required;
  details.received = 1;
  return base::Error(std::move(details));
}

base::Status check_replicas(const std::vector<schema::TablePtr>& tables, Consistency consistency,
                            const SchemaSource& schema_source) {
  if (consistency != Consistency::two && consistency != Consistency::three) return {};
  const int32_t required = consistency == Consistency::two ? 2 : 3;
  const schema::SnapshotPtr schema = schema_source.schema();
  for (const schema::TablePtr& table : tables) {
    const schema::KeyspacePtr keyspace = schema->find_keyspace(table->keyspace);
    if (keyspace && !keyspace->is_virtual && replication_factor(*keyspace) < required)
      return base::fail(unavailable(consistency, required));
  }
  return {};
}

// EACH_QUORUM needs a strategy that knows datacenters. Cassandra checks this for conditional writes.
base::Status check_datacenters(const plan::Prepared& plan, Consistency consistency,
                               const SchemaSource& schema_source) {
  if (consistency != Consistency::each_quorum || !plan.profile.is_conditional) return {};
  const schema::SnapshotPtr schema = schema_source.schema();
  for (const schema::TablePtr& table : plan.tables) {
    const schema::KeyspacePtr keyspace = schema->find_keyspace(table->keyspace);
    if (!keyspace || keyspace->is_virtual) continue;
    const auto strategy = keyspace->replication.find("class");
    if (strategy != keyspace->replication.end() && !strategy->second.ends_with("NetworkTopologyStrategy"))
      return base::invalid(fmt::format(
          "consistency level EACH_QUORUM not compatible with replication strategy ({})", strategy->second));
  }
  return {};
}

bool has_any(const plan::ValueSets& sets) {
  return !sets.warned.empty() || !sets.disallowed.empty();
}

base::Status guard_level(bool reads, Consistency consistency, const plan::Guardrails& guardrails,
                         std::vector<std::string>& warnings) {
  const plan::ValueSets& sets =
      reads ? guardrails.read_consistency_levels : guardrails.write_consistency_levels;
  if (!has_any(sets)) return {};
  SIBYL_TRY(plan::guard(guardrails, reads ? plan::read_consistency_guard : plan::write_consistency_guard,
                        {base::consistency_name(consistency)}, warnings));
  return {};
}

}  // namespace

base::Status check_request(const plan::Prepared& plan, const execute::Request& request,
                           const SchemaSource& schema_source, const plan::Guardrails& guardrails,
                           std::vector<std::string>& warnings) {
  const bool reads = plan.profile.is_read();
  if (!reads && !plan.profile.is_write()) return {};
  SIBYL_TRY(guard_level(reads, request.consistency, guardrails, warnings));
  if (reads && request.page_size > 0)
    SIBYL_TRY(plan::guard(guardrails, plan::page_size_guard, request.page_size, plan.tables.front()->name,
                          warnings));
  SIBYL_TRY(check_datacenters(plan, request.consistency, schema_source));
  return check_replicas(plan.tables, request.consistency, schema_source);
}

base::Status check_request(std::span<const execute::BatchItem> items, const execute::Request& request,
                           const SchemaSource& schema_source, const plan::Guardrails& guardrails,
                           std::vector<std::string>& warnings) {
  SIBYL_TRY(guard_level(false, request.consistency, guardrails, warnings));
  for (const execute::BatchItem& item : items) {
    SIBYL_TRY(check_datacenters(*item.statement, request.consistency, schema_source));
    SIBYL_TRY(check_replicas(item.statement->tables, request.consistency, schema_source));
  }
  return {};
}

}  // namespace sibyl::engine
