#include "plan/definitions/definitions.h"

#include "plan/definitions/alter_table.h"
#include "plan/definitions/draft.h"
#include "plan/definitions/functions.h"
#include "plan/definitions/indexes.h"
#include "plan/definitions/keyspaces.h"
#include "plan/definitions/tables.h"
#include "plan/definitions/triggers.h"
#include "plan/definitions/user_types.h"
#include "plan/definitions/views.h"
#include "plan/guardrails_check.h"
#include "plan/naming_hints.h"

namespace sibyl::plan {
namespace {

struct Definer {
  Draft& draft;

  template <typename Statement>
  base::Result<DefinitionResult> operator()(const Statement& statement) const {
    if constexpr (requires { define_keyspace(statement, draft); }) return define_keyspace(statement, draft);
    if constexpr (requires { define_table(statement, draft); }) return define_table(statement, draft);
    if constexpr (requires { define_view(statement, draft); }) return define_view(statement, draft);
    if constexpr (requires { define_type(statement, draft); }) return define_type(statement, draft);
    if constexpr (requires { define_trigger(statement, draft); }) return define_trigger(statement, draft);
    if constexpr (requires { define_index(statement, draft); }) return define_index(statement, draft);
    if constexpr (requires { define_function(statement, draft); }) return define_function(statement, draft);
    return base::invalid("This statement does not change the schema");
  }
};

}  // namespace

base::Result<DefinitionResult> define(const cql::Statement& statement, const schema::SnapshotPtr& schema,
                                      const DefinitionContext& context) {
  Draft draft(schema, context);
  base::Result<DefinitionResult> defined = std::visit(Definer{draft}, statement.node);
  if (!defined)
    return base::fail(
        with_naming_hint(defined.error(), statement, {*schema, context.keyspace, context.datacenter}));
  DefinitionResult result = std::move(*defined);
  if (result.schema != schema)
    SIBYL_TRY(check_definition(statement, *schema, result, *context.guardrails, result.warnings));
  return result;
}

}  // namespace sibyl::plan
