#include "sstable/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"

namespace sibyl::sstable {
namespace {

constexpr std::string_view data_suffix = "-Data.db";

bool is_supported(const std::string& format, const std::string& version) {
  if (format == "big") return version == "na" || version == "nb" || version == "oa";
  return format == "bti" && version == "da";
}

}  // namespace

base::Result<Files> parse_name(const std::string& directory, const std::string& name) {
  if (!name.ends_with(data_suffix)) return base::invalid(fmt::format("{} is not a Data.db file", name));
  Files files;
  files.directory = directory;
  files.prefix = name.substr(0, name.size() - data_suffix.size());
  const size_t first = files.prefix.find('-'), last = files.prefix.rfind('-');
  if (first == std::string::npos || first == last)
    return base::invalid(fmt::format("{}/{} is not named like an SSTable", directory, name));
  files.version = files.prefix.substr(0, first);
  files.format = files.prefix.substr(last + 1);
  if (!is_supported(files.format, files.version))
    return base::fail(
        base::Error(base::ErrorCode::invalid, fmt::format("{}/{} has the format {} {}, which cannot be read",
                                                          directory, name, files.format, files.version))
            .with_hint("the versions na, nb and oa of big, and da of bti, can be read; `nodetool "
                       "upgradesstables` of "
                       "Cassandra 4 or 5 rewrites older ones"));
  return files;
}

base::Result<std::vector<Files>> find_files(const std::string& directory) {
  std::error_code error;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error))
    if (const std::string name = entry.path().filename().string(); name.ends_with(data_suffix))
      names.push_back(name);
  if (error) return base::fail(base::file_error("read", directory, error.value()));
  if (names.empty())
    return base::fail(
        base::Error(base::ErrorCode::invalid, fmt::format("{} has no SSTables (*-Data.db)", directory))
            .with_hint("name the directory of one table, or one of its snapshots"));
  std::ranges::sort(names);
  std::vector<Files> found;
  for (const std::string& name : names) {
    SIBYL_ASSIGN(Files files, parse_name(directory, name));
    found.push_back(std::move(files));
  }
  return found;
}

bool has_unsigned_times(const std::string& version) {
  return version >= "oa" || version == "da";
}

base::Error damage(const std::string& file, uint64_t offset, const std::string& what) {
  return base::Error(base::ErrorCode::invalid,
                     fmt::format("{} is damaged at byte {}: {}", file, offset, what))
      .with_hint("`nodetool verify` or `nodetool scrub` of Cassandra can check and repair it");
}

}  // namespace sibyl::sstable
