// The newest schema, and its changes.
#pragma once

#include <cstdint>
#include <functional>

#include "schema/schema.h"

namespace sibyl::engine {

// Thread-safe.
class SchemaSource {
 public:
  virtual ~SchemaSource() = default;

  virtual schema::SnapshotPtr schema() const = 0;

  // The listener is called after each schema change is durable and visible, in order, one change at a time.
  // It must not change the schema, subscribe or unsubscribe. Returns a token for unsubscribe(). The listener
  // is not called after unsubscribe() has returned.
  using Listener = std::function<void(const schema::Change&)>;
  virtual uint64_t subscribe(Listener listener) = 0;
  virtual void unsubscribe(uint64_t token) = 0;
};

}  // namespace sibyl::engine
