// What a statement returns. Never a protocol message: the server turns it into one.
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

// Rows one after another in one buffer: for each column a 32-bit big-endian length (-1: null) and the value's
// bytes. That is also how the native protocol writes them, so that a result is copied once.
class RowBuffer {
 public:
  void add_null() { bytes_.append("\xff\xff\xff\xff", 4); }
  void add(BytesView value) {
    base::append_big_endian(bytes_, static_cast<uint32_t>(value.size()));
    bytes_.append(value);
  }
  void end_row() { ++count_; }
  // A whole row in this form.
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
  std::optional<Bytes> paging_state;  // rows: there is more
  std::string keyspace;               // set_keyspace
  schema::Change change;              // schema_change
  std::vector<std::string> warnings;
  // What was met on the way, for whoever keeps statistics. Writes that read first read the rows that they
  // name.
  uint64_t partitions_read = 0;
  uint64_t rows_read = 0;
  uint64_t tombstones_read = 0;
  uint64_t partitions_written = 0;
};

}  // namespace sibyl::execute
