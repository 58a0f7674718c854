// Explains an INSERT, UPDATE or DELETE. Internal to src/plan/explain.
#pragma once

#include "plan/explain/explain.h"

namespace sibyl::plan {

struct Modification;

void explain_modification(const cql::Insert& insert, const Modification& plan, Explanation& out);
void explain_modification(const cql::Update& update, const Modification& plan, Explanation& out);
void explain_modification(const cql::Delete& statement, const Modification& plan, Explanation& out);

}  // namespace sibyl::plan
