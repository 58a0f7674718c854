// For tests: files in memory, and the statistics of a table with columns of many types.
#pragma once

#include <zlib.h>

#include <string>

#include "sstable/chunks.h"
#include "types/vint.h"

namespace sibyl::sstable {

class MemoryFile : public RandomAccess {
 public:
  explicit MemoryFile(base::Bytes bytes) : bytes_(std::move(bytes)) {}
  uint64_t size() const override { return bytes_.size(); }
  base::Status read(uint64_t offset, uint64_t size, base::Bytes& out) const override {
    out.append(bytes_, offset, size);
    return {};
  }

 private:
  base::Bytes bytes_;
};

inline uint32_t crc_of(base::BytesView bytes) {
  return static_cast<uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

// A Statistics.db with only a serialization header: clustering (int, reversed text), static map<text, int>,
// columns int, text, counter-like bigint, list<int>, set<text>, and a user type.
inline base::Bytes sample_statistics() {
  base::Bytes header;
  const std::string package = "org.apache.cassandra.db.marshal.";
  const auto number = [&](uint64_t value) { types::append_unsigned_vint(header, value); };
  const auto text = [&](const std::string& value) {
    number(value.size());
    header += value;
  };
  const auto column = [&](const std::string& name, const std::string& type) {
    text(name);
    text(type);
  };
  for (int i = 0; i < 3; ++i) number(0);
  text(package + "Int32Type");
  number(2);
  text(package + "Int32Type");
  text(package + "ReversedType(" + package + "UTF8Type)");
  number(1);
  column("sm", package + "MapType(" + package + "UTF8Type," + package + "Int32Type)");
  number(5);
  column("i", package + "Int32Type");
  column("t", package + "UTF8Type");
  column("l", package + "ListType(" + package + "Int32Type)");
  column("s", package + "SetType(" + package + "UTF8Type)");
  column("u", package + "UserType(ks,75,61:" + package + "Int32Type)");
  base::Bytes file;
  base::append_big_endian<uint32_t>(file, 1);
  base::append_big_endian<uint32_t>(file, crc_of(file));
  base::Bytes table;
  base::append_big_endian<uint32_t>(table, 3);
  base::append_big_endian<uint32_t>(table, 20);
  const uint32_t checksum = crc_of(file.substr(0, 4) + table);
  file += table;
  base::append_big_endian<uint32_t>(file, checksum);
  file += header;
  base::append_big_endian<uint32_t>(file, crc_of(header));
  return file;
}

}  // namespace sibyl::sstable
