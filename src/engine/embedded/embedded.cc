#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/mutex.h"
#include "cql/script.h"
#include "engine/embedded/impl.h"
#include "execute/write/batch.h"

namespace sibyl {
namespace engine {
namespace {

Error invalid_request(std::string message) {
  Error error;
  error.code = ErrorCode::invalid;
  error.message = std::move(message);
  return error;
}

template <typename T>
std::unexpected<Error> failed(base::Result<T>& result) {
  return std::unexpected(public_error(result.error()));
}

}  // namespace

Result<std::unique_ptr<BoundValues>> BoundValues::encode(const plan::Prepared& plan,
                                                         const std::vector<Value>& values) {
  if (values.size() > plan.markers.size())
    return std::unexpected(invalid_request(fmt::format(
        "Invalid amount of bind variables: {} values for {} markers", values.size(), plan.markers.size())));
  auto out = std::make_unique<BoundValues>();
  out->values_.reserve(plan.markers.size());
  out->views_.reserve(plan.markers.size());
  for (size_t i = 0; i < values.size(); ++i) {
    Result<EncodedValue> encoded = encode_value(*plan.markers[i].type, values[i]);
    if (!encoded) {
      Error error = std::move(encoded.error());
      error.message = fmt::format("Parameter {} ('{}'): {}", i, plan.markers[i].name, error.message);
      return std::unexpected(std::move(error));
    }
    out->values_.push_back(std::move(*encoded));
  }
  out->values_.resize(plan.markers.size(), EncodedValue{types::ValueView::State::unset, {}});
  for (const EncodedValue& value : out->values_) out->views_.push_back(value.view());
  return out;
}

namespace {

// Waits for the completion of one statement. The completion may be called on another thread.
class Waiter {
 public:
  void finish(base::Result<execute::ResultSet>&& result) {
    const base::MutexLock lock(mutex_);
    result_.emplace(std::move(result));
    finished_.notify_one();
  }
  Result<execute::ResultSet> wait() {
    const base::MutexLock lock(mutex_);
    while (!result_) finished_.wait(mutex_);
    if (!*result_) return failed(*result_);
    return std::move(**result_);
  }

 private:
  base::Mutex mutex_;
  base::CondVar finished_;
  std::optional<base::Result<execute::ResultSet>> result_ SIBYL_GUARDED_BY(mutex_);
};

// Finishes the waiter exactly once, even if an exception destroys the completion before it was called. Small
// enough to be stored inside a std::move_only_function.
class WaiterCompletion {
 public:
  explicit WaiterCompletion(Waiter& waiter) : waiter_(&waiter) {}
  WaiterCompletion(WaiterCompletion&& other) noexcept : waiter_(std::exchange(other.waiter_, nullptr)) {}
  WaiterCompletion& operator=(WaiterCompletion&&) = delete;
  ~WaiterCompletion() {
    if (waiter_ != nullptr)
      waiter_->finish(
          base::fail(base::ErrorCode::server, "The request was abandoned because of an internal error"));
  }
  void operator()(base::Result<execute::ResultSet>&& result) {
    std::exchange(waiter_, nullptr)->finish(std::move(result));
  }

