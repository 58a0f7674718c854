// The result of a statement. Independent of the protocol: the server converts it to a message.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "plan/prepared.h"
#include "schema/schema.h"

namespace sibyl::execute {

using base::Bytes;
using base::BytesView;

// Rows in one contiguous buffer: for each column a 32-bit big-endian length (-1: null) and the value's bytes.
// The native protocol uses the same layout, so rows need not be converted.
class RowBuffer {
 public:
  void add_null() { bytes_.append("\xff\xff\xff\xff", 4); }
  void add(BytesView value) {
    base::append_big_endian(bytes_, static_cast<uint32_t>(value.size()));
    bytes_.append(value);
  }
  void end_row() { ++count_; }
  // Adds a whole row that has this layout already.
  void add_encoded_row(BytesView row) {
    bytes_.append(row);
    ++count_;
  }
  size_t count() const { return count_; }
  const Bytes& bytes() const { return bytes_; }
  Bytes take_bytes() { return std::move(bytes_); }

 private:
  Bytes bytes_;
  size_t count_ = 0;
};

struct ResultSet {
  enum class Kind { nothing, rows, set_keyspace, schema_change };
  Kind kind = Kind::nothing;
  plan::ResultMetadataPtr metadata;  // rows
  RowBuffer rows;
  std::optional<Bytes> paging_state;     // set if there are more rows than these
  std::string keyspace;                  // set_keyspace
  std::optional<schema::Change> change;  // schema_change
  std::vector<std::string> warnings;
  // Counts for statistics. A write that reads first counts the rows that it names as rows read.
  uint64_t partitions_read = 0;
  uint64_t rows_read = 0;
  uint64_t tombstones_read = 0;
  uint64_t partitions_written = 0;
};

}  // namespace sibyl::execute
