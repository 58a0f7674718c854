#include "cli/operate/owner.h"

#include <fmt/format.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace sibyl::cli {
namespace {

base::Status failed(const char* what, const std::string& path) {
  return base::fail(base::ErrorCode::server,
                    fmt::format("Cannot {} {}: {}", what, path, std::strerror(errno)));
}

}  // namespace

base::Status become_owner_of(const std::string& directory) {
  struct stat status{};
  if (::stat(directory.c_str(), &status) != 0) return failed("open", directory);
  if (::geteuid() != 0 || status.st_uid == 0) return {};
  if (::setgroups(0, nullptr) != 0 || ::setgid(status.st_gid) != 0 || ::setuid(status.st_uid) != 0)
    return failed("become the owner of", directory);
  return {};
}

base::Status give_to_owner_of(const std::string& directory, const std::string& tree) {
  struct stat status{};
  if (::stat(directory.c_str(), &status) != 0) return failed("open", directory);
  if (::geteuid() != 0 || status.st_uid == 0) return {};
  if (::lchown(tree.c_str(), status.st_uid, status.st_gid) != 0) return failed("give away", tree);
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(tree, error))
    if (::lchown(entry.path().c_str(), status.st_uid, status.st_gid) != 0)
      return failed("give away", entry.path().string());
  if (error)
    return base::fail(base::ErrorCode::server, fmt::format("Cannot read {}: {}", tree, error.message()));
  return {};
}

}  // namespace sibyl::cli
