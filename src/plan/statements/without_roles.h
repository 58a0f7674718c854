// Refuses statements about roles, permissions and identities on a server without authentication, with
// Cassandra's errors.
#pragma once

#include "base/result.h"
#include "cql/ast.h"

namespace sibyl::plan {

base::Status refuse_without_login(const cql::CreateRole& statement);
base::Status refuse_without_login(const cql::AlterRole& statement);
// Refuses all other statements of this kind.
base::Status refuse_without_login();

}  // namespace sibyl::plan
