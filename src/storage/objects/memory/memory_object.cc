#include "storage/objects/memory/memory_object.h"

#include <algorithm>

namespace sibyl::storage::objects {
namespace {

constexpr int64_t micros_per_second = 1'000'000;

BytesView value_of(const std::map<std::string, Bytes>& values, const std::string& name) {
  const auto found = values.find(name);
  return found == values.end() ? BytesView() : BytesView(found->second);
}

void write_at(Bytes& data, uint64_t offset, const Bytes& value) {
  if (data.size() < offset + value.size()) data.resize(offset + value.size(), '\0');
  std::copy(value.begin(), value.end(), data.begin() + static_cast<ptrdiff_t>(offset));
}

void act(MemoryObject& object, const Mutation::Action& action) {
  switch (action.kind) {
    case Mutation::Kind::create:
    case Mutation::Kind::remove:
      break;
    case Mutation::Kind::append:
      object.data += action.value;
      break;
    case Mutation::Kind::write:
      write_at(object.data, action.offset, action.value);
      break;
    case Mutation::Kind::replace:
      object.data = action.value;
      break;
    case Mutation::Kind::set_attribute:
      object.attributes[action.name] = action.value;
      break;
    case Mutation::Kind::set_entry:
      object.entries[action.name] = action.value;
      break;
    case Mutation::Kind::erase_entry:
      object.entries.erase(action.name);
      break;
  }
}

bool is_held(const MemoryObject& object, const std::string& lock, int64_t now_micros) {
  const auto found = object.locks.find(lock);
  return found != object.locks.end() && now_micros < found->second.expires_micros;
}

bool is_same(const LockHolder& one, const LockHolder& other) {
  return one.client == other.client && one.owner == other.owner;
}

}  // namespace

uint64_t MemoryObject::byte_size() const {
  uint64_t bytes = data.size();
  for (const auto& [name, value] : attributes) bytes += name.size() + value.size();
  for (const auto& [name, value] : entries) bytes += name.size() + value.size();
  return bytes;
}

Reply ObjectMap::check(const MemoryObject* object, const Mutation& mutation) const {
  const auto needs_object = [](const Mutation::Action& action) {
    return action.kind == Mutation::Kind::remove || action.kind == Mutation::Kind::erase_entry;
  };
  const bool must_exist = mutation.existence() == Mutation::Existence::must_exist ||
                          !mutation.guards().empty() || std::ranges::any_of(mutation.actions(), needs_object);
  if (mutation.existence() == Mutation::Existence::must_not_exist && object != nullptr)
    return Reply::refused(Reason::exists);
  if (must_exist && object == nullptr) return Reply::refused(Reason::missing);
  const bool passes = std::ranges::all_of(mutation.guards(), [&](const Mutation::Guard& guard) {
    return value_of(guard.is_entry ? object->entries : object->attributes, guard.name) == guard.value;
  });
  return passes ? Reply{} : Reply::refused(Reason::mismatch);
}

Reply ObjectMap::apply(const std::string& name, const Mutation& mutation, int64_t now_micros) {
  const auto found = objects_.find(name);
  const Reply checked = check(found == objects_.end() ? nullptr : &found->second, mutation);
  if (!checked.is_done()) return checked;
  if (!mutation.actions().empty() && mutation.actions().front().kind == Mutation::Kind::remove) {
    objects_.erase(found);
    return {};
  }
  if (mutation.actions().empty() && mutation.existence() == Mutation::Existence::must_exist) return {};
  MemoryObject& object = objects_[name];
  for (const Mutation::Action& action : mutation.actions()) act(object, action);
  object.modified_micros = now_micros;
  return {};
}

ReadReply ObjectMap::read(const std::string& name, const Read& what) const {
  ReadReply answer;
  const auto found = objects_.find(name);
  if (found == objects_.end()) {
    answer.reply = Reply::refused(Reason::missing);
    return answer;
  }
  const MemoryObject& object = found->second;
  if (what.length > 0 && what.offset < object.data.size())
    answer.data = object.data.substr(what.offset, what.length);
  answer.size = object.data.size();
  answer.modified_seconds = object.modified_micros / micros_per_second;
  if (what.attributes) answer.attributes = object.attributes;
  for (const std::string& key : what.named_entries)
    if (const auto entry = object.entries.find(key); entry != object.entries.end())
      answer.entries.insert(*entry);
  if (what.entries) {
    const size_t max = std::min(what.entries->max, max_entries_per_read);
    auto entry = object.entries.upper_bound(what.entries->after);
    for (size_t i = 0; i < max && entry != object.entries.end(); ++i) answer.entries.insert(*entry++);
    answer.has_more_entries = entry != object.entries.end();
  }
  return answer;
}

Reply ObjectMap::lock(const std::string& name, const std::string& client, const Lock& lock,
                      int64_t now_micros) {
  const LockHolder holder{client, lock.owner, lock.description};
  const auto found = objects_.find(name);
  const bool held = found != objects_.end() && is_held(found->second, lock.name, now_micros);
  const bool ours = held && is_same(found->second.locks.at(lock.name).holder, holder);
  if (lock.only_renew && !ours) return Reply::refused(Reason::missing);
  if (held && !ours) return Reply::refused(Reason::locked);
  HeldLock& place = objects_[name].locks[lock.name];
  place.holder = holder;
  const int64_t micros = std::chrono::microseconds(lock.duration).count();
  place.expires_micros = micros == 0 ? INT64_MAX : now_micros + micros;
  return {};
}

Reply ObjectMap::unlock(const std::string& name, const std::string& lock, const LockHolder& holder,
                        int64_t now_micros) {
  const auto found = objects_.find(name);
  if (found == objects_.end() || !is_held(found->second, lock, now_micros) ||
      !is_same(found->second.locks.at(lock).holder, holder))
    return Reply::refused(Reason::missing);
  found->second.locks.erase(lock);
  return {};
}

LockReply ObjectMap::read_lock(const std::string& name, const std::string& lock, int64_t now_micros) const {
  const auto found = objects_.find(name);
  if (found == objects_.end()) return {Reply::refused(Reason::missing), {}};
  if (!is_held(found->second, lock, now_micros)) return {};
  return {{}, found->second.locks.at(lock).holder};
}

uint64_t ObjectMap::bytes() const {
  uint64_t sum = 0;
  for (const auto& [name, object] : objects_) sum += object.byte_size();
  return sum;
}

std::vector<std::string> ObjectMap::names() const {
  std::vector<std::string> names;
  for (const auto& [name, object] : objects_) names.push_back(name);
  return names;
}

}  // namespace sibyl::storage::objects
