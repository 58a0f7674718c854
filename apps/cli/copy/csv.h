// Reads and writes records of CSV files in the dialect of cqlsh's COPY, and of files with one JSON object per
// line.
//
// A field may be quoted. The escape character makes the next character literal, inside and outside of quotes.
// Inside quotes a doubled quote is one quote. Only a field without quotes can be null, so a Field remembers
// whether it was quoted. Records end with \n or \r\n.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sibyl::cli::copy {

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

// Fails if the last field has an opening quote without a closing one. REQUIRES: one complete record, with or
// without its line end.
base::Result<std::vector<Field>> parse_record(const Dialect& dialect, std::string_view record);

// nullopt is null. Texts that would be read back as null, or as something else, are quoted.
void write_field(const Dialect& dialect, const std::optional<std::string>& text, std::string& out);

// Returns the end of the first record in the text, including its line feed; 0 if the text has no complete
// record.
size_t record_end(const Dialect& dialect, std::string_view text);

// Reads a file in pieces of complete records.
class RecordFile {
 public:
  struct Piece {
    uint64_t begin = 0, end = 0;  // byte offsets in the file
    uint64_t first_line = 0;      // from 1; a record that spans several lines counts as several
    std::string text;
  };

  // "-": standard input.
  static base::Result<RecordFile> open(const std::string& path, const Dialect& dialect);
  RecordFile(RecordFile&& other) noexcept;
  RecordFile& operator=(RecordFile&&) = delete;
  ~RecordFile();

  // Returns nullopt if the size is unknown.
  std::optional<uint64_t> size() const { return size_; }
  // Continues at `offset`, which must be the beginning of a record.
  base::Status seek(uint64_t offset, uint64_t line);
  // Reads complete records of at least `bytes` bytes, or fewer at the end of the file. Returns false at the
  // end. The last record needs no line feed. If a quote is never closed, the rest of the file is the last
  // record.
  base::Result<bool> next(size_t bytes, Piece& piece);
  // Reads one record.
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

}  // namespace sibyl::cli::copy
