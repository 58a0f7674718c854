#include "storage/rocksdb/recovery/manifest_guard.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "base/file.h"
#include "storage/rocksdb/crc32c.h"

namespace sibyl::storage::rocksdb {
namespace {

constexpr size_t max_named = 20;  // maximum number of files named in a message

std::string text_of(const std::vector<ManifestEntry>& entries) {
  std::string text;
  for (const ManifestEntry& entry : entries)
    text += fmt::format("{}{} {} {:08x} {} {:08x} {}", text.empty() ? "" : ", ", entry.number, entry.size,
                        entry.crc, entry.files, entry.files_crc, entry.last_sequence);
  return text;
}

// Returns an empty list if the text was not written by text_of().
std::vector<ManifestEntry> parse(const std::string& text) {
  std::vector<ManifestEntry> entries;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(", ", at), text.size());
    ManifestEntry entry;
    if (std::sscanf(text.substr(at, end - at).c_str(),
                    "%" SCNu64 " %" SCNu64 " %" SCNx32 " %" SCNu64 " %" SCNx32 " %" SCNu64, &entry.number,
                    &entry.size, &entry.crc, &entry.files, &entry.files_crc, &entry.last_sequence) != 6)
      return {};
    entries.push_back(entry);
    at = end + 2;
  }
  return entries;
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < max_named; ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > max_named) text += fmt::format(" and {} more", names.size() - max_named);
  return text;
}

const ManifestEntry* find(const std::vector<ManifestEntry>& entries, uint64_t number) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const ManifestEntry& entry) { return entry.number == number; });
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace

std::string manifest_name(uint64_t number) {
  return fmt::format("MANIFEST-{:06}", number);
}

std::optional<uint64_t> current_manifest(const std::string& records) {
  std::error_code error;
  const std::string path = records + "/CURRENT";
  if (!std::filesystem::exists(path, error) && !error) return std::nullopt;
  const auto text = base::read_file(path);
  constexpr std::string_view begin = "MANIFEST-";
  if (!text || !text->starts_with(begin) || !text->ends_with('\n')) return 0;
  uint64_t number = 0;
  const char* const end = text->data() + text->size() - 1;
  const auto [at, wrong] = std::from_chars(text->data() + begin.size(), end, number);
  return wrong == std::errc() && at == end ? number : 0;
}

std::map<uint64_t, uint64_t> table_files_in(const std::string& records) {
  std::map<uint64_t, uint64_t> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(records, error)) {
    const uint64_t number = table_file_number(entry.path().filename().string());
    std::error_code unknown;
    if (number != 0) files[number] = entry.file_size(unknown);
  }
  return files;
}

ManifestGuard::ManifestGuard(const std::string& path, Disk& disk)
    : path_(path),
      records_(path + "/records"),
      disk_(&disk),
      file_(path + "/SIBYL_MANIFEST", "manifest", disk) {}

base::Error ManifestGuard::refusal(const std::string& why) const {
  return base::Error(base::ErrorCode::config, fmt::format("Cannot open the store in {}: {}", path_, why))
      .with_hint(fmt::format(
          "no file was changed; restore the file, or restore a snapshot into a new directory "
          "(`sibyl snapshot restore`), or recover the intact data with `sibyl recover --data {} --to "
          "NEW_DIRECTORY`",
          path_));
}

base::Status ManifestGuard::read_record() {
  SIBYL_TRY(file_.read());
  if (!file_.exists()) return {};
  if (file_.text()) entries_ = parse(*file_.text());
  if (entries_.empty())
    return base::fail(
        refusal(fmt::format("{} is damaged, so it is not known whether records/ is complete", file_.path())));
  return {};
}

base::Status ManifestGuard::check() {
  const std::lock_guard lock(mutex_);
  SIBYL_TRY(read_record());
  const std::optional<uint64_t> current = current_manifest(records_);
  if (!current) {
    if (entries_.empty() || find(entries_, 0) != nullptr) return {};
    return base::fail(refusal(fmt::format("{}/CURRENT is missing", records_)));
  }
  if (*current == 0) return base::fail(refusal(fmt::format("{}/CURRENT is damaged", records_)));
  const auto bytes = base::read_file(fmt::format("{}/{}", records_, manifest_name(*current)));
  if (!bytes)
    return base::fail(refusal(fmt::format("{}/{}, which CURRENT names, cannot be read: {}", records_,
                                          manifest_name(*current), bytes.error().message())));
  SIBYL_TRY(check_manifest(*current, *bytes));
  manifest_is_intact_ = !entries_.empty();
  ManifestReader reader;
  reader.add(*bytes);
  return check_tables(reader);
}

