#include "cluster/routed/store_service.h"

#include <algorithm>
#include <utility>

namespace sibyl::cluster {
namespace {

// The limit of one answer, whatever the request asks for.
constexpr uint32_t max_scan_bytes = 4 << 20;

base::Error other_shard() {
  return base::Error(base::ErrorCode::server, "A request between servers names a record of another shard")
      .with_hint("all servers of a cluster need the same version");
}

base::Status scan(const storage::Snapshot& snapshot, const StoreRequest& request, StoreAnswer& answer) {
  const auto records = snapshot.iterate(request.begin, request.end);
  const uint32_t max_bytes = std::min(request.max_bytes, max_scan_bytes);
  size_t bytes = 0;
  request.is_backwards ? records->seek_to_last() : records->seek_to_first();
  while (records->valid() && (bytes < max_bytes || answer.records.empty())) {
    answer.records.emplace_back(records->key(), records->value());
    bytes += records->key().size() + records->value().size();
    request.is_backwards ? records->prev() : records->next();
  }
  answer.is_last = !records->valid();
  return records->status();
}

}  // namespace

base::Result<StoreAnswer> read_shard(const storage::ShardedStore& store, const StoreRequest& request) {
  StoreAnswer answer;
  answer.kind = request.kind;
  if (request.kind == StoreRequest::Kind::get) {
    answer.values.resize(request.keys.size());
    SIBYL_TRY(store.get_many(request.keys, answer.values));
    return answer;
  }
  if (request.kind == StoreRequest::Kind::sample) {
    auto samples = store.shard_samples(request.shard, request.tables, request.max_records);
    if (!samples) return base::fail(storage::not_here(request.shard));
    answer.samples = std::move(*samples);
    return answer;
  }
  const auto snapshot = store.shard_snapshot(request.shard);
  if (!snapshot) return base::fail(storage::not_here(request.shard));
  if (request.kind == StoreRequest::Kind::scan) {
    SIBYL_TRY(scan(*snapshot, request, answer));
  } else {
    answer.size = store.shard_size(request.shard, request.begin, request.end);
  }
  return answer;
}

PeerService::Handler StoreService::handler() {
  return [this](PeerService::Call call, PeerService::Answer answer) { answer(this->answer(call.message)); };
}

Bytes StoreService::answer(BytesView request) const {
  const auto decoded = StoreRequest::decode(request);
  if (!decoded) return StoreAnswer::failed(decoded.error()).encode();
  const auto is_elsewhere = [&](const Bytes& key) { return shards_.shard_of(key) != decoded->shard; };
  if (std::ranges::any_of(decoded->keys, is_elsewhere)) return StoreAnswer::failed(other_shard()).encode();
  // Keeps the shard open while it is read.
  const auto use = store_.use(decoded->shard);
  if (!use) return StoreAnswer::moved().encode();
  const base::Result<StoreAnswer> answer = read_shard(store_, *decoded);
  // Checked after the read, because another server may have changed the data in the meantime.
  if (!routing_.may_answer()) return StoreAnswer::moved().encode();
  if (answer) return answer->encode();
  return (storage::is_not_here(answer.error()) ? StoreAnswer::moved() : StoreAnswer::failed(answer.error()))
      .encode();
}

}  // namespace sibyl::cluster
