// Units, and sizes that are derived from the machine's memory.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <limits>

#include "cli/configuration/configuration.h"

namespace sibyl::cli {
namespace {

struct Unit {
  const char* name;
  int64_t factor;
};
constexpr Unit sizes[] = {
    {"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", int64_t{1} << 40}};
constexpr Unit durations[] = {{"us", 1},
                              {"µs", 1},
                              {"ms", 1'000},
                              {"s", 1'000'000},
                              {"m", 60'000'000},
                              {"h", 3'600'000'000},
                              {"d", 86'400'000'000}};

template <size_t count>
base::Result<int64_t> parse_quantity(std::string_view text, std::string_view unit, const Unit (&units)[count],
                                     const char* examples) {
  const auto refused = [&](std::string_view why) {
    return base::fail(base::ErrorCode::config, fmt::format("'{}' {}; write it as {}", text, why, examples));
  };
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return refused("is not a number with a unit");
  std::string_view given(end, static_cast<size_t>(text.data() + text.size() - end));
  while (given.starts_with(' ')) given.remove_prefix(1);
  if (given.empty()) given = unit;
  if (given.empty()) return refused("has no unit");
  for (const Unit& one : units) {
    if (given != one.name) continue;
    if (number > std::numeric_limits<int64_t>::max() / one.factor) return refused("is too large");
    return number * one.factor;
  }
  return refused("has an unknown unit");
}

// Uses the largest unit that divides the value.
template <size_t count>
std::string quantity_text(int64_t value, const Unit (&units)[count]) {
  for (size_t i = count; i-- > 0;)
    if (value % units[i].factor == 0 && (value != 0 || i == 0))
      return fmt::format("{}{}", value / units[i].factor, units[i].name);
  return {};
}

// A control group's limit; nullopt if the file is missing or says "max".
void lower_to(const std::string& path, uint64_t& memory) {
  uint64_t limit = 0;
  if (std::ifstream file(path); file >> limit && limit > 0) memory = std::min(memory, limit);
}

}  // namespace

base::Result<int64_t> parse_size(std::string_view text, std::string_view unit) {
  return parse_quantity(text, unit, sizes, "512KiB, 16MiB or 1GiB");
}

base::Result<int64_t> parse_duration(std::string_view text, std::string_view unit) {
  return parse_quantity(text, unit, durations, "500ms, 10s or 1h");
}

std::string size_text(int64_t bytes) {
  return quantity_text(bytes, sizes);
}

std::string duration_text(int64_t micros) {
  if (micros == 0) return "0ms";
  return quantity_text(micros, durations);
}

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

// If `memory` is set, the server uses it. Otherwise it uses only a small part of the machine's memory. The
// shares leave room for responses in progress and for the operating system's cache.
namespace {

// Limits on request sizes: the largest request, the requests of one connection, and those of all connections.
// The ones that were not given are derived from the others.
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
