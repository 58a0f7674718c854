// Turns the rows and deletions of SSTables into writes.
//
// Cells with the same timestamp and expiry are written together. Expiring and deleted data is written with
// Cassandra's write time as the request's time, so that the server stores the same expiry and the same local
// deletion time.
#pragma once

#include <optional>
#include <vector>

#include "cli/import_sstables/table_plan.h"
#include "cli/migrate/row_writes.h"

namespace sibyl::cli::import_sstables {

// Writes that are sent together.
struct Request {
  std::optional<int32_t> now_seconds;
  migrate::RowWrites writes;
};

class RequestMaker {
 public:
  // `key` are the components of the partition key. All arguments must outlive the maker.
  RequestMaker(const TablePlan& plan, const sstable::Header& header, const std::vector<base::Bytes>& key)
      : plan_(plan), header_(header), key_(key) {}

  Request delete_partition(const sstable::Deletion& deletion) const;
  // Returns several requests if one CQL deletion cannot express the range. Fails for a range of all rows of a
  // partition that also has static columns, which CQL cannot delete without them.
  base::Result<std::vector<Request>> delete_range(const sstable::RangeDeletion& range) const;
  // Writes everything in the row except the elements of lists. REQUIRES: not a counter table.
  base::Result<std::vector<Request>> write_row(const sstable::Row& row) const;
  // Adds a list's elements, in this order. The requests must be executed one after another.
  std::vector<Request> add_to_list(const sstable::Row& row, const migrate::PartColumn& column,
                                   const std::vector<sstable::Cell>& elements) const;

 private:
  const TablePlan& plan_;
  const sstable::Header& header_;
  const std::vector<base::Bytes>& key_;
};

// Compares two clustering keys, or a key with a bound's prefix, in clustering order.
int compare_clustering(const sstable::Header& header, const sstable::ClusteringPrefix& left,
                       const sstable::ClusteringPrefix& right);

}  // namespace sibyl::cli::import_sstables
