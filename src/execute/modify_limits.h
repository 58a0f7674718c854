// Guardrails on what a statement writes. Private to this room.
#pragma once

#include <string>
#include <vector>

#include "execute/modify_moment.h"
#include "plan/guardrails.h"
#include "row/fragment.h"
#include "schema/schema.h"

namespace sibyl::execute {

// Sizes of values, and sizes and numbers of elements of collections, in one row that is about to be written.
base::Status check_values(const schema::Table& table, const row::Fragment& fragment,
                          const plan::Guardrails& guardrails, std::vector<std::string>& warnings);
// The write timestamp against the present.
base::Status check_timestamp(const schema::Table& table, const Moment& moment,
                             const plan::Guardrails& guardrails, std::vector<std::string>& warnings);

}  // namespace sibyl::execute
