// One request, from the frame that it arrived in to its response.
//
// An InFlightRequest is created, started and finished on its reactor's thread. In between, the engine may
// complete it on any thread. It owns the memory that its values point into. Reactors reuse finished objects
// together with their memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "auth/password.h"
#include "engine/services.h"
#include "engine/tracing/traces.h"
#include "execute/write/batch.h"
#include "protocol/frame.h"
#include "protocol/request.h"
#include "server/connection/reactor_time.h"
#include "server/connection/receive_buffer.h"

namespace sibyl::server {

class Connection;
class Reactor;
using ConnectionPtr = boost::intrusive_ptr<Connection>;

// An attempt to log in.
struct LoginAttempt {
  auth::Credentials credentials;
  std::string address;
  // Has been delayed together with the other attempts of its address.
  bool has_waited = false;
  // The time at which a login that waits for its address is refused.
  std::chrono::steady_clock::time_point give_up_at;
  base::Result<const auth::Login*> result;
};

// A message whose text is too long to decode on a reactor. A pool thread decodes it.
struct UndecodedMessage {
  protocol::BytesView body;  // in the request's chunk, or decompressed
  protocol::Version version;
  std::string keyspace;  // the connection's
};

// The request is also the interrupt of the statement that it runs: see check().
struct InFlightRequest final : execute::Interrupt {
  InFlightRequest();
  ~InFlightRequest() override;

  // The next request in the pool's Line, later in the reactor's list of completed requests.
  InFlightRequest* next = nullptr;
  Reactor* reactor = nullptr;
  ConnectionPtr connection;
  ChunkPtr chunk;
  base::Bytes decompressed;
  size_t frame_bytes = 0;
  int16_t stream = 0;
  protocol::Opcode opcode = protocol::Opcode::query;
  size_t result_bytes = 0;                       // size of the result while it waits for its reactor
  std::chrono::steady_clock::time_point queued;  // the time at which it was submitted to the pool
  std::chrono::steady_clock::time_point arrived, started;
  mutable std::chrono::steady_clock::time_point deadline = never;  // check() fails after this time
  bool may_run_long = false;                                       // reads a user table of any size
  bool is_pooled = false;                                          // was submitted to the pool
  bool takes_room = false;    // counts against the limit of the pool's queue
  bool is_producing = false;  // a pool thread has started it; the connection counts its result
  // Computes for long, or has run too long on its reactor. Few such requests run at once.
  bool is_compute_heavy = false;
  bool completed_inline = false;            // completed inside execute(); the reactor finishes it immediately
  bool is_on_reactor = false;               // runs on its reactor, which it must leave at `deadline`
  mutable ReactorTime reactor_time;         // it may postpone the deadline
  mutable bool must_leave_reactor = false;  // check() has failed because of that deadline

  protocol::Query query;
  protocol::Execute execute;
  protocol::Batch batch;

  std::unique_ptr<UndecodedMessage> undecoded;  // nullptr once decoded
  base::Bytes prepared_id;                      // PREPARE: the id of the new statement
  plan::PreparedPtr plan;                       // nullptr for a batch
  std::vector<types::ValueView> ordered_values;
  std::vector<execute::BatchItem> items;
  std::vector<uint32_t> batch_tables;  // storage ids of the tables that a BATCH writes
  execute::Request engine_request;
  bool is_execute = false;
  bool is_conditional_batch = false;
  bool skip_metadata = false;
  std::optional<base::Result<execute::ResultSet>> result;
  std::unique_ptr<engine::RequestTrace> trace;  // nullptr: not traced
  std::unique_ptr<LoginAttempt> login;          // AUTH_RESPONSE only; the fields above are then unused
  const auth::Login* user = nullptr;            // nullptr on servers without logins

  // Fails once the client has disconnected or `deadline` has passed. On a reactor, it also fails if the next
  // step would pass the deadline. Thread-safe.
  base::Status check() const override;
  static constexpr std::chrono::steady_clock::time_point never = std::chrono::steady_clock::time_point::max();

  // Clears everything that refers to the finished request. Vectors keep their memory unless it is large.
  void reset();
};

}  // namespace sibyl::server
