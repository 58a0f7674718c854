// An embedded wide-column database with the same engine, query language and files as the server.
//
//   auto database = sibyl::Database::open(":memory:").value();
//   auto session = database.session();
//   session.execute_script(R"(
//       CREATE KEYSPACE films WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
//       CREATE TABLE films.ratings (title text, at timestamp, stars int, PRIMARY KEY (title, at));
//       USE films;)").value();
//   auto insert = session.prepare("INSERT INTO ratings (title, at, stars) VALUES (?, ?, ?)").value();
//   session.execute(insert.bind("Pulp Fiction", sibyl::Timestamp::now(), 9)).value();
//   auto rows = session.execute("SELECT at, stars FROM ratings WHERE title = ?", {"Pulp Fiction"}).value();
//   for (const sibyl::Row& row : rows) std::printf("%d\n", row.get<int>("stars").value());
//
// Threads: Database, Session and Statement are thread-safe. A Bound, a Batch and a Rows must be used by one
// thread at a time. Calls block until they are done.
//
// Durability: a write that has returned survives a crash of the process and, unless Options say otherwise, of
// the machine.
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
  // group: a write returns once it is on disk; concurrent writes share one sync.
  // periodic: a write returns once the operating system has it. The most recent writes may be lost if the
  // machine (not just the process) fails.
  enum class Sync { group, periodic } sync = Sync::group;
  uint64_t block_cache_bytes = 32u << 20;
  std::string cluster_name = "Sibyl";
};

// Options of one execution.
struct Request {
  int32_t page_size = 5000;                 // rows fetched at a time; 0: all at once
  std::optional<int64_t> timestamp_micros;  // timestamp of writes without USING TIMESTAMP; nullopt: now
};

class Bound;

// A prepared statement. A small handle: copies share their state. It remains usable after schema changes: it
// is prepared again, and values are encoded for the tables and types at the time of execution. text(),
// parameters() and columns() keep describing the statement as it was first prepared; Rows::columns()
// describes an actual result.
class Statement {
 public:
  const std::string& text() const;
  // The bind markers in order, each as the column that it is bound to.
  const std::vector<Column>& parameters() const;
  // The columns of the result; empty if the statement returns no rows.
  const std::vector<Column>& columns() const;

  // Binds values to the markers, in order. Missing values are unset.
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

// A statement with values. Errors are reported when it is executed: a wrong name or position, or a value that
// does not fit its column.
class Bound {
 public:
  Bound& set(size_t parameter, Value value);
  // Sets every marker that is bound to this column, or has this name (`:name`).
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

// Writes that take effect atomically. Readers see all of them or none.
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
    std::optional<Bound> bound;  // a statement with values; if not set, `text` and `values` are used
    std::string text;
    std::vector<Value> values;
  };
  Kind kind_;
  std::vector<Item> items_;
};

// Holds the keyspace in which unqualified names are resolved; USE changes it. A small handle: copies share
// the keyspace.
class Session {
 public:
  std::string keyspace() const;
  Status use(const std::string& keyspace);

  Result<Statement> prepare(std::string_view text);
  Result<Rows> execute(const Bound& statement, const Request& request = {});
  Result<Rows> execute(const Batch& batch, const Request& request = {});
  // Executes any CQL statement. `?` and `:name` take the values in order.
  Result<Rows> execute(std::string_view text, std::initializer_list<Value> values = {},
                       const Request& request = {});
  Result<Rows> execute(std::string_view text, const std::vector<Value>& values, const Request& request = {});
  // Executes statements separated by `;`, in order, until one fails. Their results are discarded.
  Status execute_script(std::string_view script);

 private:
  friend class Database;
  struct Impl;
  explicit Session(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

class Database {
 public:
  // `path` is a directory, which is created with its parents if missing, or ":memory:". Fails if another
  // process has the directory open, if it is not a Sibyl directory, or if it has another format.
  static Result<Database> open(const std::string& path, const Options& options = {});
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  // The database closes when this object and all sessions, statements and rows made from it are destroyed.
  ~Database();

  // The keyspace need not exist until a statement uses it.
  Session session(std::string keyspace = "") const;
  // Executes without a keyspace: names must be qualified.
  Result<Rows> execute(std::string_view text, std::initializer_list<Value> values = {}) const;

  // flush() writes the data in memory to files. compact() rewrites the files without deleted, expired and
  // overwritten data. Neither is ever necessary.
  Status flush();
  Status compact();

 private:
  struct Impl;
  explicit Database(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace sibyl
