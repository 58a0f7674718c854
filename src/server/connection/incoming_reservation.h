// The memory that a connection reserves for its incomplete message, so that all incomplete messages together
// stay within Limits::total_incoming_bytes. Used only on the reactor's thread.
#pragma once

#include <cstddef>

#include "server/limits.h"
#include "server/scheduling/load.h"

namespace sibyl::server {

class IncomingReservation {
 public:
  // The arguments must outlive this object. `own` is the load of the connection's reactor.
  IncomingReservation(const Limits& limits, const ServerLoad& server, ReactorLoad& own)
      : limits_(limits), server_(server), own_(own) {}
  IncomingReservation(const IncomingReservation&) = delete;
  IncomingReservation& operator=(const IncomingReservation&) = delete;

  // Reserves memory for a message of `size` bytes, of which `held` have been received. Returns false, and
  // reserves nothing more, if all incomplete messages together would take too much memory. Then stop reading
  // until other messages are complete. A client that has not logged in may use only a part of the limit. A
  // message is always accepted if no other message has a reservation.
  bool reserve(size_t held, size_t size, bool has_logged_in);
  // Called when the message is complete, or the connection closes.
  void release();
  bool is_empty() const { return reserved_.bytes() == 0; }
  // True if incomplete messages take most of their memory limit, so that others may wait for this
  // message.
  bool is_contended() const;

 private:
  const Limits& limits_;
  const ServerLoad& server_;
  ReactorLoad& own_;
  Incoming reserved_;
};

}  // namespace sibyl::server
