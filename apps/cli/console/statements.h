// Runs CQL statements for the console, in this process, as a role.
#pragma once

#include <atomic>
#include <boost/json/fwd.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "engine/tracing/traces.h"

namespace sibyl::cli::console {

// Ends a statement when its time is up, when it is cancelled, or when its client has disconnected.
// Thread-safe.
class StatementControl final : public execute::Interrupt {
 public:
  static constexpr std::chrono::seconds max_time{30};

  explicit StatementControl(std::shared_ptr<const std::atomic<bool>> is_abandoned = nullptr)
      : is_abandoned_(std::move(is_abandoned)), deadline_(std::chrono::steady_clock::now() + max_time) {}

  void cancel() { is_cancelled_ = true; }
  base::Status check() const override;

 private:
  std::shared_ptr<const std::atomic<bool>> is_abandoned_;
  std::chrono::steady_clock::time_point deadline_;
  std::atomic<bool> is_cancelled_ = false;
};

struct StatementRequest {
  std::string text;
  std::string keyspace;
  std::vector<std::optional<std::string>> values;  // values of bind markers, as text; nullopt: null
  int32_t page_size = 0;                           // 0: all rows at once
  std::optional<base::Bytes> paging_state;
  execute::Consistency consistency = execute::Consistency::one;
  execute::Consistency serial_consistency = execute::Consistency::serial;
  bool read_only = false;                     // refuses every statement that changes something
  engine::RequestTrace* trace = nullptr;      // filled and published
  const StatementControl* control = nullptr;  // nullptr: only the time limit applies
};

// Runs one statement and waits for its result. `login` is nullptr on a server without logins, or for the
// console's own reads. Blocks: call it on a thread that may.
base::Result<execute::ResultSet> run_statement(engine::Engine& engine, const auth::Login* login,
                                               const StatementRequest& request);

// Returns true if the role may read the table. Tables that do not exist may not be read.
bool may_select(engine::Engine& engine, const auth::Login* login, std::string_view keyspace,
                std::string_view table);

// The values of a result row. nullopt: null.
using Row = std::vector<std::optional<base::BytesView>>;
// Splits the rows of a result. The views point into `result`.
std::vector<Row> rows_of(const execute::ResultSet& result);

// Runs a SELECT and returns one JSON object per row, by column name: numbers, booleans and null as such,
// everything else as text. For tables of the system only, whose numbers fit into a double.
base::Result<boost::json::array> select_objects(engine::Engine& engine, const auth::Login* login,
                                                const std::string& text);

}  // namespace sibyl::cli::console
