// The object store on librados. The plugin's only exported function is at the end.
#include <fmt/format.h>
#include <sys/types.h>

#include <algorithm>
#include <charconv>

#include "storage/objects/rados/plugin/connection.h"
#include "storage/objects/rados/plugin/lock_class.h"
#include "storage/objects/rados/plugin/reply_of.h"

namespace sibyl::storage::objects::rados {
namespace {

constexpr uint32_t fence_seconds = 7 * 24 * 3600;
constexpr uint32_t watch_timeout_seconds = 15;
constexpr uint64_t notify_timeout_millis = 5'000;
constexpr uint64_t kibibyte = 1024;

// --- Mutations

struct WriteOp {
  rados_write_op_t op = rados_create_write_op();
  ~WriteOp() { rados_release_write_op(op); }
};

void add_guards(rados_write_op_t op, const Mutation& mutation) {
  if (mutation.existence() == Mutation::Existence::must_not_exist)
    rados_write_op_create(op, LIBRADOS_CREATE_EXCLUSIVE, nullptr);
  else if (mutation.existence() == Mutation::Existence::must_exist || !mutation.guards().empty())
    rados_write_op_assert_exists(op);
  for (const Mutation::Guard& guard : mutation.guards()) {
    if (guard.is_entry)
      rados_write_op_omap_cmp2(op, guard.name.data(), LIBRADOS_CMPXATTR_OP_EQ, guard.value.data(),
                               guard.name.size(), guard.value.size(), nullptr);
    else
      rados_write_op_cmpxattr(op, guard.name.c_str(), LIBRADOS_CMPXATTR_OP_EQ, guard.value.data(),
                              guard.value.size());
  }
}

using Actions = std::vector<Mutation::Action>;

// Adds the entries that are set or erased by consecutive actions, as one operation of librados. Returns the
// first action after these.
Actions::const_iterator add_entries(rados_write_op_t op, Actions::const_iterator first,
                                    Actions::const_iterator end) {
  const Mutation::Kind kind = first->kind;
  std::vector<const char*> names, values;
  std::vector<size_t> name_sizes, value_sizes;
  auto action = first;
  for (; action != end && action->kind == kind; ++action) {
    names.push_back(action->name.data());
    name_sizes.push_back(action->name.size());
    values.push_back(action->value.data());
    value_sizes.push_back(action->value.size());
  }
  if (kind == Mutation::Kind::set_entry)
    rados_write_op_omap_set2(op, names.data(), values.data(), name_sizes.data(), value_sizes.data(),
                             names.size());
  else
    rados_write_op_omap_rm_keys2(op, names.data(), name_sizes.data(), names.size());
  return action;
}

void add_action(rados_write_op_t op, const Mutation::Action& action) {
  const Bytes& value = action.value;
  switch (action.kind) {
    case Mutation::Kind::create:
      return rados_write_op_create(op, LIBRADOS_CREATE_IDEMPOTENT, nullptr);
    case Mutation::Kind::append:
      return rados_write_op_append(op, value.data(), value.size());
    case Mutation::Kind::write:
      return rados_write_op_write(op, value.data(), value.size(), action.offset);
    case Mutation::Kind::replace:
      return rados_write_op_write_full(op, value.data(), value.size());
    case Mutation::Kind::remove:
      return rados_write_op_remove(op);
    case Mutation::Kind::set_attribute:
      return rados_write_op_setxattr(op, action.name.c_str(), value.data(), value.size());
    case Mutation::Kind::set_entry:
    case Mutation::Kind::erase_entry:
      return;
  }
}

void add_actions(rados_write_op_t op, const Actions& actions) {
  for (auto action = actions.begin(); action != actions.end();) {
    if (action->kind == Mutation::Kind::set_entry || action->kind == Mutation::Kind::erase_entry)
      action = add_entries(op, action, actions.end());
    else
      add_action(op, *action++);
  }
}

// --- Reads

// A read in flight: librados writes the results here.
struct PendingRead {
  rados_read_op_t op = rados_create_read_op();
  ReadReply answer;
  time_t modified = 0;
  size_t bytes_read = 0;
  rados_xattrs_iter_t attributes = nullptr;
  rados_omap_iter_t named = nullptr, range = nullptr;
  unsigned char has_more = 0;
  int ignored[5] = {};  // results of the parts; unused, because the operation fails if one part fails

