#include "engine/prepared/sealing_key.h"

#include <gtest/gtest.h>

namespace sibyl::engine {
namespace {

using base::Bytes;

// The examples of the specification.
TEST(SealingKey, IsXaes256Gcm) {
  const Bytes nonce = "ABCDEFGHIJKLMNOPQRSTUVWX";
  const auto first = SealingKey(Bytes(32, '\x01')).seal_with_nonce("XAES-256-GCM", "", nonce);
  ASSERT_TRUE(first);
  EXPECT_EQ(base::to_hex(first->substr(24)), "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271");
  const auto second =
      SealingKey(Bytes(32, '\x03')).seal_with_nonce("XAES-256-GCM", "c2sp.org/XAES-256-GCM", nonce);
  ASSERT_TRUE(second);
  EXPECT_EQ(base::to_hex(second->substr(24)), "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d");
}

TEST(SealingKey, OpensWhatItSealed) {
  const auto key = SealingKey::make_random();
  ASSERT_TRUE(key);
  const SealingKey copy(key->bytes());
  for (const Bytes& message : {Bytes(), Bytes("x"), Bytes(1000, 'y')}) {
    const auto sealed = key->seal(message, "bound");
    ASSERT_TRUE(sealed);
    EXPECT_EQ(sealed->size(), message.size() + SealingKey::nonce_size + SealingKey::tag_size);
    EXPECT_EQ(copy.open(*sealed, "bound"), message);
    EXPECT_NE(*key->seal(message, "bound"), *sealed);
  }
}

TEST(SealingKey, RefusesEverythingElse) {
  const auto key = SealingKey::make_random(), other = SealingKey::make_random();
  const Bytes sealed = *key->seal("secret", "bound");
  EXPECT_EQ(sealed.find("secret"), Bytes::npos);
  EXPECT_FALSE(other->open(sealed, "bound"));
  EXPECT_FALSE(key->open(sealed, "bound "));
  EXPECT_FALSE(key->open(sealed, ""));
  EXPECT_FALSE(key->open(sealed + "x", "bound"));
  for (size_t i = 0; i < sealed.size(); ++i) {
    EXPECT_FALSE(key->open(sealed.substr(0, i), "bound")) << i;
    Bytes changed = sealed;
    changed[i] ^= 1;
    EXPECT_FALSE(key->open(changed, "bound")) << i;
  }
}

}  // namespace
}  // namespace sibyl::engine
