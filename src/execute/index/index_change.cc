#include "execute/index/index_change.h"

#include "execute/index/maintenance.h"
#include "execute/read/index_entries.h"
#include "execute/vector/vector_indexes.h"
#include "schema/index.h"

namespace sibyl::execute {

namespace {

bool end_together(const row::Marker& left, const row::Marker& right) {
  return left.time_to_live == 0 ? right.time_to_live == 0
                                : right.time_to_live != 0 && left.expires_seconds == right.expires_seconds;
}

}  // namespace

base::Status write_index_change(const schema::Index& index, const RowChange& change,
                                std::span<const storage::EntryRun> runs, storage::WriteSet& writes) {
  if (schema::is_vector_index(change.table, index)) {
    write_vector_change(index, change, writes);
    return {};
  }
  const auto terms_of = [&](const row::Fragment& row) {
    return row_terms(change.table, index, change.partition_key, change.is_static, change.clustering, row);
  };
  SIBYL_ASSIGN(const RowTerms before, terms_of(change.before));
  SIBYL_ASSIGN(const RowTerms after, terms_of(change.after));
  if (before.empty() && after.empty()) return {};
  const Bytes suffix = row_suffix(change.partition_key, change.is_static, change.clustering);
  const Bytes prefix = index_prefix(index, storage::Store::run_of(runs, token_of_suffix(suffix)));
  for (const auto& [term, marker] : before)
    if (!after.contains(term)) writes.erase(prefix + term + suffix);
  for (const auto& [term, marker] : after) {
    const auto old = before.find(term);
    if (old != before.end() && end_together(old->second, marker)) continue;
    row::Fragment entry;
    entry.marker = marker;
    Bytes value;
    row::encode(entry, value);
    writes.put(prefix + term + suffix, std::move(value));
  }
  return {};
}

}  // namespace sibyl::execute
