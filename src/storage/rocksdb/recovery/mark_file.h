// A small durable text that survives torn writes: two lines of 512 bytes, written in turns.
//
// A line is "sibyl NAME GENERATION TEXT CRC", filled up with blanks. The generation counts the writes, and
// the line with the higher one holds; the CRC-32C, hexadecimal, is of the line's bytes before it. A torn
// write damages the older line alone, so the text of the write before stays readable.
//
// A third line holds a note, "sibyl NAME-note 0 TEXT CRC", which is not synced: a crash of the machine may
// lose it or leave an older one.
//
// Used by one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/result.h"
#include "storage/rocksdb/disk.h"

namespace sibyl::storage::rocksdb {

class MarkFile {
 public:
  static constexpr size_t line_size = 512;

  // Borrows the disk, which must outlive it.
  MarkFile(std::string path, std::string_view name, Disk& disk)
      : path_(std::move(path)), name_(name), disk_(&disk) {}

  const std::string& path() const { return path_; }
  // Reads what is there; afterwards text() is the newest whole line's, or nullopt.
  base::Status read();
  bool exists() const { return exists_; }
  const std::optional<std::string>& text() const { return text_; }
  // Is on the device when it returns 0; otherwise it gives an errno, and may be tried again. The file has a
  // whole line as soon as it has its name. REQUIRES: the text fits.
  int write(const std::string& text);

  // Replaces the note, which is not on the device when it returns. REQUIRES: the file exists, the text fits.
  int write_note(const std::string& text);
  const std::optional<std::string>& note() const { return note_; }  // as read

 private:
  int make_file(const std::string& lines);
  int open_file();

  std::string path_;
  std::string name_;
  Disk* disk_;
  std::optional<base::File> file_;  // once it is written
  bool exists_ = false;
  uint64_t generation_ = 0;
  std::optional<std::string> text_, note_;
};

}  // namespace sibyl::storage::rocksdb
