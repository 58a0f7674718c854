// A client of the native protocol: one connection, blocking, with pipelining.
//
// query(), execute() and batch() block until the response arrives. To have many requests in flight, start
// each with start_query(), start_execute() or start_batch(), and collect the results with finish(), in any
// order. Responses that arrive early are kept. A Connection is not thread-safe.
//
// An error of the server is returned with its code and text. If the connection itself fails, the error has
// code `server`, and is_connected() is false from then on. A request that was in flight may or may not have
// run.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "client/tls.h"
#include "protocol/compression.h"
#include "protocol/frame.h"
#include "protocol/request.h"
#include "protocol/response.h"
#include "protocol/segment.h"
#include "types/value.h"

namespace sibyl::client {

using base::Bytes;
using base::BytesView;
using protocol::Column;
using protocol::Consistency;
using protocol::Event;
using types::ValueView;

struct Options {
  std::string host = "127.0.0.1";
  uint16_t port = 9042;
  protocol::Version version = protocol::Version::v4;
  protocol::Compression compression = protocol::Compression::none;
  bool error_positions = false;  // asks a Sibyl server to end errors of statements with their position
  TlsOptions tls;
  std::string user, password;                        // sent if the server requires a login
  std::chrono::milliseconds connect_timeout{5'000};  // until the server is ready
  std::chrono::milliseconds request_timeout{0};      // 0: no timeout
};

struct StatementOptions {
  Consistency consistency = Consistency::one;
  Consistency serial_consistency = Consistency::serial;
  int32_t page_size = 0;              // 0: no paging
  std::optional<Bytes> paging_state;  // from an earlier page; continues after it
  std::optional<int64_t> timestamp_micros;
  std::vector<std::string_view> names;       // names of the values, if they are given by name
  std::optional<std::string_view> keyspace;  // from v5: replaces the connection's keyspace
  std::optional<int32_t> now_seconds;        // from v5: the time that decides what has expired
  bool trace = false;                        // sets Result::trace_id, the key in system_traces
};

// A row: one entry for each column, nullopt for null. Points into its Result.
using Row = std::vector<std::optional<BytesView>>;

// The result of a statement.
class Result {
 public:
  enum class Kind { nothing, rows, set_keyspace, schema_change };

  Kind kind = Kind::nothing;
  std::vector<Column> columns;        // rows
  std::optional<Bytes> paging_state;  // rows: set if there are more
  std::string keyspace;               // set_keyspace
  protocol::SchemaChange change;      // schema_change
  std::vector<std::string> warnings;
  Bytes trace_id;  // a timeuuid; empty if not traced

  uint32_t row_count() const { return row_count_; }
  // Reads the next row, beginning with the first. Returns false after the last.
  bool next(Row& row);

 private:
  friend class Connection;
  Bytes rows_;
  size_t position_ = 0;
  uint32_t row_count_ = 0;
  uint32_t column_count_ = 0;
};

struct Prepared {
  std::string text;
  Bytes id;
  Bytes result_metadata_id;  // v5
  std::vector<Column> markers;
  std::vector<uint16_t> partition_key_markers;  // empty if the markers do not include the whole partition key
  std::vector<Column> result;
};

struct BatchStatement {
  std::string_view text;  // empty: `prepared` is used instead
  const Prepared* prepared = nullptr;
  std::span<const ValueView> values;
};

class Connection {
 public:
  static base::Result<std::unique_ptr<Connection>> connect(const Options& options);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  base::Result<Result> query(std::string_view text, std::span<const ValueView> values = {},
                             const StatementOptions& options = {});
  base::Result<Prepared> prepare(std::string_view text);
  // If the server no longer has the statement, prepares it again and retries once.
  base::Result<Result> execute(Prepared& prepared, std::span<const ValueView> values = {},
                               const StatementOptions& options = {});
  base::Result<Result> batch(protocol::Batch::Kind kind, std::span<const BatchStatement> statements,
                             const StatementOptions& options = {});

  // A request in flight. The caller must pass it to finish() exactly once.
  struct Ticket {
    int16_t stream = 0;
  };
  base::Result<Ticket> start_query(std::string_view text, std::span<const ValueView> values = {},
                                   const StatementOptions& options = {});
  base::Result<Ticket> start_execute(const Prepared& prepared, std::span<const ValueView> values = {},
                                     const StatementOptions& options = {});
  base::Result<Ticket> start_batch(protocol::Batch::Kind kind, std::span<const BatchStatement> statements,
                                   const StatementOptions& options = {});
  base::Result<Result> finish(Ticket ticket);

  // `types` may contain "SCHEMA_CHANGE", "STATUS_CHANGE" and "TOPOLOGY_CHANGE".
  base::Status register_events(const std::vector<std::string>& types);
  // Returns the next event, or nullopt if none arrives before the timeout.
  base::Result<std::optional<Event>> next_event(std::chrono::milliseconds timeout);

  // The options that the server supports: its response to OPTIONS.
  base::Result<protocol::StringMultimap> supported();

  // Returns the socket, which is non-blocking and has completed the handshake, and gives up ownership. This
  // object is disconnected afterwards. REQUIRES: no request is in flight, and TLS is off.
  int release_socket() { return std::exchange(socket_, -1); }

  bool is_connected() const { return socket_ >= 0; }
  const Options& options() const { return options_; }

 private:
  struct Answer {
    protocol::Header header;
    Bytes body;  // decompressed
  };
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;

  explicit Connection(Options options) : options_(std::move(options)) {}
  base::Status open(Deadline deadline);
  base::Status encrypt(Deadline deadline);
  base::Status handshake(Deadline deadline);
  base::Status authenticate(Deadline deadline);
  base::Result<Ticket> send(protocol::Opcode opcode, BytesView body, bool trace = false);
  base::Result<Answer> receive(Ticket ticket, Deadline deadline);
  base::Result<Answer> ask(protocol::Opcode opcode, BytesView body, Deadline deadline);
  // Like recv and send: return -1 and set errno on failure; EAGAIN if the socket is not ready.
  ssize_t read_bytes(char* to, size_t size);
  ssize_t write_bytes(BytesView bytes);
  // Returns true if bytes can be read within `milliseconds`.
  bool is_readable(int milliseconds) const;
  base::Status read_some(Deadline deadline);
  base::Status read_frames(Deadline deadline);
  base::Result<size_t> keep_frames(BytesView bytes);
  base::Result<size_t> keep_segments(BytesView bytes);
  base::Status write_all(BytesView bytes);
  base::Status wait_for(short events, Deadline deadline);
  base::Status keep(const protocol::FrameStep& step);
  base::Result<Result> to_result(Answer answer) const;
  base::Error lost(std::string why);
  Deadline request_deadline() const;

  Options options_;
  std::string server_;  // for error texts
  int socket_ = -1;
  std::unique_ptr<protocol::TlsSession> tls_;
  protocol::Compression compression_ = protocol::Compression::none;
  bool has_segments_ = false;
  protocol::LargeFrame large_;
  int16_t next_stream_ = 0;
  std::map<int16_t, std::optional<Answer>> under_way_;
  std::deque<Event> events_;
  Bytes received_;
};

}  // namespace sibyl::client
