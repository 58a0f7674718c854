// Completion: the keywords, commands and schema names that TAB offers at the cursor.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/session/session.h"

namespace sibyl::cli::shell {

struct Candidate {
  std::string text;   // replaces the word at the cursor
  char follow = ' ';  // inserted after the word when it is the only candidate; 0: nothing is inserted
  bool operator==(const Candidate&) const = default;
};

struct Completions {
  size_t start = 0;                   // offset of the word at the cursor
  std::vector<Candidate> candidates;  // sorted, without duplicates
  // The longest common prefix of all candidates, ignoring case; empty without candidates.
  std::string common_prefix() const;
};

// `text` is the input so far, which may have several lines and statements. `cursor` is an offset in it. The
// text after the cursor is used as well, for example to find the table of a SELECT. `keyspace` is the one in
// use, or empty.
Completions complete(std::string_view text, size_t cursor, const SchemaNames& names,
                     std::string_view keyspace);

}  // namespace sibyl::cli::shell
