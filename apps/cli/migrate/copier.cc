#include "cli/migrate/copier.h"

#include <fmt/format.h>

#include "cli/migrate/row_text.h"

namespace sibyl::cli::migrate {
namespace {

// The rows of a page, as the source of writes.
class PageRows : public WriteSource {
 public:
  PageRows(const Part& part, Page page) : part_(part), page_(std::move(page)) {}

  std::string describe(size_t row) const override { return key_text(part_, *page_.result, page_.rows[row]); }
  std::vector<types::ValueView> target_key(size_t row) const override {
    std::vector<types::ValueView> key;
    if (part_.read_target.empty()) return key;
    for (size_t i = 0; i < part_.key.size(); ++i)
      key.push_back(types::ValueView::of(page_.rows[row][i].value_or("")));
    return key;
  }
  base::Result<RowWrites> make(size_t row, const client::Row& target) const override {
    return make_writes(part_, page_.rows[row], target);
  }
  // Returns false for the result row of a partition that has only static columns.
  bool has_row(size_t row) const {
    for (size_t i = 0; i < part_.key.size(); ++i)
      if (!page_.rows[row][i]) return false;
    return true;
  }
  // True if the writes of this row depend on the target's data.
  bool needs_target(size_t row) const {
    if (part_.read_target.empty() || !has_row(row)) return false;
    for (const PartColumn& column : part_.columns)
      if ((part_.is_counter || column.is_list()) && page_.rows[row][column.position]) return true;
    return false;
  }
  size_t size() const { return page_.rows.size(); }

 private:
  const Part& part_;
  const Page page_;
};

}  // namespace

void Copier::run() {
  while (const auto task = ranges_.next()) {
    if (const base::Status copied = copy(*task); !copied) return ranges_.stop(copied.error());
  }
}

base::Status Copier::copy(const Task& task) {
  const Part& part = parts_[task.part];
  if (part_ != task.part) {
    SIBYL_TRY(writer_.use(part.statements, part.read_target));
    part_ = task.part;
  }
  pages_.clear();
  SIBYL_TRY(reader_.open(part, task));
  bool is_first = true;
  while (true) {
    auto page = reader_.next();
    // A paging state of an earlier run may be too old. Then the range is read again from its beginning.
    if (!page && is_first && task.paging_state && !ranges_.is_stopped()) {
      SIBYL_TRY(reader_.open(part, {task.part, task.range, std::nullopt}));
      page = reader_.next();
    }
    if (!page) return base::fail(page.error());
    is_first = false;
    if (!*page) break;
    SIBYL_TRY(write_page(task, std::move(**page)));
    if (ranges_.is_stopped()) return {};
    if (ranges_.is_interrupted()) break;
  }
  SIBYL_TRY(writer_.drain());
  finish_pages(task);
  return {};
}

base::Status Copier::write_page(const Task& task, Page page) {
  const Part& part = parts_[task.part];
  OpenPage open;
  open.paging_state = page.paging_state;
  open.bytes = page.bytes;
  if (!page.rows.empty()) open.share = share_before(part, page.rows.back(), task.range);
  const auto rows = std::make_shared<PageRows>(part, std::move(page));
  open.rows = rows;
  std::vector<std::vector<types::ValueView>> keys;
  for (size_t i = 0; i < rows->size(); ++i)
    if (rows->needs_target(i)) keys.push_back(rows->target_key(i));
  std::vector<TargetWriter::TargetRow> targets;
  if (!keys.empty()) {
    SIBYL_ASSIGN(targets, writer_.read(keys));
  }
  size_t next_target = 0;
  for (size_t i = 0; i < rows->size(); ++i) {
    if (!rows->has_row(i)) continue;
    SIBYL_ASSIGN(RowWrites writes,
                 rows->make(i, rows->needs_target(i) ? targets[next_target++].view() : client::Row()));
    count(writes);
    ++open.row_count;
    SIBYL_TRY(writer_.submit(rows, i, std::move(writes)));
  }
  pages_.push_back(std::move(open));
  finish_pages(task);
  return {};
}

void Copier::count(const RowWrites& writes) {
  if (writes.has_only_key) report_.count_only_key();
  if (writes.has_unknown_times) report_.count_unknown_times();
  if (writes.replaced_list) report_.count_replaced_list();
}

void Copier::finish_pages(const Task& task) {
  while (!pages_.empty() && pages_.front().rows->pending == 0) {
    const OpenPage& page = pages_.front();
    ranges_.advance(task, page.paging_state, page.share, page.row_count, page.bytes);
    pages_.pop_front();
  }
}

}  // namespace sibyl::cli::migrate
