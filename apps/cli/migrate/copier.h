// Copies token ranges from the source to the target over a connection to each.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "cli/migrate/page_reader.h"
#include "cli/migrate/ranges.h"
#include "cli/migrate/report.h"
#include "cli/migrate/target_writer.h"

namespace sibyl::cli::migrate {

class Copier {
 public:
  Copier(const ReaderOptions& source, WriterOptions target, const std::vector<Part>& parts, Ranges& ranges,
         Report& report)
      : reader_(source), writer_(std::move(target)), parts_(parts), ranges_(ranges), report_(report) {}

  // Copies ranges until none is left. Errors stop all workers.
  void run();

 private:
  // A page whose rows are being written.
  struct OpenPage {
    std::shared_ptr<WriteSource> rows;
    std::optional<base::Bytes> paging_state;
    double share = 0;
    uint64_t row_count = 0, bytes = 0;
  };

  base::Status copy(const Task& task);
  base::Status write_page(const Task& task, Page page);
  void count(const RowWrites& writes);
  // Records the pages at the front whose rows are all acknowledged.
  void finish_pages(const Task& task);

  PageReader reader_;
  TargetWriter writer_;
  const std::vector<Part>& parts_;
  Ranges& ranges_;
  Report& report_;
  std::optional<size_t> part_;  // the part whose statements the writer uses
  std::deque<OpenPage> pages_;
};

}  // namespace sibyl::cli::migrate
