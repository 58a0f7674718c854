#include "storage/rocksdb/shared/log_summary.h"

#include <fmt/format.h>

#include <charconv>
#include <map>

namespace sibyl::storage::rocksdb {
namespace {

uint64_t number_of(const objects::ReadReply& found, const char* attribute) {
  uint64_t number = 0;
  if (const auto value = found.attributes.find(attribute); value != found.attributes.end())
    std::from_chars(value->second.data(), value->second.data() + value->second.size(), number);
  return number;
}

}  // namespace

base::Result<LogSummary> summarise_log(objects::ObjectStore& store, const std::string& name) {
  objects::Blocking blocking(store);
  const std::string head = "log/" + name;
  const objects::ReadReply found = blocking.read(head, objects::Read::state());
  LogSummary summary;
  if (found.reply.is_refused(objects::Reason::missing)) return summary;
  if (!found.reply.is_done()) return base::fail(objects::error_of(found.reply, "reading " + head));
  for (uint64_t segment = number_of(found, "first");; ++segment) {
    const std::string object = fmt::format("{}/{:08}", head, segment);
    const objects::ReadReply part = blocking.read(object, objects::Read::state());
    if (part.reply.is_refused(objects::Reason::missing)) return summary;
    if (!part.reply.is_done()) return base::fail(objects::error_of(part.reply, "reading " + object));
    if (summary.first_segment == 0) summary.first_segment = segment;
    summary.last_segment = segment;
    summary.bytes += part.size;
    if (const uint64_t sequence = number_of(part, "sequence"); sequence > 0) summary.sequence = sequence;
  }
}

}  // namespace sibyl::storage::rocksdb
