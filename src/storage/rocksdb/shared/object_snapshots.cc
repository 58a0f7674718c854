#include "storage/rocksdb/shared/object_snapshots.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cctype>
#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "storage/objects/files/block_writer.h"
#include "storage/objects/files/directory_summary.h"
#include "storage/objects/files/object_directory.h"
#include "storage/objects/files/repeat.h"
#include "storage/rocksdb/crc32c.h"
#include "storage/rocksdb/directory.h"

namespace sibyl::storage::rocksdb {
namespace {

namespace json = boost::json;
using objects::BlockRead;
using objects::BlockWriter;
using objects::FileRecord;
using objects::Mutation;
using objects::ObjectDirectory;
using objects::ObjectStore;
using objects::Read;
using objects::ReadReply;
using objects::Reason;
using objects::Reply;

constexpr const char* index_object = "snapshots";
constexpr std::string_view first_words = "sibyl snapshot 1 ";
constexpr std::chrono::milliseconds patience{120'000};
constexpr uint64_t copied_at_once = 16 << 20;

std::string manifest_object(const std::string& name) {
  return "snapshot-" + name;
}

base::Error no_snapshot(const std::string& name) {
  return base::Error(base::ErrorCode::invalid, fmt::format("There is no snapshot {}", name))
      .with_hint("`sibyl snapshot list` lists the existing snapshots");
}

base::Error damage(const std::string& name, const std::string& what) {
  return base::Error(base::ErrorCode::invalid, fmt::format("Snapshot {} is damaged: {}", name, what))
      .with_hint("it cannot be used; take another snapshot, or restore an older one");
}

base::Status done_or_error(Reply reply, const std::string& what) {
  if (reply.is_done()) return {};
  return base::fail(objects::error_of(reply, what));
}

std::string random_attempt() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

// --- The index

std::string index_entry(uint32_t shards, const std::string& attempt) {
  return fmt::format("{} {}", shards, attempt);
}

ObjectSnapshot parse_index_entry(const std::string& name, const base::Bytes& value) {
  ObjectSnapshot snapshot;
  snapshot.name = name;
  uint32_t shards = 0;
  std::from_chars(value.data(), value.data() + value.size(), shards);
  snapshot.shards.resize(shards);
  const size_t space = value.find(' ');
  if (space != base::Bytes::npos) snapshot.attempt = value.substr(space + 1);
  return snapshot;
}

base::Result<std::optional<ObjectSnapshot>> find_in_index(ObjectStore& store, const std::string& name) {
  const ReadReply found = objects::repeat_read(store, index_object, Read{.named_entries = {name}}, patience);
  if (found.reply.is_refused(Reason::missing)) return std::nullopt;
  if (!found.reply.is_done()) return base::fail(objects::error_of(found.reply, "reading the snapshots"));
  const auto entry = found.entries.find(name);
  if (entry == found.entries.end()) return std::nullopt;
  return std::optional(parse_index_entry(name, entry->second));
}

// --- The manifest

std::string encode_manifest(const ObjectSnapshot& snapshot) {
  json::object out{{"name", snapshot.name},
                   {"attempt", snapshot.attempt},
                   {"taken_millis", snapshot.taken_millis},
                   {"lease_ms", snapshot.lease_ms},
                   {"store_format", store_format}};
  json::array& tables = out["tables"].emplace_array();
  for (const auto& table : snapshot.tables)
    tables.push_back({{"keyspace", table.keyspace}, {"name", table.name}, {"bytes", table.bytes}});
  json::array& shards = out["shards"].emplace_array();
  for (const auto& shard : snapshot.shards) {
    json::array files;
    for (const CheckpointFile& file : shard.files)
      files.push_back({{"path", file.path}, {"size", file.size}, {"crc32c", file.crc32c}});
    shards.push_back({{"epoch", shard.epoch}, {"files", std::move(files)}});
  }
  const std::string text = json::serialize(out) + "\n";
  return fmt::format("{}{:08x}\n{}", first_words, crc32c(0, text), text);
}

std::string string_of(const json::value& value) {
  return std::string(std::string_view(value.as_string()));
}

// Throws exceptions of Boost.JSON if a field is missing or has another type.
void decode_fields(const json::object& in, ObjectSnapshot& snapshot) {
  if (in.at("store_format").to_number<uint32_t>() != store_format)
    throw std::runtime_error("it has another store format");
  snapshot.attempt = string_of(in.at("attempt"));
  snapshot.taken_millis = in.at("taken_millis").to_number<int64_t>();
  snapshot.lease_ms = in.at("lease_ms").to_number<int64_t>();
  for (const json::value& table : in.at("tables").as_array())
    snapshot.tables.push_back({string_of(table.at("keyspace")), string_of(table.at("name")),
                               table.at("bytes").to_number<uint64_t>()});
  snapshot.shards.clear();
  for (const json::value& one : in.at("shards").as_array()) {
    ObjectSnapshot::Shard& shard = snapshot.shards.emplace_back();
    shard.epoch = one.at("epoch").to_number<uint64_t>();
    for (const json::value& file : one.at("files").as_array())
      shard.files.push_back({string_of(file.at("path")), file.at("size").to_number<uint64_t>(),
                             file.at("crc32c").to_number<uint32_t>()});
  }
}

// Returns a description of what is wrong, or an empty text.
std::string decode_manifest(std::string_view text, ObjectSnapshot& snapshot) {
  const size_t end = text.find('\n');
  if (end == std::string_view::npos || !text.starts_with(first_words)) return "its list of files is missing";
  uint32_t crc = 0;
  const std::string_view body = text.substr(end + 1);
  std::from_chars(text.data() + first_words.size(), text.data() + end, crc, 16);
  if (crc != crc32c(0, body)) return "its list of files does not match its checksum";
  try {
    decode_fields(json::parse(body).as_object(), snapshot);
  } catch (const std::exception& wrong) {
    return wrong.what();
  }
  snapshot.is_complete = true;
  return {};
}

// Returns the snapshot as its manifest describes it. Without a manifest it is incomplete, as the index
// describes it.
base::Result<ObjectSnapshot> describe(ObjectStore& store, ObjectSnapshot snapshot) {
  const ReadReply found = objects::repeat_read(store, manifest_object(snapshot.name),
                                               Read::data(0, objects::max_mutation), patience);
  if (found.reply.is_refused(Reason::missing)) return snapshot;
  if (!found.reply.is_done())
    return base::fail(objects::error_of(found.reply, "reading the snapshot " + snapshot.name));
  ObjectSnapshot described = snapshot;
  if (const std::string wrong = decode_manifest(found.data, described); !wrong.empty())
    return base::fail(damage(snapshot.name, wrong));
  return described.attempt == snapshot.attempt ? described : snapshot;
}

// --- Files

using Files = std::map<std::string, FileRecord>;

// Passes the bytes of a file to the function, and checks them.
template <typename Take>
base::Status read_file(ObjectStore& store, const std::string& name, const Files& files,
                       const CheckpointFile& file, Take take) {
  const auto found = files.find(file.path);
  if (found == files.end() || !found->second.is_complete)
    return base::fail(damage(name, file.path + " is missing"));
  const FileRecord& record = found->second;
  if (record.size != file.size)
    return base::fail(
        damage(name, fmt::format("{} has {} bytes instead of {}", file.path, record.size, file.size)));
  uint32_t crc = 0;
  for (uint64_t offset = 0; offset < file.size;) {
    base::Bytes part;
    BlockRead read(store, record, offset, std::min(copied_at_once, file.size - offset));
    const Reply reply = read.finish(patience, part);
    if (reply.is_refused(Reason::missing) || (reply.is_done() && part.empty()))
      return base::fail(damage(name, file.path + " lacks some of its bytes"));
    SIBYL_TRY(done_or_error(reply, "reading " + file.path));
    crc = crc32c(crc, part);
    offset += part.size();
    SIBYL_TRY(take(part));
  }
  if (crc != file.crc32c)
    return base::fail(damage(
        name, fmt::format("{} has the checksum {:08x} instead of {:08x}", file.path, crc, file.crc32c)));
  return {};
}

base::Status copy_file(ObjectStore& from, const std::string& name, const Files& files,
                       const CheckpointFile& file, ObjectDirectory& to) {
  const std::string what = "copying " + file.path;
  const auto source = files.find(file.path);
  if (source != files.end() && source->second.id.empty()) {  // the content is in the entry
    base::Bytes content;
    SIBYL_TRY(read_file(from, name, files, file, [&](const base::Bytes& part) -> base::Status {
      content += part;
      return {};
    }));
    return done_or_error(to.create_inline(file.path, std::move(content)), what);
  }
  FileRecord made;
  SIBYL_TRY(done_or_error(to.create(file.path, false, made), what));
  BlockWriter writer(to, made.id);
  SIBYL_TRY(read_file(from, name, files, file,
                      [&](const base::Bytes& part) { return done_or_error(writer.append(part), what); }));
  SIBYL_TRY(done_or_error(writer.sync(), what));
  return done_or_error(to.complete(file.path, made.id, writer.size()), what);
}

// The servers of a cluster may have opened a directory of a snapshot, and must not be fenced.
base::Result<std::unique_ptr<ObjectDirectory>> open_directory(ObjectStore& store, const std::string& name) {
  ObjectDirectory::Options options;
  options.store = &store;
  options.name = name;
  options.patience = patience;
  options.fences_previous_owner = false;
  return ObjectDirectory::open(std::move(options));
}

base::Status remove_files(ObjectDirectory& directory) {
  for (const std::string& file : directory.names())
    SIBYL_TRY(done_or_error(directory.remove(file), "removing " + file));
  return done_or_error(directory.collect(), "removing files of " + directory.name());
}

base::Status remove_object(ObjectStore& store, const std::string& object) {
  Mutation remove;
  remove.remove().allow_when_full();
  const Reply reply = objects::repeat(store, object, remove, patience);
  if (reply.is_refused(Reason::missing)) return {};
  return done_or_error(reply, "removing " + object);
}

base::Status remove_directory(ObjectStore& store, const std::string& name) {
  const ReadReply found = objects::repeat_read(store, "directory/" + name, Read::state(), patience);
  if (found.reply.is_refused(Reason::missing)) return {};
  SIBYL_ASSIGN(const auto directory, open_directory(store, name));
  SIBYL_TRY(remove_files(*directory));
  return remove_object(store, "directory/" + name);
}

}  // namespace

uint64_t ObjectSnapshot::bytes() const {
  uint64_t sum = 0;
  for (const Shard& shard : shards)
    for (const CheckpointFile& file : shard.files) sum += file.size;
  return sum;
}

size_t ObjectSnapshot::files() const {
  size_t sum = 0;
  for (const Shard& shard : shards) sum += shard.files.size();
  return sum;
}

base::Status check_snapshot_name(const std::string& name) {
  constexpr size_t max_length = 200;
  const bool is_good = !name.empty() && name.size() <= max_length && name.front() != '.' &&
                       std::ranges::all_of(name, [](unsigned char c) {
                         return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
                       });
  if (is_good) return {};
  return base::fail(
      base::Error(base::ErrorCode::invalid, fmt::format("'{}' is not a valid snapshot name", name))
          .with_hint("a name has letters, digits, '.', '_' and '-', and does not begin with '.'"));
}

std::string snapshot_directory(const std::string& name, uint32_t shard) {
  return fmt::format("snapshot-{}/shard-{:08}", name, shard);
}

base::Result<ObjectSnapshot> begin_object_snapshot(ObjectStore& store, const std::string& name,
                                                   uint32_t shards) {
  SIBYL_TRY(check_snapshot_name(name));
  Mutation create;
  create.create();
  SIBYL_TRY(done_or_error(objects::repeat(store, index_object, create, patience), "taking a snapshot"));
  ObjectSnapshot begun;
  begun.name = name;
  begun.attempt = random_attempt();
  begun.shards.resize(shards);
  Mutation reserve;
  reserve.if_entry(name, "").set_entry(name, index_entry(shards, begun.attempt));
  const Reply reply = objects::repeat(store, index_object, reserve, patience);
  if (reply.is_done()) return begun;
  if (!reply.is_refused(Reason::mismatch)) return base::fail(objects::error_of(reply, "taking a snapshot"));
  SIBYL_ASSIGN(const std::optional<ObjectSnapshot> existing, find_in_index(store, name));
  if (existing && existing->attempt == begun.attempt) return begun;
  return base::fail(base::Error(base::ErrorCode::invalid, fmt::format("Snapshot {} exists already", name))
                        .with_hint(fmt::format("`sibyl snapshot clear {}` removes it", name)));
}

base::Status finish_object_snapshot(ObjectStore& store, const ObjectSnapshot& snapshot) {
  const std::string manifest = encode_manifest(snapshot);
  if (manifest.size() > objects::max_mutation / 2)
    return base::fail(base::ErrorCode::server,
                      fmt::format("Snapshot {} has too many files: {}", snapshot.name, snapshot.files()));
  Mutation write;
  write.replace(manifest);
  SIBYL_TRY(done_or_error(objects::repeat(store, manifest_object(snapshot.name), write, patience),
                          "writing the snapshot"));
  SIBYL_ASSIGN(const std::optional<ObjectSnapshot> reserved, find_in_index(store, snapshot.name));
  if (reserved && reserved->attempt == snapshot.attempt) return {};
  return base::fail(base::ErrorCode::invalid,
                    fmt::format("Snapshot {} was cleared meanwhile", snapshot.name));
}

base::Result<std::vector<ObjectSnapshot>> list_object_snapshots(ObjectStore& store) {
  std::vector<ObjectSnapshot> snapshots;
  Read page{.entries = Read::Entries{}};
  for (;;) {
    const ReadReply found = objects::repeat_read(store, index_object, page, patience);
    if (found.reply.is_refused(Reason::missing)) return snapshots;
    if (!found.reply.is_done()) return base::fail(objects::error_of(found.reply, "reading the snapshots"));
    for (const auto& [name, value] : found.entries) {
      SIBYL_ASSIGN(ObjectSnapshot snapshot, describe(store, parse_index_entry(name, value)));
      snapshots.push_back(std::move(snapshot));
    }
    if (!found.has_more_entries) return snapshots;
    page.entries->after = found.entries.rbegin()->first;
  }
}

base::Result<ObjectSnapshot> read_object_snapshot(ObjectStore& store, const std::string& name) {
  SIBYL_TRY(check_snapshot_name(name));
  SIBYL_ASSIGN(std::optional<ObjectSnapshot> listed, find_in_index(store, name));
  if (!listed) return base::fail(no_snapshot(name));
  SIBYL_ASSIGN(ObjectSnapshot snapshot, describe(store, std::move(*listed)));
  if (snapshot.is_complete) return snapshot;
  return base::fail(
      base::Error(base::ErrorCode::invalid, fmt::format("Snapshot {} is not complete", name))
          .with_hint(fmt::format("it is being taken, or that has failed: `sibyl snapshot clear {}`", name)));
}

base::Status verify_object_snapshot(ObjectStore& store, const ObjectSnapshot& snapshot) {
  for (uint32_t shard = 0; shard < snapshot.shards.size(); ++shard) {
    SIBYL_ASSIGN(const Files files, objects::list_directory(store, snapshot_directory(snapshot.name, shard)));
    for (const CheckpointFile& file : snapshot.shards[shard].files)
      SIBYL_TRY(read_file(store, fmt::format("{}, shard {},", snapshot.name, shard), files, file,
                          [](const base::Bytes&) { return base::Status(); }));
  }
  return {};
}

base::Status clear_object_snapshot(ObjectStore& store, const std::string& name) {
  SIBYL_TRY(check_snapshot_name(name));
  SIBYL_ASSIGN(const std::optional<ObjectSnapshot> listed, find_in_index(store, name));
  if (!listed) return base::fail(no_snapshot(name));
  SIBYL_TRY(remove_object(store, manifest_object(name)));
  for (uint32_t shard = 0; shard < listed->shards.size(); ++shard)
    SIBYL_TRY(remove_directory(store, snapshot_directory(name, shard)));
  Mutation forget;
  forget.if_entry(name, index_entry(static_cast<uint32_t>(listed->shards.size()), listed->attempt))
      .erase_entry(name)
      .allow_when_full();
  const Reply reply = objects::repeat(store, index_object, forget, patience);
  if (reply.is_refused(Reason::mismatch)) return {};  // an earlier attempt was applied
  return done_or_error(reply, "removing the snapshot");
}

base::Status copy_object_snapshot(ObjectStore& from, const ObjectSnapshot& snapshot, ObjectStore& to,
                                  const std::function<std::string(uint32_t shard)>& directory_of) {
  for (uint32_t shard = 0; shard < snapshot.shards.size(); ++shard) {
    SIBYL_ASSIGN(const Files files, objects::list_directory(from, snapshot_directory(snapshot.name, shard)));
    SIBYL_ASSIGN(const auto directory, open_directory(to, directory_of(shard)));
    SIBYL_TRY(remove_files(*directory));
    const std::string name = fmt::format("{}, shard {},", snapshot.name, shard);
    for (const CheckpointFile& file : snapshot.shards[shard].files)
      SIBYL_TRY(copy_file(from, name, files, file, *directory));
    SIBYL_TRY(done_or_error(directory->release(), "closing " + directory->name()));
  }
  return {};
}

}  // namespace sibyl::storage::rocksdb
