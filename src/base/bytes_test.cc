#include "base/bytes.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

namespace sibyl::base {
namespace {

TEST(Bytes, BigEndian) {
  Bytes bytes;
  append_big_endian<uint8_t>(bytes, 0x01);
  append_big_endian<uint16_t>(bytes, 0x0203);
  append_big_endian<uint32_t>(bytes, 0x04050607);
  append_big_endian<uint64_t>(bytes, 0x08090a0b0c0d0e0f);
  EXPECT_EQ(to_hex(bytes), "0102030405060708090a0b0c0d0e0f");
  EXPECT_EQ(read_big_endian<uint16_t>(BytesView(bytes).substr(1)), 0x0203);
  EXPECT_EQ(read_big_endian<uint64_t>(BytesView(bytes).substr(7)), 0x08090a0b0c0d0e0fu);
}

TEST(Bytes, VarintSizes) {
  const auto size = [](uint64_t value) {
    Bytes bytes;
    append_varint(bytes, value);
    return bytes.size();
  };
  EXPECT_EQ(size(0), 1u);
  EXPECT_EQ(size(127), 1u);
  EXPECT_EQ(size(128), 2u);
  EXPECT_EQ(size(std::numeric_limits<uint64_t>::max()), 10u);
}

RC_GTEST_PROP(Bytes, VarintsRoundTrip, (uint64_t value, int64_t number)) {
  const auto shift = *rc::gen::inRange(0, 64);
  Bytes bytes;
  append_varint(bytes, value >> shift);
  append_signed_varint(bytes, number >> shift);
  Reader reader(bytes);
  uint64_t value_back = 0;
  int64_t number_back = 0;
  RC_ASSERT(reader.varint(value_back) && reader.signed_varint(number_back));
  RC_ASSERT(value_back == value >> shift);
  RC_ASSERT(number_back == number >> shift);
  RC_ASSERT(reader.at_end());
}

TEST(Reader, StaysFailed) {
  Reader reader("abcde");
  uint32_t value = 0;
  uint16_t rest = 0;
  EXPECT_TRUE(reader.big_endian(value));
  EXPECT_EQ(value, 0x61626364u);
  EXPECT_FALSE(reader.big_endian(rest));
  EXPECT_FALSE(reader.ok());
  BytesView taken;
  EXPECT_FALSE(reader.take(0, taken));
  EXPECT_FALSE(reader.take(1, taken));
}

TEST(Reader, RefusesSizesBeyondTheEnd) {
  Bytes bytes;
  append_sized(bytes, "abc");
  BytesView taken;
  Reader whole(bytes);
  EXPECT_TRUE(whole.sized(taken));
  EXPECT_EQ(taken, "abc");
  EXPECT_TRUE(whole.at_end());
  Reader cut(BytesView(bytes).substr(0, 3));
  EXPECT_FALSE(cut.sized(taken));
  Bytes huge;
  append_varint(huge, std::numeric_limits<uint64_t>::max());
  Reader claim(huge);
  EXPECT_FALSE(claim.sized(taken));
}

TEST(Reader, RefusesEndlessVarints) {
  Reader reader(BytesView("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"));
  uint64_t value = 0;
  EXPECT_FALSE(reader.varint(value));
  EXPECT_FALSE(reader.ok());
  Reader too_large(BytesView("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"));
  EXPECT_FALSE(too_large.varint(value));
}

TEST(Hex, RoundTrips) {
  Bytes bytes;
  EXPECT_TRUE(from_hex("00fFAb", bytes));
  EXPECT_EQ(to_hex(bytes), "00ffab");
  EXPECT_TRUE(from_hex("", bytes));
  EXPECT_TRUE(bytes.empty());
  EXPECT_FALSE(from_hex("0", bytes));
  EXPECT_FALSE(from_hex("0g", bytes));
  EXPECT_FALSE(from_hex("0x00", bytes));
}

}  // namespace
}  // namespace sibyl::base
