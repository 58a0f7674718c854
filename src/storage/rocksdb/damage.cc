#include "storage/rocksdb/damage.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <vector>

#include "storage/rocksdb/reading.h"

namespace sibyl::storage::rocksdb {
namespace {

constexpr size_t max_logged = 1000;
constexpr size_t max_key_shown = 32;

// Returns the name of the table file in a status's text, such as "/000012.sst"; empty if there is none.
std::string table_file_in(const std::string& text) {
  const size_t end = text.find(".sst");
  if (end == std::string::npos) return {};
  const size_t begin = text.rfind('/', end);
  return begin == std::string::npos ? "" : text.substr(begin, end + 4 - begin);
}

}  // namespace

void DamageReport::set_key_formatter(KeyName name) {
  const std::lock_guard lock(mutex_);
  key_name_ = std::move(name);
}

std::string DamageReport::name_of(base::BytesView key) const {
  {
    const std::lock_guard lock(mutex_);
    if (key_name_) return key_name_(key);
  }
  std::string text = "0x";
  for (const char c : key.substr(0, max_key_shown)) text += fmt::format("{:02x}", static_cast<uint8_t>(c));
  return text;
}

std::string DamageReport::describe(::rocksdb::DB& database, const std::string& file) const {
  std::vector<::rocksdb::LiveFileMetaData> files;
  database.GetLiveFilesMetaData(&files);
  for (const auto& found : files) {
    if (found.relative_filename != file.substr(1) && found.name != file) continue;
    return fmt::format("{}{}, whose records range from {} to {}", found.db_path, file,
                       name_of(found.smallestkey), name_of(found.largestkey));
  }
  return file.substr(1);
}

void DamageReport::log_once(const std::string& what) {
  {
    const std::lock_guard lock(mutex_);
    if (logged_.size() >= max_logged || !logged_.insert(what).second) return;
  }
  spdlog::error("damaged data: {}", what);
}

base::Error DamageReport::read_error(::rocksdb::DB& database, const ::rocksdb::Status& status,
                                     base::BytesView key) {
  base::Error error = error_of(status, base::ErrorCode::read_failure);
  if (!status.IsCorruption()) return error;
  ++count_;
  const std::string met = fmt::format("found by a read at {}", name_of(key));
  const std::string file = table_file_in(status.ToString());
  if (file.empty()) {
    log_once(fmt::format("{}; {}", status.ToString(), met));
    return base::Error(error.code(), fmt::format("{}; {}", error.message(), met)).with_hint(error.hint());
  }
  // Many reads encounter the same block, so the log identifies it by file and offset.
  log_once(fmt::format("{} [{}]", describe(database, file), status.ToString()));
  return base::Error(error.code(), fmt::format("A block of {} is damaged and is not served; {}. {}",
                                               file.substr(1), met, error.message()))
      .with_hint(error.hint());
}

void DamageReport::background(const ::rocksdb::Status& status) {
  if (!status.IsCorruption()) return;
  ++count_;
  log_once(fmt::format("a compaction stopped and left its files unchanged: {}", status.ToString()));
}

}  // namespace sibyl::storage::rocksdb
