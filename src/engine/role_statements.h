// Statements about roles, permissions and identities.
#pragma once

#include <functional>
#include <string>

#include "auth/access.h"
#include "base/result.h"
#include "cql/ast.h"
#include "engine/roles.h"
#include "execute/result_set.h"

namespace sibyl::engine {

bool is_about_roles(const cql::Statement& statement);

// Gives the schema as it is when it is called.
using NewestSchema = std::function<schema::SnapshotPtr()>;

// Runs one for whoever has logged in (nullptr: nobody, and it is refused). `keyspace` is the session's,
// `datacenter` the server's. Changes are durable when it returns. May take long: passwords are hashed.
//
// A permission is granted in one step with looking whether there is what it is about, and whether the user
// may grant it: definitions are changes of roles, too (Roles::change()), so that nothing is left of it when
// that is dropped meanwhile.
base::Result<execute::ResultSet> run_role_statement(const cql::Statement& statement, const auth::Login* login,
                                                    const std::string& keyspace, const NewestSchema& schema,
                                                    Roles& roles,
                                                    const std::string& datacenter = "datacenter1");

}  // namespace sibyl::engine
