// Relations of a WHERE clause, bound one by one. Internal to src/plan/restrictions.
#pragma once

#include <string>

#include "plan/restrictions/bound.h"
#include "plan/terms/term_text.h"

namespace sibyl::plan {

// Resolves the names of one relation and binds its terms. Returns nullptr for token relations, which are
// added to `token`.
base::Result<RestrictionPtr> bind_relation(Binder& binder, const schema::Table& table,
                                           const cql::Relation& relation, TokenRestriction& token);
// The relation as spelled in Cassandra's texts.
std::string text_of(const cql::Relation& relation);

// Combines both relations, or returns Cassandra's error.
base::Result<RestrictionPtr> merged(const RestrictionPtr& left, const RestrictionPtr& right);

}  // namespace sibyl::plan
