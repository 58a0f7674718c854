#include "engine/maintenance/snapshots.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <string_view>

#include "base/file.h"
#include "row/record_key.h"
#include "storage/rocksdb/crc32c.h"
#include "storage/rocksdb/directory.h"
#include "types/value.h"

namespace sibyl::engine {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using storage::CheckpointFile;
using storage::rocksdb::crc32c;

constexpr std::string_view first_words = "sibyl snapshot 1 ";
constexpr const char* manifest_name = "SNAPSHOT";
constexpr const char* records_name = "records";
constexpr std::string_view unfinished_prefix = ".unfinished-";
constexpr size_t copy_bytes = 1 << 20;

base::Error damage(const SnapshotInfo& snapshot, const std::string& file, const std::string& why) {
  return base::Error(base::ErrorCode::invalid,
                     fmt::format("Snapshot {} is damaged: {}/{} {}", snapshot.name, snapshot.path, file, why))
      .with_hint("it cannot be used; take another snapshot, or restore an older one");
}

base::Status make_directory(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return base::fail(base::file_error("make", path, error.value()));
  return {};
}

base::Error no_snapshot(const std::string& path) {
  return base::Error(base::ErrorCode::invalid, fmt::format("There is no snapshot in {}", path))
      .with_hint("`sibyl snapshot list` lists the existing snapshots");
}

base::Result<std::vector<fs::path>> entries_of(const std::string& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    entries.push_back(entry->path());
  if (error) return base::fail(base::file_error("read", folder, error.value()));
  return entries;
}

base::Result<bool> is_there(const std::string& path) {
  std::error_code error;
  const bool found = fs::exists(path, error);
  if (error) return base::fail(base::file_error("read", path, error.value()));
  return found;
}

base::Status remove_tree(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) return base::fail(base::file_error("remove", path, error.value()));
  return {};
}

base::Status check_name(const std::string& name) {
  constexpr size_t max_name = 200;
  const bool good = !name.empty() && name.size() <= max_name && name.front() != '.' &&
                    std::all_of(name.begin(), name.end(), [](unsigned char c) {
                      return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
                    });
  if (good) return {};
  return base::fail(
      base::Error(base::ErrorCode::invalid, fmt::format("'{}' is not a valid snapshot name", name))
          .with_hint("a name has letters, digits, '.', '_' and '-', and does not begin with '.'"));
}

std::string name_of_time(int64_t millis) {
  return fmt::format("{:%Y%m%d-%H%M%S}-{:03}", fmt::gmtime(static_cast<std::time_t>(millis / 1000)),
                     millis % 1000);
}

// Removes a slash at the end.
fs::path whole_path(const std::string& path) {
  std::error_code ignored;
  const fs::path whole = fs::absolute(path, ignored).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();
}

// A snapshot is named after its directory. In a copy, the manifest still has the name of the original.
std::string name_of_directory(const std::string& path) {
  return whole_path(path).filename().string();
}

// Returns the lock that a process holds while it takes or clears a snapshot.
base::Result<base::File> lock_folder(const std::string& folder) {
  base::File lock(folder, O_RDONLY | O_DIRECTORY);
  if (!lock || ::flock(lock.number(), LOCK_EX | LOCK_NB) != 0)
    return base::fail(base::ErrorCode::invalid, "Another snapshot is being taken or cleared");
  return lock;
}

std::vector<SnapshotTable> tables_of(const storage::Store& store, const schema::Snapshot& schema) {
  std::vector<SnapshotTable> tables;
  for (const auto& [name, keyspace] : schema.keyspaces) {
    if (keyspace->is_virtual) continue;
    for (const auto* kind : {&keyspace->tables, &keyspace->views})
      for (const auto& [table_name, table] : *kind)
        if (!table->is_virtual && !keyspace->is_system)
          tables.push_back({name, table_name,
                            store.approximate_size(row::table_begin(table->storage_id),
                                                   row::table_end(table->storage_id))});
  }
  return tables;
}

