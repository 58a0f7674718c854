// Exceptions where one request's work begins.
//
// Rooms return Results. Memory that is not there, a length that is absurd or a library may throw
// nevertheless; that must be the error of one request and never the end of the process. So whatever runs the
// work of one request (a reactor, a thread of a pool, a committer, a caller of the embedded API) runs it by
// contain().
#pragma once

#include <type_traits>
#include <utility>

#include "base/result.h"

namespace sibyl::base {

// The error for the exception that is being handled: the server's (0x0000). Allocates nothing when there is
// no memory. REQUIRES: called in a catch block.
Error error_of_exception() noexcept;

namespace detail {
template <typename T>
struct Contained {
  using type = Result<T>;
};
template <typename T>
struct Contained<Result<T>> {
  using type = Result<T>;
};
}  // namespace detail

// Runs `work` and returns its result; if it throws, the exception's error.
template <typename Work>
auto contain(Work&& work) noexcept -> typename detail::Contained<std::invoke_result_t<Work>>::type {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Work>>) {
      std::forward<Work>(work)();
      return {};
    } else {
      return std::forward<Work>(work)();
    }
  } catch (...) {
    return std::unexpected<Error>(error_of_exception());
  }
}

void pause_for_memory() noexcept;

// Runs `work` until it does not throw, with pauses: for the few steps that everything else depends on and
// that need a little memory, which others give back.
template <typename Work>
void insist(const Work& work) noexcept {
  while (!contain(work)) pause_for_memory();
}

}  // namespace sibyl::base
