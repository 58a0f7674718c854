// A client of the native protocol: one connection, blocking, with pipelining.
//
// query(), execute() and batch() wait for their answer. To have many requests under way, start() them and
// collect each with finish(), in any order; answers that come before they are asked for are kept. Threads: a
// Connection belongs to one thread at a time. Errors: what the server refuses comes as its Error, code and
// text. When the connection itself fails, the Error has code `server` and is_connected() is false from then
// on; a request that was under way may or may not have run.
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
  TlsOptions tls;
  std::string user, password;                        // sent when the server asks for them
  std::chrono::milliseconds connect_timeout{5'000};  // until the server has said that it is ready
  std::chrono::milliseconds request_timeout{0};      // 0: wait as long as it takes
};

struct StatementOptions {
  Consistency consistency = Consistency::one;
  Consistency serial_consistency = Consistency::serial;
  int32_t page_size = 0;              // 0: everything at once
  std::optional<Bytes> paging_state;  // continues where the page that gave it ended
  std::optional<int64_t> timestamp_micros;
  std::vector<std::string_view> names;       // of the values, when they are given by name
  std::optional<std::string_view> keyspace;  // v5: instead of the connection's
  std::optional<int32_t> now_seconds;        // v5: the moment that decides what has expired
  bool trace = false;                        // Result::trace_id then names what system_traces tells
};

// A row: one entry for each column, nullopt for null. Points into its Result.
using Row = std::vector<std::optional<BytesView>>;

// What a statement answered.
class Result {
 public:
  enum class Kind { nothing, rows, set_keyspace, schema_change };

  Kind kind = Kind::nothing;
  std::vector<Column> columns;        // rows
  std::optional<Bytes> paging_state;  // rows: there is more
  std::string keyspace;               // set_keyspace
  protocol::SchemaChange change;      // schema_change
  std::vector<std::string> warnings;
  Bytes trace_id;  // a timeuuid; empty when no trace was asked for

  uint32_t row_count() const { return row_count_; }
  // The next row, from the first one on; false after the last.
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
  std::vector<uint16_t> partition_key_markers;  // empty when they do not give the whole partition key
  std::vector<Column> result;
};

struct BatchStatement {
  std::string_view text;  // empty: the prepared one
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
  // A server that has forgotten the statement is given it again, once.
  base::Result<Result> execute(Prepared& prepared, std::span<const ValueView> values = {},
                               const StatementOptions& options = {});
  base::Result<Result> batch(protocol::Batch::Kind kind, std::span<const BatchStatement> statements,
                             const StatementOptions& options = {});

  // A request under way. finish() it exactly once.
  struct Ticket {
    int16_t stream = 0;
  };
  base::Result<Ticket> start_query(std::string_view text, std::span<const ValueView> values = {},
                                   const StatementOptions& options = {});
  base::Result<Ticket> start_execute(const Prepared& prepared, std::span<const ValueView> values = {},
                                     const StatementOptions& options = {});
  base::Result<Result> finish(Ticket ticket);

  // "SCHEMA_CHANGE", "STATUS_CHANGE", "TOPOLOGY_CHANGE".
  base::Status register_events(const std::vector<std::string>& types);
  // The next event; nullopt when none came in time.
  base::Result<std::optional<Event>> next_event(std::chrono::milliseconds timeout);

  // What the server supports: the answer to OPTIONS.
  base::Result<protocol::StringMultimap> supported();

  // Hands over the socket, non-blocking, with the handshake done; the connection is closed for this object.
  // REQUIRES: no request is under way, and no TLS.
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
  // As recv and send: -1 and errno, EAGAIN when the socket has to be waited for.
  ssize_t read_bytes(char* to, size_t size);
  ssize_t write_bytes(BytesView bytes);
  // Whether there is something to read now.
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
