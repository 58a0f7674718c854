// State behind the handles of the public API.
#pragma once

#include <sibyl/database.h>

#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "base/contain.h"
#include "engine/embedded/value.h"
#include "engine/engine.h"

namespace sibyl::engine {

// Values for a plan's markers, together with the bytes that the views point into. Must not be moved.
class BoundValues {
 public:
  static Result<std::unique_ptr<BoundValues>> encode(const plan::Prepared& plan,
                                                     const std::vector<Value>& values);
  std::span<const types::ValueView> views() const { return views_; }

 private:
  std::vector<EncodedValue> values_;
  std::vector<types::ValueView> views_;
};

// Runs `work` and turns any exception into an error. Programs that embed the database see no exception of
// ours.
template <typename Work>
std::invoke_result_t<Work> contain(Work&& work) {
  auto result = base::contain(std::forward<Work>(work));
  if (!result) return std::unexpected(public_error(result.error()));
  return std::move(*result);
}

// True if a schema change made the plan invalid while it ran. The caller prepares again, encodes the values
// again and retries. Each retry needs another schema change, so the number of retries is limited by the
// number of changes.
inline bool must_prepare_again(const Error& error) {
  return error.code == ErrorCode::unprepared;
}

// Blocks until the statement has completed.
Result<execute::ResultSet> run(Engine& engine, const plan::PreparedPtr& plan,
                               const execute::Request& request);

std::vector<Column> public_columns(const std::vector<plan::ColumnSpec>& specs);

}  // namespace sibyl::engine

namespace sibyl {

namespace engine {

// The columns of a result. All results of a prepared statement share them.
struct ResultLayout {
  explicit ResultLayout(const std::vector<plan::ColumnSpec>& specs);
  std::vector<Column> columns;
  std::vector<types::TypePtr> types;
};
using ResultLayoutPtr = std::shared_ptr<const ResultLayout>;

}  // namespace engine

struct Row::Page {
  engine::ResultLayoutPtr layout;
  base::Bytes bytes;
  std::vector<std::optional<std::string_view>> cells;  // the cells of all rows, which point into `bytes`
  size_t rows = 0;
};

struct Rows::Impl {
  std::shared_ptr<engine::Engine> engine;
  plan::PreparedPtr plan;
  std::unique_ptr<engine::BoundValues> values;
  execute::Request request;
  std::vector<std::string> warnings;
  plan::ResultMetadataPtr metadata;  // of `layout`
  engine::ResultLayoutPtr layout;    // the layout of the statement's result, later the layout of `page`
  std::shared_ptr<const Row::Page> page;
  size_t next = 0;    // index of the next row in `page`
  bool more = false;  // there are pages after this one
  std::optional<Error> error;

  void set_page(execute::ResultSet&& result);
  // Fetches the next page and makes it the current one. Returns false at the end or after an error.
  bool next_page();
  // Runs the plan for the next page. Prepares the statement again if a schema change made the plan invalid.
  Result<execute::ResultSet> fetch();
};

struct Statement::Impl {
  std::shared_ptr<engine::Engine> engine;
  base::Bytes id;
  std::string keyspace;
  plan::PreparedPtr plan;  // as prepared first
  std::vector<Column> parameters;
  engine::ResultLayoutPtr layout;  // layout of plan->result; without columns if there is no result

  // Returns the newest plan. Prepares the statement again if the engine has evicted it or a schema change
  // made it invalid.
  Result<plan::PreparedPtr> current() const;
};

struct Session::Impl {
  std::shared_ptr<engine::Engine> engine;
  mutable std::mutex mutex;
  std::string keyspace;  // guarded by mutex

  std::string current_keyspace() const {
    std::lock_guard lock(mutex);
    return keyspace;
  }
  // `statement` is nullptr for texts that are executed without being prepared.
  Result<Rows> start(plan::PreparedPtr plan, const std::vector<Value>& values, const Request& request,
                     const Statement::Impl* statement);
  Result<Rows> start(const Batch& batch, const Request& request);
};

struct Database::Impl {
  std::shared_ptr<engine::Engine> engine;
};

}  // namespace sibyl
