#include "storage/objects/memory/memory_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <random>
#include <set>
#include <vector>

#include "storage/objects/memory/memory_object.h"

namespace sibyl::storage::objects {
namespace {

using Kind = OperationInfo::Kind;

// Only mutations can be late: for other operations, being late is the same as being lost.
bool is_mutation(Kind kind) {
  return kind == Kind::mutate || kind == Kind::lock || kind == Kind::unlock || kind == Kind::break_lock ||
         kind == Kind::fence;
}

bool frees_space(const Mutation& mutation) {
  return std::ranges::all_of(mutation.actions(), [](const Mutation::Action& action) {
    return action.kind == Mutation::Kind::remove || action.kind == Mutation::Kind::erase_entry;
  });
}

Reply reply_of(const Reply& reply) {
  return reply;
}
template <typename Answer>
Reply reply_of(const Answer& answer) {
  return answer.reply;
}

template <typename Answer>
Answer answer_with(Reply reply) {
  Answer answer;
  if constexpr (std::is_same_v<Answer, Reply>)
    answer = reply;
  else
    answer.reply = reply;
  return answer;
}

// A registered watch. Its callbacks run under its mutex, so closing waits for them.
struct Registration {
  std::recursive_mutex mutex;
  bool is_open = true;
  Watcher watcher;
  std::string client, object;

  void notify(const Bytes& message) {
    const std::lock_guard lock(mutex);
    if (is_open && watcher.on_notify) watcher.on_notify(message);
  }
  void fail() {
    const std::lock_guard lock(mutex);
    if (std::exchange(is_open, false) && watcher.on_error) watcher.on_error();
  }
  void close() {
    const std::lock_guard lock(mutex);
    is_open = false;
  }
};

}  // namespace

struct MemoryObjects::State : std::enable_shared_from_this<MemoryObjects::State> {
  struct Connection {
    std::string name;
    std::atomic<bool> is_open = true;             // true until the client is destroyed
    std::map<std::string, int64_t> last_arrival;  // the last arrival by object, so that mutations keep their
                                                  // order
  };
  template <typename Answer>
  struct Operation {
    Kind kind = Kind::mutate;
    std::string object;
    std::function<Answer()> apply;  // called with the mutex held, perhaps several times
    std::move_only_function<void(Answer)> done;
  };

  explicit State(Options given) : options(given), random(given.seed) {}

  template <typename Answer>
  void submit(const std::shared_ptr<Connection>& from, Operation<Answer> operation);
  template <typename Answer>
  void deliver(const std::shared_ptr<Connection>& from, Operation<Answer> operation, Fault fault,
               int64_t arrival);
  template <typename Answer>
  Answer arrive(const Connection& from, const std::function<Answer()>& apply);
  template <typename Answer>
  void answer(const std::shared_ptr<Connection>& from, std::move_only_function<void(Answer)> done,
              Answer value, int64_t delay);

  Fault choose(const Connection& from, Kind kind, const std::string& object);
  int64_t arrival_of(Connection& from, const std::string& object, Fault fault);
  void add_late(std::function<void()> task, int64_t delay);
  void apply_some_late();
  void run_late(bool all);
  Reply apply(const std::string& object, const Mutation& mutation);
  void notify(const std::string& object, const Bytes& message);

  int64_t now() const {
    if (options.clock != nullptr) return options.clock->now_micros();
    return options.executor != nullptr ? options.executor->now_micros() : system_clock.now_micros();
  }
  int64_t random_between(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, std::max(low, high))(random);
  }

  const Options options;
  mutable base::SystemClock system_clock;
  mutable std::recursive_mutex mutex;  // recursive, because the choice of a fault may read the store
  std::mt19937_64 random;
  ObjectMap objects;
  Faults faults;
  std::function<std::optional<Fault>(const OperationInfo&)> fault_choice;
  std::set<std::string> fenced, cut_off;
  bool is_full = false;
  FaultCounts counts;
  std::map<uint64_t, std::function<void()>> late;
  uint64_t next_late = 0;
  std::vector<std::shared_ptr<Registration>> watches;
  uint64_t next_client = 1;
};

// --- Delivery