std::string encode(const SnapshotInfo& snapshot) {
  json::object out{{"name", snapshot.name},
                   {"taken_millis", snapshot.taken_millis},
                   {"store_format", storage::rocksdb::store_format}};
  json::array& tables = out["tables"].emplace_array();
  for (const SnapshotTable& table : snapshot.tables)
    tables.push_back(
        json::object{{"keyspace", table.keyspace}, {"name", table.name}, {"bytes", table.bytes}});
  json::array& files = out["files"].emplace_array();
  for (const CheckpointFile& file : snapshot.files)
    files.push_back(json::object{
        {"path", file.path}, {"size", file.size}, {"crc32c", fmt::format("{:08x}", file.crc32c)}});
  const std::string text = json::serialize(out) + "\n";
  return fmt::format("{}{:08x}\n{}", first_words, crc32c(0, text), text);
}

// Returns the file's name in records/, where all files of a snapshot are. Empty if the path is elsewhere or
// invalid.
std::string name_in_records(std::string_view path) {
  constexpr std::string_view folder = "records/";
  if (!path.starts_with(folder)) return {};
  path.remove_prefix(folder.size());
  return base::is_plain_name(path) ? std::string(path) : std::string();
}

std::string text_of(const json::value& value) {
  return std::string(std::string_view(value.as_string()));
}

// Throws exceptions of Boost.JSON if a field is missing or has another type.
CheckpointFile decode_file(const json::value& value) {
  CheckpointFile file{text_of(value.at("path")), value.at("size").to_number<uint64_t>(), 0};
  if (name_in_records(file.path).empty())
    throw std::runtime_error(
        fmt::format("names the file {:?}, which is not directly in records/", file.path));
  const std::string crc = text_of(value.at("crc32c"));
  const auto read = std::from_chars(crc.data(), crc.data() + crc.size(), file.crc32c, 16);
  if (read.ec != std::errc() || read.ptr != crc.data() + crc.size())
    throw std::runtime_error(fmt::format("has no checksum for {}", file.path));
  return file;
}

// Throws like decode_file().
void decode_fields(const json::object& in, SnapshotInfo& snapshot) {
  snapshot.taken_millis = in.at("taken_millis").to_number<int64_t>();
  for (const json::value& table : in.at("tables").as_array())
    snapshot.tables.push_back(
        {text_of(table.at("keyspace")), text_of(table.at("name")), table.at("bytes").to_number<uint64_t>()});
  std::set<std::string> paths;
  for (const json::value& value : in.at("files").as_array()) {
    snapshot.files.push_back(decode_file(value));
    if (!paths.insert(snapshot.files.back().path).second)
      throw std::runtime_error(fmt::format("names {} twice", snapshot.files.back().path));
  }
  if (in.at("store_format").to_number<uint32_t>() != storage::rocksdb::store_format)
    throw std::runtime_error("has another store format");
}

// Returns a description of what is wrong, or an empty text.
std::string decode(const std::string& text, SnapshotInfo& snapshot) {
  const size_t end = text.find('\n');
  if (end == std::string::npos || !text.starts_with(first_words)) return "is not a snapshot manifest";
  uint32_t crc = 0;
  const std::string_view body = std::string_view(text).substr(end + 1);
  std::from_chars(text.data() + first_words.size(), text.data() + end, crc, 16);
  if (crc != crc32c(0, body)) return "does not match its checksum";
  try {
    decode_fields(json::parse(body).as_object(), snapshot);
  } catch (const std::exception& wrong) {
    return wrong.what();
  }
  return {};
}

// The directories of a snapshot or a new store, held open. Files are opened relative to them, so that no link
// can lead elsewhere, not even one created concurrently. `path` itself may be a link, since the caller chose
// it.
struct Directories {
  base::File top, records;

  static Directories open(const std::string& path) {
    Directories found;
    found.top = base::File(path, O_RDONLY | O_DIRECTORY);
    if (found.top) found.records = base::open_entry(found.top, records_name, O_RDONLY | O_DIRECTORY);
    return found;
  }
};

void measure(SnapshotInfo& snapshot) {
  const Directories directories = Directories::open(snapshot.path);
  for (const CheckpointFile& file : snapshot.files) {
    struct stat status{};
    snapshot.bytes += file.size;
    if (::fstatat(directories.records.number(), name_in_records(file.path).c_str(), &status,
                  AT_SYMLINK_NOFOLLOW) == 0 &&
        status.st_nlink == 1)
      snapshot.own_bytes += file.size;
  }
}

