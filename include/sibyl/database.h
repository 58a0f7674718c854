// A wide-column database inside the program: the same engine, language and files as the server's.
//
//   auto database = sibyl::Database::open("movies.db");
//   auto session = database->session("films");
//   auto insert = session.prepare("INSERT INTO ratings (title, at, stars) VALUES (?, ?, ?)");
//   session.execute(insert->bind("Pulp Fiction", sibyl::Timestamp::now(), 9));
//   auto rows = session.execute("SELECT at, stars FROM ratings WHERE title = ?", {"Pulp Fiction"});
//   for (const sibyl::Row& row : *rows) use(*row.get<int>("stars"));
//
// Threads: a Database, a Session and a Statement may be used by any number of threads at once; a Bound, a
// Batch and a Rows by one at a time. Calls wait until they are done. Durability: a write that has returned
// survives a crash of the process and, unless Options say otherwise, of the machine.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sibyl/error.h>
#include <sibyl/rows.h>
#include <sibyl/value.h>

namespace sibyl {

struct Options {
  // group: a write returns once it is on disk; writes of many threads share one sync. periodic: a write
  // returns once the operating system has it, and the last moments may be lost when the machine (not the
  // process) fails.
  enum class Sync { group, periodic } sync = Sync::group;
  uint64_t block_cache_bytes = 32u << 20;
  std::string cluster_name = "Sibyl";
};

// What one execution may ask for.
struct Request {
  int32_t page_size = 5000;                 // rows fetched at a time; 0: all at once
  std::optional<int64_t> timestamp_micros;  // of writes without USING TIMESTAMP; nullopt: now
};

class Bound;

// A prepared statement; a small handle, copies share everything. It stays good when the schema changes: it is
// prepared again, and values are encoded for the tables and types as they are when it is executed. text(),
// parameters() and columns() stay as they were first; Rows::columns() has those of a result.
class Statement {
 public:
  const std::string& text() const;
  // The bind markers, in order: the column each stands for.
  const std::vector<Column>& parameters() const;
  // The columns of its result; empty when it returns no rows.
  const std::vector<Column>& columns() const;

  // With values for the markers, in order. Missing ones are unset.
  template <typename... Values>
  Bound bind(Values&&... values) const;
  Bound bind_all(std::vector<Value> values) const;

 private:
  friend class Session;
  friend class Bound;
  struct Impl;
  explicit Statement(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

// A statement with values. A wrong name or position is remembered and told when it is executed; a value that
// does not fit its column too.
class Bound {
 public:
  Bound& set(size_t parameter, Value value);
  // Every marker that stands for this column, or has this name (`:name`).
  Bound& set(std::string_view parameter, Value value);
  Bound& set_null(size_t parameter) { return set(parameter, Null{}); }

  const Statement& statement() const { return statement_; }

 private:
  friend class Statement;
  friend class Session;
  friend class Batch;
  Bound(Statement statement, std::vector<Value> values)
      : statement_(std::move(statement)), values_(std::move(values)) {}
  Statement statement_;
  std::vector<Value> values_;
  std::optional<Error> error_;
};

template <typename... Values>
Bound Statement::bind(Values&&... values) const {
  return bind_all(std::vector<Value>{Value(std::forward<Values>(values))...});
}

// Writes that take effect together or not at all, and that no reader sees half of.
class Batch {
 public:
  enum class Kind { logged, unlogged, counter };
  explicit Batch(Kind kind = Kind::logged) : kind_(kind) {}
  Batch& add(Bound statement);
  Batch& add(std::string text, std::vector<Value> values = {});
  size_t size() const { return items_.size(); }

 private:
  friend class Session;
  struct Item {
    std::optional<Bound> bound;  // else text
    std::string text;
    std::vector<Value> values;
  };
  Kind kind_;
  std::vector<Item> items_;
};

// Where names without a keyspace are looked up: USE changes it. A small handle, copies share the keyspace.
class Session {
 public:
  std::string keyspace() const;
  Status use(const std::string& keyspace);

  Result<Statement> prepare(std::string_view text);
  Result<Rows> execute(const Bound& statement, const Request& request = {});
  Result<Rows> execute(const Batch& batch, const Request& request = {});
  // Any CQL statement; `?` and `:name` take the values in order.
  Result<Rows> execute(std::string_view text, std::initializer_list<Value> values = {},
                       const Request& request = {});
  Result<Rows> execute(std::string_view text, const std::vector<Value>& values, const Request& request = {});
  // Statements separated by `;`, one after another until one fails; what they return is dropped.
  Status execute_script(std::string_view script);

 private:
  friend class Database;
  struct Impl;
  explicit Session(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

class Database {
 public:
  // `path` is a directory, created with its parents when missing, or ":memory:". A directory that another
  // process has open, that is not Sibyl's or of another format is refused.
  static Result<Database> open(const std::string& path, const Options& options = {});
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  // The database closes when it and everything made from it (sessions, statements, rows) are gone.
  ~Database();

  // The keyspace is not looked up before it is needed.
  Session session(std::string keyspace = "") const;
  // In no keyspace: names must be qualified.
  Result<Rows> execute(std::string_view text, std::initializer_list<Value> values = {}) const;

  // Writes what is in memory to the files; rewrites the files without what is deleted, expired or
  // overwritten. Neither is ever necessary.
  Status flush();
  Status compact();

 private:
  struct Impl;
  explicit Database(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace sibyl
