// Writes the partitions of SSTables to the server.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "cli/import_sstables/merge.h"
#include "cli/import_sstables/row_requests.h"
#include "cli/import_sstables/table_plan.h"
#include "cli/migrate/report.h"
#include "cli/migrate/target_writer.h"

namespace sibyl::cli::import_sstables {

class PartitionImporter {
 public:
  PartitionImporter(const TablePlan& plan, const migrate::WriterOptions& server, migrate::Report& report);

  base::Status open();
  // Reads and writes all items of a partition.
  base::Status import(const std::vector<Merge::Member>& members);
  // Blocks until everything is acknowledged.
  base::Status finish();
  uint64_t rows() const { return rows_; }
  // The number of lists that the table had already. They were not changed.
  uint64_t kept_lists() const { return kept_lists_; }

 private:
  struct PartItems;    // the merged items of a partition of a table with lists or counters
  class WrittenItem;   // owns the bytes that the writes of one item refer to
  struct PendingList;  // a row's list that waits for the target's value
  struct PendingCounter;

  base::Status write_item(const sstable::Header& header,
                          const std::shared_ptr<const std::vector<base::Bytes>>& key, sstable::Item item);
  base::Status submit(migrate::TargetWriter& writer, const std::shared_ptr<migrate::WriteSource>& source,
                      std::vector<Request> requests);
  base::Status collect(const sstable::DataReader& reader, PartItems& items, const sstable::Item& item);
  base::Status write_lists(const PartItems& items);
  base::Status write_counters(const PartItems& items);
  base::Status flush_lists();

  const TablePlan& plan_;
  migrate::Report& report_;
  migrate::TargetWriter row_writer_, static_writer_;
  bool needs_merge_ = false;
  uint64_t rows_ = 0, kept_lists_ = 0;
  std::vector<std::shared_ptr<PendingList>> lists_;
};

}  // namespace sibyl::cli::import_sstables
