// Passwords: hashing, checking, and taking them from the exchange that carries them.
//
// Hashing is slow by design (tens of milliseconds): never on a thread that serves others.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sibyl::auth {

// bcrypt, "$2a$10$...", with a new salt. Refuses what the hash would cut short: passwords with a NUL.
base::Result<std::string> hash_password(std::string_view password);
// False for hashes that are none. Takes as long for a wrong password as for the right one.
bool check_password(std::string_view password, const std::string& hash);
// The hash of no password: checking against it takes as long as checking a real one, and fails.
const std::string& nobodys_hash();
// Whether it is a hash that check_password() can use.
bool is_hash(const std::string& hash);
// How many times a hash (is_hash()) goes round, as a power of two: each more doubles the time of a login.
int cost_of(const std::string& hash);

struct Credentials {
  std::string role, password;
};
// A SASL PLAIN token: authorisation id (ignored), NUL, role, NUL, password. Errors are Cassandra's, 0x0100.
base::Result<Credentials> decode_plain(std::string_view token);

// The statement without the passwords in it, for traces, logs and system tables: in a statement about roles
// all that follows the first PASSWORD is gone.
std::string without_passwords(std::string_view statement);

}  // namespace sibyl::auth