Fault MemoryObjects::State::choose(const Connection& from, Kind kind, const std::string& object) {
  ++counts.operations;
  Fault fault = Fault::none;
  std::optional<Fault> chosen;
  if (fault_choice) chosen = fault_choice({kind, from.name, object});
  if (chosen) {
    fault = *chosen;
  } else {
    double dice = std::uniform_real_distribution<double>(0, 1)(random);
    const auto falls_into = [&dice](double probability) { return (dice -= probability) < 0; };
    if (falls_into(faults.lost_request))
      fault = Fault::lost_request;
    else if (falls_into(faults.slow))
      fault = Fault::slow;
    else if (falls_into(faults.lost_reply))
      fault = Fault::lost_reply;
    else if (falls_into(faults.late))
      fault = Fault::late;
    else if (falls_into(faults.duplicated))
      fault = Fault::duplicated;
  }
  if (cut_off.contains(from.name)) fault = random() % 2 == 0 ? Fault::late : Fault::lost_request;
  if (!is_mutation(kind) && fault != Fault::none && fault != Fault::slow) fault = Fault::lost_request;
  counts.lost_request += fault == Fault::lost_request;
  counts.lost_reply += fault == Fault::lost_reply;
  counts.late += fault == Fault::late;
  counts.duplicated += fault == Fault::duplicated;
  counts.slow += fault == Fault::slow;
  return fault;
}

int64_t MemoryObjects::State::arrival_of(Connection& from, const std::string& object, Fault fault) {
  const int64_t now = options.executor->now_micros();
  int64_t arrival = now + random_between(faults.min_micros, faults.max_micros);
  if (fault == Fault::slow) arrival += random_between(0, faults.slow_micros);
  int64_t& last = from.last_arrival[object];
  last = arrival = std::max(arrival, last + 1);
  return arrival - now;
}

template <typename Answer>
void MemoryObjects::State::submit(const std::shared_ptr<Connection>& from, Operation<Answer> operation) {
  std::unique_lock lock(mutex);
  if (options.executor == nullptr) apply_some_late();
  const Fault fault = choose(*from, operation.kind, operation.object);
  if (options.executor != nullptr) {
    const bool arrives_now = fault != Fault::lost_request && fault != Fault::late;
    const int64_t arrival = arrives_now ? arrival_of(*from, operation.object, fault) : 0;
    return deliver(from, std::move(operation), fault, arrival);
  }
  Answer value = answer_with<Answer>(Reply::unknown(Reason::timed_out));
  if (fault == Fault::none || fault == Fault::slow)
    value = arrive<Answer>(*from, operation.apply);
  else if (fault != Fault::lost_request && fault != Fault::late)
    (void)arrive<Answer>(*from, operation.apply);
  if (fault == Fault::late || fault == Fault::duplicated)
    add_late([this, from, apply = operation.apply] { (void)arrive<Answer>(*from, apply); }, 0);
  lock.unlock();
  operation.done(std::move(value));
}

// For stores with an executor. `arrival` is the delay until the operation reaches the storage.
template <typename Answer>
void MemoryObjects::State::deliver(const std::shared_ptr<Connection>& from, Operation<Answer> operation,
                                   Fault fault, int64_t arrival) {
  const auto self = shared_from_this();
  base::Executor& executor = *options.executor;
  if (fault == Fault::late || fault == Fault::duplicated)
    add_late([this, from, apply = operation.apply] { (void)arrive<Answer>(*from, apply); },
             faults.timeout_micros + random_between(0, faults.max_late_micros));
  if (fault == Fault::none || fault == Fault::slow) {
    executor.run_after(arrival, [self, from, operation = std::move(operation)]() mutable {
      Answer value = self->arrive<Answer>(*from, operation.apply);
      const int64_t back = self->random_between(self->faults.min_micros, self->faults.max_micros);
      self->answer<Answer>(from, std::move(operation.done), std::move(value), back);
    });
    return;
  }
  if (fault == Fault::lost_reply || fault == Fault::duplicated)
    executor.run_after(arrival,
                       [self, from, apply = operation.apply] { (void)self->arrive<Answer>(*from, apply); });
  answer<Answer>(from, std::move(operation.done), answer_with<Answer>(Reply::unknown(Reason::timed_out)),
                 faults.timeout_micros);
}

template <typename Answer>
Answer MemoryObjects::State::arrive(const Connection& from, const std::function<Answer()>& apply) {
  const std::lock_guard lock(mutex);
  if (!fenced.contains(from.name)) {
    Answer value = apply();
    counts.full += reply_of(value).reason == Reason::full;
    return value;
  }
  ++counts.fenced;
  constexpr bool reads =
      std::is_same_v<Answer, ReadReply> || std::is_same_v<Answer, LockReply> || std::is_same_v<Answer, Space>;
  return answer_with<Answer>(reads ? Reply::refused(Reason::fenced) : Reply::unknown(Reason::fenced));
}

template <typename Answer>
void MemoryObjects::State::answer(const std::shared_ptr<Connection>& from,
                                  std::move_only_function<void(Answer)> done, Answer value, int64_t delay) {
  options.executor->run_after(delay, [from, done = std::move(done), value = std::move(value)]() mutable {
    if (from->is_open) done(std::move(value));
  });
}