 private:
  Waiter* waiter_;
};

}  // namespace

Result<execute::ResultSet> run(Engine& engine, const plan::PreparedPtr& plan,
                               const execute::Request& request) {
  Waiter waiter;
  engine.executor().execute(plan, request, WaiterCompletion(waiter));
  return waiter.wait();
}

ResultLayout::ResultLayout(const std::vector<plan::ColumnSpec>& specs) : columns(public_columns(specs)) {
  for (const plan::ColumnSpec& spec : specs) types.push_back(spec.type);
}

std::vector<Column> public_columns(const std::vector<plan::ColumnSpec>& specs) {
  std::vector<Column> columns;
  for (const plan::ColumnSpec& spec : specs)
    columns.push_back({spec.keyspace, spec.table, spec.name, spec.type->cql_name()});
  return columns;
}

}  // namespace engine

using engine::failed;
using engine::public_error;

// --- Statements

const std::string& Statement::text() const {
  return impl_->plan->text;
}
const std::vector<Column>& Statement::parameters() const {
  return impl_->parameters;
}
const std::vector<Column>& Statement::columns() const {
  return impl_->layout->columns;
}
Bound Statement::bind_all(std::vector<Value> values) const {
  return Bound(*this, std::move(values));
}

Result<plan::PreparedPtr> Statement::Impl::current() const {
  auto found = engine->planner().find_prepared(id);
  if (found) return std::move(*found);
  auto again = engine->planner().prepare(plan->text, keyspace);
  if (!again) return failed(again);
  return again->plan;
}

Bound& Bound::set(size_t parameter, Value value) {
  size_t count = statement_.parameters().size();
  if (parameter >= count) {
    if (!error_)
      error_ = engine::invalid_request(fmt::format(
          "There is no parameter {}: the statement has {} parameters, counted from 0", parameter, count));
    return *this;
  }
  if (values_.size() <= parameter) values_.resize(parameter + 1, Unset{});
  values_[parameter] = std::move(value);
  return *this;
}

Bound& Bound::set(std::string_view parameter, Value value) {
  bool found = false;
  const std::vector<Column>& parameters = statement_.parameters();
  for (size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].name == parameter) {
      set(i, value);
      found = true;
    }
  if (!found && !error_)
    error_ = engine::invalid_request(fmt::format("There is no parameter '{}'", parameter));
  return *this;
}

Batch& Batch::add(Bound statement) {
  items_.push_back({std::move(statement), {}, {}});
  return *this;
}

Batch& Batch::add(std::string text, std::vector<Value> values) {
  items_.push_back({std::nullopt, std::move(text), std::move(values)});
  return *this;
}

// --- Sessions

namespace {

execute::Request internal_request(const Request& request) {
  execute::Request out;
  out.page_size = request.page_size;
  out.timestamp_micros = request.timestamp_micros;
  return out;
}

}  // namespace

std::string Session::keyspace() const {
  return impl_->current_keyspace();
}

Status Session::use(const std::string& keyspace) {
  if (!impl_->engine->schema()->find_keyspace(keyspace))
    return std::unexpected(engine::invalid_request("Keyspace '" + keyspace + "' does not exist"));
  std::lock_guard lock(impl_->mutex);
  impl_->keyspace = keyspace;
  return {};
}

Result<Statement> Session::prepare(std::string_view text) {
  return engine::contain([&]() -> Result<Statement> {
    auto impl = std::make_shared<Statement::Impl>();
    impl->engine = impl_->engine;
    impl->keyspace = impl_->current_keyspace();
    auto prepared = impl->engine->planner().prepare(text, impl->keyspace);
    if (!prepared) return failed(prepared);
    impl->id = std::move(prepared->id);
    impl->plan = std::move(prepared->plan);
    impl->parameters = engine::public_columns(impl->plan->markers);
    impl->layout = std::make_shared<engine::ResultLayout>(
        impl->plan->result ? impl->plan->result->columns : std::vector<plan::ColumnSpec>());
    return Statement(std::move(impl));
  });
}

Result<Rows> Session::Impl::start(plan::PreparedPtr plan, const std::vector<Value>& values,
                                  const Request& request, const Statement::Impl* statement) {
  auto bound = engine::BoundValues::encode(*plan, values);
  if (!bound) return std::unexpected(std::move(bound.error()));
  auto rows = std::make_unique<Rows::Impl>();
  rows->engine = engine;
  rows->plan = std::move(plan);
  rows->values = std::move(*bound);
  rows->request = internal_request(request);
  rows->request.values = rows->values->views();
  if (statement != nullptr) {
    rows->metadata = statement->plan->result;
    rows->layout = statement->layout;
  }
  Result<execute::ResultSet> result = engine::run(*engine, rows->plan, rows->request);
  if (!result) return std::unexpected(std::move(result.error()));
  if (result->kind == execute::ResultSet::Kind::set_keyspace) {
    std::lock_guard lock(mutex);
    keyspace = result->keyspace;
  }
  rows->set_page(std::move(*result));
  return Rows(std::move(rows));
}

Result<Rows> Session::execute(const Bound& statement, const Request& request) {
  return engine::contain([&]() -> Result<Rows> {
    if (statement.error_) return std::unexpected(*statement.error_);
    while (true) {
      auto plan = statement.statement_.impl_->current();
      if (!plan) return std::unexpected(std::move(plan.error()));
      Result<Rows> rows =
          impl_->start(std::move(*plan), statement.values_, request, statement.statement_.impl_.get());
      if (rows || !engine::must_prepare_again(rows.error())) return rows;
    }
  });
}

