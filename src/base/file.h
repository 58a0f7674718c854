// Files of the operating system, and the errors reported when it refuses an operation.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace sibyl::base {

// Owns a file descriptor (also of a socket) and closes it on destruction.
class File {
 public:
  File() = default;  // not open
  // Opens `path` with these flags of open(2). New files have mode 0644. On failure the File is not open and
  // errno has the reason.
  File(const std::string& path, int flags);
  explicit File(int number) : number_(number) {}  // takes ownership
  ~File();
  File(File&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

// Opens (or, with O_CREAT, creates) an entry of a directory with these flags of open(2). Never follows a
// symbolic link and never waits for the other end of a pipe. REQUIRES: is_plain_name(name).
File open_entry(const File& directory, const std::string& name, int flags);
// True if `name` can be a directory entry: not empty, not "." or "..", without '/' and NUL.
bool is_plain_name(std::string_view name);
// True for an ordinary file; false for a directory, device, pipe or socket.
bool is_regular(const File& file);

// Opens a file that a user named. Returns a descriptor that the caller must close. Directories are refused
// here, not at the first read. The error's message is only the reason ("Is a directory"); the caller adds the
// file's name.
Result<int> open_to_read(const std::string& path);
// Returns all bytes of a file. Errors as for open_to_read().
Result<std::string> read_file(const std::string& path);

// Writes all of the bytes. Returns 0 or an errno value.
int write_all(int file, std::string_view bytes);

// Returns an error such as "Cannot make /data/x: No space left on device", with a hint if there is a remedy.
Error file_error(std::string_view what, const std::string& path, int error);

// Blocks until a file's contents, or a directory's entries, are on the device.
Status sync_path(const std::string& path);

}  // namespace sibyl::base
