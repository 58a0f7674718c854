#include "storage/objects/rados/plugin/connection.h"

#include <fmt/format.h>
#include <pthread.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "base/contain.h"

namespace sibyl::storage::objects::rados {
namespace {

base::Status check(int result, const std::string& what) {
  if (result >= 0) return {};
  return base::fail(
      base::Error(base::ErrorCode::config, fmt::format("{}: {}", what, std::strerror(-result)))
          .with_hint("is the configuration of Ceph readable, and does `ceph -s` work with it?"));
}

// Changes a setting that still has Ceph's default.
void replace_default(rados_t cluster, const char* name, double ceph_default, const char* value) {
  std::array<char, 64> found{};
  if (rados_conf_get(cluster, name, found.data(), found.size()) == 0 &&
      std::strtod(found.data(), nullptr) == ceph_default)
    (void)rados_conf_set(cluster, name, value);
}

}  // namespace

struct Connection::Pending {
  Connection& connection;
  std::move_only_function<void(int)> finish;
};

base::Result<std::unique_ptr<Connection>> Connection::open(const RadosOptions& options) {
  std::unique_ptr<Connection> connection(new Connection());
  SIBYL_TRY(connection->connect(options));
  Connection* const self = connection.get();
  connection->worker_ = std::thread([self] { self->work(); });
  pthread_setname_np(connection->worker_.native_handle(), "sibyl-rados");
  return connection;
}

base::Status Connection::connect(const RadosOptions& options) {
  SIBYL_TRY(check(rados_create(&cluster_, options.user.c_str()), "Cannot create a client of Ceph"));
  const char* const path = options.configuration.empty() ? nullptr : options.configuration.c_str();
  SIBYL_TRY(check(rados_conf_read_file(cluster_, path),
                  fmt::format("Cannot read the configuration of Ceph {}", options.configuration)));
  // Without these timeouts, operations would wait forever for storage that does not answer.
  const std::string seconds = std::to_string(options.timeout.count());
  for (const char* name : {"rados_osd_op_timeout", "rados_mon_op_timeout", "client_mount_timeout"})
    SIBYL_TRY(check(rados_conf_set(cluster_, name, seconds.c_str()), fmt::format("Cannot set {}", name)));
  // Requests to a storage node that has died hang until the client asks for a newer map. By default that takes longer than it takes Ceph to
  // find out that the node is down.
  replace_default(cluster_, "objecter_timeout", 10, "1");
  replace_default(cluster_, "objecter_tick_interval", 5, "0.5");
  // Several connections of one user would share the socket's path. Then connecting waits up to ten seconds
  // for the process that has the socket, for example for a server that hangs while this one takes over.
  SIBYL_TRY(check(rados_conf_set(cluster_, "admin_socket", ""), "Cannot set admin_socket"));
  if (const int result = rados_connect(cluster_); result < 0) {
    rados_shutdown(cluster_);
    cluster_ = nullptr;
    return check(result, "Cannot connect to Ceph");
  }
  SIBYL_TRY(check(rados_ioctx_create(cluster_, options.pool.c_str(), &pool_),
                  fmt::format("Cannot open the pool {}", options.pool)));
  rados_ioctx_set_namespace(pool_, options.object_namespace.c_str());
  char* addresses = nullptr;
  SIBYL_TRY(check(rados_getaddrs(cluster_, &addresses), "Cannot read the address of this client"));
  name_ = fmt::format("client.{}@{}", rados_get_instance_id(cluster_), addresses);
  rados_buffer_free(addresses);
  return {};
}

Connection::~Connection() {
  {
    std::unique_lock lock(mutex_);
    is_closing_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return in_flight_ == 0 && running_ == 0; });
  }
  if (worker_.joinable()) worker_.join();
  if (pool_ != nullptr) rados_ioctx_destroy(pool_);
  if (cluster_ != nullptr) rados_shutdown(cluster_);
}

bool Connection::enter() {
  const std::lock_guard lock(mutex_);
  if (is_closing_) return false;
  ++running_;
  return true;
}

void Connection::leave() {
  const std::lock_guard lock(mutex_);
  --running_;
  changed_.notify_all();
}

void Connection::call(const std::function<void()>& callback) {
  if (!enter()) return;
  (void)base::contain([&] { callback(); });
  leave();
}

void Connection::run(const std::function<int(rados_completion_t)>& start,
                     std::move_only_function<void(int)> finish) {
  {
    const std::lock_guard lock(mutex_);
    ++in_flight_;
  }
  auto* const pending = new Pending{*this, std::move(finish)};
  rados_completion_t completion = nullptr;
  rados_aio_create_completion2(pending, &Connection::complete, &completion);
  const int result = start(completion);
  if (result >= 0) return;
  rados_aio_release(completion);
  const std::unique_ptr<Pending> owned(pending);
  call([&] { owned->finish(result); });
  const std::lock_guard lock(mutex_);
  --in_flight_;
  changed_.notify_all();
}

void Connection::complete(rados_completion_t completion, void* argument) {
  std::unique_ptr<Pending> pending(static_cast<Pending*>(argument));
  Connection& connection = pending->connection;
  const int result = rados_aio_get_return_value(completion);
  rados_aio_release(completion);
  connection.call([&] { pending->finish(result); });
  pending.reset();
  const std::lock_guard lock(connection.mutex_);
  --connection.in_flight_;
  connection.changed_.notify_all();
}

void Connection::run_blocking(std::move_only_function<void()> task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  changed_.notify_all();
}

void Connection::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_closing_ || !tasks_.empty(); });
    if (is_closing_) return;
    auto task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    (void)base::contain([&] { task(); });
    task = nullptr;
    lock.lock();
  }
}

}  // namespace sibyl::storage::objects::rados
