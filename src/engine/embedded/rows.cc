#include <fmt/format.h>

#include "base/check.h"
#include "engine/embedded/impl.h"
#include "types/print_value.h"

namespace sibyl {

size_t Row::size() const {
  return page_->layout->columns.size();
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
  return bytes ? engine::decode_value(*page_->layout->types[column], *bytes) : Value();
}

std::string Row::text(size_t column) const {
  std::optional<std::string_view> bytes = raw(column);
  return bytes ? types::to_display(*page_->layout->types[column], *bytes) : "null";
}

Result<size_t> Row::find(std::string_view name) const {
  for (size_t i = 0; i < size(); ++i)
    if (page_->layout->columns[i].name == name) return i;
  Error error;
  error.code = ErrorCode::invalid;
  error.message = fmt::format("There is no column '{}' in the result", name);
  return std::unexpected(std::move(error));
}

Error Row::explain(size_t column, Error error) const {
  error.message = fmt::format("Column '{}' ({}): {}", page_->layout->columns[column].name,
                              page_->layout->columns[column].type, error.message);
  return error;
}

void Rows::Impl::set_page(execute::ResultSet&& result) {
  auto taken = std::make_shared<Row::Page>();
  static const auto no_columns =
      std::make_shared<const engine::ResultLayout>(std::vector<plan::ColumnSpec>());
  const bool is_known = layout && (metadata == result.metadata || (page && !result.metadata));
  if (!is_known)
    layout = result.metadata ? std::make_shared<engine::ResultLayout>(result.metadata->columns) : no_columns;
  metadata = std::move(result.metadata);
  taken->layout = layout;
  taken->rows = result.rows.count();
  taken->bytes = result.rows.take_bytes();
  base::Reader reader(taken->bytes);
  const size_t cells = taken->rows * layout->columns.size();
  taken->cells.reserve(cells);
  for (size_t i = 0; i < cells; ++i) {
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
  return impl_->page->layout->columns;
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