base::Status ManifestGuard::check_manifest(uint64_t number, const base::Bytes& bytes) const {
  if (entries_.empty()) return {};  // the store was last written by an older version, without a record
  const std::string name = fmt::format("{}/{}", records_, manifest_name(number));
  const ManifestEntry* entry = find(entries_, number);
  if (entry == nullptr) {
    const base::Error error =
        refusal(fmt::format("{}/CURRENT names {}, and the store last used {}", records_,
                            manifest_name(number), manifest_name(entries_.back().number)));
    return base::fail(base::Error(error).with_hint(
        fmt::format("{}. If an older version of Sibyl has opened the store since, remove {}", error.hint(),
                    file_.path())));
  }
  std::string wrong;
  if (bytes.size() < entry->size)
    wrong = fmt::format("{} has {} bytes and had {}", name, bytes.size(), entry->size);
  else if (crc32c(0, base::BytesView(bytes).substr(0, entry->size)) != entry->crc)
    wrong = fmt::format("{} was changed: the checksum of its first {} bytes is wrong", name, entry->size);
  if (wrong.empty()) return {};
  ManifestReader reader;
  reader.add(bytes);
  return base::fail(refusal(fmt::format("{}. It must list {} data files, up to sequence number {}{}", wrong,
                                        entry->files, entry->last_sequence, unlisted(reader))));
}

// Lists the files that the remainder of a damaged MANIFEST does not contain. RocksDB would delete them.
std::string ManifestGuard::unlisted(const ManifestReader& reader) const {
  std::vector<std::string> names;
  for (const auto& [number, size] : table_files_in(records_))
    if (!reader.files().contains(number)) names.push_back(table_file_name(number));
  return names.empty() ? "" : fmt::format("; it no longer lists {}", list_of(names));
}

base::Status ManifestGuard::check_tables(const ManifestReader& reader) const {
  const std::map<uint64_t, uint64_t> there = table_files_in(records_);
  std::vector<std::string> wrong;
  for (const auto& [number, file] : reader.files()) {
    const auto found = there.find(number);
    if (found == there.end())
      wrong.push_back(fmt::format("{} is missing", table_file_name(number)));
    else if (found->second != file.size)
      wrong.push_back(
          fmt::format("{} has {} bytes and had {}", table_file_name(number), found->second, file.size));
  }
  if (wrong.empty()) return {};
  return base::fail(refusal(fmt::format("{} of {} data files in {} are not complete: {}", wrong.size(),
                                        reader.files().size(), records_, list_of(wrong))));
}

base::Status ManifestGuard::record_current() {
  const std::optional<uint64_t> current = current_manifest(records_);
  const auto bytes = base::read_file(fmt::format("{}/{}", records_, manifest_name(current.value_or(0))));
  if (!bytes) return base::fail(refusal(fmt::format("{} has no MANIFEST", records_)));
  begun(*current);
  appended(*current, *bytes);
  if (const int error = switched(*current); error != 0)
    return base::fail(base::file_error("write", file_.path(), error));
  return {};
}

void ManifestGuard::begun(uint64_t manifest) {
  const std::lock_guard lock(mutex_);
  written_[manifest] = {};
}

void ManifestGuard::appended(uint64_t manifest, base::BytesView bytes) {
  const std::lock_guard lock(mutex_);
  Written& written = written_[manifest];
  written.size += bytes.size();
  written.crc = crc32c(written.crc, bytes);
  written.reader.add(bytes);
}

int ManifestGuard::synced(uint64_t manifest) {
  const std::lock_guard lock(mutex_);
  // CURRENT does not name this MANIFEST yet.
  if (entries_.size() != 1 || entries_.front().number != manifest) return 0;
  const ManifestEntry before = entries_.front();
  entries_.front() = entry_of(manifest);
  const int error = write_record();
  if (error != 0) entries_.front() = before;
  return error;
}

int ManifestGuard::switching(uint64_t manifest) {
  const std::lock_guard lock(mutex_);
  if (entries_.size() > 1)  // the last switch failed
    if (const int error = keep_current_entry(); error != 0) return error;
  std::vector<ManifestEntry> before = entries_;
  if (entries_.empty()) entries_.push_back({.number = current_manifest(records_).value_or(0)});
  entries_.push_back(entry_of(manifest));
  const int error = write_record();
  if (error != 0) entries_ = std::move(before);
  return error;
}

int ManifestGuard::switched(uint64_t manifest) {
  const std::lock_guard lock(mutex_);
  if (const int error = sync_records_directory(); error != 0) return error;
  std::vector<ManifestEntry> before = std::move(entries_);
  entries_ = {entry_of(manifest)};
  if (const int error = write_record(); error != 0) {
    entries_ = std::move(before);
    return error;
  }
  std::erase_if(written_, [&](const auto& one) { return one.first < manifest; });
  return 0;
}

// Makes sure that CURRENT is on the device before the other entry is dropped.
int ManifestGuard::keep_current_entry() {
  if (const int error = sync_records_directory(); error != 0) return error;
  const ManifestEntry* const kept = find(entries_, current_manifest(records_).value_or(0));
  if (kept == nullptr) return EIO;
  entries_ = {ManifestEntry(*kept)};
  return 0;
}

ManifestEntry ManifestGuard::entry_of(uint64_t manifest) const {
  const auto found = written_.find(manifest);
  if (found == written_.end()) return {.number = manifest};
  const Written& written = found->second;
  return {manifest,
          written.size,
          written.crc,
          written.reader.files().size(),
          written.reader.files_crc(),
          written.reader.last_sequence()};
}

int ManifestGuard::write_record() {
  return file_.write(text_of(entries_));
}

int ManifestGuard::sync_records_directory() const {
  const base::File directory(records_, O_RDONLY | O_DIRECTORY);
  return directory ? disk_->sync_names(directory.number()) : errno;
}

}  // namespace sibyl::storage::rocksdb
