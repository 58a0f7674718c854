#include "storage/objects/files/directory_summary.h"

#include <charconv>

#include "storage/objects/files/file_record.h"

namespace sibyl::storage::objects {

base::Result<DirectorySummary> summarise_directory(ObjectStore& store, const std::string& name) {
  DirectorySummary summary;
  Read page{.attributes = true, .entries = Read::Entries{}};
  for (;;) {
    const ReadReply found = Blocking(store).read("directory/" + name, page);
    if (found.reply.is_refused(Reason::missing)) return summary;
    if (!found.reply.is_done()) return base::fail(error_of(found.reply, "reading the directory " + name));
    if (const auto epoch = found.attributes.find("epoch"); epoch != found.attributes.end())
      std::from_chars(epoch->second.data(), epoch->second.data() + epoch->second.size(), summary.epoch);
    for (const auto& [key, value] : found.entries) {
      const std::optional<FileRecord> record = parse_file_record(value);
      if (!key.starts_with("f:")) {
        ++summary.trash;
      } else if (record && record->is_complete) {
        ++summary.files;
        summary.bytes += record->size;
      }
    }
    if (!found.has_more_entries) return summary;
    page.entries->after = found.entries.rbegin()->first;
  }
}

}  // namespace sibyl::storage::objects
