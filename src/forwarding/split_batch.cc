#include "forwarding/split_batch.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace sibyl::forwarding {

using base::Result;
using execute::ResultSet;

execute::Completion SplitBatch::part() {
  return [self = shared_from_this()](Result<ResultSet> result) { self->add(std::move(result)); };
}

void SplitBatch::add(Result<ResultSet> result) {
  execute::Completion done;
  Result<ResultSet> all;
  {
    const base::MutexLock lock(mutex_);
    if (result_ && !result) {
      result_ = std::move(result);
    } else if (result_) {
      std::vector<std::string>& warnings = result_->warnings;
      std::ranges::copy_if(result->warnings, std::back_inserter(warnings), [&](const std::string& warning) {
        return std::ranges::find(warnings, warning) == warnings.end();
      });
      result_->partitions_read += result->partitions_read;
      result_->rows_read += result->rows_read;
      result_->tombstones_read += result->tombstones_read;
      result_->partitions_written += result->partitions_written;
    }
    if (--missing_ > 0) return;
    done = std::move(done_);
    all = std::move(result_);
  }
  done(std::move(all));
}

}  // namespace sibyl::forwarding
