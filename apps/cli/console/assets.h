// The files of the page, embedded in the binary. console/build.mjs makes them; without npm there are none.
#pragma once

#include <span>
#include <string_view>

namespace sibyl::cli::console {

struct Asset {
  std::string_view path;  // "/", "/assets/main-3F2A.js"
  std::string_view type;
  std::string_view etag;  // changes with the content
  std::string_view gzip;  // the compressed content
};

std::span<const Asset> assets();

}  // namespace sibyl::cli::console
