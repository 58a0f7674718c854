// What the shell needs of a database: statements in, results out, whether over the network or in this
// process.
//
// Threads: a Session belongs to one thread. Statements of a session run one after another, as on a
// connection.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "execute/environment.h"
#include "schema/schema.h"
#include "types/type.h"

namespace sibyl::client {
struct Options;
}

namespace sibyl::shell {

using base::Bytes;
using execute::Consistency;

struct StatementOptions {
  int32_t page_size = 0;  // 0: everything at once
  Consistency consistency = Consistency::one;
  Consistency serial_consistency = Consistency::serial;
  std::optional<Bytes> paging_state;  // continues where the page that gave it ended
  bool trace = false;                 // the result's trace_id then names what system_traces tells
};

struct ResultColumn {
  std::string keyspace, table, name;
  types::TypePtr type;
};
using ResultRow = std::vector<std::optional<Bytes>>;

struct StatementResult {
  enum class Kind { nothing, rows, set_keyspace, schema_change };
  Kind kind = Kind::nothing;
  std::vector<ResultColumn> columns;  // rows
  std::vector<ResultRow> rows;
  std::optional<Bytes> paging_state;  // there is more
  std::string keyspace;               // set_keyspace
  std::vector<std::string> warnings;
  Bytes trace_id;  // empty: not traced
};

// The names that completion offers and headers are coloured by.
struct TableNames {
  struct Column {
    std::string name;
    schema::ColumnKind kind = schema::ColumnKind::regular;
  };
  std::vector<Column> columns;  // in the order of SELECT *

  const Column* find(std::string_view column) const;
};
struct KeyspaceNames {
  std::map<std::string, TableNames, std::less<>> tables;
  std::vector<std::string> types;
};
struct SchemaNames {
  std::map<std::string, KeyspaceNames, std::less<>> keyspaces;

  // nullptr when there is none.
  const TableNames* find_table(std::string_view keyspace, std::string_view table) const;
};

struct ServerVersions {
  std::string cluster_name, release, cql, protocol;
};

class Session {
 public:
  virtual ~Session() = default;

  // Runs one statement. A network session that finds its server restarted connects again first; a connection
  // lost while a statement was under way is an error that says so, since the statement may have run.
  virtual base::Result<StatementResult> execute(std::string_view text, const StatementOptions& options) = 0;

  // Logs in as somebody else; the keyspace stays. When that fails, so does who is logged in.
  virtual base::Status log_in(const std::string& user, const std::string& password) = 0;

  // The keyspace that USE set, or empty.
  const std::string& keyspace() const { return keyspace_; }
  // Where statements go, for people: "at 127.0.0.1:9042", "on the directory ./data, without a server".
  virtual std::string place() const = 0;
  virtual ServerVersions versions() = 0;
  // The schema as it is now, or as it was moments ago; empty when it cannot be had.
  virtual const SchemaNames& names() = 0;

 protected:
  std::string keyspace_;
};

// What connecting failed with, for people: where, why, and in the hint what to do about it, which is
// `when_unreachable` when no server answers.
base::Error cannot_connect(const client::Options& options, const base::Error& error,
                           std::string_view when_unreachable);

// Errors say what to do about them in their hint.
base::Result<std::unique_ptr<Session>> connect_session(const client::Options& options,
                                                       std::string_view when_unreachable);
// `data` is a directory, created when missing, or ":memory:". Refused while a server uses it.
base::Result<std::unique_ptr<Session>> open_session(const std::string& data);

// "HOST", "HOST:PORT", "[IPV6]:PORT" or ":PORT"; what is left out is 127.0.0.1 and 9042. nullopt when
// malformed.
struct Address {
  std::string host = "127.0.0.1";
  uint16_t port = 9042;
};
std::optional<Address> parse_address(std::string_view text);

}  // namespace sibyl::shell
