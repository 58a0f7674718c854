// Paging states as clients hold them: encrypted, since they name keys that masks may hide, and authenticated.
//
// A state continues the statement that it came from, for the same role, on a server with the same key.
// Drivers may keep one for days, send it over another connection or in another version of the protocol, and
// after a restart; the statement may be prepared again or sent as text. Bound values are not part of it, as
// in Cassandra. Their length is that of their contents rounded up, so that it does not tell the length of a
// key.
//
// The key is a record of the store (docs/storage-format.md), made when it is missing. So servers on one store
// continue each other's pages.
#pragma once

#include <string_view>

#include "auth/login.h"
#include "engine/sealing_key.h"
#include "execute/environment.h"
#include "execute/result_set.h"
#include "storage/store.h"

namespace sibyl::engine {

inline constexpr uint32_t keys_table_id = 1022;  // of system tables' ids; 1023 is that of statistics

// The store's own key. Where it cannot be stored (the disk is full) it is one for this run, with a warning in
// the log: paging states then end with the process.
base::Result<SealingKey> load_paging_key(storage::Store& store);

// Immutable; thread-safe.
class PagingStates {
 public:
  explicit PagingStates(SealingKey key) : key_(std::move(key)) {}

  // Runs `read` with the request's paging state opened, and seals that of its result. `login` is nullptr for
  // the program itself. A state of another statement, role or server is an invalid request; bytes that are no
  // state are Cassandra's protocol error.
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
    if (!request.paging_state || request.paging_state->empty()) return read(request);
    execute::Request opened = request;
    SIBYL_ASSIGN(opened.paging_state, open(statement, login, *request.paging_state));
    return read(opened);
  }

  SealingKey key_;
};

}  // namespace sibyl::engine
