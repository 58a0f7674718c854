// Checks that stay on in every build. SIBYL_CHECK guards the program's own invariants and ends the process:
// it is for states after which no answer could be trusted. User input never trips it: bad input is an Error.
#pragma once

namespace sibyl::base {
[[noreturn]] void check_failed(const char* condition, const char* file, int line) noexcept;
}

#define SIBYL_CHECK(condition) \
  ((condition) ? void(0) : ::sibyl::base::check_failed(#condition, __FILE__, __LINE__))
