// Errors as people read them: the line, a caret under the place, the message, what to do instead.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "sibyl/shell_text.h"

namespace sibyl::shell {

// The error behind the text that a server sent: " [hint: ...]" at the end becomes the hint, "line L:C" at the
// start the position (without an offset).
base::Error error_from_text(base::ErrorCode code, std::string text);

// The name drivers and cqlsh give the code: "SyntaxException", "InvalidRequest", ...
const char* error_name(base::ErrorCode code);

// The line of the statement and a caret under the error's position (two lines), or nothing without a
// position.
std::string render_caret(const base::Error& error, std::string_view statement);

// Caret, "Name: message" and "Hint: ..." lines, each with a newline. `place` ("file.cql:12: ") goes before
// the name.
std::string render_error(const base::Error& error, std::string_view statement, std::string_view place,
                         const Palette& palette);

}  // namespace sibyl::shell
