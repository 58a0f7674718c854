#include "sibyl/refuse.h"

#include <fmt/format.h>

#include <cstdio>

namespace sibyl {

int refuse(std::string_view command, int status, const base::Error& error) {
  return refuse(command, status, error.message(), error.hint());
}

int refuse(std::string_view command, int status, const std::string& message, const std::string& hint) {
  const std::string text =
      fmt::format("sibyl {}: {}\n{}{}", command, message, hint, hint.empty() ? "" : "\n");
  std::fputs(text.c_str(), stderr);  // fmt::print would throw where nobody can be told anyway
  return status;
}

}  // namespace sibyl
