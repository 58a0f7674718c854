// Parses arbitrary bytes. A parsed workload is printed and parsed again, and must then print the same text.
#include <cstdint>
#include <string>
#include <string_view>

#include "advisor/workload/workload.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sibyl;
  const auto workload = advisor::parse_workload({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!workload) return 0;
  const std::string printed = advisor::print_workload(*workload);
  const auto again = advisor::parse_workload(printed, "printed");
  SIBYL_CHECK(again.has_value());
  SIBYL_CHECK(advisor::print_workload(*again) == printed);
  return 0;
}
