// The contract of an object store: named objects on storage that several servers share.
//
// An object has data (bytes), attributes (a few small values) and entries (a sorted map of any size). An
// object store promises, independently of its implementation:
//
//  1. Atomicity. A Mutation names one object. Its guards are evaluated and its actions applied in one step:
//     all of them, or none if any guard fails. No reader sees a part. Actions apply in the order of their
//     calls.
//  2. Durability. A mutation whose outcome is `done` is on all acting replicas. It survives crashes of
//     clients and of storage nodes.
//  3. Outcomes. Every mutation has one of three outcomes:
//
//       done      It was applied, exactly as asked.
//       refused   It was not applied and never will be. The Reason says why.
//       unknown   It may have been applied, may be applied at any later time, or never. The caller gave up
//                 waiting, or the client was fenced.
//
//     After `unknown`, reading the object proves nothing, because a mutation that has not been applied yet can
//     still arrive. Two things end the doubt: a guard that the mutation can no longer pass, or repeating the
//     mutation with the same guard until it is done or refused. An unknown mutation may even be applied more
//     than once, unless its first application invalidates its guard.
//  4. Order. Two mutations of one object by one client are applied in the order of the calls if neither is
//     unknown. Guarded mutations may therefore be pipelined. Nothing orders an unknown mutation.
//  5. Reads. A read that starts after a mutation was reported as done sees it, from every client. Everything
//     that one Read asks for is of one moment.
//  6. Fencing. After fence(client) is done, no mutation of that client is applied to an object after an
//     operation that this caller starts on the same object. The fenced client's operations fail with
//     Reason::fenced. A fence lasts at least a day. A client that wants to return connects again, with a new
//     name.
//  7. Locks expire by the storage's clock. The holder must assume that its lock expired earlier: it counts
//     the duration from before it sent the request. A lock is only a hint that its holder is alive. Guards
//     make writes safe.
//  8. Watches are hints. Notifications may be lost, late or repeated. After on_error, a watcher must assume
//     that it missed notifications, watch again and read the object.
//  9. Full storage. Mutations are refused with Reason::full. They never block until there is space. Mutations
//     marked allow_when_full() (leases, removals) are applied while any space is left.
// 10. Threads. All functions are thread-safe and do not block. A callback is called exactly once, on any
//     thread, perhaps before the function returns; it must not block and may call the store again. Destroying
//     the store waits for running callbacks and drops the others without calling them. Their operations may
//     still be applied.
//
// Names of objects, attributes and entries are non-empty texts without zero bytes, of at most max_name bytes.
// Those of attributes must not begin with "lock.". A missing attribute or entry is equal to an empty value in
// a guard.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace sibyl::storage::objects {

using base::Bytes;
using base::BytesView;

inline constexpr size_t max_name = 512;
// The limit for the bytes of all actions of a mutation. A larger mutation is refused.
inline constexpr size_t max_mutation = 16 << 20;
// The maximum number of entries that one Read returns.
inline constexpr size_t max_entries_per_read = 1000;

enum class Outcome : uint8_t { done, refused, unknown };

enum class Reason : uint8_t {
  none,
  missing,    // the object does not exist, or the lock is not held
  exists,     // the object already exists
  mismatch,   // an attribute or entry differs from the guard
  locked,     // another holder has the lock
  full,       // the storage is full
  invalid,    // the request breaks a limit of this contract, or the client lacks a permission
  fenced,     // the client was fenced; mutations have Outcome::unknown then, reads are refused
  timed_out,  // there was no answer in time
  failed,     // the storage reported another error
};

struct [[nodiscard]] Reply {
  Outcome outcome = Outcome::done;
  Reason reason = Reason::none;

  bool is_done() const { return outcome == Outcome::done; }
  bool is_refused(Reason why) const { return outcome == Outcome::refused && reason == why; }
  bool is_fenced() const { return reason == Reason::fenced; }
  bool operator==(const Reply&) const = default;

