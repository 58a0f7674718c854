#include "storage/sharded_store.h"

#include <fmt/format.h>

namespace sibyl::storage {
namespace {
constexpr const char* not_open_here = " is not open on this server";
}  // namespace

base::Error not_here(uint32_t shard) {
  return base::Error(base::ErrorCode::unavailable, fmt::format("Shard {}{}", shard, not_open_here))
      .with_hint("nothing was executed; ask again");
}

bool is_not_here(const base::Error& error) {
  return error.code() == base::ErrorCode::unavailable && error.message().ends_with(not_open_here);
}

}  // namespace sibyl::storage
