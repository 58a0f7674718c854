#include "storage/rocksdb/merging.h"

#include <chrono>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "base/admission.h"
#include "base/contain.h"
#include "row/cell_stream.h"
#include "row/merge.h"
#include "row/record_key.h"
#include "storage/purger.h"
#include "storage/rocksdb/cache/large_blocks.h"
#include "storage/rocksdb/reading.h"

namespace sibyl::storage::rocksdb {
namespace {

using ::rocksdb::Slice;

constexpr size_t no_merge_limit = std::numeric_limits<size_t>::max();

thread_local std::optional<base::Error> refused_merge;
thread_local size_t max_merged_bytes = no_merge_limit;

// Decides whether this thread may merge `bytes`. The memory stays reserved while `reserved` exists, unless
// the bytes are few.
bool is_admitted(size_t bytes, base::MemoryReservation* reserved = nullptr) {
  constexpr int64_t nanos_per_byte = 5;
  if (bytes < row::min_streamed_bytes) return true;
  if (bytes > max_merged_bytes) {
    refused_merge = base::Error(base::ErrorCode::invalid, "The record is too large to be merged now");
    return false;
  }
  const auto admitted = base::admit(bytes, static_cast<int64_t>(bytes) * nanos_per_byte, reserved);
  if (!admitted) refused_merge = admitted.error();
  return admitted.has_value();
}

// Merges fragments. Fails if is_admitted() refuses or memory is exhausted. Then a read fails, and a
// compaction is retried.
class FragmentMerge final : public ::rocksdb::MergeOperator {
 public:
  explicit FragmentMerge(std::shared_ptr<LargeBlocks> blocks) : blocks_(std::move(blocks)) {}
  const char* Name() const override { return "sibyl.row.merge.1"; }

  bool FullMergeV2(const MergeOperationInput& input, MergeOperationOutput* output) const override {
    if (input.existing_value == nullptr && input.operand_list.size() == 1) {
      output->existing_operand = input.operand_list.front();
      return is_admitted(output->existing_operand.size());  // readers copy it
    }
    return contained([&] {
      thread_local std::vector<BytesView> fragments;
      fragments.clear();
      if (input.existing_value != nullptr) fragments.push_back(view_of(*input.existing_value));
      for (const Slice& operand : input.operand_list) fragments.push_back(view_of(operand));
      return merge(fragments, output->new_value);
    });
  }

  bool PartialMergeMulti(const Slice&, const std::deque<Slice>& operands, std::string* merged,
                         ::rocksdb::Logger*) const override {
    return contained([&] {
      std::vector<BytesView> fragments;
      fragments.reserve(operands.size());
      for (const Slice& operand : operands) fragments.push_back(view_of(operand));
      return merge(fragments, *merged);
    });
  }

  bool PartialMerge(const Slice&, const Slice& left, const Slice& right, std::string* merged,
                    ::rocksdb::Logger*) const override {
    return contained([&] {
      const BytesView fragments[] = {view_of(left), view_of(right)};
      return merge(fragments, *merged);
    });
  }

 private:
  // RocksDB is not exception-safe: an exception would leave it in an inconsistent state, or terminate the
  // process if thrown on one of its threads.
  template <typename Work>
  static bool contained(const Work& work) {
    const auto merged = base::contain(work);
    return merged.has_value() && *merged;
  }

  bool merge(std::span<const BytesView> fragments, std::string& merged) const {
    size_t bytes = 0;
    for (const BytesView each : fragments) bytes += each.size();
    base::MemoryReservation reserved;
    // The merged record is copied into its block at once.
    if (blocks_ != nullptr && bytes >= row::min_streamed_bytes) reserved = blocks_->begin_record(bytes, 2);
    if (!is_admitted(bytes, &reserved)) return false;
    row::merge(fragments, merged);
    return true;
  }

  const std::shared_ptr<LargeBlocks> blocks_;  // nullptr: no turns for large records
};

// The whole store at the moment when a compaction began.
class DatabaseView final : public Purger::View {
 public:
  explicit DatabaseView(::rocksdb::DB& database) : database_(database), snapshot_(database.GetSnapshot()) {}
  ~DatabaseView() override { database_.ReleaseSnapshot(snapshot_); }

  // Comparing with the value that a reader sees is not sufficient: a later fragment that is hidden by the
  // record's tombstones does not change it. Therefore the fragments themselves are requested, and more than
  // one is an error.
  bool is_whole(BytesView key, BytesView value) override {
    ::rocksdb::GetMergeOperandsOptions limits;
    limits.expected_max_number_of_operands = 1;
    ::rocksdb::PinnableSlice found[1];
    int count = 0;
    const auto status = database_.GetMergeOperands(read_options(), database_.DefaultColumnFamily(),
                                                   slice_of(key), found, &limits, &count);
    return status.ok() && count == 1 && view_of(found[0]) == value;
  }
  std::unique_ptr<Iterator> iterate() override { return make_iterator(database_, read_options(), {}, {}); }

 private:
  ::rocksdb::ReadOptions read_options() const {
    ::rocksdb::ReadOptions options;
    options.snapshot = snapshot_;
    return options;
  }
  ::rocksdb::DB& database_;
  const ::rocksdb::Snapshot* const snapshot_;
};

class PurgingFilter final : public ::rocksdb::CompactionFilter {
 public:
  explicit PurgingFilter(std::unique_ptr<Purger> purger) : purger_(std::move(purger)) {}
  const char* Name() const override { return "sibyl.purge"; }