  static Reply refused(Reason why) { return {Outcome::refused, why}; }
  static Reply unknown(Reason why) { return {Outcome::unknown, why}; }
};
std::string to_string(Reply reply);
// The error for a client whose statement failed because of `reply`, for example "The object store is full".
base::Error error_of(Reply reply, const std::string& what);

// An atomic change of one object. Guards see the object as it was before the mutation. Guards on attributes
// and entries are refused with Reason::missing if the object does not exist, and so are remove() and
// erase_entry(). Other actions create a missing object.
class Mutation {
 public:
  enum class Existence : uint8_t { any, must_exist, must_not_exist };
  enum class Kind : uint8_t { create, append, write, replace, remove, set_attribute, set_entry, erase_entry };
  struct Guard {
    bool is_entry = false;  // otherwise an attribute
    std::string name;
    Bytes value;
  };
  struct Action {
    Kind kind = Kind::create;
    std::string name;     // name of the attribute or entry
    uint64_t offset = 0;  // write
    Bytes value;
  };

  // --- Guards
  Mutation& must_exist() { return existence_ = Existence::must_exist, *this; }
  Mutation& must_not_exist() { return existence_ = Existence::must_not_exist, *this; }
  Mutation& if_attribute(std::string name, Bytes equals) {
    return guard(false, std::move(name), std::move(equals));
  }
  Mutation& if_entry(std::string name, Bytes equals) {
    return guard(true, std::move(name), std::move(equals));
  }

  // --- Actions
  Mutation& create() { return act({Kind::create, {}, 0, {}}); }
  Mutation& append(Bytes data) { return act({Kind::append, {}, 0, std::move(data)}); }
  // Writes at the offset. Bytes between the end of the object and the offset become zero.
  Mutation& write(uint64_t offset, Bytes data) { return act({Kind::write, {}, offset, std::move(data)}); }
  // Replaces all data. Attributes and entries stay.
  Mutation& replace(Bytes data) { return act({Kind::replace, {}, 0, std::move(data)}); }
  // Removes the object with its attributes, entries and locks. REQUIRES: it is the only action.
  Mutation& remove() { return act({Kind::remove, {}, 0, {}}); }
  Mutation& set_attribute(std::string name, Bytes value) {
    return act({Kind::set_attribute, std::move(name), 0, std::move(value)});
  }
  Mutation& set_entry(std::string name, Bytes value) {
    return act({Kind::set_entry, std::move(name), 0, std::move(value)});
  }
  Mutation& erase_entry(std::string name) { return act({Kind::erase_entry, std::move(name), 0, {}}); }

  Mutation& allow_when_full() { return allowed_when_full_ = true, *this; }

  Existence existence() const { return existence_; }
  const std::vector<Guard>& guards() const { return guards_; }
  const std::vector<Action>& actions() const { return actions_; }
  bool is_allowed_when_full() const { return allowed_when_full_; }
  size_t byte_size() const { return byte_size_; }
  // False if the mutation breaks a limit of the contract; stores refuse it as Reason::invalid.
  bool is_valid() const;

 private:
  Mutation& guard(bool is_entry, std::string name, Bytes value) {
    guards_.push_back({is_entry, std::move(name), std::move(value)});
    return *this;
  }
  Mutation& act(Action action) {
    byte_size_ += action.name.size() + action.value.size();
    actions_.push_back(std::move(action));
    return *this;
  }

  Existence existence_ = Existence::any;
  std::vector<Guard> guards_;
  std::vector<Action> actions_;
  bool allowed_when_full_ = false;
  size_t byte_size_ = 0;
};

// The parts of an object to read. Always includes the size of its data and the time of its last mutation.
struct Read {
  uint64_t offset = 0;
  uint64_t length = 0;  // 0: no data. Data ends at the end of the object.
  bool attributes = false;
  std::vector<std::string> named_entries;
  // A range of entries: those after `after`, in ascending order of bytes.
  struct Entries {
    std::string after;
    size_t max = max_entries_per_read;
  };
  std::optional<Entries> entries;

  static Read data(uint64_t offset, uint64_t length) { return {.offset = offset, .length = length}; }
  static Read state() { return {.attributes = true}; }
};

