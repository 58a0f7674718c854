// Results of statements.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sibyl/error.h>
#include <sibyl/value.h>

namespace sibyl {

struct Column {
  std::string keyspace, table, name;
  std::string type;  // in CQL notation
};

// One row. Cheap to copy. Shares ownership of its page, so it may outlive its Rows.
class Row {
 public:
  size_t size() const;

  // Returns a column by position or by its name in the result. Fails if there is no such column or it has
  // another type.
  template <typename T>
  Result<T> get(size_t column) const {
    Result<Value> found = value(column);
    if (!found) return std::unexpected(std::move(found.error()));
    Result<T> converted = found->as<T>();
    if (!converted) return std::unexpected(explain(column, std::move(converted.error())));
    return converted;
  }
  template <typename T>
  Result<T> get(std::string_view name) const {
    Result<size_t> column = find(name);
    if (!column) return std::unexpected(std::move(column.error()));
    return get<T>(*column);
  }

  Result<Value> value(size_t column) const;
  // The bytes in CQL's serialisation, valid as long as this row. Returns nullopt for null and for columns
  // that do not exist.
  std::optional<std::string_view> raw(size_t column) const;
  // The value as cqlsh prints it; "null" for null.
  std::string text(size_t column) const;
  bool is_null(size_t column) const { return !raw(column); }
  Result<size_t> find(std::string_view name) const;

 private:
  friend class Rows;
  struct Page;
  Row(std::shared_ptr<const Page> page, size_t index) : page_(std::move(page)), index_(index) {}
  Error explain(size_t column, Error error) const;

  std::shared_ptr<const Page> page_;
  size_t index_ = 0;
};

// The result of a statement. Read once from front to back; further pages are fetched as needed. Statements
// that return no rows give empty Rows. Not thread-safe.
class Rows {
 public:
  Rows(Rows&&) noexcept;
  Rows& operator=(Rows&&) noexcept;
  ~Rows();

  const std::vector<Column>& columns() const;
  const std::vector<std::string>& warnings() const;

  // Returns the next row. Returns nullopt at the end, or if a page could not be read.
  std::optional<Row> next();
  // Returns the error that ended reading, if any. Check it after a loop, which simply ends on an error.
  Status status() const;
  // Returns all remaining rows.
  Result<std::vector<Row>> all();

  // for (const Row& row : rows) ...
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Row;
    using difference_type = std::ptrdiff_t;
    using pointer = const Row*;
    using reference = const Row&;

    const Row& operator*() const { return *row_; }
    const Row* operator->() const { return &*row_; }
    Iterator& operator++() {
      row_ = rows_->next();
      return *this;
    }
    bool operator==(std::default_sentinel_t) const { return !row_; }

   private:
    friend class Rows;
    explicit Iterator(Rows* rows) : rows_(rows), row_(rows->next()) {}
    Rows* rows_;
    std::optional<Row> row_;
  };
  Iterator begin() { return Iterator(this); }
  std::default_sentinel_t end() { return {}; }

 private:
  friend class Session;
  struct Impl;
  explicit Rows(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sibyl
