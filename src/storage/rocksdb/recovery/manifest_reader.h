// Reads RocksDB's MANIFEST without RocksDB: which table files there are, and up to which sequence number.
//
// A MANIFEST is a log of version edits in blocks of 32 KiB. Of its fields those are read that say which table
// files are live; the others are skipped, and an edit of an unknown kind ends the reading.
//
// Used by one thread at a time.
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
  // Takes the next bytes of the file.
  void add(base::BytesView bytes);

  // False once a record's checksum was wrong or an edit was not understood: the files are those before it.
  bool is_whole() const { return is_whole_; }
  // How far whole records go.
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

  base::Bytes pending_;      // bytes that are not yet a whole record
  uint64_t pending_at_ = 0;  // where they are in the file
  base::Bytes edit_;         // fragments of an edit
  bool is_whole_ = true;
  uint64_t end_ = 0;
  std::map<uint64_t, ManifestFile> files_;
  uint64_t last_sequence_ = 0;
};

// "000012.sst", and its number; 0 when the name is another file's.
std::string table_file_name(uint64_t number);
uint64_t table_file_number(const std::string& name);
// CRC-32C of numbers and sizes, as of files_crc().
uint32_t files_crc(const std::map<uint64_t, uint64_t>& sizes);

}  // namespace sibyl::storage::rocksdb
