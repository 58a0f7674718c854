#include <fmt/format.h>

#include "base/check.h"
#include "engine/embedded/impl.h"
#include "types/print.h"

namespace sibyl {

size_t Row::size() const {
  return page_->columns.size();
}

std::optional<std::string_view> Row::raw(size_t column) const {
  return column < size() ? page_->cells[index_ * size() + column] : std::nullopt;
}

Result<Value> Row::value(size_t column) const {
  if (column >= size()) {
    Error error;
    error.code = ErrorCode::invalid;
    error.message =
        fmt::format("There is no column {}: the row has {} columns, counted from 0", column, size());
    return std::unexpected(std::move(error));
  }
  std::optional<std::string_view> bytes = raw(column);
  return bytes ? engine::decode_value(*page_->types[column], *bytes) : Value();
}

std::string Row::text(size_t column) const {
  std::optional<std::string_view> bytes = raw(column);
  return bytes ? types::to_display(*page_->types[column], *bytes) : "null";
}

Result<size_t> Row::find(std::string_view name) const {
  for (size_t i = 0; i < size(); ++i)
    if (page_->columns[i].name == name) return i;
  Error error;
  error.code = ErrorCode::invalid;
  error.message = fmt::format("There is no column '{}' in the result", name);
  return std::unexpected(std::move(error));
}

Error Row::explain(size_t column, Error error) const {
  error.message = fmt::format("Column '{}' ({}): {}", page_->columns[column].name,
                              page_->columns[column].type, error.message);
  return error;
}

void Rows::Impl::set_page(execute::ResultSet result) {
  auto taken = std::make_shared<Row::Page>();
  if (page && (metadata == result.metadata || !result.metadata)) {
    taken->columns = page->columns;
    taken->types = page->types;
  } else if (result.metadata) {
    taken->columns = engine::public_columns(result.metadata->columns);
    for (const plan::ColumnSpec& spec : result.metadata->columns) taken->types.push_back(spec.type);
  }
  metadata = std::move(result.metadata);
  taken->rows = result.rows.count();
  taken->bytes = result.rows.take_bytes();
  base::Reader reader(taken->bytes);
  taken->cells.reserve(taken->rows * taken->columns.size());
  for (size_t i = 0; i < taken->rows * taken->columns.size(); ++i) {
    uint32_t size = 0;
    base::BytesView value;
    SIBYL_CHECK(reader.big_endian(size));
    if (static_cast<int32_t>(size) < 0) {
      taken->cells.push_back(std::nullopt);
    } else {
      SIBYL_CHECK(reader.take(size, value));
      taken->cells.push_back(value);
    }
  }
  for (std::string& warning : result.warnings) warnings.push_back(std::move(warning));
  request.paging_state = std::move(result.paging_state);
  more = request.paging_state.has_value();
  page = std::move(taken);
  next = 0;
}

Result<execute::ResultSet> Rows::Impl::fetch() {
  while (true) {
    Result<execute::ResultSet> result = engine::run(*engine, plan, request);
    if (result || !engine::must_prepare_again(result.error())) return result;
    auto again = engine->planner().prepare(plan->text, plan->keyspace);
    if (!again) return std::unexpected(engine::public_error(again.error()));
    // The values are already encoded for the markers of the first page's plan.
    if (plan::metadata_id({again->plan->markers}) != plan::metadata_id({plan->markers})) return result;
    plan = std::move(again->plan);
  }
}

bool Rows::Impl::next_page() {
  if (!more || error) return false;
  const Status turned = sibyl::engine::contain([&]() -> Status {
    Result<execute::ResultSet> result = fetch();
    if (!result) return std::unexpected(std::move(result.error()));
    set_page(std::move(*result));
    return {};
  });
  if (!turned) error = turned.error();
  return turned.has_value();
}

Rows::Rows(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Rows::Rows(Rows&&) noexcept = default;
Rows& Rows::operator=(Rows&&) noexcept = default;
Rows::~Rows() = default;

const std::vector<Column>& Rows::columns() const {
  return impl_->page->columns;
}
const std::vector<std::string>& Rows::warnings() const {
  return impl_->warnings;
}

std::optional<Row> Rows::next() {
  while (impl_->next == impl_->page->rows)
    if (!impl_->next_page()) return std::nullopt;
  return Row(impl_->page, impl_->next++);
}

Status Rows::status() const {
  if (impl_->error) return std::unexpected(*impl_->error);
  return {};
}

Result<std::vector<Row>> Rows::all() {
  std::vector<Row> rows;
  while (std::optional<Row> row = next()) rows.push_back(std::move(*row));
  if (impl_->error) return std::unexpected(*impl_->error);
  return rows;
}

}  // namespace sibyl
