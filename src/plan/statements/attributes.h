// USING TIMESTAMP and TTL.
#pragma once

#include <optional>

#include "plan/statements/modify.h"

namespace sibyl::plan {

inline constexpr int32_t max_time_to_live = 20 * 365 * 24 * 60 * 60;

base::Result<Attributes> bind_attributes(const cql::Attributes& attributes, Binder& binder,
                                         const std::string& keyspace, const std::string& table);

// Returns the timestamp, or nullopt if none was given (there is no term, or its value is unset).
base::Result<std::optional<int64_t>> timestamp_of(const TermPtr& term, const Bindings& bindings,
                                                  Scratch& scratch);

// The time to live in seconds, 0 for no expiry; the table's default if none was given.
base::Result<int32_t> time_to_live_of(const TermPtr& term, const schema::Table& table,
                                      const Bindings& bindings, Scratch& scratch);

}  // namespace sibyl::plan
