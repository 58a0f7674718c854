// Files that import and export keep beside the file they work on: journals, rejected rows, parts.
//
// Their names are known before they are made, and the directory may be shared (/tmp): another user may have
// put a link, a pipe or a file there first. So nothing is read or written that is not an ordinary file of
// this user with this one name. All errors say what is in the way and name the file.
#pragma once

#include <string>

#include "base/file.h"
#include "base/result.h"

namespace sibyl::copy {

// Fails when something other than such a file is there.
base::Status check_kept(const std::string& path);
// Opens it with these flags of open(2); O_CREAT makes it when nothing is there.
base::Result<base::File> open_kept(const std::string& path, int flags);
// All of its text; empty when nothing is there.
base::Result<std::string> read_kept(const std::string& path);
// An empty file, open for writing, in place of what such a file held.
base::Result<base::File> replace_kept(const std::string& path);
// Removes such a file, if there is one.
base::Status remove_kept(const std::string& path);
// Makes the directory, or finds it: this user's own.
base::Status make_kept_directory(const std::string& path);

}  // namespace sibyl::copy
