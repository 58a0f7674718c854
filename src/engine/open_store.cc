#include "engine/open_store.h"

#include <filesystem>

#include "storage/memory/memory_store.h"

namespace sibyl::engine {

base::Result<std::unique_ptr<storage::Store>> open_store(const Options& options, base::Clock& clock) {
  if (options.data == ":memory:") return storage::memory::make_store({.clock = &clock});
  return base::fail(base::ErrorCode::server, "no store yet");
}

std::unique_ptr<storage::Store> make_system_store(base::Clock& clock) {
  return storage::memory::make_store({.clock = &clock});
}

}  // namespace sibyl::engine
