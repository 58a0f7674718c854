#include "engine/prepared/statements.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>

#include "auth/password.h"
#include "base/check.h"
#include "base/mutex.h"
#include "base/statement.h"
#include "cql/parser.h"
#include "cql/redact.h"
#include "engine/prepared/unprepared.h"

namespace sibyl::engine {
namespace {

using base::Bytes;
using plan::PreparedPtr;

constexpr size_t max_kept_text = 16u << 10;  // longer queries are planned each time

struct IsFullyQualified {
  bool operator()(const cql::Select& select) const { return !select.table.keyspace.empty(); }
  bool operator()(const cql::Insert& insert) const { return !insert.table.keyspace.empty(); }
  bool operator()(const cql::Update& update) const { return !update.table.keyspace.empty(); }
  bool operator()(const cql::Delete& deletion) const { return !deletion.table.keyspace.empty(); }
  bool operator()(const cql::Truncate& truncate) const { return !truncate.table.keyspace.empty(); }
  bool operator()(const cql::Batch& batch) const {
    return std::all_of(batch.statements.begin(), batch.statements.end(),
                       [this](const cql::Modification& statement) { return std::visit(*this, statement); });
  }
  template <typename Other>
  bool operator()(const Other&) const {
    return false;
  }
};

// Definitions and the like run once. Caching them would evict plans that are used again.
bool worth_keeping(const plan::Prepared& plan) {
  return plan.profile.is_read() || plan.profile.is_write();
}

base::Error too_large(const plan::Prepared& plan, size_t weight) {
  return base::Error(base::ErrorCode::invalid,
                     fmt::format("Prepared statement of size {} bytes is larger than allowed maximum of {} "
                                 "MB: {}...",
                                 weight, Statements::max_prepared_statement >> 20,
                                 cql::without_literals(std::string_view(plan.text).substr(0, 200))));
}

}  // namespace

Bytes statement_id(std::string_view keyspace, std::string_view text) {
  Bytes hashed(keyspace), digest(16, '\0');
  hashed += text;
  unsigned int size = 0;
  SIBYL_CHECK(EVP_Digest(hashed.data(), hashed.size(), reinterpret_cast<unsigned char*>(digest.data()), &size,
                         EVP_md5(), nullptr) == 1);
  return digest;
}

schema::SnapshotPtr Statements::schema() const {
  const base::MutexLock lock(schema_mutex_);
  return schema_;
}

void Statements::set_schema(schema::SnapshotPtr schema) {
  {
    const base::MutexLock lock(schema_mutex_);
    schema_ = schema;
    // Incremented before the lock is released: a thread that sees the schema may rely on plans being made for
    // it.
    generation_.fetch_add(1, std::memory_order_seq_cst);
  }
  prepared_.erase_if(
      [&](const plan::Prepared& plan) { return validity(plan, *schema) == plan::Validity::invalid; });
  // These plans keep tables alive that may have been dropped. A repeated text is planned again.
  queries_.erase_if(
      [&](const plan::Prepared& plan) { return validity(plan, *schema) != plan::Validity::current; });
}

base::Result<std::shared_ptr<plan::Prepared>> Statements::bind(
    std::shared_ptr<const cql::Statement> statement, std::string_view text, const std::string& keyspace) {
  SIBYL_ASSIGN(std::shared_ptr<plan::Prepared> plan,
               plan::prepare(statement, std::string(text), keyspace, schema(), guardrails_));
  // Usage counters are shared, so they are not charged to this request.
  const base::UnlimitedMemory unlimited;
  if (usage_factory_) plan->shape = usage_factory_(*statement, *plan);
  return plan;
}

base::Result<std::shared_ptr<plan::Prepared>> Statements::make_plan(std::string_view text,
                                                                    const std::string& keyspace,
                                                                    execute::Trace* trace) {
  return base::run_statement(nullptr, [&]() -> base::Result<std::shared_ptr<plan::Prepared>> {
    if (trace != nullptr) trace->step(fmt::format("Parsing {}", auth::redact_passwords(text)));
    SIBYL_ASSIGN(std::unique_ptr<cql::Statement> statement, cql::parse_statement(text));
    if (trace != nullptr) trace->step("Preparing statement");
    return bind(std::move(statement), text, keyspace);
  });
}

base::Result<PreparedPtr> Statements::plan_again(const plan::Prepared& plan) {
  SIBYL_ASSIGN(std::shared_ptr<plan::Prepared> again, make_plan(plan.text, plan.keyspace));
  if (plan.id.empty()) return again;
  // A stale plan does not change what clients decode. This check guards against that assumption being wrong.
  if (!is_same_for_clients(plan, *again)) return base::fail(unprepared_error(plan.id));
  again->id = plan.id;
  again->redefinition = plan.redefinition;
  return again;
}

base::Result<PreparedPtr> Statements::current(PlanCache& cache, std::string_view key, uint64_t generation) {
  PlanCache::Found found = cache.find(key);
  if (!found.plan || found.generation == generation) return found.plan;
  switch (validity(*found.plan, *schema())) {
    case plan::Validity::current:
      cache.confirm(key, found.plan, generation);
      return found.plan;
    case plan::Validity::stale: {
      auto again = plan_again(*found.plan);
      if (!again) {
        cache.erase(key, found.plan);
      } else {
        cache.replace(key, found.plan, *again, generation, estimate_bytes(**again));
      }
      return again;
    }
    case plan::Validity::invalid:
      break;
  }
  cache.erase(key, found.plan);
  return nullptr;
}

base::Result<PreparedStatement> Statements::prepare(std::string_view text, const std::string& keyspace) {
  const uint64_t generation = generation_.load(std::memory_order_seq_cst);
  SIBYL_ASSIGN(std::unique_ptr<cql::Statement> statement,
               base::run_statement(nullptr, [&] { return cql::parse_statement(text); }));
  bool qualified = std::visit(IsFullyQualified{}, statement->node);
  Bytes id = statement_id(qualified ? std::string_view() : std::string_view(keyspace), text);
  auto found = current(prepared_, id, generation);
  // The id is a hash of the keyspace and the text put together, so different pairs may have the same id.
  if (found && *found && (*found)->text == text && (qualified || (*found)->keyspace == keyspace)) {
    if ((*found)->redefinition) (*found)->redefinition->prepares.fetch_add(1, std::memory_order_relaxed);
    return PreparedStatement{std::move(id), std::move(*found)};
  }
  SIBYL_ASSIGN(std::shared_ptr<plan::Prepared> plan,
               base::run_statement(nullptr, [&] { return bind(std::move(statement), text, keyspace); }));
  const size_t weight = estimate_bytes(*plan);
  if (weight > max_prepared_statement) return base::fail(too_large(*plan, weight));
  plan->id = id;
  plan->redefinition = history_.record(id, *plan);
  if (plan->redefinition) plan->redefinition->prepares.fetch_add(1, std::memory_order_relaxed);
  prepared_.put(id, plan, generation, weight);
  // set_schema() may have searched for invalid plans just before this plan was added.
  const uint64_t now = generation_.load(std::memory_order_seq_cst);
  if (now != generation) (void)current(prepared_, id, now);
  return PreparedStatement{std::move(id), std::move(plan)};
}

base::Result<PreparedPtr> Statements::find_prepared(std::string_view id) {
  auto found = current(prepared_, id, generation_.load(std::memory_order_acquire));
  // A statement that can no longer be planned is erased. Preparing it again gives the client the reason.
  if (!found || !*found) return base::fail(unprepared_error(id));
  return found;
}

base::Result<PreparedPtr> Statements::renew(PreparedPtr plan) {
  // Plans that were checked before are identified by their address, which cannot be reused while they are
  // kept here.
  struct Checked {
    PreparedPtr plan;
    uint64_t generation = 0;
  };
  thread_local std::array<Checked, 64> checked;
  Checked& known = checked[std::hash<const void*>{}(plan.get()) / alignof(plan::Prepared) % checked.size()];
  const uint64_t generation = generation_.load(std::memory_order_seq_cst);
  if (known.plan == plan && known.generation == generation) return plan;
  const plan::Validity found = validity(*plan, *schema());
  if (found == plan::Validity::invalid && !plan->id.empty()) return base::fail(unprepared_error(plan->id));
  if (found != plan::Validity::current) return plan_again(*plan);
  if (is_small(*plan)) known = {plan, generation};
  return plan;
}

bool Statements::was_seen_before(std::string_view key) {
  uint64_t hash = std::hash<std::string_view>{}(key) | 1;  // never zero, the initial value
  return seen_[(hash >> 1) % seen_.size()].exchange(hash, std::memory_order_relaxed) == hash;
}

base::Result<PreparedPtr> Statements::plan_query(std::string_view text, const std::string& keyspace,
                                                 execute::Trace* trace) {
  if (text.size() > max_kept_text) return make_plan(text, keyspace, trace);
  uint64_t generation = generation_.load(std::memory_order_acquire);
  std::string key;
  key.reserve(keyspace.size() + 1 + text.size());
  key.append(keyspace).push_back('\0');
  key.append(text);
  SIBYL_ASSIGN(PreparedPtr plan, current(queries_, key, generation));
  if (plan) {
    if (trace != nullptr) trace->step("Found a cached plan of the statement");
    return plan;
  }
  SIBYL_ASSIGN(plan, make_plan(text, keyspace, trace));
  if (worth_keeping(*plan) && was_seen_before(key))
    queries_.put(key, plan, generation, estimate_bytes(*plan));
  return plan;
}

}  // namespace sibyl::engine
