#include "types/identifier.h"

#include <algorithm>
#include <iterator>

namespace sibyl::types {
namespace {

// Words that CQL does not allow as names. Sorted.
constexpr std::string_view reserved_words[] = {
    "add",      "allow",       "alter",        "and",    "apply",    "asc",   "authorize",    "batch",
    "begin",    "by",          "columnfamily", "create", "delete",   "desc",  "describe",     "drop",
    "entries",  "execute",     "from",         "full",   "grant",    "if",    "in",           "index",
    "infinity", "insert",      "into",         "is",     "keyspace", "limit", "materialized", "modify",
    "nan",      "norecursive", "not",          "null",   "of",       "on",    "or",           "order",
    "primary",  "rename",      "revoke",       "schema", "select",   "set",   "table",        "to",
    "token",    "truncate",    "unlogged",     "update", "use",      "using", "view",         "where",
    "with",
};
static_assert(std::is_sorted(std::begin(reserved_words), std::end(reserved_words)));

bool is_plain(std::string_view name) {
  if (name.empty() || name[0] < 'a' || name[0] > 'z') return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

std::string quote(std::string_view text, char mark) {
  std::string quoted(1, mark);
  for (const char c : text) {
    if (c == mark) quoted.push_back(mark);
    quoted.push_back(c);
  }
  quoted.push_back(mark);
  return quoted;
}

}  // namespace

std::string quote_identifier(std::string_view name) {
  const bool reserved = std::binary_search(std::begin(reserved_words), std::end(reserved_words), name);
  return is_plain(name) && !reserved ? std::string(name) : quote(name, '"');
}

std::string quote_string(std::string_view text) {
  return quote(text, '\'');
}

}  // namespace sibyl::types
