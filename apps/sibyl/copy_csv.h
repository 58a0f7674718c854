// Records of CSV files, as cqlsh's COPY writes and reads them, and of files with one JSON object a line.
//
// A field may be in quotes; in and outside of them the escape character takes the next one as it is, and in
// them a doubled quote is one. Whether a field was in quotes is kept: only a bare one can be null. Records
// end with \n or \r\n.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sibyl::copy {

struct Dialect {
  char delimiter = ',';
  char quote = '"';
  char escape = '\\';
  std::string null;  // how null is written
  bool is_json = false;
};

struct Field {
  std::string text;
  bool is_quoted = false;
};

// Refuses a record whose last field begins with a quote that nothing closes.
// REQUIRES: a whole record, with or without its end.
base::Result<std::vector<Field>> parse_record(const Dialect& dialect, std::string_view record);

// nullopt: null. Texts that would read as null, or as something else, are put in quotes.
void write_field(const Dialect& dialect, const std::optional<std::string>& text, std::string& out);

// Where the first record of the text ends, its \n included; 0 when the text holds no whole one.
size_t record_end(const Dialect& dialect, std::string_view text);

// Reads a file in pieces of whole records.
class RecordFile {
 public:
  struct Piece {
    uint64_t begin = 0, end = 0;  // in the file
    uint64_t first_line = 0;      // from 1; records that span lines are counted as such
    std::string text;
  };

  // "-": standard input.
  static base::Result<RecordFile> open(const std::string& path, const Dialect& dialect);
  RecordFile(RecordFile&& other) noexcept;
  RecordFile& operator=(RecordFile&&) = delete;
  ~RecordFile();

  // nullopt when it is not known.
  std::optional<uint64_t> size() const { return size_; }
  // Goes on from here, which must be a record's beginning.
  base::Status seek(uint64_t offset, uint64_t line);
  // At least so many bytes, unless the file ends, in whole records; false at the end. A file's last record
  // needs no \n, and is what remains when a quote is never closed.
  base::Result<bool> next(size_t bytes, Piece& piece);
  // One record.
  base::Result<bool> next_record(Piece& piece) { return next(1, piece); }

 private:
  RecordFile(const Dialect& dialect, std::string path, int file)
      : dialect_(dialect), path_(std::move(path)), file_(file) {}
  base::Result<bool> read_more();
  Dialect dialect_;
  std::string path_;
  int file_;
  std::optional<uint64_t> size_;
  std::string buffer_;  // from offset_ on
  uint64_t offset_ = 0;
  uint64_t line_ = 1;
  bool is_ended_ = false;
};

}  // namespace sibyl::copy