  ~PendingRead() {
    rados_release_read_op(op);
    if (attributes != nullptr) rados_getxattrs_end(attributes);
    if (named != nullptr) rados_omap_get_end(named);
    if (range != nullptr) rados_omap_get_end(range);
  }
};

void prepare(PendingRead& read, const Read& what) {
  rados_read_op_stat(read.op, &read.answer.size, &read.modified, &read.ignored[0]);
  if (what.length > 0) {
    read.answer.data.resize(what.length);
    rados_read_op_read(read.op, what.offset, what.length, read.answer.data.data(), &read.bytes_read,
                       &read.ignored[1]);
  }
  if (what.attributes) rados_read_op_getxattrs(read.op, &read.attributes, &read.ignored[2]);
  if (!what.named_entries.empty()) {
    std::vector<const char*> names;
    std::vector<size_t> sizes;
    for (const std::string& name : what.named_entries) {
      names.push_back(name.data());
      sizes.push_back(name.size());
    }
    rados_read_op_omap_get_vals_by_keys2(read.op, names.data(), names.size(), sizes.data(), &read.named,
                                         &read.ignored[3]);
  }
  if (what.entries)
    rados_read_op_omap_get_vals2(read.op, what.entries->after.c_str(), "",
                                 std::min(what.entries->max, max_entries_per_read), &read.range,
                                 &read.has_more, &read.ignored[4]);
}

void take_entries(rados_omap_iter_t iterator, std::map<std::string, Bytes>& entries) {
  if (iterator == nullptr) return;
  char *key = nullptr, *value = nullptr;
  size_t key_size = 0, value_size = 0;
  while (rados_omap_get_next2(iterator, &key, &value, &key_size, &value_size) == 0 && key != nullptr)
    entries.emplace(std::string(key, key_size), Bytes(value, value_size));
}

void take_attributes(rados_xattrs_iter_t iterator, std::map<std::string, Bytes>& attributes) {
  if (iterator == nullptr) return;
  const char *name = nullptr, *value = nullptr;
  size_t size = 0;
  while (rados_getxattrs_next(iterator, &name, &value, &size) == 0 && name != nullptr)
    if (!std::string_view(name).starts_with("lock.")) attributes.emplace(name, Bytes(value, size));
}

ReadReply finish(PendingRead& read, int result) {
  read.answer.reply = reply_of_read(result);
  if (!read.answer.reply.is_done()) return {.reply = read.answer.reply};
  read.answer.data.resize(read.bytes_read);
  read.answer.modified_seconds = read.modified;
  read.answer.has_more_entries = read.has_more != 0;
  take_attributes(read.attributes, read.answer.attributes);
  take_entries(read.named, read.answer.entries);
  take_entries(read.range, read.answer.entries);
  return std::move(read.answer);
}

// --- Clients and locks

// Splits "client.NUMBER@ADDRESS" into the number and the address.
std::optional<uint64_t> number_of(const std::string& client) {
  constexpr std::string_view prefix = "client.";
  uint64_t number = 0;
  if (!client.starts_with(prefix)) return std::nullopt;
  const auto parsed = std::from_chars(client.data() + prefix.size(), client.data() + client.size(), number);
  if (parsed.ec != std::errc() || *parsed.ptr != '@') return std::nullopt;
  return number;
}

// The lock's description begins with the client's name. It is used because the address that Ceph records is
// hard to get.
LockReply lock_reply(int result, BytesView message) {
  if (result < 0) return {reply_of_read(result), {}};
  const std::optional<LockInfo> info = parse_info(message);
  if (!info) return {Reply::refused(Reason::failed), {}};
  if (!info->holder) return {};
  const std::string& text = info->holder->description;
  const size_t end = text.find('\n');
  // This lock is of another program.
  if (end == std::string::npos) return {Reply::refused(Reason::invalid), {}};
  return {{}, LockHolder{text.substr(0, end), info->holder->owner, text.substr(end + 1)}};
}

// --- Watches

class RadosWatch final : public Watch {
 public:
  RadosWatch(Connection& connection, std::string object, Watcher watcher)
      : connection_(connection), object_(std::move(object)), watcher_(std::move(watcher)) {}
  ~RadosWatch() override {
    if (handle_ == 0) return;
    rados_unwatch2(connection_.pool(), handle_);
    rados_watch_flush(connection_.cluster());
  }

