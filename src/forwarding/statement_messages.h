// Statements that one server runs for another, and their results, as bytes. They are fuzzed
// (statement_messages_fuzz.cc).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "cql/ast.h"
#include "execute/environment.h"
#include "execute/result_set.h"
#include "plan/prepared.h"
#include "types/value.h"

namespace sibyl::forwarding {

struct StatementText {
  std::string keyspace;  // of the session
  std::string text;
  base::Bytes id;  // id of a prepared statement; empty: it was sent as text
  std::vector<types::ValueView> values;
};

struct StatementRequest {
  struct Shard {
    uint32_t shard = 0;
    uint64_t epoch = 0;
    bool operator==(const Shard&) const = default;
  };
  std::vector<Shard> shards;   // shards of all named partitions; the receiver must own them at these epochs
  base::Bytes schema_version;  // version of the caller's plan
  std::optional<std::string> role;
  // These do not include values, trace and interrupt.
  execute::Request parameters;
  std::optional<cql::Batch::Kind> batch;  // nullopt: one statement
  std::vector<StatementText> statements;

  base::Bytes encode() const;
  // The values borrow from `bytes`.
  static std::optional<StatementRequest> decode(base::BytesView bytes);
};

struct StatementAnswer {
  enum class Outcome : uint8_t {
    done = 0,
    failed = 1,          // failed with the statement's error, which follows
    moved = 2,           // nothing was executed: the receiver does not own a shard at its epoch
    other_schema = 3,    // nothing was executed: the receiver has another schema
    result_unknown = 4,  // a write was executed, but the receiver may have lost the shard meanwhile
  };
  Outcome outcome = Outcome::done;
  base::Bytes schema_version;  // for other_schema, the version of the receiver's schema
  std::optional<base::Error> error;
  execute::ResultSet result;

  // `known`: the result columns that the caller knows as well, because it has the same plan. They are not
  // sent.
  base::Bytes encode(const plan::ResultMetadataPtr& known) const;
  static std::optional<StatementAnswer> decode(base::BytesView bytes, const plan::ResultMetadataPtr& known);
};

}  // namespace sibyl::forwarding
