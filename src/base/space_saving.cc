#include "base/space_saving.h"

#include <algorithm>

namespace sibyl::base {

void SpaceSaving::link(uint8_t at) {
  uint8_t& head = heads_[head_of(entries_[at].hash)];
  next_[at] = head;
  head = at;
}

void SpaceSaving::unlink(uint8_t at) {
  uint8_t* link = &heads_[head_of(entries_[at].hash)];
  while (*link != at) link = &next_[*link];
  *link = next_[at];
}

void SpaceSaving::put(Entry entry) {
  entries_.push_back(std::move(entry));
  link(static_cast<uint8_t>(entries_.size() - 1));
}

uint64_t SpaceSaving::smallest() const {
  uint64_t least = UINT64_MAX;
  for (const Entry& entry : entries_) least = std::min(least, entry.count);
  return least;
}

// Counts only grow, so one pass finds every entry with the smallest count. After the pass, the smallest count
// is larger.
uint8_t SpaceSaving::least() {
  for (;;) {
    for (; search_from_ < entries_.size(); ++search_from_)
      if (entries_[search_from_].count == least_) return search_from_;
    search_from_ = 0;
    least_ = smallest();
  }
}

void SpaceSaving::add(uint64_t hash, BytesView name) {
  ++total_;
  if (const uint8_t at = find(hash); at != none) {
    ++entries_[at].count;
    return;
  }
  if (name.size() > max_name) name = {};
  if (entries_.size() < capacity) {
    put({hash, floor_ + 1, floor_, Bytes(name)});
    least_ = 0;
    search_from_ = capacity;  // the next call of least() starts a new pass
    return;
  }
  const uint8_t at = least();
  unlink(at);
  Entry& entry = entries_[at];
  entry.hash = hash;
  entry.error = entry.count;
  ++entry.count;
  entry.name.assign(name);
  link(at);
}

void SpaceSaving::merge(const SpaceSaving& other) {
  const uint64_t my_floor = floor(), its_floor = other.floor();
  SpaceSaving sum;
  std::vector<Entry> all = entries_;
  for (Entry& entry : all) {
    const uint8_t at = other.find(entry.hash);
    entry.count += at != none ? other.entries_[at].count : its_floor;
    entry.error += at != none ? other.entries_[at].error : its_floor;
  }
  for (const Entry& entry : other.entries_) {
    if (find(entry.hash) != none) continue;
    all.push_back({entry.hash, entry.count + my_floor, entry.error + my_floor, entry.name});
  }
  std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) {
    return a.count != b.count ? a.count > b.count : a.hash < b.hash;
  });
  sum.floor_ = my_floor + its_floor;
  if (all.size() > capacity) sum.floor_ = std::max(sum.floor_, all[capacity].count);
  all.resize(std::min(all.size(), capacity));
  for (Entry& entry : all) sum.put(std::move(entry));
  sum.total_ = total_ + other.total_;
  sum.search_from_ = capacity;
  *this = std::move(sum);
}

std::vector<SpaceSaving::Entry> SpaceSaving::heaviest(size_t max_entries) const {
  std::vector<Entry> sorted = entries_;
  // Items with equal counts are sorted by their errors.
  std::sort(sorted.begin(), sorted.end(), [](const Entry& a, const Entry& b) {
    if (a.count != b.count) return a.count > b.count;
    return a.error != b.error ? a.error < b.error : a.hash < b.hash;
  });
  if (sorted.size() > max_entries) sorted.resize(max_entries);
  return sorted;
}

void SpaceSaving::append_to(Bytes& out) const {
  append_varint(out, total_);
  append_varint(out, floor_);
  append_varint(out, entries_.size());
  for (const Entry& entry : entries_) {
    append_big_endian(out, entry.hash);
    append_varint(out, entry.count);
    append_varint(out, entry.error);
    append_sized(out, entry.name);
  }
}

bool SpaceSaving::read_from(Reader& in) {
  *this = {};
  uint64_t size = 0;
  if (!in.varint(total_) || !in.varint(floor_) || !in.varint(size) || size > capacity) return false;
  search_from_ = capacity;
  for (uint64_t i = 0; i < size; ++i) {
    Entry entry;
    BytesView name;
    if (!in.big_endian(entry.hash) || !in.varint(entry.count) || !in.varint(entry.error) || !in.sized(name))
      return false;
    if (entry.error > entry.count || find(entry.hash) != none) return false;
    entry.name = name;
    put(std::move(entry));
  }
  return true;
}

}  // namespace sibyl::base