  int start(rados_completion_t completion) {
    return rados_aio_watch2(connection_.pool(), object_.c_str(), completion, &handle_, &RadosWatch::notified,
                            &RadosWatch::failed, watch_timeout_seconds, this);
  }
  void forget() { handle_ = 0; }

 private:
  static void notified(void* argument, uint64_t notification, uint64_t handle, uint64_t, void* data,
                       size_t size) {
    auto& watch = *static_cast<RadosWatch*>(argument);
    if (watch.watcher_.on_notify && !watch.has_failed_)
      watch.connection_.call([&] { watch.watcher_.on_notify(Bytes(static_cast<const char*>(data), size)); });
    rados_notify_ack(watch.connection_.pool(), watch.object_.c_str(), notification, handle, nullptr, 0);
  }
  static void failed(void* argument, uint64_t, int) {
    auto& watch = *static_cast<RadosWatch*>(argument);
    if (std::exchange(watch.has_failed_, true) || !watch.watcher_.on_error) return;
    watch.connection_.call([&] { watch.watcher_.on_error(); });
  }

  Connection& connection_;
  const std::string object_;
  const Watcher watcher_;
  uint64_t handle_ = 0;
  bool has_failed_ = false;  // has no lock: librados calls a watch's callbacks one after another
};

// --- The store

class RadosObjects final : public ObjectStore {
 public:
  explicit RadosObjects(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}

  void mutate(std::string object, Mutation mutation, Done done) override;
  void read(std::string object, Read what, ReadDone done) override;
  void lock(std::string object, Lock lock, Done done) override;
  void unlock(std::string object, std::string name, std::string owner, Done done) override {
    run_lock_class(object, "unlock", unlock_request(name, owner), std::move(done));
  }
  void read_lock(std::string object, std::string name, LockReadDone done) override;
  void break_lock(std::string object, std::string name, LockHolder holder, Done done) override {
    const std::optional<uint64_t> number = number_of(holder.client);
    if (!number) return done(Reply::refused(Reason::invalid));
    run_lock_class(object, "break_lock", break_request(name, *number, holder.owner), std::move(done));
  }
  void watch(std::string object, Watcher watcher, WatchDone done) override;
  void notify(std::string object, Bytes message, Done done) override;
  std::string client() const override { return connection_->name(); }
  void fence(std::string client, Done done) override;
  void space(SpaceDone done) override;

 private:
  void run_write(const std::string& object, const std::shared_ptr<WriteOp>& op, int flags, Done done);
  void run_lock_class(const std::string& object, const char* method, const Bytes& request, Done done);

