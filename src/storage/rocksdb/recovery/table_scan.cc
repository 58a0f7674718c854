#include "storage/rocksdb/recovery/table_scan.h"

#include <fcntl.h>
#include <lz4.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#define XXH_INLINE_ALL
#include <xxhash.h>
#undef XXH_INLINE_ALL

#include "base/file.h"
#include "storage/rocksdb/crc32c.h"
#include "storage/rocksdb/recovery/coding.h"

namespace sibyl::storage::rocksdb {
namespace {

using base::Bytes;
using base::BytesView;

constexpr size_t trailer_size = 5;  // compression type u8, checksum u32
constexpr size_t footer_size = 53;
constexpr uint64_t footer_magic = 0x88e241b785f4cff7;
constexpr size_t max_block_size = 64 << 20;
// Maximum length of a block whose end is searched for, and maximum distance to search for the next block.
constexpr size_t max_searched = 64 << 10;
constexpr size_t max_skipped = 16 << 10;

enum Checksum : uint8_t { crc = 1, xxh32 = 2, xxh64 = 3, xxh3 = 4 };
enum Compression : uint8_t { none = 0, lz4 = 4, lz4hc = 5 };

bool is_known(char compression) {
  const auto type = static_cast<uint8_t>(compression);
  return type == none || type == lz4 || type == lz4hc;
}

// Checksum of a block and of the compression type that follows it.
uint32_t checksum_of(uint8_t kind, BytesView block, char type) {
  const BytesView both(block.data(), block.size() + 1);  // the type follows the block
  switch (kind) {
    case crc: {
      const uint32_t value = crc32c(0, both);
      return ((value >> 15) | (value << 17)) + 0xa282ead8U;
    }
    case xxh32:
      return XXH32(both.data(), both.size(), 0);
    case xxh64:
      return static_cast<uint32_t>(XXH64(both.data(), both.size(), 0));
    default:
      return static_cast<uint32_t>(XXH3_64bits(block.data(), block.size())) ^
             static_cast<uint8_t>(type) * 0x6b9083d9U;
  }
}

std::optional<Bytes> uncompressed(BytesView block, char type) {
  if (static_cast<uint8_t>(type) == none) return Bytes(block);
  uint64_t size = 0;
  if (!take_varint(block, size) || size > max_block_size) return std::nullopt;
  Bytes out(size, '\0');
  const int got = LZ4_decompress_safe(block.data(), out.data(), static_cast<int>(block.size()),
                                      static_cast<int>(out.size()));
  if (got < 0 || static_cast<uint64_t>(got) != size) return std::nullopt;
  return out;
}

// Returns the entries of a block, without its restart points; nullopt if the block is malformed.
std::optional<BytesView> entries_of(BytesView block, std::vector<uint32_t>* restarts = nullptr) {
  if (block.size() < 4) return std::nullopt;
  const uint32_t count = take_fixed<uint32_t>(block.data() + block.size() - 4) & 0x7fffffff;
  if (count == 0 || count > (block.size() - 4) / 4) return std::nullopt;
  const size_t end = block.size() - 4 - 4 * size_t{count};
  for (uint32_t i = 0; restarts != nullptr && i < count; ++i)
    restarts->push_back(take_fixed<uint32_t>(block.data() + end + 4 * size_t{i}));
  return block.substr(0, end);
}

// Calls `take(key, value)` for each entry. Returns false if the block is malformed.
template <typename Take>
bool for_each_entry(BytesView block, Take take) {
  const std::optional<BytesView> entries = entries_of(block);
  if (!entries) return false;
  Bytes key;
  for (BytesView rest = *entries; !rest.empty();) {
    uint64_t shared = 0, own = 0, value_size = 0;
    if (!take_varint(rest, shared) || !take_varint(rest, own) || !take_varint(rest, value_size)) return false;
    if (shared > key.size() || own > rest.size() || value_size > rest.size() - own) return false;
    key.resize(shared);
    key.append(rest.substr(0, own));
    if (!take(BytesView(key), rest.substr(own, value_size))) return false;
    rest.remove_prefix(own + value_size);
  }
  return true;
}

bool decode_key(BytesView internal, TableEntry& entry) {
  if (internal.size() < key_trailer_size) return false;
  entry.key = internal.substr(0, internal.size() - key_trailer_size);
  const auto packed = take_fixed<uint64_t>(internal.data() + entry.key.size());
  entry.sequence = packed >> 8;
  entry.type = static_cast<TableEntry::Type>(packed & 0xff);
  return entry.type == TableEntry::deletion || entry.type == TableEntry::value_of_key ||
         entry.type == TableEntry::merge || entry.type == TableEntry::single_deletion ||
         entry.type == TableEntry::range_deletion;
}

bool comes_before(const TableEntry& left, const TableEntry& right) {
  return left.key != right.key ? left.key < right.key : left.sequence > right.sequence;
}

}  // namespace

base::Result<std::unique_ptr<TableScan>> TableScan::open(const std::string& path) {
  const base::File file(path, O_RDONLY);
  struct stat status{};
  if (!file || ::fstat(file.number(), &status) != 0) return base::fail(base::file_error("open", path, errno));
  const auto size = static_cast<size_t>(status.st_size);
  void* data = nullptr;
  if (size > 0) data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (data == MAP_FAILED) return base::fail(base::file_error("read", path, errno));
  std::unique_ptr<TableScan> scan(new TableScan(static_cast<const char*>(data), size));
  scan->read_footer();
  return scan;
}

TableScan::~TableScan() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

void TableScan::read_footer() {
  data_end_ = bytes_.size();
  lost_range_deletions_ = true;
  if (bytes_.size() < footer_size) return;
  BytesView footer = bytes_.substr(bytes_.size() - footer_size);
  if (take_fixed<uint64_t>(footer.data() + footer_size - 8) != footer_magic) return;
  const auto type = static_cast<uint8_t>(footer[0]);
  if (type >= crc && type <= xxh3) checksum_type_ = type;
  footer.remove_prefix(1);
  Handle metaindex, index;
  if (!take_varint(footer, metaindex.offset) || !take_varint(footer, metaindex.size) ||
      !take_varint(footer, index.offset) || !take_varint(footer, index.size))
    return;
  read_meta(metaindex);
  read_index(index, true);
}

void TableScan::read_meta(const Handle& metaindex) {
  Bytes block;
  if (!read_block(metaindex, block)) return;
  lost_range_deletions_ = false;
  for_each_entry(block, [this](BytesView name, BytesView value) {
    Handle handle;
    if (!take_varint(value, handle.offset) || !take_varint(value, handle.size)) return true;
    if (name != "rocksdb.properties" && name != "rocksdb.range_del") return true;
    Bytes contents;
    const bool is_read = read_block(handle, contents);
    if (name == "rocksdb.range_del") {
      lost_range_deletions_ = !is_read;
      for_each_entry(contents, [this](BytesView key, BytesView end) {
        TableEntry entry;
        if (!decode_key(key, entry)) return false;
        entry.value = end;
        range_deletions_.push_back(std::move(entry));
        return true;
      });
    } else {
      for_each_entry(contents, [this](BytesView property, BytesView number) {
        uint64_t size = 0;
        if (property == "rocksdb.data.size" && take_varint(number, size) && size < bytes_.size())
          data_end_ = size;
        return true;
      });
    }
    return true;
  });
}

// Every entry of an index is a restart point and therefore has a complete key and handle. The top of an index
// leads to data blocks, of which the first is at the beginning of the file, or to the partitions of the
// index.
void TableScan::read_index(const Handle& index, bool is_top) {
  Bytes block;
  std::vector<uint32_t> restarts;
  bool has_partitions = false;
  if (!read_block(index, block)) return;
  const std::optional<BytesView> entries = entries_of(block, &restarts);
  if (!entries) return;
  for (const uint32_t restart : restarts) {
    if (restart >= entries->size()) return;
    BytesView rest = entries->substr(restart);
    uint64_t shared = 0, own = 0;
    Handle handle;
    if (!take_varint(rest, shared) || !take_varint(rest, own) || shared != 0 || own > rest.size()) return;
    rest.remove_prefix(own);
    if (!take_varint(rest, handle.offset) || !take_varint(rest, handle.size)) return;
    if (restart == restarts.front()) has_partitions = is_top && handle.offset != 0;
    if (has_partitions)
      read_index(handle, false);
    else
      blocks_[handle.offset] = handle.size;
  }
}

bool TableScan::is_block(uint64_t offset, uint64_t size) const {
  if (size == 0 || offset >= bytes_.size() || size > bytes_.size() - offset) return false;
  if (bytes_.size() - offset - size < trailer_size) return false;
  const char* trailer = bytes_.data() + offset + size;
  return is_known(*trailer) && take_fixed<uint32_t>(trailer + 1) ==
                                   checksum_of(checksum_type_, bytes_.substr(offset, size), *trailer);
}

bool TableScan::read_block(const Handle& handle, Bytes& contents) const {
  if (!is_block(handle.offset, handle.size)) return false;
  auto out = uncompressed(bytes_.substr(handle.offset, handle.size), bytes_[handle.offset + handle.size]);
  if (!out) return false;
  contents = std::move(*out);
  return true;
}

// Finds the block at `offset`: by the index, or as the first length with a matching checksum.
bool TableScan::find_block(uint64_t offset, uint64_t max_size, Handle& handle) const {
  if (const auto known = blocks_.find(offset); known != blocks_.end()) {
    handle = {offset, known->second};
    return is_block(offset, known->second);
  }
  const uint64_t end = std::min<uint64_t>(data_end_, offset + max_size);
  for (uint64_t size = 1; offset + size + trailer_size <= end; ++size) {
    if (!is_known(bytes_[offset + size]) || !is_block(offset, size)) continue;
    handle = {offset, size};
    return true;
  }
  return false;
}

bool TableScan::next() {
  if (++position_ < block_.size()) return true;
  return load_block();
}

bool TableScan::load_block() {
  block_.clear();
  position_ = 0;
  while (offset_ < data_end_) {
    Handle handle;
    Bytes contents;
    const bool is_read = find_block(offset_, max_searched, handle) && read_block(handle, contents);
    if (is_read && accept(contents)) {
      offset_ = handle.offset + handle.size + trailer_size;
      return true;
    }
    // The end of the data blocks is not known. A block of another kind marks it.
    if (is_read && data_end_ == bytes_.size()) break;
    skip_damage();
  }
  if (has_open_damage_) damaged_.back().before.clear();
  return false;
}

// Returns false if these cannot be the next entries of the file.
bool TableScan::accept(const Bytes& contents) {
  std::vector<TableEntry> entries;
  const bool is_whole = for_each_entry(contents, [&](BytesView key, BytesView value) {
    TableEntry& entry = entries.emplace_back();
    if (!decode_key(key, entry)) return false;
    entry.value = value;
    return entries.size() < 2 || comes_before(entries[entries.size() - 2], entry);
  });
  if (!is_whole || entries.empty() || (!last_key_.empty() && entries.front().key < last_key_)) return false;
  block_ = std::move(entries);
  last_key_ = block_.back().key;
  if (has_open_damage_) damaged_.back().before = block_.front().key;
  has_open_damage_ = false;
  return true;
}

// Skips to the next block that the index lists or that can be found.
void TableScan::skip_damage() {
  const uint64_t begin = offset_;
  const auto known = blocks_.upper_bound(begin);
  const uint64_t limit = known == blocks_.end() ? data_end_ : std::min(known->first, data_end_);
  const bool is_indexed = blocks_.contains(begin);
  offset_ = limit;
  Handle handle;
  Bytes contents;
  for (uint64_t at = begin + 1; !is_indexed && at < std::min<uint64_t>(limit, begin + max_skipped); ++at) {
    if (!find_block(at, max_skipped, handle) || !read_block(handle, contents) || !entries_of(contents))
      continue;
    offset_ = at;
    break;
  }
  if (has_open_damage_ && !damaged_.empty()) {
    damaged_.back().size += offset_ - begin;
    return;
  }
  damaged_.push_back({begin, offset_ - begin, last_key_, {}});
  has_open_damage_ = true;
}

}  // namespace sibyl::storage::rocksdb
