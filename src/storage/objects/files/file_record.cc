#include "storage/objects/files/file_record.h"

#include <fmt/format.h>

#include <charconv>
#include <vector>

namespace sibyl::storage::objects {
namespace {

constexpr int format_version = 1;
constexpr size_t fields = 8;

template <typename Integer>
bool parse(base::BytesView text, Integer& value) {
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  return end.ec == std::errc() && end.ptr == text.data() + text.size();
}

}  // namespace

// VERSION ID STATE SIZE BLOCKS MODIFIED REFERENCE, then a line feed and the content. "-" stands for an empty
// field.
base::Bytes encode(const FileRecord& record) {
  const char state = record.is_complete ? 'c' : record.is_kept_incomplete ? 'k' : 'i';
  return fmt::format("{} {} {} {} {} {} {} \n{}", format_version, record.id.empty() ? "-" : record.id, state,
                     record.size, record.blocks, record.modified_micros,
                     record.reference.empty() ? "-" : record.reference, record.inlined);
}

std::optional<FileRecord> parse_file_record(base::BytesView bytes) {
  std::vector<base::BytesView> parts;
  while (parts.size() < fields - 1) {
    const size_t end = bytes.find(' ');
    if (end == base::BytesView::npos) return std::nullopt;
    parts.push_back(bytes.substr(0, end));
    bytes.remove_prefix(end + 1);
  }
  FileRecord record;
  int version = 0;
  if (!parse(parts[0], version) || version != format_version || parts[2].size() != 1 ||
      !bytes.starts_with('\n'))
    return std::nullopt;
  if (parts[1] != "-") record.id = parts[1];
  record.is_complete = parts[2] == "c";
  record.is_kept_incomplete = parts[2] == "k";
  if (!parse(parts[3], record.size) || !parse(parts[4], record.blocks) ||
      !parse(parts[5], record.modified_micros))
    return std::nullopt;
  if (parts[6] != "-") record.reference = parts[6];
  record.inlined = bytes.substr(1);
  return record;
}

std::string block_name(const std::string& id, uint64_t block) {
  return fmt::format("file/{}/{:06}", id, block);
}

}  // namespace sibyl::storage::objects