struct ReadReply {
  Reply reply;  // refused as `missing` if the object does not exist; unknown if the storage did not answer
  Bytes data;
  uint64_t size = 0;
  int64_t modified_seconds = 0;  // since 1970, by the storage's clock
  std::map<std::string, Bytes> attributes;
  std::map<std::string, Bytes> entries;
  bool has_more_entries = false;
};

struct Lock {
  std::string name = "lock";              // an object may have several locks
  std::string owner;                      // distinguishes holders within one client
  std::string description;                // for read_lock()
  std::chrono::milliseconds duration{0};  // 0: does not expire
  // Extends the lock if this client and owner still hold it, otherwise refuses as `missing`. Renewing must
  // never acquire an expired lock.
  bool only_renew = false;
};
struct LockHolder {
  std::string client;  // for fence()
  std::string owner;
  std::string description;
};
struct LockReply {
  Reply reply;
  std::optional<LockHolder> holder;  // nullopt if the lock is free or expired
};

// Unregisters when destroyed. No callback runs after the destructor returns. REQUIRES: not destroyed in a
// callback of the store. Destroyed before the store.
class Watch {
 public:
  virtual ~Watch() = default;
};
struct Watcher {
  std::function<void(Bytes message)> on_notify;
  std::function<void()> on_error;  // called at most once; no notification follows it
};

// The size of the storage that serves the objects, in bytes.
struct Space {
  Reply reply;
  uint64_t total = 0, used = 0;
};

class ObjectStore {
 public:
  using Done = std::move_only_function<void(Reply)>;
  using ReadDone = std::move_only_function<void(ReadReply)>;
  using LockReadDone = std::move_only_function<void(LockReply)>;
  using WatchDone = std::move_only_function<void(Reply, std::unique_ptr<Watch>)>;
  using SpaceDone = std::move_only_function<void(Space)>;

  virtual ~ObjectStore() = default;

  virtual void mutate(std::string object, Mutation mutation, Done done) = 0;
  virtual void read(std::string object, Read what, ReadDone done) = 0;

  // Acquires or renews a lock. A holder that calls it again extends its lock. Creates a missing object. Works
  // when the storage is full.
  virtual void lock(std::string object, Lock lock, Done done) = 0;
  // Releases a lock of this client. Refused as `missing` if this client does not hold it.
  virtual void unlock(std::string object, std::string name, std::string owner, Done done) = 0;
  virtual void read_lock(std::string object, std::string name, LockReadDone done) = 0;
  // Releases the lock of another client, if that client and owner hold it, otherwise refuses as `missing`.
  // Does not fence the other client.
  virtual void break_lock(std::string object, std::string name, LockHolder holder, Done done) = 0;

  // REQUIRES: the object exists.
  virtual void watch(std::string object, Watcher watcher, WatchDone done) = 0;
  // Sends the message to all watchers. Done when all have received it; unknown if one of them did not receive
  // it in time.
  virtual void notify(std::string object, Bytes message, Done done) = 0;

  // The name of this client, for fence() by others.
  virtual std::string client() const = 0;
  virtual void fence(std::string client, Done done) = 0;

  virtual void space(SpaceDone done) = 0;
};

// Calls a store and waits. REQUIRES: callbacks run on another thread or within the call, so not with a
// simulated executor, and not in a callback of the store.
class Blocking {
 public:
  explicit Blocking(ObjectStore& store) : store_(store) {}

  Reply mutate(const std::string& object, Mutation mutation);
  ReadReply read(const std::string& object, Read what);
  Reply lock(const std::string& object, Lock lock);
  Reply unlock(const std::string& object, const std::string& name, const std::string& owner);
  LockReply read_lock(const std::string& object, const std::string& name);
  Reply break_lock(const std::string& object, const std::string& name, LockHolder holder);
  // The watch is nullptr unless the reply is done.
  std::pair<Reply, std::unique_ptr<Watch>> watch(const std::string& object, Watcher watcher);
  Reply notify(const std::string& object, Bytes message);
  Reply fence(const std::string& client);
  Space space();

 private:
  ObjectStore& store_;
};

}  // namespace sibyl::storage::objects
