// Statements about roles, permissions and identities.
#pragma once

#include <string>

#include "auth/access.h"
#include "base/result.h"
#include "cql/ast.h"
#include "engine/roles.h"
#include "execute/result_set.h"

namespace sibyl::engine {

bool is_about_roles(const cql::Statement& statement);

// Runs one for whoever has logged in (nullptr: nobody, and it is refused). `keyspace` is the session's.
// Changes are durable when it returns. May take long: passwords are hashed.
base::Result<execute::ResultSet> run_role_statement(const cql::Statement& statement, const auth::Login* login,
                                                    const std::string& keyspace,
                                                    const schema::Snapshot& schema, Roles& roles);

}  // namespace sibyl::engine