Result<Rows> Session::execute(std::string_view text, const std::vector<Value>& values,
                              const Request& request) {
  return engine::contain([&]() -> Result<Rows> {
    auto plan = impl_->engine->planner().plan_query(text, impl_->current_keyspace());
    if (!plan) return failed(plan);
    return impl_->start(std::move(*plan), values, request, nullptr);
  });
}

Result<Rows> Session::execute(std::string_view text, std::initializer_list<Value> values,
                              const Request& request) {
  return execute(text, std::vector<Value>(values), request);
}

Result<Rows> Session::execute(const Batch& batch, const Request& request) {
  return engine::contain([&]() -> Result<Rows> {
    while (true) {
      Result<Rows> rows = impl_->start(batch, request);
      if (rows || !engine::must_prepare_again(rows.error())) return rows;
    }
  });
}

Result<Rows> Session::Impl::start(const Batch& batch, const Request& request) {
  std::vector<std::unique_ptr<sibyl::engine::BoundValues>> kept;
  std::vector<execute::BatchItem> items;
  for (const Batch::Item& item : batch.items_) {
    if (item.bound && item.bound->error_) return std::unexpected(*item.bound->error_);
    plan::PreparedPtr plan;
    if (item.bound) {
      auto current = item.bound->statement_.impl_->current();
      if (!current) return std::unexpected(std::move(current.error()));
      plan = std::move(*current);
    } else {
      auto made = engine->planner().plan_query(item.text, current_keyspace());
      if (!made) return failed(made);
      plan = std::move(*made);
    }
    auto bound = sibyl::engine::BoundValues::encode(*plan, item.bound ? item.bound->values_ : item.values);
    if (!bound) return std::unexpected(std::move(bound.error()));
    kept.push_back(std::move(*bound));
    items.push_back({std::move(plan), kept.back()->views()});
  }
  sibyl::engine::Waiter waiter;
  const execute::Request internal = internal_request(request);
  engine->executor().execute_batch(static_cast<cql::Batch::Kind>(batch.kind_), std::move(items), internal,
                                   sibyl::engine::WaiterCompletion(waiter));
  Result<execute::ResultSet> result = waiter.wait();
  if (!result) return std::unexpected(std::move(result.error()));
  auto rows = std::make_unique<Rows::Impl>();
  rows->engine = engine;
  rows->set_page(std::move(*result));
  return Rows(std::move(rows));
}

Status Session::execute_script(std::string_view script) {
  for (const cql::ScriptPiece& piece : cql::split_script(script)) {
    Result<Rows> rows = execute(piece.text);
    if (!rows) return std::unexpected(std::move(rows.error()));
  }
  return {};
}

// --- Databases

Result<Database> Database::open(const std::string& path, const Options& options) {
  return engine::contain([&]() -> Result<Database> {
    engine::Options internal;
    internal.data = path;
    internal.commitlog_sync =
        options.sync == Options::Sync::group ? engine::Options::Sync::group : engine::Options::Sync::periodic;
    constexpr uint64_t row_cache_share = 4;
    internal.block_cache_bytes = options.block_cache_bytes;
    internal.row_cache_bytes =
        std::max(internal.row_cache_bytes, options.block_cache_bytes / row_cache_share);
    internal.cluster_name = options.cluster_name;
    auto opened = engine::Engine::open(internal);
    if (!opened) return failed(opened);
    auto impl = std::make_shared<Impl>();
    impl->engine = std::move(*opened);
    return Database(std::move(impl));
  });
}

Database::Database(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Session Database::session(std::string keyspace) const {
  auto impl = std::make_shared<Session::Impl>();
  impl->engine = impl_->engine;
  impl->keyspace = std::move(keyspace);
  return Session(std::move(impl));
}

Result<Rows> Database::execute(std::string_view text, std::initializer_list<Value> values) const {
  return session().execute(text, values);
}

Status Database::flush() {
  return engine::contain([&]() -> Status {
    if (auto status = impl_->engine->flush(); !status) return failed(status);
    return {};
  });
}

Status Database::compact() {
  return engine::contain([&]() -> Status {
    if (auto status = impl_->engine->compact(); !status) return failed(status);
    return {};
  });
}

}  // namespace sibyl
