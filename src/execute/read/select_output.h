// The output of a SELECT: plain rows, groups, or rows to be sorted.
#pragma once

#include <memory>
#include <vector>

#include "execute/read/select_row.h"
#include "execute/result_set.h"
#include "plan/statements/select.h"

namespace sibyl::execute {

// Writes result rows, either as values or as one JSON object.
class RowWriter {
 public:
  RowWriter(const plan::Select& plan, plan::Bindings bindings) : plan_(plan), bindings_(bindings) {}
  base::Status write(std::span<const ValueView> inputs, std::span<const ValueView> aggregates,
                     RowBuffer& rows);

 private:
  base::Status write_json(RowBuffer& rows);

  const plan::Select& plan_;
  plan::Bindings bindings_;
  plan::Scratch scratch_;
};

// Collects rows into groups. The caller determines where a group ends.
class Groups {
 public:
  Groups(const plan::Select& plan, plan::Bindings bindings);

  // Returns true if the row belongs to the current group, false if it does not or there is no group. A
  // clustering of nullopt means a static-only row.
  base::Result<bool> continues(BytesView partition_key, std::optional<BytesView> clustering,
                               std::span<const ValueView> inputs);
  base::Status start(BytesView partition_key, std::optional<BytesView> clustering,
                     std::span<const ValueView> inputs);
  base::Status add(std::span<const ValueView> inputs);
  // Writes the row of the current group. Without a group, writes the aggregates of no rows.
  base::Status finish(RowWriter& writer, RowBuffer& rows);
  bool has_group() const { return has_group_; }
  // The inputs of the first row of the group that was finished last.
  std::span<const ValueView> first() const { return first_; }

 private:
  base::Result<Bytes> function_value(std::span<const ValueView> inputs);
  void reset_accumulators();

  const plan::Select& plan_;
  plan::Bindings bindings_;
  plan::Scratch scratch_;
  bool has_group_ = false;
  Bytes partition_key_;
  bool is_single_row_ = false;
  std::optional<Bytes> prefix_;  // clustering bytes shared by the group; nullopt: a static-only row
  Bytes function_value_;
  std::vector<std::unique_ptr<plan::Accumulator>> accumulators_;
  std::vector<Bytes> first_bytes_;  // the inputs of the first row
  std::vector<ValueView> first_;
  std::vector<ValueView> arguments_;
};

// Rows of several partitions, sorted by clustering columns.
class SortedRows {
 public:
  explicit SortedRows(const plan::Select& plan) : plan_(plan) {}
  void add(std::span<const ValueView> inputs, RowBuffer&& row);
  // Writes the first `limit` rows in order.
  void write(int64_t limit, RowBuffer& rows);
  size_t byte_size() const { return byte_size_; }

 private:
  struct Row {
    std::vector<Bytes> keys;
    std::vector<bool> present;
    Bytes bytes;
  };
  bool less(const Row& left, const Row& right) const;

  const plan::Select& plan_;
  std::vector<Row> rows_;
  size_t byte_size_ = 0;
};

}  // namespace sibyl::execute
