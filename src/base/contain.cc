#include "base/contain.h"

#include <chrono>
#include <exception>
#include <new>
#include <thread>

namespace sibyl::base {
namespace {

// Created in advance, because when it is needed there may be no memory to create it.
const Error out_of_memory = Error(ErrorCode::server, "Out of memory")
                                .with_hint(
                                    "the system has no memory left for this request; set `memory` to the "
                                    "amount that the process may use");

Error unexpected_exception(const char* what) {
  return Error(ErrorCode::server, std::string("Unexpected exception: ") + what)
      .with_hint("this is a bug in the server; its log shows the statement");
}

}  // namespace

Error error_of_exception() noexcept {
  try {
    try {
      throw;
    } catch (const std::bad_alloc&) {
      return out_of_memory;
    } catch (const std::exception& thrown) {
      return unexpected_exception(thrown.what());
    } catch (...) {
      return unexpected_exception("unknown");
    }
  } catch (...) {
    return out_of_memory;
  }
}

void pause_for_memory() noexcept {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace sibyl::base
