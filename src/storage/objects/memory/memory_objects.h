// Objects in memory, and the clients that use them.
//
// MemoryObjects is the storage itself: it survives the crash of any client. connect() returns a client, which
// is an ObjectStore. Destroying a client is its crash: its callbacks are dropped, but mutations in flight may
// still be applied.
//
// With an executor, every operation takes simulated time, callbacks run as tasks of the executor, and the run
// depends only on the seed. Without one, operations complete before the call returns, which suits tests with
// threads; late and duplicated mutations are then applied at random before later operations.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/executor.h"
#include "storage/objects/memory/faults.h"
#include "storage/objects/object_store.h"

namespace sibyl::storage::objects {

// Thread-safe without an executor; otherwise used by the executor's thread only.
class MemoryObjects {
 public:
  struct Options {
    base::Executor* executor = nullptr;  // must outlive this object and its clients
    // The storage's clock, for locks and modification times. Must outlive this object. nullptr: the
    // executor's time, or else the system's.
    base::Clock* clock = nullptr;
    uint64_t seed = 1;
    // The maximum of bytes of data and entries; beyond it the storage is full.
    uint64_t capacity = UINT64_MAX;
  };

  explicit MemoryObjects(Options options);
  ~MemoryObjects();
  MemoryObjects(const MemoryObjects&) = delete;
  MemoryObjects& operator=(const MemoryObjects&) = delete;

  // Returns a new client with a unique name. It must not outlive this object.
  std::unique_ptr<ObjectStore> connect();

  void set_faults(const Faults& faults);
  // Sets a function that chooses the fault of each operation. If it returns nullopt, the probabilities
  // decide.
  void set_fault_choice(std::function<std::optional<Fault>(const OperationInfo&)> choose);
  // While a client is cut off, its requests arrive only after it has given up, and its watches fail.
  void set_cut_off(const std::string& client, bool cut_off);
  void set_full(bool full);
  // Applies all late and duplicated mutations that have not arrived yet, or drops them.
  void apply_late();
  void drop_late();
  // Ends all watches with on_error, as a restart of a storage node does.
  void fail_watches();

  FaultCounts counts() const;
  uint64_t bytes_used() const;
  // For tests: the names of all objects. An ObjectStore cannot list objects.
  std::vector<std::string> names() const;

 private:
  class Client;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace sibyl::storage::objects
