// Files that import and export create beside the file they work on: journals, rejected rows, parts.
//
// Their names are predictable and the directory may be shared (/tmp), so another user may have created a
// link, a pipe or a file there first. These functions therefore read and write only regular files that belong
// to this user and have a single name. All errors name the file and the problem.
#pragma once

#include <string>

#include "base/file.h"
#include "base/result.h"

namespace sibyl::cli::copy {

// Returns an error if the path exists and is not such a file.
base::Status check_own_file(const std::string& path);
// Opens the file with these flags of open(2). O_CREAT creates it if it is missing.
base::Result<base::File> open_own_file(const std::string& path, int flags);
// Returns the contents; empty if the file is missing.
base::Result<std::string> read_own_file(const std::string& path);
// Creates an empty file, or truncates an existing one, and opens it for writing.
base::Result<base::File> replace_own_file(const std::string& path);
// Removes the file if it exists.
base::Status remove_own_file(const std::string& path);
// Creates the directory, or checks that an existing one belongs to this user.
base::Status make_own_directory(const std::string& path);

}  // namespace sibyl::cli::copy