void MemoryObjects::State::add_late(std::function<void()> task, int64_t delay) {
  const uint64_t number = next_late++;
  late.emplace(number, std::move(task));
  if (options.executor == nullptr) return;
  options.executor->run_after(delay, [self = shared_from_this(), number] {
    auto found = self->late.extract(number);
    if (found) found.mapped()();
  });
}

void MemoryObjects::State::apply_some_late() {
  constexpr uint64_t one_in = 3;
  while (!late.empty() && random() % one_in == 0) run_late(false);
}

void MemoryObjects::State::run_late(bool all) {
  do {
    if (late.empty()) return;
    auto found = std::next(late.begin(), static_cast<ptrdiff_t>(random() % late.size()));
    auto task = std::move(found->second);
    late.erase(found);
    task();
  } while (all);
}

Reply MemoryObjects::State::apply(const std::string& object, const Mutation& mutation) {
  if (!mutation.is_valid()) return Reply::refused(Reason::invalid);
  const bool lacks_space = is_full || (options.capacity != UINT64_MAX &&
                                       objects.bytes() + mutation.byte_size() > options.capacity);
  if (lacks_space && !mutation.is_allowed_when_full() && !frees_space(mutation))
    return Reply::refused(Reason::full);
  return objects.apply(object, mutation, now());
}

// Notifications run after the caller has left the mutex, because watchers may call the store.
void MemoryObjects::State::notify(const std::string& object, const Bytes& message) {
  std::vector<std::shared_ptr<Registration>> found;
  {
    const std::lock_guard lock(mutex);
    for (const auto& watch : watches)
      if (watch->object == object && !cut_off.contains(watch->client)) found.push_back(watch);
  }
  for (const auto& watch : found) {
    if (options.executor == nullptr) {
      watch->notify(message);
    } else {
      const int64_t delay = random_between(faults.min_micros, faults.max_micros);
      options.executor->run_after(delay, [watch, message] { watch->notify(message); });
    }
  }
}

// --- Clients

class MemoryObjects::Client final : public ObjectStore {
 public:
  Client(std::shared_ptr<State> state, std::string name)
      : state_(std::move(state)), connection_(std::make_shared<State::Connection>()) {
    connection_->name = std::move(name);
  }
  ~Client() override {
    connection_->is_open = false;
    const std::lock_guard lock(state_->mutex);
    std::erase_if(state_->watches, [this](const auto& watch) { return watch->client == connection_->name; });
  }

  void mutate(std::string object, Mutation mutation, Done done) override {
    auto shared = std::make_shared<const Mutation>(std::move(mutation));
    send<Reply>(
        Kind::mutate, object,
        [this_state = state_, object, shared] { return this_state->apply(object, *shared); },
        std::move(done));
  }
  void read(std::string object, Read what, ReadDone done) override {
    send<ReadReply>(
        Kind::read, object,
        [state = state_, object, what = std::move(what)] { return state->objects.read(object, what); },
        std::move(done));
  }
  void lock(std::string object, Lock lock, Done done) override {
    send<Reply>(
        Kind::lock, object,
        [state = state_, object, client = client(), lock = std::move(lock)] {
          return state->objects.lock(object, client, lock, state->now());
        },
        std::move(done));
  }
  void unlock(std::string object, std::string name, std::string owner, Done done) override {
    release(Kind::unlock, std::move(object), std::move(name), {client(), std::move(owner), {}},
            std::move(done));
  }
  void break_lock(std::string object, std::string name, LockHolder holder, Done done) override {
    release(Kind::break_lock, std::move(object), std::move(name), std::move(holder), std::move(done));
  }
  void read_lock(std::string object, std::string name, LockReadDone done) override {
    send<LockReply>(
        Kind::read_lock, object,
        [state = state_, object, name = std::move(name)] {
          return state->objects.read_lock(object, name, state->now());
        },
        std::move(done));
  }
  void watch(std::string object, Watcher watcher, WatchDone done) override;
  void notify(std::string object, Bytes message, Done done) override {
    // The mutex is held when a notification arrives, so watchers run after the reply has been built.
    send<Reply>(
        Kind::notify, object,
        [state = state_, object] {
          return state->objects.contains(object) ? Reply{} : Reply::refused(Reason::missing);
        },
        [state = state_, object, message = std::move(message), done = std::move(done)](Reply reply) mutable {
          if (reply.is_done()) state->notify(object, message);
          done(reply);
        });
  }
  std::string client() const override { return connection_->name; }
  void fence(std::string client, Done done) override {
    send<Reply>(
        Kind::fence, {},
        [state = state_, client] {
          state->fenced.insert(client);
          return Reply{};
        },
        std::move(done));
  }
  void space(SpaceDone done) override {
    send<Space>(
        Kind::space, {},
        [state = state_] { return Space{{}, state->options.capacity, state->objects.bytes()}; },
        std::move(done));
  }

