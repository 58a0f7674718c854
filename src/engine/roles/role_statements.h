// Statements about roles, permissions and identities.
#pragma once

#include <functional>
#include <string>

#include "auth/access.h"
#include "base/result.h"
#include "cql/ast.h"
#include "engine/roles/roles.h"
#include "execute/result_set.h"

namespace sibyl::engine {

// Returns the newest schema.
using NewestSchema = std::function<schema::SnapshotPtr()>;

// Runs a statement about roles as `login`. nullptr means that no role is logged in, and is an error.
// `keyspace` is the session's, `datacenter` the server's. Changes are durable when it returns. May take long,
// because passwords are hashed.
//
// Granting a permission checks in the same step that the resource exists and that the user may grant it.
// Definitions also go through Roles::change(), so no permission remains on a resource that is dropped
// concurrently.
base::Result<execute::ResultSet> run_role_statement(const cql::Statement& statement, const auth::Login* login,
                                                    const std::string& keyspace, const NewestSchema& schema,
                                                    Roles& roles,
                                                    const std::string& datacenter = "datacenter1");

}  // namespace sibyl::engine
