#include "cli/import_sstables/merge.h"

#include <algorithm>
#include <tuple>

#include "types/keys/murmur3.h"

namespace sibyl::cli::import_sstables {

Merge::Merge(std::vector<std::unique_ptr<sstable::DataReader>> readers) {
  for (auto& reader : readers) heads_.push_back({std::move(reader), std::nullopt, 0, true});
}

base::Status Merge::advance(Head& head) {
  if (!head.is_stale) return {};
  const bool had_partition = head.partition.has_value();
  const auto before = std::pair(head.token, had_partition ? head.partition->key : base::Bytes());
  const uint64_t offset = head.reader->offset();
  SIBYL_ASSIGN(head.partition, head.reader->next_partition());
  head.is_stale = false;
  if (!head.partition) return {};
  head.token = types::murmur3_token(head.partition->key);
  if (had_partition && std::pair(head.token, head.partition->key) <= before)
    return base::fail(sstable::damage(head.reader->file(), offset,
                                      "the partitions are not in token order of the Murmur3Partitioner"));
  return {};
}

base::Result<std::vector<Merge::Member>> Merge::next() {
  const Head* least = nullptr;
  for (Head& head : heads_) {
    SIBYL_TRY(advance(head));
    if (!head.partition) continue;
    if (least == nullptr ||
        std::tie(head.token, head.partition->key) < std::tie(least->token, least->partition->key))
      least = &head;
  }
  std::vector<Member> members;
  if (least == nullptr) return members;
  const base::Bytes key = least->partition->key;
  for (Head& head : heads_) {
    if (!head.partition || head.partition->key != key) continue;
    head.is_stale = true;
    members.push_back({head.reader.get(), *head.partition});
  }
  return members;
}

uint64_t Merge::offset() const {
  uint64_t sum = 0;
  for (const Head& head : heads_) sum += head.reader->offset();
  return sum;
}

uint64_t Merge::data_length() const {
  uint64_t sum = 0;
  for (const Head& head : heads_) sum += head.reader->data_length();
  return sum;
}

}  // namespace sibyl::cli::import_sstables
