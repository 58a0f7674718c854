#include "execute/write/modify_commit.h"

#include <fmt/format.h>

#include <utility>

#include "base/memory.h"
#include "execute/index/maintenance.h"
#include "execute/trace.h"
#include "execute/vector/vector_indexes.h"
#include "plan/statements/attributes.h"

namespace sibyl::execute {

using plan::Modification;

namespace {

void notify_end(Observer* observer, const Counted& counted, const ResultSet& result) {
  if (observer != nullptr && counted.shape != nullptr) observer->ended(counted, result);
}

}  // namespace

namespace {

// Completes a write whose view rows are in other shards.
void commit_with_views(Environment& environment, storage::WriteSet writes, std::vector<ViewRow> view_rows,
                       PartitionLocks::Held held, ResultSet result, Counted counted, Completion done,
                       WriteProgress* progress) {
  SpreadWrites& spread = *environment.spread;
  base::Result<ViewIntent> begun = spread.begin_views(std::move(view_rows), writes);
  if (!begun) {
    held.release();
    return done(base::fail(std::move(begun.error())));
  }
  auto renewed = [done = std::move(done), observer = environment.observer, counted = std::move(counted),
                  result = std::move(result)](base::Status status) mutable {
    if (!status) return done(base::fail(std::move(status.error())));
    notify_end(observer, counted, result);
    done(std::move(result));
  };
  environment.store.commit(std::move(writes),
                           [&spread, intent = std::move(*begun), held = std::move(held), progress,
                            renewed = std::move(renewed)](base::Status status) mutable {
                             held.release();
                             if (!status) {
                               spread.abandon_views(intent);
                               return renewed(std::move(status));
                             }
                             if (progress != nullptr) progress->committed();
                             spread.renew_views(std::move(intent), std::move(renewed));
                           });
}

}  // namespace

void commit(Environment& environment, storage::WriteSet writes, std::vector<ViewRow> view_rows,
            PartitionLocks::Held held, ResultSet result, Counted counted, Completion done,
            const Request& request) {
  if (request.trace != nullptr && !writes.empty())
    request.trace->step(fmt::format("Committing {} records of {} bytes together", writes.operations().size(),
                                    writes.byte_size()));
  if (writes.empty()) {
    held.release();
    notify_end(environment.observer, counted, result);
    done(std::move(result));
    return;
  }
  if (!view_rows.empty())
    return commit_with_views(environment, std::move(writes), std::move(view_rows), std::move(held),
                             std::move(result), std::move(counted), std::move(done), request.progress);
  VectorIndexes* vectors = environment.vectors;
  std::vector<VectorIndexes::Change> changes;
  if (vectors != nullptr) changes = vectors->changes_of(writes);
  environment.store.commit(std::move(writes), [done = std::move(done), held = std::move(held), vectors,
                                               changes = std::move(changes), observer = environment.observer,
                                               counted = std::move(counted),
                                               result = std::move(result)](base::Status status) mutable {
    if (status && !changes.empty()) vectors->committed(std::move(changes));
    held.release();
    if (status) {
      notify_end(observer, counted, result);
      done(std::move(result));
    } else {
      done(base::fail(std::move(status.error())));
    }
  });
}

base::Status maintain_indexes(std::span<const schema::Table* const> tables, Environment& environment,
                              const Request& request, storage::WriteSet& writes,
                              std::vector<ViewRow>& view_rows) {
  ViewRows views;
  const bool are_elsewhere = has_views_elsewhere(environment.spread, environment.store);
  SIBYL_TRY(add_index_maintenance(tables, environment.store, writes, request.interrupt,
                                  are_elsewhere ? &views : nullptr));
  view_rows = std::move(views.rows);
  return {};
}

base::Error counters_over_servers() {
  return base::Error(base::ErrorCode::invalid,
                     "Counters of partitions on several servers of the cluster cannot be updated at once")
      .with_hint("update each partition with a statement of its own");
}

void commit_spread(Environment& environment, SpreadBatch batch, ResultSet result, Counted counted,
                   Completion done) {
  if (batch.merges.empty()) return done(std::move(result));
  environment.spread->commit(std::move(batch), [done = std::move(done), observer = environment.observer,
                                                counted = std::move(counted),
                                                result = std::move(result)](base::Status status) mutable {
    if (!status) return done(base::fail(std::move(status.error())));
    notify_end(observer, counted, result);
    done(std::move(result));
  });
}

plan::Bindings bindings_of(std::span<const types::ValueView> values, int64_t now_micros) {
  plan::Bindings bindings;
  bindings.values = values;
  bindings.now_micros = now_micros;
  return bindings;
}

int64_t now_seconds_of(const Request& request, int64_t now_micros) {
  return request.now_seconds ? *request.now_seconds : now_micros / 1'000'000;
}

void observe(Environment& environment, const Modification& statement, const Targets& targets) {
  const base::UnlimitedMemory unlimited;  // statistics are shared by all statements
  if (environment.observer != nullptr) environment.observer->written(*statement.table, targets.prefixes);
}

base::Result<WriteContext> write_context_of(const Modification& statement, const plan::Bindings& bindings,
                                            const Request& request, std::optional<int64_t> batch_timestamp,
                                            int64_t server_timestamp, plan::Scratch& scratch) {
  WriteContext context;
  // Written data would expire or be purged as soon as the clock is corrected.
  if (bindings.now_micros < 0 && !request.now_seconds)
    return base::fail(base::Error(base::ErrorCode::server,
                                  "The system clock shows a time before 1970: nothing can be written")
                          .with_hint("set the clock"));
  SIBYL_ASSIGN(std::optional<int64_t> timestamp,
               plan::timestamp_of(statement.attributes.timestamp, bindings, scratch));
  if (!timestamp) timestamp = batch_timestamp;
  // Counters use only the server's clock: an increment must be later than everything it has read.
  if (!timestamp && !statement.is_counter) timestamp = request.timestamp_micros;
  context.timestamp = timestamp.value_or(server_timestamp);
  context.now_micros = bindings.now_micros;
  context.now_seconds = now_seconds_of(request, bindings.now_micros);
  if (statement.kind != Modification::Kind::delete_ && !statement.is_counter) {
    SIBYL_ASSIGN(context.time_to_live, plan::time_to_live_of(statement.attributes.time_to_live,
                                                             *statement.table, bindings, scratch));
  }
  return context;
}

}  // namespace sibyl::execute
