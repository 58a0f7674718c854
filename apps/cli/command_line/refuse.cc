#include "cli/command_line/refuse.h"

#include <fmt/format.h>

#include <cstdio>

namespace sibyl::cli {

int refuse(std::string_view command, int status, const base::Error& error) {
  return refuse(command, status, error.message(), error.hint());
}

int refuse(std::string_view command, int status, const std::string& message, const std::string& hint) {
  const std::string text =
      fmt::format("sibyl {}: {}\n{}{}", command, message, hint, hint.empty() ? "" : "\n");
  std::fputs(text.c_str(), stderr);  // does not throw if standard error is closed, unlike fmt::print
  return status;
}

}  // namespace sibyl::cli
