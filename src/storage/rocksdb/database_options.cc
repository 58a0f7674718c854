#include "storage/rocksdb/database_options.h"

#include <rocksdb/file_checksum.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>
#include <sys/resource.h>

#include <algorithm>

#include "storage/rocksdb/cache/counting_cache.h"
#include "storage/rocksdb/memory_table/tree_table.h"
#include "storage/rocksdb/merging.h"
#include "storage/rocksdb/messages.h"
#include "storage/rocksdb/reading.h"

namespace sibyl::storage::rocksdb {
namespace {

using ::rocksdb::BlockBasedTableOptions;

BlockBasedTableOptions common_options(const std::shared_ptr<::rocksdb::Cache>& cache) {
  BlockBasedTableOptions table;
  table.block_cache = cache;
  table.block_size = 4 << 10;
  table.format_version = 5;
  table.filter_policy.reset(::rocksdb::NewBloomFilterPolicy(10));
  // Bounds memory by the cache, however large the store is.
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  return table;
}

BlockBasedTableOptions partitioned_options(const std::shared_ptr<::rocksdb::Cache>& cache) {
  BlockBasedTableOptions table = common_options(cache);
  table.pin_top_level_index_and_filter = true;
  table.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.partition_filters = true;
  table.metadata_block_size = 4 << 10;
  return table;
}

// Reads files of both layouts. Chooses the layout of each new file.
class TableFormat final : public ::rocksdb::TableFactory {
 public:
  TableFormat(const std::shared_ptr<::rocksdb::Cache>& cache, std::function<uint64_t()> data_bytes)
      : cache_(cache),
        data_bytes_(std::move(data_bytes)),
        whole_(::rocksdb::NewBlockBasedTableFactory(common_options(cache))),
        partitioned_(::rocksdb::NewBlockBasedTableFactory(partitioned_options(cache))) {}

  // RocksDB refuses some options if the tables have another name.
  const char* Name() const override { return kBlockBasedTableName(); }
  bool IsDeleteRangeSupported() const override { return true; }
  using TableFactory::NewTableReader;
  ::rocksdb::Status NewTableReader(const ::rocksdb::ReadOptions& read,
                                   const ::rocksdb::TableReaderOptions& options,
                                   std::unique_ptr<::rocksdb::RandomAccessFileReader>&& file, uint64_t size,
                                   std::unique_ptr<::rocksdb::TableReader>* reader,
                                   bool prefetch) const override {
    return partitioned_->NewTableReader(read, options, std::move(file), size, reader, prefetch);
  }
  ::rocksdb::TableBuilder* NewTableBuilder(const ::rocksdb::TableBuilderOptions& options,
                                           ::rocksdb::WritableFileWriter* file) const override {
    const bool is_whole = fits_whole(data_bytes_(), cache_->GetCapacity());
    return (is_whole ? whole_ : partitioned_)->NewTableBuilder(options, file);
  }
  // RocksDB writes its options to a file, reads them back and compares them. It cannot create this object
  // from the file.
  bool AreEquivalent(const ::rocksdb::ConfigOptions&, const ::rocksdb::Configurable*,
                     std::string*) const override {
    return true;
  }

 protected:
  const void* GetOptionsPtr(const std::string& name) const override {
    if (name == BlockBasedTableOptions::kName()) return partitioned_->GetOptions<BlockBasedTableOptions>();
    return name == kBlockCacheOpts() ? cache_.get() : TableFactory::GetOptionsPtr(name);
  }

 private:
  const std::shared_ptr<::rocksdb::Cache> cache_;
  const std::function<uint64_t()> data_bytes_;
  const std::unique_ptr<::rocksdb::TableFactory> whole_, partitioned_;
};

// Returns a quarter of the process's limit. The rest is for clients, the log and files that are being
// written.
int max_open_files() {
  constexpr rlim_t wanted = 512;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  return static_cast<int>(std::min(wanted, limit.rlim_cur / 4));
}

}  // namespace

// Filters take 10 bits for each key and for each token, and indexes about 24 bytes for each block of 4 KiB.
// That is 3% of the data if partitions have one record of 100 bytes.
bool fits_whole(uint64_t data_bytes, uint64_t cache_bytes) {
  constexpr uint64_t percent = 3, share = 4;
  return data_bytes / 100 * percent <= cache_bytes / share;
}

::rocksdb::Options database_options(const Options& options, const std::shared_ptr<::rocksdb::Cache>& cache,
                                    std::function<uint64_t()> data_bytes) {
  ::rocksdb::Options database;
  database.create_if_missing = true;
  database.table_factory = std::make_shared<TableFormat>(cache, std::move(data_bytes));
  database.merge_operator = make_merge_operator(large_blocks_of(cache));
  // Computed while a file is written, so that a snapshot has checksums without reading files.
  database.file_checksum_gen_factory = ::rocksdb::GetFileChecksumGenCrc32cFactory();

  // Several small memory tables are merged into one file. Inserting into one large table would cost more,
  // because less of it is in the processor's caches; small files would be rewritten more often.
  database.write_buffer_size = memory_table_bytes(options.write_buffer_bytes);
  database.min_write_buffer_number_to_merge = tables_per_flush;
  database.max_write_buffer_number = 3 * tables_per_flush;
  // Filters have whole keys for point reads, and tokens for slices.
  database.prefix_extractor.reset(::rocksdb::NewFixedPrefixTransform(token_prefix_size));
  database.memtable_whole_key_filtering = true;
  database.memtable_prefix_bloom_size_ratio = 0.02;
  database.memtable_factory = make_tree_tables();
  database.allow_concurrent_memtable_write = false;  // the committer is the only thread that writes
  database.enable_write_thread_adaptive_yield = false;

  database.compaction_style = ::rocksdb::kCompactionStyleLevel;
  database.level_compaction_dynamic_level_bytes = true;
  // Eight flushed files are merged at once into a level of their size, which takes a third less CPU for
  // compactions than four. Filters let reads skip most of the waiting files.
  database.level0_file_num_compaction_trigger = 8;
  database.level0_slowdown_writes_trigger = 32;
  database.level0_stop_writes_trigger = 48;
  database.max_bytes_for_level_base = options.write_buffer_bytes * 8;
  database.target_file_size_base = options.write_buffer_bytes;
  database.compression_per_level = {::rocksdb::kNoCompression, ::rocksdb::kNoCompression,
                                    ::rocksdb::kLZ4Compression};
  database.bottommost_compression = ::rocksdb::kLZ4Compression;
  // Purges expired data even if nothing is written any more.
  database.periodic_compaction_seconds = 10 * 86'400;

  database.disable_auto_compactions = !options.automatic_compaction;
  // The committer resumes after errors. RocksDB's own recovery may deadlock if the database is closed
  // meanwhile.
  database.max_bgerror_resume_count = 0;
  database.max_background_jobs = 2;
  database.max_open_files = max_open_files();
  database.bytes_per_sync = 1 << 20;
  database.avoid_unnecessary_blocking_io = true;
  database.enable_thread_tracking = true;  // for the progress of compactions
  database.skip_stats_update_on_db_open = true;
  database.skip_checking_sst_file_sizes_on_db_open = true;
  database.stats_dump_period_sec = 0;
  database.stats_persist_period_sec = 0;
  database.info_log = make_messages();
  database.max_manifest_file_size = 16 << 20;
  database.manifest_preallocation_size = 64 << 10;  // each start writes a new MANIFEST, usually of a few KiB
  return database;
}

}  // namespace sibyl::storage::rocksdb
