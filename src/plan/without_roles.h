// Statements about roles, permissions and identities on a server where nobody logs in: refused as Cassandra
// refuses them then.
#pragma once

#include "base/result.h"
#include "cql/ast.h"

namespace sibyl::plan {

base::Status refuse_without_login(const cql::CreateRole& statement);
base::Status refuse_without_login(const cql::AlterRole& statement);
// Every other statement about them.
base::Status refuse_without_login();

}  // namespace sibyl::plan
