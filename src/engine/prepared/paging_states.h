// Seals the paging states that are sent to clients. They are encrypted, because they contain keys that masks
// may hide, and authenticated.
//
// A state is valid for the statement that returned it, for the same role, on a server with the same key. A
// driver may keep a state for days, and use it after a restart, on another connection or with another
// protocol version. The statement may be prepared again, sent as text, or written with other white space,
// comments or letter case of keywords and names. As in Cassandra, bound values are not part of the state. The
// length of a sealed state is rounded up, so that it does not reveal the length of a key.
//
// The key is a record of the store (docs/storage-format.md) and is created if it is missing. So servers that
// use one store accept each other's states.
#pragma once

#include <string_view>

#include "auth/login.h"
#include "engine/prepared/sealing_key.h"
#include "execute/environment.h"
#include "execute/result_set.h"
#include "storage/store.h"

namespace sibyl::engine {

inline constexpr uint32_t keys_table_id = 1022;  // a system table id, like usage_table_id 1023

// Loads or creates the store's key. If the key cannot be stored, for example because the disk is full, logs a
// warning and uses a temporary key: paging states then become invalid when the process ends.
base::Result<SealingKey> load_paging_key(storage::Store& store);

// Immutable; thread-safe.
class PagingStates {
 public:
  explicit PagingStates(SealingKey key) : key_(std::move(key)) {}

  // Opens the request's paging state, calls `read`, and seals the paging state of the result. `login` is
  // nullptr for the program itself. A state of another statement, role or server gives the error of an
  // invalid request. Bytes that are not a state give Cassandra's protocol error.
  template <typename Read>
  base::Result<execute::ResultSet> run(std::string_view statement, const auth::Login* login,
                                       const execute::Request& request, Read read) const {
    base::Result<execute::ResultSet> result = continue_page(statement, login, request, read);
    if (!result || !result->paging_state) return result;
    SIBYL_ASSIGN(result->paging_state, seal(statement, login, *result->paging_state));
    return result;
  }

  base::Result<base::Bytes> seal(std::string_view statement, const auth::Login* login,
                                 base::BytesView state) const;
  base::Result<base::Bytes> open(std::string_view statement, const auth::Login* login,
                                 base::BytesView sealed) const;

 private:
  template <typename Read>
  base::Result<execute::ResultSet> continue_page(std::string_view statement, const auth::Login* login,
                                                 const execute::Request& request, Read& read) const {
    if (!request.paging_state) return read(request);
    execute::Request opened = request;
    SIBYL_ASSIGN(opened.paging_state, open(statement, login, *request.paging_state));
    return read(opened);
  }

  SealingKey key_;
};

}  // namespace sibyl::engine
