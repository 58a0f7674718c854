// Passwords: hashing, checking, and decoding of SASL tokens.
//
// Hashing is slow by design (tens of milliseconds). Do not call it on a reactor thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sibyl::auth {

// Returns a bcrypt hash, "$2a$10$...", with a new salt. Fails for passwords with a NUL byte, which the hash
// would truncate.
base::Result<std::string> hash_password(std::string_view password);
// Returns false for invalid hashes. Takes the same time for wrong and right passwords.
bool check_password(std::string_view password, const std::string& hash);
// A hash that matches no password. Checking against it takes as long as against a real one.
const std::string& dummy_hash();
// Returns true if check_password() can use the hash.
bool is_hash(const std::string& hash);
// Returns the cost of a valid hash: the base-2 logarithm of its number of rounds. Each increment doubles the
// time of a login.
int cost_of(const std::string& hash);

struct Credentials {
  std::string role, password;
};
// Decodes a SASL PLAIN token: authorisation id (ignored), NUL, role, NUL, password. Errors are Cassandra's
// (0x0100).
base::Result<Credentials> decode_plain(std::string_view token);

// Removes passwords from a statement, for traces, logs and system tables. In a statement about roles,
// everything after the first PASSWORD is removed.
std::string redact_passwords(std::string_view statement);

}  // namespace sibyl::auth
