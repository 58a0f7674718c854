#include "storage/store.h"

#include <algorithm>
#include <future>
#include <iterator>

#include "row/record_key.h"
#include "storage/partition_sample.h"

namespace sibyl::storage {

void WriteSet::append(WriteSet&& other) {
  if (operations_.empty()) {
    operations_ = std::move(other.operations_);
  } else {
    operations_.insert(operations_.end(), std::make_move_iterator(other.operations_.begin()),
                       std::make_move_iterator(other.operations_.end()));
  }
  byte_size_ += other.byte_size_;
  other.operations_.clear();
  other.byte_size_ = 0;
}

base::Status Store::commit(WriteSet writes) {
  std::promise<base::Status> finished;
  auto future = finished.get_future();
  commit(std::move(writes), [finished = std::move(finished)](base::Status status) mutable {
    finished.set_value(std::move(status));
  });
  return future.get();
}

std::span<const EntryRun> Store::entry_runs() const {
  static constexpr EntryRun everything;
  return {&everything, 1};
}

std::shared_ptr<const void> Store::hold(BytesView) const {
  static const auto held = std::make_shared<const int>(0);
  return held;
}

const EntryRun& Store::run_of(std::span<const EntryRun> runs, int64_t token) {
  const auto after = std::upper_bound(runs.begin() + 1, runs.end(), token,
                                      [](int64_t sought, const EntryRun& run) { return sought < run.first; });
  return *std::prev(after);
}

base::Result<std::vector<CheckpointFile>> Store::checkpoint(const std::string&) {
  return base::fail(base::Error(base::ErrorCode::invalid, "This store is in memory: it has no files to keep")
                        .with_hint("use a data directory"));
}

PartitionSample scan_partitions(Iterator& records, uint32_t table, size_t max_records,
                                const std::function<double(BytesView key)>& share_before,
                                const TokenSpan& tokens) {
  constexpr uint64_t min_sampled_partitions = 64;  // with this many, the standard error of their token range
                                                   // is one eighth
  PartitionCounter counter;
  Bytes prefix;
  size_t seen = 0;
  double share = 1;
  for (records.seek_to_first(); records.valid(); records.next(), ++seen) {
    if (seen >= max_records) {
      row::RecordKey parsed;
      if (!row::parse_record_key(records.key(), parsed)) continue;
      if (seen == max_records) prefix = parsed.prefix(records.key());
      const bool is_enough = parsed.prefix(records.key()) != prefix || seen >= 4 * max_records;
      if (is_enough && counter.samples()[table].runs() >= min_sampled_partitions) {
        // Tokens are spread evenly, so the next token shows which fraction has been read.
        share = tokens.share_below(parsed.token);
        break;
      }
      if (is_enough && share_before) {
        share = share_before(records.key());
        break;
      }
    }
    counter.add(records.key(), records.value().size());
  }
  const bool is_first_partition = counter.samples()[table].runs() == 0;
  counter.finish();
  PartitionSample sample = counter.samples()[table];
  sample.set_share(share, is_first_partition ? 1 : share);
  return sample;
}

std::map<uint32_t, PartitionSample> Store::partition_samples(std::span<const uint32_t> tables,
                                                             size_t max_records) const {
  std::map<uint32_t, PartitionSample> samples;
  for (const uint32_t table : tables) {
    const Bytes begin = row::table_begin(table), end = row::table_end(table);
    const auto records = iterate(begin, end);
    samples.insert_or_assign(table, scan_partitions(*records, table, max_records));
  }
  return samples;
}

}  // namespace sibyl::storage
