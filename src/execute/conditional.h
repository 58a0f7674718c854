// Conditional statements and batches: read, decide, and write or not. Private to this room.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "execute/conditions.h"
#include "execute/environment.h"
#include "execute/interrupt_check.h"
#include "execute/locks.h"
#include "execute/modify_build.h"

namespace sibyl::execute {

struct BoundStatement {
  const plan::Modification* statement = nullptr;
  std::span<const types::ValueView> values;
};

// Everything up to the commit. Takes the partition's lock, reads at one moment, and when every condition
// holds builds the writes of all statements, with or without conditions; else `writes` stays empty. The lock
// is held until the write is done, so that conditional requests on a partition happen one after another.
//
// All of a request's writes have one timestamp. It is later than everything that they replace, so that what
// was applied is seen, also when clocks went back or a client chose a timestamp in the future. Where no
// timestamp is later the request fails.
class ConditionalBuilder {
 public:
  // REQUIRES: everything given outlives this; some statement has conditions.
  ConditionalBuilder(std::vector<BoundStatement> statements, const plan::ConditionalResult& shape,
                     bool is_batch, const Request& request, Environment& environment);

  // When the partition's lock is taken nothing is read or built: attempt.must_wait().
  base::Status build(LockAttempt& attempt);

  storage::WriteSet writes;
  ResultSet result;  // [applied], and what stood in the way

 private:
  // What the statements demand of one row.
  struct RowConditions {
    plan::Conditions::Kind kind = plan::Conditions::Kind::columns;
    std::vector<BoundCondition> conditions;
  };

  base::Status gather();
  base::Status check_names(const plan::Modification& statement, const Targets& targets);
  base::Status add_conditions(const BoundStatement& bound, const Targets& targets);
  base::Status add_existence(std::optional<RowConditions>& row, plan::Conditions::Kind kind);
  base::Status add_columns(std::optional<RowConditions>& row, const std::vector<plan::Condition>& conditions,
                           const plan::Bindings& bindings);
  base::Status check_consistency() const;

  base::Result<bool> applies(ReadBefore& reads);
  base::Result<bool> hold(const RowConditions& row, const row::Fragment& fragment);
  // Of everything that the statements write to or delete.
  base::Result<int64_t> latest_written(ReadBefore& reads);
  base::Result<int64_t> timestamp(ReadBefore& reads);
  base::Status write(Before& before);
  void observe_all();

  base::Status refuse(ReadBefore& reads);
  base::Status answer_rows(ReadBefore& reads, const row::Fragment& statics);
  base::Status answer_first_row(const row::Fragment& statics);
  base::Status answer_row(const row::Fragment& statics, BytesView clustering, const row::Fragment* row);
  base::Result<types::ValueView> shown(const schema::Column& column, const types::ValueView& value);
  bool reads_static(uint32_t column) const;

  plan::Bindings bindings_of_statement(const BoundStatement& bound) const;
  const schema::Table& table() const { return *statements_.front().statement->table; }

  std::vector<BoundStatement> statements_;
  const plan::ConditionalResult& shape_;
  const bool is_batch_;
  const Request& request_;
  Environment& environment_;
  InterruptCheck interrupt_;
  Workspace& space_;
  const int64_t now_micros_, now_seconds_;

  std::vector<Targets> targets_;  // of each statement
  Bytes prefix_;                  // of the one partition
  std::optional<RowConditions> static_conditions_;
  std::map<Bytes, std::optional<RowConditions>> row_conditions_;  // by clustering
  std::vector<Bytes> partition_key_;                              // its components
};

}  // namespace sibyl::execute