  const std::unique_ptr<Connection> connection_;
};

void RadosObjects::run_write(const std::string& object, const std::shared_ptr<WriteOp>& op, int flags,
                             Done done) {
  connection_->run(
      [&](rados_completion_t completion) {
        return rados_aio_write_op_operate(op->op, connection_->pool(), completion, object.c_str(), nullptr,
                                          flags);
      },
      [op, done = std::move(done)](int result) mutable { done(reply_of_mutation(result)); });
}

void RadosObjects::mutate(std::string object, Mutation mutation, Done done) {
  if (!mutation.is_valid()) return done(Reply::refused(Reason::invalid));
  auto op = std::make_shared<WriteOp>();
  add_guards(op->op, mutation);
  add_actions(op->op, mutation.actions());
  run_write(object, op,
            mutation.is_allowed_when_full() ? LIBRADOS_OPERATION_FULL_FORCE : LIBRADOS_OPERATION_FULL_TRY,
            std::move(done));
}

void RadosObjects::read(std::string object, Read what, ReadDone done) {
  auto read = std::make_shared<PendingRead>();
  prepare(*read, what);
  connection_->run(
      [&](rados_completion_t completion) {
        return rados_aio_read_op_operate(read->op, connection_->pool(), completion, object.c_str(), 0);
      },
      [read, done = std::move(done)](int result) mutable { done(finish(*read, result)); });
}

void RadosObjects::run_lock_class(const std::string& object, const char* method, const Bytes& request,
                                  Done done) {
  auto op = std::make_shared<WriteOp>();
  rados_write_op_exec(op->op, "lock", method, request.data(), request.size(), nullptr);
  run_write(object, op, LIBRADOS_OPERATION_FULL_FORCE, std::move(done));
}

void RadosObjects::lock(std::string object, Lock lock, Done done) {
  const std::string description = connection_->name() + "\n" + lock.description;
  run_lock_class(object, "lock",
                 lock_request(lock.name, lock.owner, description, lock.duration, lock.only_renew),
                 std::move(done));
}

void RadosObjects::read_lock(std::string object, std::string name, LockReadDone done) {
  struct PendingInfo {
    PendingRead read;
    char* message = nullptr;
    size_t size = 0;
    ~PendingInfo() {
      if (message != nullptr) rados_buffer_free(message);
    }
  };
  auto pending = std::make_shared<PendingInfo>();
  const Bytes request = info_request(name);
  rados_read_op_exec(pending->read.op, "lock", "get_info", request.data(), request.size(), &pending->message,
                     &pending->size, &pending->read.ignored[0]);
  connection_->run(
      [&](rados_completion_t completion) {
        return rados_aio_read_op_operate(pending->read.op, connection_->pool(), completion, object.c_str(),
                                         0);
      },
      [pending, done = std::move(done)](int result) mutable {
        done(lock_reply(result, BytesView(pending->message, pending->size)));
      });
}

void RadosObjects::watch(std::string object, Watcher watcher, WatchDone done) {
  auto watch = std::make_unique<RadosWatch>(*connection_, std::move(object), std::move(watcher));
  RadosWatch* const started = watch.get();
  connection_->run([started](rados_completion_t completion) { return started->start(completion); },
                   [watch = std::move(watch), done = std::move(done)](int result) mutable {
                     const Reply reply = reply_of_mutation(result);
                     if (!reply.is_done()) watch->forget();
                     done(reply, reply.is_done() ? std::move(watch) : nullptr);
                   });
}

void RadosObjects::notify(std::string object, Bytes message, Done done) {
  struct Answers {
    char* bytes = nullptr;
    size_t size = 0;
    ~Answers() {
      if (bytes != nullptr) rados_buffer_free(bytes);
    }
  };
  auto answers = std::make_shared<Answers>();
  connection_->run(
      [&](rados_completion_t completion) {
        return rados_aio_notify(connection_->pool(), object.c_str(), completion, message.data(),
                                static_cast<int>(message.size()), notify_timeout_millis, &answers->bytes,
                                &answers->size);
      },
      [answers, done = std::move(done)](int result) mutable { done(reply_of_mutation(result)); });
}

// When this returns, this client has the cluster map that names the fenced client. Every storage node that
// receives a later operation from this client gets that map too.
void RadosObjects::fence(std::string client, Done done) {
  const size_t at = client.find('@');
  if (at == std::string::npos) return done(Reply::refused(Reason::invalid));
  connection_->run_blocking([this, address = client.substr(at + 1), done = std::move(done)]() mutable {
    const int result = rados_blocklist_add(connection_->cluster(), address.data(), fence_seconds);
    connection_->call([&] { done(reply_of_mutation(result)); });
  });
}

void RadosObjects::space(SpaceDone done) {
  connection_->run_blocking([this, done = std::move(done)]() mutable {
    rados_cluster_stat_t found{};
    const int result = rados_cluster_stat(connection_->cluster(), &found);
    const Space space{reply_of_read(result), found.kb * kibibyte, found.kb_used * kibibyte};
    connection_->call([&] { done(space); });
  });
}

}  // namespace
}  // namespace sibyl::storage::objects::rados

extern "C" __attribute__((visibility("default"))) void sibyl_open_rados_1(
    const sibyl::storage::objects::RadosOptions& options,
    sibyl::base::Result<std::unique_ptr<sibyl::storage::objects::ObjectStore>>& store) {
  using namespace sibyl::storage::objects::rados;
  auto connection = Connection::open(options);
  if (connection)
    store = std::make_unique<RadosObjects>(std::move(*connection));
  else
    store = std::unexpected(connection.error());
}
