// Turns exceptions into errors at the point where the work of one request begins.
//
// Functions return errors as Results, but a failed allocation, an absurd length or a library may still throw.
// The exception must fail only one request, and must not end the process. So every caller that starts the work
// of a request (a reactor, a pool thread, a committer, the embedded API) runs it through contain().
#pragma once

#include <type_traits>
#include <utility>

#include "base/result.h"

namespace sibyl::base {

// Returns a server error (0x0000) for the exception being handled. Allocates nothing if memory is exhausted.
// REQUIRES: called in a catch block.
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

// Runs `work` and returns its result, or the error of the exception that it threw.
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

// Retries `work`, with short pauses, until it does not throw. For the few steps that must succeed and need
// only a little memory, which other requests will release.
template <typename Work>
void retry_until_success(const Work& work) noexcept {
  while (!contain(work)) pause_for_memory();
}

}  // namespace sibyl::base
