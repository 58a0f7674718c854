// Requests: the messages that clients send. A decoded message borrows from its body. Decoding into a message
// that was used before reuses its memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "protocol/version.h"
#include "protocol/wire.h"
#include "types/value.h"

namespace sibyl::protocol {

struct Startup {
  StringMap options;  // keys in upper case
  // Returns nullptr if there is no such option.
  const std::string* find(std::string_view key) const;
};

// The parameters of QUERY and EXECUTE besides the statement.
struct QueryParameters {
  Consistency consistency = Consistency::one;
  Consistency serial_consistency = Consistency::serial;
  bool skip_metadata = false;
  std::vector<types::ValueView> values;
  std::vector<std::string_view> names;  // as many names as values, or none
  std::optional<int32_t> page_size;
  std::optional<BytesView> paging_state;
  std::optional<int64_t> timestamp_micros;
  std::optional<std::string_view> keyspace;  // v5
  std::optional<int32_t> now_seconds;        // v5

  void clear();
};

struct Query {
  std::string_view text;
  QueryParameters parameters;
};

struct Prepare {
  std::string_view text;
  std::optional<std::string_view> keyspace;  // v5
};

struct Execute {
  BytesView id;
  BytesView result_metadata_id;  // v5
  QueryParameters parameters;
};

struct Batch {
  enum class Kind : uint8_t { logged = 0, unlogged = 1, counter = 2 };
  struct Statement {
    bool is_prepared = false;
    BytesView text_or_id;
    uint32_t first_value = 0;  // index in `values`
    uint32_t value_count = 0;
  };
  Kind kind = Kind::logged;
  std::vector<Statement> statements;
  std::vector<types::ValueView> values;  // values of all statements, in order
  QueryParameters parameters;            // without values
};

// These decode and append bodies without the envelope (frame.h).
base::Status decode_startup(BytesView body, Startup& message);
base::Status decode_query(BytesView body, Version version, Query& message);
base::Status decode_prepare(BytesView body, Version version, Prepare& message);
base::Status decode_execute(BytesView body, Version version, Execute& message);
base::Status decode_batch(BytesView body, Version version, Batch& message);
base::Result<std::vector<std::string>> decode_register(BytesView body);
base::Result<std::optional<BytesView>> decode_auth_response(BytesView body);

void append_startup(Bytes& out, const StringMap& options);
void append_query(Bytes& out, Version version, const Query& message);
void append_prepare(Bytes& out, Version version, const Prepare& message);
void append_execute(Bytes& out, Version version, const Execute& message);
void append_batch(Bytes& out, Version version, const Batch& message);
void append_register(Bytes& out, const std::vector<std::string>& event_types);
void append_auth_response(Bytes& out, std::optional<BytesView> token);

}  // namespace sibyl::protocol