 private:
  class MemoryWatch;

  template <typename Answer>
  void send(Kind kind, const std::string& object, std::function<Answer()> apply,
            std::move_only_function<void(Answer)> done) {
    state_->submit<Answer>(connection_, {kind, object, std::move(apply), std::move(done)});
  }
  void release(Kind kind, std::string object, std::string name, LockHolder holder, Done done) {
    send<Reply>(
        kind, object,
        [state = state_, object, name = std::move(name), holder = std::move(holder)] {
          return state->objects.unlock(object, name, holder, state->now());
        },
        std::move(done));
  }

  const std::shared_ptr<State> state_;
  const std::shared_ptr<State::Connection> connection_;
};

class MemoryObjects::Client::MemoryWatch final : public Watch {
 public:
  MemoryWatch(std::shared_ptr<State> state, std::shared_ptr<Registration> registration)
      : state_(std::move(state)), registration_(std::move(registration)) {}
  ~MemoryWatch() override {
    {
      const std::lock_guard lock(state_->mutex);
      std::erase(state_->watches, registration_);
    }
    registration_->close();
  }

 private:
  const std::shared_ptr<State> state_;
  const std::shared_ptr<Registration> registration_;
};

void MemoryObjects::Client::watch(std::string object, Watcher watcher, WatchDone done) {
  auto registration = std::make_shared<Registration>();
  registration->watcher = std::move(watcher);
  registration->client = client();
  registration->object = object;
  send<Reply>(
      Kind::watch, object,
      [state = state_, registration] {
        if (!state->objects.contains(registration->object)) return Reply::refused(Reason::missing);
        state->watches.push_back(registration);
        return Reply{};
      },
      [state = state_, registration, done = std::move(done)](Reply reply) mutable {
        done(reply, reply.is_done() ? std::make_unique<MemoryWatch>(state, registration) : nullptr);
      });
}

// --- The storage

MemoryObjects::MemoryObjects(Options options) : state_(std::make_shared<State>(options)) {}
MemoryObjects::~MemoryObjects() = default;

std::unique_ptr<ObjectStore> MemoryObjects::connect() {
  const std::lock_guard lock(state_->mutex);
  return std::make_unique<Client>(state_, fmt::format("client.{}", state_->next_client++));
}

void MemoryObjects::set_faults(const Faults& faults) {
  const std::lock_guard lock(state_->mutex);
  state_->faults = faults;
}

void MemoryObjects::set_fault_choice(std::function<std::optional<Fault>(const OperationInfo&)> choose) {
  const std::lock_guard lock(state_->mutex);
  state_->fault_choice = std::move(choose);
}

void MemoryObjects::set_cut_off(const std::string& client, bool cut_off) {
  std::vector<std::shared_ptr<Registration>> broken;
  {
    const std::lock_guard lock(state_->mutex);
    if (!cut_off) {
      state_->cut_off.erase(client);
      return;
    }
    state_->cut_off.insert(client);
    for (const auto& watch : state_->watches)
      if (watch->client == client) broken.push_back(watch);
    std::erase_if(state_->watches, [&](const auto& watch) { return watch->client == client; });
  }
  for (const auto& watch : broken) watch->fail();
}

void MemoryObjects::set_full(bool full) {
  const std::lock_guard lock(state_->mutex);
  state_->is_full = full;
}

void MemoryObjects::apply_late() {
  const std::lock_guard lock(state_->mutex);
  state_->run_late(true);
}

void MemoryObjects::drop_late() {
  const std::lock_guard lock(state_->mutex);
  state_->late.clear();
}

void MemoryObjects::fail_watches() {
  std::vector<std::shared_ptr<Registration>> broken;
  {
    const std::lock_guard lock(state_->mutex);
    broken.swap(state_->watches);
  }
  for (const auto& watch : broken) watch->fail();
}

FaultCounts MemoryObjects::counts() const {
  const std::lock_guard lock(state_->mutex);
  return state_->counts;
}

uint64_t MemoryObjects::bytes_used() const {
  const std::lock_guard lock(state_->mutex);
  return state_->objects.bytes();
}

std::vector<std::string> MemoryObjects::names() const {
  const std::lock_guard lock(state_->mutex);
  return state_->objects.names();
}

}  // namespace sibyl::storage::objects
