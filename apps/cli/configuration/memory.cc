#include "cli/configuration/memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace sibyl::cli {
namespace {

// Lowers the memory to a control group's limit. Does nothing if the file is missing or says "max".
void lower_to(const std::string& path, uint64_t& memory) {
  uint64_t limit = 0;
  if (std::ifstream file(path); file >> limit && limit > 0) memory = std::min(memory, limit);
}

// Limits on request sizes: the largest request, the requests of one connection, and those of all connections.
// Limits that were not given are derived from the others.
void derive_in_flight(Reader::Result& result) {
  server::Limits& limits = result.configuration.server.limits;
  const auto is_given = [&](const char* name) { return result.places.contains(name); };
  const bool is_frame_given = is_given("native_transport_max_frame_size");
  const bool is_total_given = is_given("native_transport_max_request_data_in_flight");
  if (!is_given("connection_max_request_data_in_flight")) {
    limits.bytes_in_flight = std::max(limits.bytes_in_flight, limits.frame_body_bytes);
    if (is_total_given)
      limits.bytes_in_flight = std::min(limits.bytes_in_flight, limits.total_bytes_in_flight);
  }
  if (!is_total_given)
    limits.total_bytes_in_flight = std::max(limits.total_bytes_in_flight, limits.bytes_in_flight);
  if (!is_frame_given) limits.frame_body_bytes = std::min(limits.frame_body_bytes, limits.bytes_in_flight);
}

}  // namespace

uint64_t available_memory() {
  auto memory = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  lower_to("/sys/fs/cgroup/memory.max", memory);
  lower_to("/sys/fs/cgroup/memory/memory.limit_in_bytes", memory);
  // Outside a container this file names the process's group, such as "0::/system.slice/sibyl.service".
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);)
    if (line.starts_with("0::/"))
      for (std::string path = line.substr(3); path.size() > 1; path.erase(path.rfind('/')))
        lower_to("/sys/fs/cgroup" + path + "/memory.max", memory);
  return memory;
}

void derive_sizes(Reader::Result& result, uint64_t available) {
  constexpr uint64_t mebibyte = 1u << 20;
  Configuration& configuration = result.configuration;
  const bool is_told = configuration.memory_bytes > 0;
  const uint64_t memory = is_told ? configuration.memory_bytes : available;
  const auto derive = [&](const char* name, uint64_t& value, uint64_t wanted) {
    if (const auto found = result.origins.find(name); found != result.origins.end()) return;
    value = wanted / mebibyte * mebibyte;
    result.origins[name] = Origin::derived;
  };
  const uint64_t no_limit = std::numeric_limits<uint64_t>::max();
  derive("file_cache_size", configuration.engine.block_cache_bytes,
         is_told ? std::clamp(memory / 16 * 5, 16 * mebibyte, no_limit)
                 : std::clamp(memory / 8, 32 * mebibyte, no_limit));
  derive("row_cache_memory", configuration.engine.row_cache_bytes,
         std::clamp(memory / 16, 2 * mebibyte, no_limit));
  configuration.engine.gives_back_memory = !is_told;
  derive("memtable_heap_space", configuration.engine.memtable_bytes,
         std::clamp(memory / 10, 24 * mebibyte, is_told ? 768 * mebibyte : 192 * mebibyte));
  derive("commit_queue_size", configuration.engine.commit_queue_bytes,
         std::clamp(memory / 16, 8 * mebibyte, 64 * mebibyte));
  derive("max_unsent_data", configuration.server.limits.total_unsent_bytes,
         std::clamp(memory / 10, 32 * mebibyte, 256 * mebibyte));
  derive("native_transport_max_request_data_in_flight", configuration.server.limits.total_bytes_in_flight,
         std::clamp(memory / 10, 32 * mebibyte, 256 * mebibyte));
  derive("max_statement_memory", configuration.statement_memory_bytes,
         std::clamp(memory / 4, 32 * mebibyte, 1024 * mebibyte));
  derive_in_flight(result);
  server::Limits& limits = configuration.server.limits;
  limits.total_incoming_bytes =
      std::max(std::clamp(memory / 8, 32 * mebibyte, 256 * mebibyte), 2 * uint64_t{limits.frame_body_bytes});
  // The rest is for the program itself, thread stacks, and memory that malloc cannot return.
  configuration.heap_bytes = memory - memory / 8;
  configuration.resident_bytes = memory;
}

}  // namespace sibyl::cli
