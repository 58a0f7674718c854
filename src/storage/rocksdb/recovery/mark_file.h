// A small durable text that survives torn writes: two lines of 512 bytes, written alternately.
//
// A line is "sibyl NAME GENERATION TEXT CRC", padded with blanks. The generation counts the writes; the line
// with the higher one is valid. CRC is the CRC-32C of the preceding bytes of the line, in hexadecimal. A torn
// write damages only the older line, so the previous text stays readable.
//
// A third line holds a note, "sibyl NAME-note 0 TEXT CRC". It is not synced: a crash of the machine may lose
// it or leave an older one.
//
// Must be used by one thread at a time.
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

  // Borrows the disk, which must outlive this object.
  MarkFile(std::string path, std::string_view name, Disk& disk)
      : path_(std::move(path)), name_(name), disk_(&disk) {}

  const std::string& path() const { return path_; }
  // Reads the file. Afterwards text() returns the text of the newest complete line, or nullopt.
  base::Status read();
  bool exists() const { return exists_; }
  const std::optional<std::string>& text() const { return text_; }
  // Returns 0 once the text is on the device, otherwise an errno. After a failure the call may be retried. A
  // new file gets its name only after it has a complete line. REQUIRES: the text fits.
  int write(const std::string& text);

  // Replaces the note without syncing it. REQUIRES: the file exists; the text fits.
  int write_note(const std::string& text);
  const std::optional<std::string>& note() const { return note_; }  // as read

 private:
  int make_file(const std::string& lines);
  int open_file();

  std::string path_;
  std::string name_;
  Disk* disk_;
  std::optional<base::File> file_;  // open once it was written
  bool exists_ = false;
  uint64_t generation_ = 0;
  std::optional<std::string> text_, note_;
};

}  // namespace sibyl::storage::rocksdb
