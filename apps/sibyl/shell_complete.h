// What TAB offers: keywords, commands and schema names that can stand at the cursor.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sibyl/session.h"

namespace sibyl::shell {

struct Candidate {
  std::string text;   // replaces the word at the cursor
  char follow = ' ';  // typed after it when it is the only one; 0 for nothing
  bool operator==(const Candidate&) const = default;
};

struct Completions {
  size_t start = 0;                   // where the word at the cursor begins in the text
  std::vector<Candidate> candidates;  // sorted, without duplicates
  // The longest text that all candidates begin with (ignoring case); empty without candidates.
  std::string common_prefix() const;
};

// `text` is the input so far, perhaps of several lines and statements, and `cursor` an offset in it. What
// stands behind the cursor is read too (the table of a SELECT). `keyspace` is the one in use, or empty.
Completions complete(std::string_view text, size_t cursor, const SchemaNames& names,
                     std::string_view keyspace);

}  // namespace sibyl::shell
