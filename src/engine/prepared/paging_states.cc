#include "engine/prepared/paging_states.h"

#include <spdlog/spdlog.h>

#include "base/ascii.h"
#include "cql/lexer.h"
#include "row/record_key.h"
#include "storage/sharded_store.h"

namespace sibyl::engine {
namespace {

using base::Bytes;
using base::BytesView;

constexpr char state_version = 2;  // version 1 was not encrypted
constexpr char record_version = 1;
constexpr size_t padding = 64;

Bytes paging_key_record() {
  Bytes key = row::table_begin(keys_table_id);
  key.push_back('p');
  return key;
}

// Removes differences that do not change the meaning of a statement: letter case of keywords and names, white
// space and comments.
std::string normal_text(std::string_view statement) {
  std::string text;
  text.reserve(statement.size());
  cql::Lexer lexer(statement);
  for (cql::Token token = lexer.next(); token.kind != cql::TokenKind::end; token = lexer.next()) {
    if (token.kind == cql::TokenKind::semicolon) continue;
    const bool is_word = token.kind == cql::TokenKind::identifier || token.kind >= cql::TokenKind::kw_access;
    const std::string_view raw = lexer.raw(token);
    if (!text.empty()) text += ' ';
    text += is_word ? base::ascii_lower(raw) : std::string(raw);
  }
  return text;
}

Bytes bound_to(std::string_view statement, const auth::Login* login) {
  Bytes bound;
  bound.reserve(statement.size() + 64);
  bound.push_back(state_version);
  bound.push_back(login != nullptr ? 1 : 0);
  base::append_sized(bound, login != nullptr ? BytesView(login->role) : BytesView());
  bound.append(statement);
  return bound;
}

constexpr const char* invalid_state_text = "Invalid value for the paging state";

// Returns Cassandra's error. Drivers close the connection when they get it.
std::unexpected<base::Error> no_state() {
  return base::fail(base::ErrorCode::protocol, invalid_state_text);
}

// Returns our own error; Cassandra would accept such a state. An application may pass on states that its
// users kept, for a statement that has changed in the meantime. It must not lose its connections because of
// that.
std::unexpected<base::Error> foreign_state() {
  return base::fail(base::Error(base::ErrorCode::invalid, invalid_state_text)
                        .with_hint("a paging state is valid only for the statement that returned it, with "
                                   "the same role and server"));
}

}  // namespace

base::Result<SealingKey> load_paging_key(storage::Store& store) {
  Bytes value;
  SIBYL_ASSIGN(const bool found, store.get(paging_key_record(), value));
  if (found) {
    if (value.size() != 1 + SealingKey::key_size || value[0] != record_version)
      return base::fail(base::ErrorCode::server,
                        "The key of paging states was written in another version of the format");
    return SealingKey(BytesView(value).substr(1));
  }
  SIBYL_ASSIGN(SealingKey key, SealingKey::make_random());
  storage::WriteSet writes;
  writes.put(paging_key_record(), Bytes(1, record_version) + key.bytes());
  const base::Status stored = store.commit(std::move(writes));
  // Another server of the cluster creates the key.
  if (!stored && storage::is_not_here(stored.error())) return base::fail(stored.error());
  if (!stored)
    spdlog::warn("paging states will not survive a restart, because their key cannot be stored: {}",
                 stored.error().text());
  return key;
}

base::Result<Bytes> PagingStates::seal(std::string_view statement, const auth::Login* login,
                                       BytesView state) const {
  Bytes padded;
  padded.reserve(state.size() + 2 * padding);
  base::append_sized(padded, state);
  padded.resize((padded.size() + padding - 1) / padding * padding);
  SIBYL_ASSIGN(const Bytes sealed, key_.seal(padded, bound_to(normal_text(statement), login)));
  return Bytes(1, state_version) + sealed;
}

base::Result<Bytes> PagingStates::open(std::string_view statement, const auth::Login* login,
                                       BytesView sealed) const {
  constexpr size_t min_size = 1 + SealingKey::nonce_size + padding + SealingKey::tag_size;
  if (sealed.size() < min_size || sealed[0] != state_version) return no_state();
  std::optional<Bytes> padded = key_.open(sealed.substr(1), bound_to(normal_text(statement), login));
  // Earlier versions bound states to the text as it was sent.
  if (!padded) padded = key_.open(sealed.substr(1), bound_to(statement, login));
  if (!padded) return foreign_state();
  base::Reader reader(*padded);
  BytesView state;
  if (!reader.sized(state)) return foreign_state();
  return Bytes(state);
}

}  // namespace sibyl::engine
