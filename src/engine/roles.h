// Roles, permissions and identities: kept in the tables of system_auth, known as one immutable snapshot.
//
// A change is a function from rows to rows: changes run one at a time, what they changed is durable when
// change() returns, and then the next request sees it. Threads: everything here may be called by any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "auth/access.h"
#include "auth/login.h"
#include "auth/options.h"
#include "base/result.h"
#include "execute/environment.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::engine {

class Roles {
 public:
  // Borrows both, which must outlive it.
  Roles(execute::Environment& environment, const auth::Options& options)
      : environment_(environment), options_(options) {}

  // Reads the tables, and takes back permissions on what is not in the schema. On a server where clients log
  // in: makes the role `cassandra` when there is none at all.
  base::Status start(const schema::SnapshotPtr& schema);

  bool requires_login() const { return options_.authenticator != auth::Authenticator::allow_all; }
  bool checks_permissions() const { return options_.authorizer != auth::Authorizer::allow_all; }
  bool has_passwords() const {
    return options_.authenticator == auth::Authenticator::password ||
           options_.authenticator == auth::Authenticator::mutual_tls_with_password_fallback;
  }

  auth::AccessPtr access() const;
  // Differs after each change.
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

  using Change = std::function<base::Status(auth::AccessRows& rows)>;
  base::Status change(const Change& change);
  // The same as a part of something else: `commit` gets what the change writes (nothing, perhaps), and makes
  // it durable together with what else belongs to it, or fails with nothing done. Nobody else changes roles
  // until it returns.
  using Commit = std::function<base::Status(storage::WriteSet writes)>;
  base::Status change(const Change& change, const Commit& commit);

  // Hashing is dear: a role's password, hashed already or not, is changed once in five seconds at most, as in
  // Cassandra. Counts as a change. `is_new`: the role is about to be made.
  base::Status may_set_password(const std::string& role, bool is_new);

  // Slow by design. The same time and the same words for a wrong password, a role that is not there and one
  // without a password.
  base::Result<const auth::Login*> log_in(std::string_view role, std::string_view password);
  // For a certificate that has been verified.
  base::Result<const auth::Login*> log_in_by_identity(std::string_view identity);

 private:
  base::Result<auth::AccessRows> read(const schema::SnapshotPtr& schema);
  base::Result<const auth::Login*> admit(const auth::Access& access, std::string_view role);
  void publish(auth::AccessRows rows);

  execute::Environment& environment_;
  const auth::Options& options_;
  std::mutex change_mutex_;  // one change after another
  mutable std::mutex mutex_;
  auth::AccessPtr access_ = std::make_shared<auth::Access>();                // guarded by mutex_
  std::map<std::string, std::unique_ptr<auth::Login>, std::less<>> logins_;  // guarded by mutex_
  std::map<std::string, int64_t, std::less<>> password_set_micros_;          // guarded by mutex_
  std::atomic<uint64_t> generation_{1};
};

// What a definition means for permissions: whoever made something may do everything with it (nullptr: nobody
// did, or nobody is asked), and nobody may do anything with what is gone.
Roles::Change follow_definition(const std::vector<schema::Change>& changes, const schema::Snapshot& after,
                                const auth::Login* maker);

// Whether there is such a thing.
bool exists(const auth::Resource& resource, const schema::Snapshot& schema, const auth::AccessRows& rows);

}  // namespace sibyl::engine
