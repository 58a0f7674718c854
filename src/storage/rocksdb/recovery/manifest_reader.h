// Reads RocksDB's MANIFEST without RocksDB: the live table files and the last sequence number.
//
// A MANIFEST is a log of version edits in blocks of 32 KiB. Only the fields that determine the live table
// files are interpreted; other known fields are skipped. Reading stops at an edit of an unknown kind.
//
// Must be used by one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/bytes.h"

namespace sibyl::storage::rocksdb {

struct ManifestFile {
  uint64_t number = 0;
  uint64_t size = 0;
  int level = 0;
  base::Bytes first_key, last_key;  // of records
};

class ManifestReader {
 public:
  // Adds the next bytes of the file.
  void add(base::BytesView bytes);

  // False once a record had a wrong checksum or an edit was not understood. files() then returns the files
  // listed before that.
  bool is_whole() const { return is_whole_; }
  // Offset of the end of the last complete record.
  uint64_t end() const { return end_; }
  const std::map<uint64_t, ManifestFile>& files() const { return files_; }
  uint64_t last_sequence() const { return last_sequence_; }
  // CRC-32C of the numbers and sizes of all files.
  uint32_t files_crc() const;

 private:
  void take_records();
  bool take_record(base::BytesView& rest);
  bool take_edit(base::BytesView edit);
  bool take_new_file(base::BytesView& edit);

  base::Bytes pending_;      // bytes that are not a complete record yet
  uint64_t pending_at_ = 0;  // their offset in the file
  base::Bytes edit_;         // fragments of an edit
  bool is_whole_ = true;
  uint64_t end_ = 0;
  std::map<uint64_t, ManifestFile> files_;
  uint64_t last_sequence_ = 0;
};

// Converts between a table file's number and its name, such as "000012.sst". The number of other files is 0.
std::string table_file_name(uint64_t number);
uint64_t table_file_number(const std::string& name);
// CRC-32C of numbers and sizes, computed like ManifestReader::files_crc().
uint32_t files_crc(const std::map<uint64_t, uint64_t>& sizes);

}  // namespace sibyl::storage::rocksdb
