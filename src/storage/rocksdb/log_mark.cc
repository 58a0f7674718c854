#include "storage/rocksdb/log_mark.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace sibyl::storage::rocksdb {
namespace {

// Removes and returns the number at the beginning of the text, and the blank after it.
uint64_t take_number(std::string_view& text) {
  uint64_t number = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<size_t>(at - text.data()));
  if (text.starts_with(' ')) text.remove_prefix(1);
  return error == std::errc() ? number : 0;
}

}  // namespace

base::Status LogMark::read() {
  if (path().empty()) return {};
  SIBYL_TRY(file_.read());
  if (file_.text()) {
    std::string_view text = *file_.text();
    segment_ = take_number(text);
    last_segment_ = std::max(segment_, take_number(text));
  }
  if (file_.note()) {
    std::string_view note = *file_.note();
    synced_salt_ = take_number(note);
    synced_bytes_ = take_number(note);
  }
  return {};
}

int LogMark::set(uint64_t segment, uint64_t last) {
  last = std::max({segment, last, last_segment_});
  const std::string text =
      segment == 0 ? fmt::format("{:012} {:012}", segment, last) : fmt::format("{:012}", segment);
  if (!path().empty())
    if (const int error = file_.write(text); error != 0) return error;
  segment_ = segment;
  last_segment_ = last;
  return 0;
}

void LogMark::note_synced(uint64_t salt, uint64_t bytes) {
  if (path().empty() || !file_.exists() || (synced_salt_ == salt && synced_bytes_ == bytes)) return;
  if (file_.write_note(fmt::format("{} {}", salt, bytes)) != 0) return;
  synced_salt_ = salt;
  synced_bytes_ = bytes;
}

}  // namespace sibyl::storage::rocksdb