const char* why_not_opened() {
  return errno == ELOOP ? "is a link, which is not followed" : std::strerror(errno);
}

base::Result<base::File> open_checked(const SnapshotInfo& snapshot, const CheckpointFile& file,
                                      const Directories& from) {
  base::File source = base::open_entry(from.records, name_in_records(file.path), O_RDONLY);
  if (!source)
    return base::fail(damage(snapshot, file.path, fmt::format("cannot be opened: {}", why_not_opened())));
  if (!base::is_regular(source)) return base::fail(damage(snapshot, file.path, "is not a regular file"));
  struct stat status{};
  const auto size = ::fstat(source.number(), &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
  if (size != file.size)
    return base::fail(
        damage(snapshot, file.path, fmt::format("has {} bytes instead of {}", size, file.size)));
  return source;
}

// Reads and checks a file of a snapshot, and passes its bytes to `take`.
template <typename Take>
base::Status read_checked(const SnapshotInfo& snapshot, const CheckpointFile& file, const Directories& from,
                          Take take) {
  SIBYL_ASSIGN(const base::File source, open_checked(snapshot, file, from));
  uint32_t crc = 0;
  uint64_t size = 0;
  std::string buffer(copy_bytes, '\0');
  while (size <= file.size) {
    const ssize_t got = ::read(source.number(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return base::fail(damage(snapshot, file.path, fmt::format("cannot be read: {}", std::strerror(errno))));
    if (got == 0) break;
    const std::string_view piece(buffer.data(), static_cast<size_t>(got));
    crc = crc32c(crc, piece);
    size += piece.size();
    SIBYL_TRY(take(piece));
  }
  if (size != file.size)
    return base::fail(
        damage(snapshot, file.path, fmt::format("has {} bytes instead of {}", size, file.size)));
  if (crc != file.crc32c)
    return base::fail(
        damage(snapshot, file.path, fmt::format("has checksum {:08x} instead of {:08x}", crc, file.crc32c)));
  return {};
}

base::Status copy_checked(const SnapshotInfo& snapshot, const CheckpointFile& file, const Directories& from,
                          const Directories& target, const std::string& to) {
  const std::string path = to + "/" + file.path;
  const base::File copy =
      base::open_entry(target.records, name_in_records(file.path), O_WRONLY | O_CREAT | O_EXCL);
  if (!copy) return base::fail(base::file_error("make", path, errno));
  SIBYL_TRY(read_checked(snapshot, file, from, [&](std::string_view piece) -> base::Status {
    if (const int error = base::write_all(copy.number(), piece); error != 0)
      return base::fail(base::file_error("write", path, error));
    return {};
  }));
  if (::fsync(copy.number()) != 0) return base::fail(base::file_error("sync", path, errno));
  return {};
}

// Creates records/ in the directory. REQUIRES: it does not exist.
base::Result<Directories> make_records(const std::string& to) {
  const std::string path = fmt::format("{}/{}", to, records_name);
  const base::File top(to, O_RDONLY | O_DIRECTORY);
  if (!top || ::mkdirat(top.number(), records_name, 0755) != 0)
    return base::fail(base::file_error("make", path, errno));
  Directories made = Directories::open(to);
  if (!made.records) return base::fail(base::file_error("open", path, errno));
  return made;
}

base::Status copy_all(const SnapshotInfo& snapshot, const std::string& to) {
  const Directories from = Directories::open(snapshot.path);
  SIBYL_ASSIGN(const Directories target, make_records(to));
  for (const CheckpointFile& file : snapshot.files) SIBYL_TRY(copy_checked(snapshot, file, from, target, to));
  SIBYL_TRY(base::sync_path(fmt::format("{}/{}", to, records_name)));
  SIBYL_TRY(base::sync_path(whole_path(to).parent_path().string()));  // makes the directory's own name
                                                                      // durable
  return storage::rocksdb::mark_as_store(to);
}

base::Result<std::string> read_manifest(const SnapshotInfo& snapshot) {
  constexpr off_t max_size = 256 << 20;
  const base::File top(snapshot.path, O_RDONLY | O_DIRECTORY);
  const base::File manifest = top ? base::open_entry(top, manifest_name, O_RDONLY) : base::File();
  if (!manifest && errno == ELOOP)
    return base::fail(damage(snapshot, manifest_name, "is a link, which is not followed"));
  if (!manifest) return base::fail(no_snapshot(snapshot.path));
  struct stat status{};
  if (!base::is_regular(manifest) || ::fstat(manifest.number(), &status) != 0 || status.st_size > max_size)
    return base::fail(damage(snapshot, manifest_name, "is not a regular file of at most 256 MiB"));
  std::string text(static_cast<size_t>(status.st_size), '\0');
  size_t read = 0;
  while (read < text.size()) {
    const ssize_t got = ::read(manifest.number(), text.data() + read, text.size() - read);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return base::fail(damage(snapshot, manifest_name, "cannot be read"));
    read += static_cast<size_t>(got);
  }
  return text;
}

// Fills the directory of a snapshot before it is renamed to its final name.
base::Status fill(const std::string& directory, SnapshotInfo& snapshot, storage::Store& store,
                  const schema::Snapshot& schema) {
  SIBYL_TRY(make_directory(directory));
  SIBYL_ASSIGN(snapshot.files, store.checkpoint(directory + "/" + records_name));
  for (CheckpointFile& file : snapshot.files) file.path = fmt::format("{}/{}", records_name, file.path);
  snapshot.tables = tables_of(store, schema);
  const std::string path = fmt::format("{}/{}", directory, manifest_name);
  {
    const base::File manifest(path, O_WRONLY | O_CREAT | O_EXCL);
    if (!manifest) return base::fail(base::file_error("make", path, errno));
    int error = base::write_all(manifest.number(), encode(snapshot));
    if (error == 0 && ::fsync(manifest.number()) != 0) error = errno;
    if (error != 0) return base::fail(base::file_error("write", path, error));
  }
  return base::sync_path(directory);
}

}  // namespace

std::string snapshot_path(const std::string& data, const std::string& name) {
  return fmt::format("{}/snapshots/{}", data, name);
}

base::Result<SnapshotInfo> take_snapshot(const std::string& data, std::string name, storage::Store& store,
                                         const schema::Snapshot& schema, int64_t now_millis) {
  if (name.empty()) name = name_of_time(now_millis);
  SIBYL_TRY(check_name(name));
  const std::string folder = data + "/snapshots";
  SIBYL_TRY(make_directory(folder));
  SIBYL_TRY(base::sync_path(data));  // makes the name of the folder durable, if the folder is new
  SIBYL_ASSIGN(const base::File lock, lock_folder(folder));
  SnapshotInfo snapshot;
  snapshot.name = name;
  snapshot.path = snapshot_path(data, name);
  snapshot.taken_millis = now_millis;
  SIBYL_ASSIGN(const bool is_taken, is_there(snapshot.path));
  if (is_taken)
    return base::fail(base::ErrorCode::already_exists, fmt::format("Snapshot {} already exists", name));
  const std::string unfinished = fmt::format("{}/{}{}", folder, unfinished_prefix, name);
  SIBYL_ASSIGN(const std::vector<fs::path> entries, entries_of(folder));
  for (const fs::path& entry : entries)  // remove what a crash left behind
    if (entry.filename().string().starts_with(unfinished_prefix)) SIBYL_TRY(remove_tree(entry.string()));
  base::Status filled = fill(unfinished, snapshot, store, schema);
  if (filled && ::rename(unfinished.c_str(), snapshot.path.c_str()) != 0)
    filled = base::fail(base::file_error("make", snapshot.path, errno));
  if (!filled) {
    (void)remove_tree(unfinished);
    return base::fail(filled.error());
  }
  SIBYL_TRY(base::sync_path(folder));
  measure(snapshot);
  return snapshot;
}

base::Result<SnapshotInfo> read_snapshot(const std::string& path) {
  SnapshotInfo snapshot;
  snapshot.path = path;
  snapshot.name = name_of_directory(path);
  SIBYL_ASSIGN(const std::string text, read_manifest(snapshot));
  if (const std::string wrong = decode(text, snapshot); !wrong.empty())
    return base::fail(damage(snapshot, manifest_name, wrong));
  measure(snapshot);
  return snapshot;
}

base::Result<std::vector<SnapshotInfo>> list_snapshots(const std::string& data,
                                                       std::vector<std::string>* damaged) {
  std::vector<SnapshotInfo> snapshots;
  const std::string folder = data + "/snapshots";
  SIBYL_ASSIGN(const bool has_any, is_there(folder));
  if (!has_any) return snapshots;
  SIBYL_ASSIGN(const std::vector<fs::path> entries, entries_of(folder));
  for (const fs::path& entry : entries) {
    const std::string name = entry.filename().string();
    if (name.starts_with('.')) continue;
    auto snapshot = read_snapshot(entry.string());
    if (snapshot)
      snapshots.push_back(std::move(*snapshot));
    else if (damaged != nullptr)
      damaged->push_back(name);
  }
  std::sort(snapshots.begin(), snapshots.end(), [](const SnapshotInfo& a, const SnapshotInfo& b) {
    return std::tie(a.taken_millis, a.name) < std::tie(b.taken_millis, b.name);
  });
  return snapshots;
}

base::Status clear_snapshot(const std::string& data, const std::string& name) {
  SIBYL_TRY(check_name(name));
  const std::string path = snapshot_path(data, name);
  SIBYL_ASSIGN(const bool is_taken, is_there(path));
  if (!is_taken) return base::fail(no_snapshot(path));
  SIBYL_ASSIGN(const base::File lock, lock_folder(data + "/snapshots"));
  // The directory is renamed first, so that no reader mistakes a partly removed directory for a snapshot.
  const std::string going = fmt::format("{}/snapshots/{}{}", data, unfinished_prefix, name);
  if (::rename(path.c_str(), going.c_str()) != 0) return base::fail(base::file_error("remove", path, errno));
  return remove_tree(going);
}

base::Status verify_snapshot(const SnapshotInfo& snapshot) {
  const Directories from = Directories::open(snapshot.path);
  for (const CheckpointFile& file : snapshot.files)
    SIBYL_TRY(read_checked(snapshot, file, from, [](std::string_view) -> base::Status { return {}; }));
  return {};
}

base::Status restore_snapshot(const SnapshotInfo& snapshot, const std::string& to) {
  std::error_code error;
  const bool was_there = fs::exists(to, error);
  if (was_there && !fs::is_empty(to, error))
    return base::fail(base::Error(base::ErrorCode::invalid, fmt::format("{} is not empty", to))
                          .with_hint("use a new directory; a snapshot is not restored over other data"));
  SIBYL_TRY(make_directory(to));
  base::Status copied = copy_all(snapshot, to);
  if (copied) return copied;
  // The directory was empty before. It now has a partial store, which is useless and would prevent a retry.
  if (const auto entries = entries_of(to))
    for (const fs::path& entry : *entries) (void)remove_tree(entry.string());
  if (!was_there) ::rmdir(to.c_str());
  return copied;
}

std::vector<SystemRow> snapshot_rows(const std::string& data) {
  std::vector<SystemRow> rows;
  const auto snapshots = list_snapshots(data);
  if (!snapshots) return rows;
  for (const SnapshotInfo& snapshot : *snapshots) {
    const double own_share =
        snapshot.bytes == 0 ? 0
                            : static_cast<double>(snapshot.own_bytes) / static_cast<double>(snapshot.bytes);
    for (const SnapshotTable& table : snapshot.tables)
      rows.push_back({{"name", snapshot.name},
                      {"keyspace_name", table.keyspace},
                      {"table_name", table.name},
                      {"created_at", types::encode_int64(snapshot.taken_millis)},
                      {"ephemeral", types::encode_boolean(false)},
                      {"size_on_disk", types::encode_int64(static_cast<int64_t>(table.bytes))},
                      {"true_size", types::encode_int64(static_cast<int64_t>(
                                        static_cast<double>(table.bytes) * own_share))}});
  }
  return rows;
}

}  // namespace sibyl::engine
