// Any bytes may be parsed. A parsed statement is printed and parsed again, and must then print the same.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "cql/parser.h"
#include "cql/printer.h"
#include "cql/script.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sibyl;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  cql::split_script(text);
  if (const auto type = cql::parse_type(text)) {
    const auto again = cql::parse_type(cql::print(*type));
    SIBYL_CHECK(again.has_value());
  }
  const auto statement = cql::parse_statement(text);
  if (!statement) return 0;
  const std::string printed = cql::print(**statement);
  const auto again = cql::parse_statement(printed);
  SIBYL_CHECK(again.has_value());
  SIBYL_CHECK(cql::print(**again) == printed);
  SIBYL_CHECK((*again)->bind_markers == (*statement)->bind_markers);
  return 0;
}
