#include "storage/objects/files/directory_summary.h"

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "storage/objects/files/file_record.h"

namespace sibyl::storage::objects {

namespace {

// Calls the function for each page of entries; once if there are no entries. Returns false if the directory
// does not exist.
template <typename Function>
base::Result<bool> for_each_page(ObjectStore& store, const std::string& name, Function function) {
  Read page{.attributes = true, .entries = Read::Entries{}};
  for (;;) {
    const ReadReply found = Blocking(store).read("directory/" + name, page);
    if (found.reply.is_refused(Reason::missing)) return false;
    if (!found.reply.is_done()) return base::fail(error_of(found.reply, "reading the directory " + name));
    function(found);
    if (!found.has_more_entries) return true;
    page.entries->after = found.entries.rbegin()->first;
  }
}

constexpr std::string_view file_entry = "f:";

}  // namespace

base::Result<DirectorySummary> summarise_directory(ObjectStore& store, const std::string& name) {
  DirectorySummary summary;
  SIBYL_TRY(for_each_page(store, name, [&](const ReadReply& found) {
    if (const auto epoch = found.attributes.find("epoch"); epoch != found.attributes.end())
      std::from_chars(epoch->second.data(), epoch->second.data() + epoch->second.size(), summary.epoch);
    for (const auto& [key, value] : found.entries) {
      const std::optional<FileRecord> record = parse_file_record(value);
      if (!key.starts_with(file_entry)) {
        ++summary.trash;
      } else if (record && record->is_complete) {
        ++summary.files;
        summary.bytes += record->size;
      }
    }
  }));
  return summary;
}

base::Result<std::map<std::string, FileRecord>> list_directory(ObjectStore& store, const std::string& name) {
  std::map<std::string, FileRecord> files;
  bool is_damaged = false;
  SIBYL_TRY(for_each_page(store, name, [&](const ReadReply& found) {
    for (const auto& [key, value] : found.entries) {
      if (!key.starts_with(file_entry)) continue;
      std::optional<FileRecord> record = parse_file_record(value);
      is_damaged = is_damaged || !record;
      if (record) files[key.substr(file_entry.size())] = std::move(*record);
    }
  }));
  if (is_damaged)
    return base::fail(base::ErrorCode::server, "The directory " + name + " has an entry of another version");
  return files;
}

}  // namespace sibyl::storage::objects
