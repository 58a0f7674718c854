// Roles, permissions and identities. They are stored in the tables of system_auth and cached as one immutable
// snapshot.
//
// A change is a function from rows to rows. Changes run one at a time and are durable when change() returns;
// the next request sees them. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "auth/access.h"
#include "auth/login.h"
#include "auth/options.h"
#include "base/mutex.h"
#include "base/result.h"
#include "engine/authenticator.h"
#include "execute/environment.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::engine {

class Roles final : public Authenticator {
 public:
  // Borrows both arguments, which must outlive the object.
  Roles(execute::Environment& environment, const auth::Options& options, bool is_in_cluster = false)
      : environment_(environment), options_(options), is_in_cluster_(is_in_cluster) {}

  // Reads the tables, and revokes permissions on resources that are not in the schema. If clients must log in
  // and there is no role, creates the role `cassandra`.
  base::Status start(const schema::SnapshotPtr& schema);
  // In a cluster, another server may have changed the tables, and only the one that holds the catalogue
  // changes them.
  base::Status reload();

  bool requires_login() const { return options_.authenticator != auth::Authenticator::allow_all; }
  bool checks_permissions() const { return options_.authorizer != auth::Authorizer::allow_all; }
  bool has_passwords() const {
    return options_.authenticator == auth::Authenticator::password ||
           options_.authenticator == auth::Authenticator::mutual_tls_with_password_fallback;
  }

  auth::AccessPtr access() const;
  // Returns a number that is different after each change().
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

  using Change = std::function<base::Status(auth::AccessRows& rows)>;
  base::Status change(const Change& change);
  // Like change(), as part of a larger commit. `commit` receives the writes of the change, which may be
  // empty. It makes them durable together with its own writes, or fails without effect. No other change of
  // roles runs until it returns.
  using Commit = std::function<base::Status(storage::WriteSet writes)>;
  base::Status change(const Change& change, const Commit& commit);

  // Hashing is expensive. As in Cassandra, a role's password may be changed once in five seconds at most,
  // whether or not it is given as a hash. A successful call counts as a change. `is_new`: the role is being
  // created.
  base::Status may_set_password(const std::string& role, bool is_new);

  const auth::Options& options() const override { return options_; }
  base::Result<const auth::Login*> log_in(std::string_view role, std::string_view password) override;
  base::Result<const auth::Login*> log_in_by_identity(std::string_view identity) override;
  base::Result<const auth::Login*> login_of(std::string_view role) override { return admit(*access(), role); }

 private:
  base::Result<auth::AccessRows> read();
  base::Result<const auth::Login*> admit(const auth::Access& access, std::string_view role);
  void publish(auth::AccessRows rows);

  execute::Environment& environment_;
  const auth::Options& options_;
  const bool is_in_cluster_;
  schema::SnapshotPtr system_schema_;
  base::Mutex change_mutex_;  // serialises changes; acquired before mutex_
  mutable base::Mutex mutex_;
  auth::AccessPtr access_ SIBYL_GUARDED_BY(mutex_) = std::make_shared<auth::Access>();
  std::map<std::string, std::unique_ptr<auth::Login>, std::less<>> logins_ SIBYL_GUARDED_BY(mutex_);
  std::map<std::string, int64_t, std::less<>> password_set_micros_ SIBYL_GUARDED_BY(mutex_);
  std::atomic<uint64_t> generation_{1};
};

// Returns the change of permissions that follows from a definition. `creator` gets all permissions on a
// created resource (nullptr: no role created it, or permissions are not checked). Permissions on dropped
// resources are revoked.
Roles::Change permission_change_for(const std::vector<schema::Change>& changes, const schema::Snapshot& after,
                                    const auth::Login* creator);

// Returns true if the resource exists.
bool exists(const auth::Resource& resource, const schema::Snapshot& schema, const auth::AccessRows& rows);

}  // namespace sibyl::engine
