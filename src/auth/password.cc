#include "auth/password.h"

#include <crypt.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <memory>

#include "base/ascii.h"

namespace sibyl::auth {
namespace {

constexpr const char* prefix = "$2a$";
constexpr unsigned long rounds = 10;  // base-2 logarithm of the number of rounds, as in Cassandra
constexpr size_t hash_size = 60;

// Returns the bcrypt hash of a C string; empty if the setting is invalid.
std::string crypt_with(const std::string& password, const std::string& setting) {
  // Allocated on the heap because it is large, and wiped because it holds secrets.
  const auto data = std::make_unique<crypt_data>();
  const char* made = crypt_rn(password.c_str(), setting.c_str(), data.get(), sizeof(crypt_data));
  std::string result = made == nullptr || made[0] == '*' ? std::string() : made;
  explicit_bzero(data.get(), sizeof(crypt_data));
  return result;
}

// Compares all bytes, so that the time does not depend on the first difference.
bool equal(std::string_view left, std::string_view right) {
  if (left.size() != right.size()) return false;
  unsigned char difference = 0;
  for (size_t i = 0; i < left.size(); ++i)
    difference = static_cast<unsigned char>(difference | (left[i] ^ right[i]));
  return difference == 0;
}

std::string make_hash(const std::string& password) {
  std::array<char, CRYPT_GENSALT_OUTPUT_SIZE> setting{};
  // Without given random bytes, the salt comes from the system's generator.
  if (crypt_gensalt_rn(prefix, rounds, nullptr, 0, setting.data(), setting.size()) == nullptr) return {};
  return crypt_with(password, setting.data());
}

base::Error bad_credentials(const char* message) {
  return base::Error(base::ErrorCode::bad_credentials, message);
}

// Returns the position of `word` where it is a separate word, or npos.
size_t find_word(std::string_view text, std::string_view word) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end]))) return at;
  }
  return text.npos;
}

}  // namespace

base::Result<std::string> hash_password(std::string_view password) {
  if (password.find('\0') != password.npos)
    return base::invalid("A password cannot contain the NUL character");
  std::string hash = make_hash(std::string(password));
  if (hash.empty()) return base::fail(base::ErrorCode::server, "The password could not be hashed");
  return hash;
}

int cost_of(const std::string& hash) {
  return (hash[4] - '0') * 10 + (hash[5] - '0');
}

bool is_hash(const std::string& hash) {
  if (hash.size() != hash_size || !hash.starts_with("$2") || hash.find('\0') != hash.npos) return false;
  // Cassandra accepts up to 2^30 rounds, which would take hours for one login. The limit here is lower.
  if (hash[2] != 'a' || hash[3] != '$' || hash[6] != '$') return false;
  if (!std::isdigit(static_cast<unsigned char>(hash[4])) ||
      !std::isdigit(static_cast<unsigned char>(hash[5])))
    return false;
  const int cost = cost_of(hash);
  return cost >= 4 && cost <= 16 && crypt_checksalt(hash.c_str()) != CRYPT_SALT_INVALID;
}

bool check_password(std::string_view password, const std::string& hash) {
  const bool usable = is_hash(hash) && password.find('\0') == password.npos;
  const std::string made = crypt_with(std::string(password), usable ? hash : dummy_hash());
  return usable && !made.empty() && equal(made, hash);
}

const std::string& dummy_hash() {
  // A random salt, and a checksum that matches no known password.
  static const std::string hash = [] {
    std::string made = make_hash("");
    std::reverse(made.begin() + 29, made.end());
    return made;
  }();
  return hash;
}

base::Result<Credentials> decode_plain(std::string_view token) {
  const size_t second = token.rfind('\0');
  const size_t first = second == token.npos || second == 0 ? token.npos : token.rfind('\0', second - 1);
  if (first != token.npos && first > 0 && token.find('\0') < first)
    return base::fail(bad_credentials(
        "Credential format error: username or password is empty or contains NUL(\\0) character"));
  if (second == token.npos || second + 1 == token.size())
    return base::fail(bad_credentials("Password must not be null"));
  if (first == token.npos || first + 1 == second)
    return base::fail(bad_credentials("Authentication ID must not be null"));
  return Credentials{std::string(token.substr(first + 1, second - first - 1)),
                     std::string(token.substr(second + 1))};
}

std::string redact_passwords(std::string_view statement) {
  std::string lower(statement);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) { return base::ascii_lower(c); });
  constexpr std::string_view word = "password";
  const size_t at = find_word(lower, word);
  if (at == lower.npos) return std::string(statement);
  const std::string_view before = std::string_view(lower).substr(0, at);
  const auto has = [&](std::string_view wanted) { return find_word(before, wanted) != before.npos; };
  if (!(has("create") || has("alter")) || !(has("role") || has("user"))) return std::string(statement);
  return std::string(statement.substr(0, at + word.size())) + " *******";
}

}  // namespace sibyl::auth
