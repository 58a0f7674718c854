// A session runs statements over the network or in this process. Used by the shell and the other commands.
//
// Threads: not thread-safe. Statements of a session run one after another, as on a connection.
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

namespace sibyl::cli::shell {

using base::Bytes;
using execute::Consistency;

struct StatementOptions {
  int32_t page_size = 0;  // 0: all rows at once
  Consistency consistency = Consistency::one;
  Consistency serial_consistency = Consistency::serial;
  std::optional<Bytes> paging_state;  // continues after the page that returned it
  bool trace = false;                 // the result then has a trace_id, to be looked up in system_traces
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
  std::optional<Bytes> paging_state;  // set if there are more rows
  std::string keyspace;               // set_keyspace
  std::vector<std::string> warnings;
  Bytes trace_id;  // empty: not traced
};

// Names for completion and for colouring headers.
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

  // Returns nullptr if there is no such table.
  const TableNames* find_table(std::string_view keyspace, std::string_view table) const;
};

struct ServerVersions {
  std::string cluster_name, release, cql, protocol;
};

class Session {
 public:
  virtual ~Session() = default;

  // Runs one statement. A network session first reconnects if its server was restarted. If the connection is
  // lost while a statement is in flight, the error says that the statement may have been executed.
  virtual base::Result<StatementResult> execute(std::string_view text, const StatementOptions& options) = 0;

  // Logs in as another user. The keyspace is kept. On failure the session keeps its current user.
  virtual base::Status log_in(const std::string& user, const std::string& password) = 0;

  // The keyspace that USE set, or empty.
  const std::string& keyspace() const { return keyspace_; }
  // Describes the target for people: "at 127.0.0.1:9042", "on the directory ./data, without a server".
  virtual std::string place() const = 0;
  virtual ServerVersions versions() = 0;
  // Returns the schema, possibly a few moments old; empty if it could not be read.
  virtual const SchemaNames& names() = 0;

 protected:
  std::string keyspace_;
};

// Parses "HOST", "HOST:PORT", "[IPV6]:PORT", ":PORT" or "PORT". Defaults are 127.0.0.1 and 9042. Returns
// nullopt if malformed.
struct Address {
  std::string host = "127.0.0.1";
  uint16_t port = 9042;
};
std::optional<Address> parse_address(std::string_view text);

}  // namespace sibyl::cli::shell
