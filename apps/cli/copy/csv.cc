#include "cli/copy/csv.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/file.h"

namespace sibyl::cli::copy {
namespace {

constexpr size_t read_bytes = 256 << 10;
constexpr size_t max_record_bytes = 64 << 20;

// Classifies the characters of a record one by one.
class Walker {
 public:
  // mark: a quote or an escape character, which is not part of the text
  enum class Is : uint8_t { text, mark, delimiter, end };

  explicit Walker(const Dialect& dialect) : dialect_(dialect) {}

  Is step(char c) {
    if (is_escaped_) {
      is_escaped_ = false;
      return Is::text;
    }
    const bool at_start = std::exchange(at_start_, false);
    const bool was_closed = std::exchange(just_closed_, false);
    if (in_quotes_) {
      if (c == dialect_.quote) {
        in_quotes_ = false;
        just_closed_ = true;
        return Is::mark;
      }
      return escape_or_text(c);
    }
    if (c == dialect_.quote && (at_start || was_closed)) {
      in_quotes_ = true;
      is_quoted_ = true;
      return was_closed ? Is::text : Is::mark;  // a quote that is doubled stands for one quote
    }
    if (c == dialect_.delimiter) {
      next_field();
      return Is::delimiter;
    }
    if (c == '\n') {
      next_field();
      return Is::end;
    }
    return escape_or_text(c);
  }
  bool is_quoted() const { return is_quoted_; }
  bool in_quotes() const { return in_quotes_; }
  void next_field() {
    at_start_ = true;
    is_quoted_ = false;
    just_closed_ = false;
  }

 private:
  Is escape_or_text(char c) {
    if (c != dialect_.escape || dialect_.escape == dialect_.quote) return Is::text;
    is_escaped_ = true;
    return Is::mark;
  }

  const Dialect& dialect_;
  bool at_start_ = true, in_quotes_ = false, is_quoted_ = false, is_escaped_ = false, just_closed_ = false;
};

// Finds the ends of records in a text that arrives in parts.
class EndFinder {
 public:
  explicit EndFinder(const Dialect& dialect) : is_json_(dialect.is_json), walker_(dialect) {}

  // Returns the size of the part up to and including the line feed that ends the record; 0 if the record
  // continues.
  size_t find(std::string_view part) {
    if (is_json_) {
      const size_t end = part.find('\n');
      return end == std::string_view::npos ? 0 : end + 1;
    }
    for (size_t i = 0; i < part.size(); ++i)
      if (walker_.step(part[i]) == Walker::Is::end) return i + 1;
    return 0;
  }

