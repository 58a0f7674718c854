// Files of the operating system, and what is said when it refuses something.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace sibyl::base {

// A descriptor, of a socket too; closed at its end.
class File {
 public:
  File() = default;  // not open
  // Opens it with these flags of open(2); what is made may be read by all. When that fails it is not open,
  // and errno says why.
  File(const std::string& path, int flags);
  explicit File(int number) : number_(number) {}  // owned from now on
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

// Opens an entry of a directory, or makes one with O_CREAT, with these flags of open(2). Never follows a
// symbolic link, and never waits for the other end of a pipe. REQUIRES: `name` is plain (is_plain_name).
File open_entry(const File& directory, const std::string& name, int flags);
// A name of an entry of a directory: not empty, "." or "..", and without '/' and NUL.
bool is_plain_name(std::string_view name);
// Whether it is an ordinary file, not a directory, device, pipe or socket.
bool is_regular(const File& file);

// Of files that users name. A descriptor open for reading, which the caller closes; directories are refused
// here, not at the first read. The error's message is the reason alone ("Is a directory"): who asked names
// the file in words of its own.
Result<int> open_to_read(const std::string& path);
// All of a file's bytes; errors as above.
Result<std::string> read_file(const std::string& path);

// All of the bytes; 0, or the number of an error.
int write_all(int file, std::string_view bytes);

// "Cannot make /data/x: No space left on device", with what to do about it.
Error file_error(std::string_view what, const std::string& path, int error);

// Waits for the device to have a file's contents, or a directory's names.
Status sync_path(const std::string& path);

}  // namespace sibyl::base
