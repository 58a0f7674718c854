// One request on its way: from the frame it came in to the answer that is sent for it.
//
// A Call is made, started and finished on its reactor's thread; in between the engine may complete it on any
// thread. It holds what its values point into, and is used again after it finished, with the memory it has.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "auth/password.h"
#include "engine/engine.h"
#include "protocol/frame.h"
#include "protocol/request.h"
#include "server/receive_buffer.h"

namespace sibyl::server {

class Connection;
class Reactor;
using ConnectionPtr = boost::intrusive_ptr<Connection>;

// An attempt to log in.
struct LoginAttempt {
  auth::Credentials credentials;
  std::string address;
  bool has_waited = false;                              // in its address's line
  std::chrono::steady_clock::time_point patience_ends;  // while others of its address are being looked at
  base::Result<const auth::Login*> result;
};

// A message that is to be read by a thread that may wait: its text is long.
struct UnreadMessage {
  protocol::BytesView body;  // in the call's chunk, or decompressed
  protocol::Version version;
  std::string keyspace;  // the connection's
};

// It is the interrupt of the statement that it runs.
struct Call final : execute::Interrupt {
  Call* next = nullptr;  // in its line for the pool, then in the reactor's list of completed calls
  Reactor* reactor = nullptr;
  ConnectionPtr connection;
  ChunkPtr chunk;
  base::Bytes decompressed;
  size_t frame_bytes = 0;
  int16_t stream = 0;
  protocol::Opcode opcode = protocol::Opcode::query;
  size_t result_bytes = 0;                       // of a result that waits for its reactor
  std::chrono::steady_clock::time_point queued;  // for a thread of the pool
  std::chrono::steady_clock::time_point arrived, started;
  std::chrono::steady_clock::time_point deadline = never;  // of a read that a thread of the pool runs
  bool may_last = false;                                   // reads users' tables: for as long as they are
  bool is_pooled = false;                                  // it was handed to the pool
  bool takes_room = false;                                 // it counts against the limit of the pool's queue
  bool is_producing = false;        // a thread of the pool has started it: its connection counts its result
  bool computes = false;            // on long numbers, or it has left its reactor: few of these run at once
  bool completed_inline = false;    // while it was being started: the reactor finishes it there and then
  bool is_on_reactor = false;       // others wait for it: its deadline is when it has to leave
  mutable bool must_leave = false;  // it has been told so

  protocol::Query query;
  protocol::Execute execute;
  protocol::Batch batch;

  std::unique_ptr<UnreadMessage> unread;  // nullptr: it has been read
  base::Bytes prepared_id;                // PREPARE's answer, with the plan
  plan::PreparedPtr plan;                 // nullptr for a batch
  std::vector<types::ValueView> ordered_values;
  std::vector<execute::BatchItem> items;
  std::vector<uint32_t> batch_tables;  // the storage ids of those that a BATCH writes
  execute::Request request;
  bool is_execute = false;
  bool is_conditional_batch = false;
  bool skip_metadata = false;
  std::optional<base::Result<execute::ResultSet>> result;
  std::unique_ptr<engine::RequestTrace> trace;  // when the request asks for one
  std::unique_ptr<LoginAttempt> login;          // AUTH_RESPONSE; then nothing but this
  const auth::Login* who = nullptr;             // has asked, where clients log in

  // Fails when its client has gone or its time is over, that of its thread too. Any thread.
  base::Status check() const override;
  static constexpr std::chrono::steady_clock::time_point never = std::chrono::steady_clock::time_point::max();

  // What execute::Request and the messages borrow goes; vectors keep their memory unless it is large.
  void reset();
};

}  // namespace sibyl::server