 private:
  const bool is_json_;
  Walker walker_;
};

}  // namespace

base::Result<std::vector<Field>> parse_record(const Dialect& dialect, std::string_view record) {
  if (record.ends_with('\n')) record.remove_suffix(1);
  if (record.ends_with('\r')) record.remove_suffix(1);
  std::vector<Field> fields(1);
  Walker walker(dialect);
  for (const char c : record) {
    switch (walker.step(c)) {
      case Walker::Is::text:
        fields.back().text += c;
        break;
      case Walker::Is::mark:
        break;
      case Walker::Is::delimiter:
      case Walker::Is::end:
        fields.emplace_back();
        continue;
    }
    fields.back().is_quoted = walker.is_quoted();
  }
  if (walker.in_quotes()) return base::invalid("a quoted field is not closed");
  return fields;
}

void write_field(const Dialect& dialect, const std::optional<std::string>& text, std::string& out) {
  if (!text) {
    out += dialect.null;
    return;
  }
  const bool quoted =
      text->empty() || *text == dialect.null || std::any_of(text->begin(), text->end(), [&](char c) {
        return c == dialect.delimiter || c == dialect.quote || c == '\n' || c == '\r';
      });
  if (quoted) out += dialect.quote;
  for (const char c : *text) {
    if (c == dialect.escape || (c == dialect.quote && quoted)) out += dialect.escape;
    out += c;
  }
  if (quoted) out += dialect.quote;
}

size_t record_end(const Dialect& dialect, std::string_view text) {
  return EndFinder(dialect).find(text);
}

base::Result<RecordFile> RecordFile::open(const std::string& path, const Dialect& dialect) {
  const auto file = path == "-" ? base::Result<int>(::dup(STDIN_FILENO)) : base::open_to_read(path);
  if (!file)
    return base::fail(base::ErrorCode::invalid,
                      fmt::format("Cannot open {}: {}", path, file.error().message()));
  RecordFile opened(dialect, path, *file);
  struct stat status{};
  if (::fstat(*file, &status) == 0 && S_ISREG(status.st_mode))
    opened.size_ = static_cast<uint64_t>(status.st_size);
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";  // written by spreadsheets
  for (bool more = true; more && opened.buffer_.size() < byte_order_mark.size();) {
    SIBYL_ASSIGN(more, opened.read_more());
  }
  if (opened.buffer_.starts_with(byte_order_mark)) {
    opened.buffer_.erase(0, byte_order_mark.size());
    opened.offset_ = byte_order_mark.size();
  }
  return opened;
}

RecordFile::RecordFile(RecordFile&& other) noexcept
    : dialect_(std::move(other.dialect_)),
      path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      size_(other.size_),
      buffer_(std::move(other.buffer_)),
      offset_(other.offset_),
      line_(other.line_),
      is_ended_(other.is_ended_) {}

RecordFile::~RecordFile() {
  if (file_ >= 0) ::close(file_);
}

base::Status RecordFile::seek(uint64_t offset, uint64_t line) {
  if (::lseek(file_, static_cast<off_t>(offset), SEEK_SET) < 0)
    return base::fail(base::ErrorCode::invalid,
                      fmt::format("Cannot read {}: {}", path_, std::strerror(errno)));
  buffer_.clear();
  offset_ = offset;
  line_ = line;
  is_ended_ = false;
  return {};
}

// Returns false at the end of the file.
base::Result<bool> RecordFile::read_more() {
  const size_t before = buffer_.size();
  buffer_.resize(before + read_bytes);
  for (;;) {
    const ssize_t got = ::read(file_, buffer_.data() + before, read_bytes);
    if (got < 0 && errno == EINTR) continue;
    buffer_.resize(before + (got > 0 ? static_cast<size_t>(got) : 0));
    if (got < 0)
      return base::fail(base::ErrorCode::invalid,
                        fmt::format("Cannot read {}: {}", path_, std::strerror(errno)));
    return got > 0;
  }
}

base::Result<bool> RecordFile::next(size_t bytes, Piece& piece) {
  size_t taken = 0, looked_at = 0;
  EndFinder ends(dialect_);
  while (taken < bytes) {
    const size_t end = ends.find(std::string_view(buffer_).substr(looked_at));
    if (end > 0) {
      taken = looked_at += end;
      continue;
    }
    looked_at = buffer_.size();
    if (is_ended_) {
      taken = buffer_.size();
      break;
    }
    if (buffer_.size() - taken > max_record_bytes)
      return base::fail(
          base::Error(base::ErrorCode::invalid,
                      fmt::format("{}: the record at byte {} has no end within {} MiB", path_,
                                  offset_ + taken, max_record_bytes >> 20))
              .with_hint("check for a missing quote, and check --delimiter, --quote and --escape"));
    SIBYL_ASSIGN(const bool more, read_more());
    is_ended_ = !more;
  }
  if (taken == 0) return false;
  piece.begin = offset_;
  piece.end = offset_ + taken;
  piece.first_line = line_;
  piece.text = buffer_.substr(0, taken);
  buffer_.erase(0, taken);
  offset_ += taken;
  line_ += static_cast<uint64_t>(std::count(piece.text.begin(), piece.text.end(), '\n'));
  return true;
}

}  // namespace sibyl::cli::copy
