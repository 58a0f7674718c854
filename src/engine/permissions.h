// What a statement needs permission for.
#pragma once

#include <span>

#include "auth/access.h"
#include "auth/login.h"
#include "base/result.h"
#include "engine/roles.h"
#include "execute/execute.h"
#include "plan/prepared.h"
#include "schema/schema.h"

namespace sibyl::engine {

// Whether the user may run the statement; Cassandra's errors (0x2100) when not. Statements about roles ask
// for themselves when they run.
base::Status authorize(const plan::Prepared& plan, const std::string& user, const auth::Access& access,
                       const schema::Snapshot& schema);

// Whether the user is shown what masked columns of the tables hold.
bool sees_behind_masks(const std::vector<schema::TablePtr>& tables, const std::string& user,
                       const auth::Access& access);

// The same for every request, where statements repeat: a thread remembers what it has allowed until roles or
// permissions change, so that asking again takes a few nanoseconds.
class PermissionCheck {
 public:
  explicit PermissionCheck(const Roles& roles) : roles_(roles) {}

  // `schema` is called when it is needed.
  template <typename Schema>
  base::Status check(const plan::PreparedPtr& plan, const auth::Login& login, Schema schema) const {
    if (is_allowed(plan, login)) return {};
    return check_now(plan, login, *schema());
  }

 private:
  bool is_allowed(const plan::PreparedPtr& plan, const auth::Login& login) const;
  base::Status check_now(const plan::PreparedPtr& plan, const auth::Login& login,
                         const schema::Snapshot& schema) const;

  const Roles& roles_;
};

}  // namespace sibyl::engine
