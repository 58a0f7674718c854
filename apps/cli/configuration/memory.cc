#include "cli/configuration/memory.h"

#include <algorithm>
#include <limits>

namespace sibyl::cli {
namespace {

// Limits the sizes of requests: of the largest request, of one connection's requests together, and of all
// connections' requests together. Limits that were not given are derived from the others.
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