  Decision FilterV2(int, const Slice& key, ValueType type, const Slice& value, std::string* changed,
                    std::string*) const override {
    Purger::Verdict verdict = Purger::Verdict::keep;
    // A value replaces everything older, so it is the whole record up to its time. An operand is only a part
    // of the record. RocksDB turns a removed value into a deletion, which still hides everything older.
    if (type == ValueType::kValue) verdict = purger_->visit_whole(view_of(key), view_of(value), *changed);
    if (type == ValueType::kMergeOperand)
      verdict = purger_->visit_part(view_of(key), view_of(value), *changed);
    switch (verdict) {
      case Purger::Verdict::keep:
        return Decision::kKeep;
      case Purger::Verdict::change:
        return Decision::kChangeValue;
      case Purger::Verdict::remove:
        return Decision::kRemove;
    }
    return Decision::kKeep;
  }

 private:
  // RocksDB uses a filter on one thread, although its functions are const.
  const std::unique_ptr<Purger> purger_;
};

thread_local std::optional<ErasingCompactions::Tables> erased_tables;

class ErasingFilter final : public ::rocksdb::CompactionFilter {
 public:
  explicit ErasingFilter(ErasingCompactions::Tables tables) : tables_(std::move(tables)) {}
  const char* Name() const override { return "sibyl.erase"; }

  Decision FilterV2(int, const Slice& key, ValueType, const Slice&, std::string*,
                    std::string* skip_until) const override {
    if (key.size() < sizeof(uint32_t)) return Decision::kKeep;
    const auto id = base::read_big_endian<uint32_t>(view_of(key));
    for (const auto& [first, last] : tables_) {
      if (id < first || id > last) continue;
      *skip_until = row::table_end(last);
      return Decision::kRemoveAndSkipUntil;
    }
    return Decision::kKeep;
  }

 private:
  const ErasingCompactions::Tables tables_;
};

class PurgingFilterFactory final : public ::rocksdb::CompactionFilterFactory {
 public:
  explicit PurgingFilterFactory(std::shared_ptr<PurgeContext> context) : context_(std::move(context)) {}
  const char* Name() const override { return "sibyl.purge"; }

  std::unique_ptr<::rocksdb::CompactionFilter> CreateCompactionFilter(
      const ::rocksdb::CompactionFilter::Context&) override {
    if (erased_tables) return std::make_unique<ErasingFilter>(*erased_tables);
    // The order matters. The files were chosen before the policy is read, so every table in these files is in
    // the policy. The view is created before the readers are waited for, so every reader that is older than
    // the view is waited for.
    auto policy = context_->policy();
    ::rocksdb::DB* database = context_->database();
    if (!policy || database == nullptr) return nullptr;
    auto view = std::make_unique<DatabaseView>(*database);
    if (!context_->readers.wait_for_earlier()) return nullptr;
    return std::make_unique<PurgingFilter>(std::make_unique<Purger>(
        std::move(policy), context_->clock->now_seconds(), std::move(view), context_->settling_seconds));
  }

 private:
  const std::shared_ptr<PurgeContext> context_;
};

}  // namespace

ErasingCompactions::ErasingCompactions(Tables tables) {
  erased_tables = std::move(tables);
}

ErasingCompactions::~ErasingCompactions() {
  erased_tables.reset();
}

void refuse_read(base::Error error) {
  refused_merge = std::move(error);
}

std::optional<base::Error> take_refused_merge() {
  return std::exchange(refused_merge, std::nullopt);
}

MergeLimit::MergeLimit(size_t max_bytes) {
  max_merged_bytes = max_bytes;
}

MergeLimit::~MergeLimit() {
  max_merged_bytes = no_merge_limit;
}

std::shared_ptr<::rocksdb::MergeOperator> make_merge_operator(std::shared_ptr<LargeBlocks> blocks) {
  return std::make_shared<FragmentMerge>(std::move(blocks));
}

std::shared_ptr<::rocksdb::CompactionFilterFactory> make_purging_filter(
    std::shared_ptr<PurgeContext> context) {
  return std::make_shared<PurgingFilterFactory>(std::move(context));
}

uint64_t Readers::enter() {
  const std::lock_guard lock(mutex_);
  return *tickets_.insert(tickets_.end(), next_ticket_++);
}

void Readers::leave(uint64_t ticket) {
  const std::lock_guard lock(mutex_);
  tickets_.erase(ticket);
  left_.notify_all();
}

bool Readers::wait_for_earlier() {
  constexpr auto patience = std::chrono::seconds(1);
  std::unique_lock lock(mutex_);
  const uint64_t now = next_ticket_;
  return left_.wait_for(lock, patience, [&] { return tickets_.empty() || *tickets_.begin() >= now; });
}

std::shared_ptr<const PurgePolicy> PurgeContext::policy() const {
  const std::lock_guard lock(mutex_);
  return policy_;
}

void PurgeContext::set_policy(std::shared_ptr<const PurgePolicy> policy) {
  const std::lock_guard lock(mutex_);
  policy_ = std::move(policy);
}

::rocksdb::DB* PurgeContext::database() const {
  const std::lock_guard lock(mutex_);
  return database_;
}

void PurgeContext::set_database(::rocksdb::DB* database) {
  const std::lock_guard lock(mutex_);
  database_ = database;
}

}  // namespace sibyl::storage::rocksdb
