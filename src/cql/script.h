// Splits scripts into statements.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sibyl::cql {

struct ScriptPiece {
  std::string text;
  size_t offset = 0;     // in the script
  bool complete = true;  // false for a last piece without its `;`, so that a shell can ask for more
};

// Splits a script into statements at each `;` outside of strings, comments, $$ bodies and BATCHes.
std::vector<ScriptPiece> split_script(std::string_view script);

}  // namespace sibyl::cql
