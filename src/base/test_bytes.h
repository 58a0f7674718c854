// For tests: bytes from hexadecimal digits.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "base/bytes.h"

namespace sibyl::base {

inline Bytes hex(std::string_view digits) {
  Bytes bytes;
  EXPECT_TRUE(from_hex(digits, bytes)) << digits;
  return bytes;
}

}  // namespace sibyl::base
