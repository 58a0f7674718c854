#include "engine/builds/builds.h"

#include <fmt/format.h>

#include <cstdint>

#include "types/value.h"

namespace sibyl::engine {

namespace {

SystemRow task_row(const Builder::Progress& progress) {
  // Tokens are distributed evenly, so the last token gives the completed share.
  const double ratio = (static_cast<double>(progress.last_token) - INT64_MIN) / 18446744073709551616.0;
  std::string kind = progress.is_view ? "view build" : "secondary index build";
  if (!progress.failure.empty()) kind += fmt::format(" of {} failed: {}", progress.name, progress.failure);
  return {{"keyspace_name", progress.keyspace},
          {"table_name", progress.table},
          {"task_id", progress.task_id},
          {"completion_ratio", types::encode_double(ratio)},
          {"kind", std::move(kind)},
          {"progress", types::encode_int64(static_cast<int64_t>(progress.partitions))},
          {"unit", "keys"}};
}

base::Error not_available(const schema::Table& table, const schema::Index& index, const std::string& why) {
  base::ErrorDetails details;
  details.code = base::ErrorCode::read_failure;
  details.message =
      "Operation failed - received 0 responses and 1 failures: INDEX_NOT_AVAILABLE from /127.0.0.1:7000";
  details.hint = fmt::format(
      "the index {}.{} could not be built: {}; after fixing the cause, drop it and create it again, or "
      "restart",
      table.keyspace, index.name, why);
  details.failures = 1;
  details.failure_reason = 6;  // INDEX_NOT_AVAILABLE in the protocol
  return base::Error(std::move(details));
}

}  // namespace

std::vector<SystemRow> view_build_rows(const Builder& builder) {
  const auto progress = builder.progress();
  if (!progress || !progress->is_view) return {};
  return {{{"keyspace_name", progress->keyspace},
           {"view_name", progress->name},
           {"start_token", std::to_string(INT64_MIN)},
           {"end_token", std::to_string(INT64_MIN)},
           {"keys_built", types::encode_int64(static_cast<int64_t>(progress->partitions))},
           {"last_token", std::to_string(progress->last_token)}}};
}

std::vector<SystemRow> build_task_rows(const Builder& builder) {
  std::vector<SystemRow> rows;
  if (const auto progress = builder.progress()) rows.push_back(task_row(*progress));
  for (const Builder::Progress& failure : builder.failures()) rows.push_back(task_row(failure));
  return rows;
}

base::Status check_indexes(const plan::Select& select, const Builder& builder) {
  if (select.where->partitions() == plan::Restrictions::Partitions::keys) return {};
  const auto check = [&](const schema::Index& index) -> base::Status {
    const auto why = builder.failure(index.storage_id);
    return why ? base::fail(not_available(*select.table, index, *why)) : base::Status();
  };
  if (select.nearest) SIBYL_TRY(check(*select.nearest->index));
  if (!select.where->index_uses().empty()) return {};
  for (const schema::Index* index : select.where->unbuilt_indexes()) SIBYL_TRY(check(*index));
  return {};
}

}  // namespace sibyl::engine
