// Conditional statements and batches: read, decide, and write or not. Internal to src/execute/write.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "execute/environment.h"
#include "execute/interrupt_check.h"
#include "execute/view_row.h"
#include "execute/write/conditions.h"
#include "execute/write/locks.h"
#include "execute/write/modify_build.h"

namespace sibyl::execute {

struct BoundStatement {
  const plan::Modification* statement = nullptr;
  std::span<const types::ValueView> values;
};

// Performs everything up to the commit. Takes the partition's lock and reads at one moment. If every
// condition holds, builds the writes of all statements, with or without conditions; otherwise `writes` stays
// empty. The lock is held until the write is done, so conditional requests on a partition are serialised.
//
// All writes of a request have the same timestamp. It is later than the timestamps of all replaced cells, so
// that an applied write is visible even if clocks went backwards or a client chose a timestamp in the future.
// If no later timestamp exists, the request fails.
class ConditionalBuilder {
 public:
  // REQUIRES: all arguments outlive this object; at least one statement has conditions.
  ConditionalBuilder(std::vector<BoundStatement> statements, const plan::ConditionalResult& shape,
                     bool is_batch, const Request& request, Environment& environment);

  // If the partition's lock is taken, nothing is read or built and attempt.must_wait() is true.
  base::Status build(LockAttempt& attempt);

  storage::WriteSet writes;
  std::vector<ViewRow> view_rows;  // view rows in other shards that the writes affect
  // The column [applied]; if the write was not applied, also the existing values.
  ResultSet result;

 private:
  // The conditions that the statements place on one row.
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
  // The latest timestamp of everything that the statements write to or delete.
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
  Bytes prefix_;                  // prefix of the only partition
  std::optional<RowConditions> static_conditions_;
  std::map<Bytes, std::optional<RowConditions>> row_conditions_;  // by clustering
  std::vector<Bytes> partition_key_;                              // components of the partition key
};

}  // namespace sibyl::execute
