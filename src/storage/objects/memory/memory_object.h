// One object in memory, with the effects of mutations, reads and locks. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "storage/objects/object_store.h"

namespace sibyl::storage::objects {

struct HeldLock {
  LockHolder holder;
  int64_t expires_micros = INT64_MAX;  // by the storage's clock
};

struct MemoryObject {
  Bytes data;
  std::map<std::string, Bytes> attributes;
  std::map<std::string, Bytes> entries;
  std::map<std::string, HeldLock> locks;
  int64_t modified_micros = 0;

  uint64_t byte_size() const;
};

class ObjectMap {
 public:
  Reply apply(const std::string& name, const Mutation& mutation, int64_t now_micros);
  ReadReply read(const std::string& name, const Read& what) const;
  Reply lock(const std::string& name, const std::string& client, const Lock& lock, int64_t now_micros);
  // Releases the lock if that holder has it.
  Reply unlock(const std::string& name, const std::string& lock, const LockHolder& holder,
               int64_t now_micros);
  LockReply read_lock(const std::string& name, const std::string& lock, int64_t now_micros) const;

  bool contains(const std::string& name) const { return objects_.contains(name); }
  uint64_t bytes() const;
  std::vector<std::string> names() const;

 private:
  Reply check(const MemoryObject* object, const Mutation& mutation) const;
  std::map<std::string, MemoryObject> objects_;
};

}  // namespace sibyl::storage::objects
