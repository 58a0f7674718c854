// Checks that stay on in every build. SIBYL_CHECK guards the program's own invariants and aborts the process:
// use it for states after which no result could be trusted. User input must never trip it; bad input returns
// an Error.
#pragma once

namespace sibyl::base {
[[noreturn]] void check_failed(const char* condition, const char* file, int line) noexcept;
}

#define SIBYL_CHECK(condition) \
  ((condition) ? void(0) : ::sibyl::base::check_failed(#condition, __FILE__, __LINE__))
