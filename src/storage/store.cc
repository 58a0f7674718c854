#include "storage/store.h"

#include <future>
#include <iterator>

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
  commit(std::move(writes), [&finished](base::Status status) { finished.set_value(std::move(status)); });
  return future.get();
}

base::Result<std::vector<CheckpointFile>> Store::checkpoint(const std::string&) {
  return base::fail(base::Error(base::ErrorCode::invalid, "This store is in memory: it has no files to keep")
                        .with_hint("name a data directory"));
}

}  // namespace sibyl::storage
