// Prints errors of statements: the line, a caret under the position, the message, and a hint.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/command_line/text.h"

namespace sibyl::cli::shell {

// Parses an error text from a server: " [hint: ...]" at the end becomes the hint. "line L:C" at the start or
// " [position: L:C]" at the end becomes the position (without an offset).
base::Error error_from_text(base::ErrorCode code, std::string text);

// The name of the code in drivers and cqlsh: "SyntaxException", "InvalidRequest", ...
const char* error_name(base::ErrorCode code);

// Returns the line of the statement and a caret under the error's position (two lines). Empty if there is no
// position.
std::string render_caret(const base::Error& error, std::string_view statement);

// Returns the caret lines, "Name: message" and "Hint: ...", each with a newline. `place` ("file.cql:12: ")
// precedes the name.
std::string render_error(const base::Error& error, std::string_view statement, std::string_view place,
                         const Palette& palette);

}  // namespace sibyl::cli::shell
