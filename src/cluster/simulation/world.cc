#include "cluster/simulation/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "base/simulated_executor.h"
#include "cluster/simulation/history.h"
#include "cluster/simulation/network.h"
#include "cluster/simulation/node.h"
#include "storage/objects/memory/memory_objects.h"

namespace sibyl::cluster::simulation {
namespace {

using storage::objects::Faults;
using storage::objects::MemoryObjects;

constexpr int64_t second = 1'000'000;
constexpr int64_t lease_micros = 2 * second;
constexpr int64_t chaos_micros = 40 * second;
constexpr int64_t client_timeout = 4 * second;
// Time for everything to settle after the last fault: until it ends, late mutations have arrived and leases
// have expired.
constexpr int64_t calm_micros = 60 * second;

class World {
 public:
  explicit World(const Scenario& scenario)
      : scenario_(scenario),
        random_(scenario.seed),
        executor_(random_()),
        objects_({.executor = &executor_, .seed = random_()}),
        network_(executor_, random_) {}

  Report run() {
    create();
    for (size_t i = 0; i < scenario_.servers; ++i) start(i);
    for (size_t i = 0; i < scenario_.clients; ++i) begin_client(i);
    schedule_fault();
    executor_.run_until(chaos_micros);
    end_faults();
    executor_.run_for(calm_micros);
    read_all_keys();
    check_settled();
    if (report_.violation.empty()) check_views();
    if (report_.violation.empty()) report_.violation = history_.find_violation();
    report_.operations = history_.size();
    report_.injected.storage = objects_.counts();
    report_.injected.lost_messages = network_.lost();
    report_.injected.late_messages = network_.late();
    report_.injected.duplicated_replies = network_.duplicated();
    return report_;
  }

 private:
  struct Server {
    std::unique_ptr<Node> node;  // nullptr while it is down
    double clock_rate = 1;
    int64_t clock_offset = 0;  // offset of the wall clock
    bool is_stopping = false;
  };

  // --- Random choices
  int64_t between(int64_t low, int64_t high) { return std::uniform_int_distribution(low, high)(random_); }
  size_t below(size_t bound) { return std::uniform_int_distribution<size_t>(0, bound - 1)(random_); }
  bool chance(double probability) { return std::uniform_real_distribution(0.0, 1.0)(random_) < probability; }

  Key keys() const { return scenario_.shards * 2; }
  bool is_counter(Key key) const { return key % 4 == 3; }

  void violate(std::string text) {
    if (report_.violation.empty()) report_.violation = std::move(text);
  }

  // --- Servers
  void create() {
    const auto client = objects_.connect();
    const Settings settings{.shards = scenario_.shards,
                            .lease = std::chrono::milliseconds(lease_micros / 1'000)};
    client->mutate(state_object, create_state(settings), [](storage::objects::Reply) {});
    executor_.run_for(second);
    objects_.set_faults(ordinary_faults());
    servers_.resize(scenario_.servers);
    for (Server& server : servers_) {
      server.clock_rate = 1 + std::uniform_real_distribution(-0.004, 0.004)(random_);
      ++report_.injected.drifting_clocks;
    }
    network_.set_late(0.01, 5 * second);
    network_.set_duplicates(0.01);
  }

  Faults ordinary_faults() const {
    return {.lost_request = 0.01,
            .lost_reply = 0.01,
            .late = 0.01,
            .duplicated = 0.01,
            .slow = 0.01,
            .timeout_micros = second,
            .max_late_micros = 15 * second};
  }

  void start(size_t i) {
    Server& server = servers_[i];
    if (server.node) return;
    server.is_stopping = false;
    const Node::Options options{
        .id = {fmt::format("n{}", i), ++incarnations_},
        .clock_rate = server.clock_rate,
        .wall_clock = [this, i] { return wall_clock(i); },
        .weakness = scenario_.weakness,
        .send = [this, i](const std::string& to,
                          ViewMessage message) { send_about_views(i, to, std::move(message)); }};
    const auto restart = [this, i](int64_t after) {
      executor_.run_after(0, [this, i] { servers_[i].node.reset(); });
      executor_.run_after(after, [this, i] { start(i); });
    };
    server.node = std::make_unique<Node>(
        objects_.connect(), executor_, options,
        Node::Events{.on_removed = [this, restart] { restart(between(10'000, 200'000)); },
                     .on_left = [this, restart] { restart(between(10'000, 3 * second)); },
                     .on_read = [this](uint32_t shard, uint64_t epoch) { check_epoch(shard, epoch); }});
  }

  int64_t wall_clock(size_t i) const { return executor_.now_micros() + servers_[i].clock_offset; }

  void check_epoch(uint32_t shard, uint64_t epoch) {
    uint64_t& newest = answered_epochs_[shard];
    if (epoch < newest)
      violate(
          fmt::format("shard {} answered a read at epoch {} after one at epoch {}", shard, epoch, newest));
    if (epoch > newest) ++report_.owner_changes;
    newest = std::max(newest, epoch);
  }

  // --- Clients
  struct Pending {
    size_t operation = 0, client = 0;
    Request request;
    int64_t deadline = 0;
    bool is_over = false;
    uint64_t attempts = 0, answered = 0;  // attempts so far, and the last one that was answered
  };

  void begin_client(size_t client) {
    executor_.run_after(between(0, second), [this, client] { next(client, 0); });
  }

  void next(size_t client, size_t done) {
    if (done == scenario_.operations_per_client || executor_.now_micros() > chaos_micros) return;
    ask(client, random_request(), [this, client, done](const Response&) {
      executor_.run_after(between(0, 1'200'000), [this, client, done] { next(client, done + 1); });
    });
  }

  Request random_request() {
    Request request{.key = static_cast<Key>(below(keys())), .value = static_cast<int64_t>(++values_)};
    if (chance(0.35)) return request;
    if (is_counter(request.key)) {
      request.kind = Request::Kind::add;
      request.value = between(1, 1'000);
    } else if (chance(0.5)) {
      request.kind = Request::Kind::exchange;
      request.expected = last_seen_[request.key];
    } else {
      request.kind = Request::Kind::write;
    }
    return request;
  }

  // Sends the request until there is a response or the client gives up. `done` is called once.
  void ask(size_t client, const Request& request, std::function<void(const Response&)> done) {
    auto pending = std::make_shared<Pending>(
        Pending{history_.call(request), client, request, executor_.now_micros() + client_timeout});
    const auto finish = [this, pending, done = std::move(done)](const Response& response) {
      if (std::exchange(pending->is_over, true)) return;
      history_.finish(pending->operation, response);
      if (response.status == Response::Status::done) {
        ++report_.answered;
        last_seen_[pending->request.key] = response.applied && !is_counter(pending->request.key)
                                               ? Value(pending->request.value)
                                               : response.seen;
      }
      done(response);
    };
    executor_.run_after(client_timeout, [finish] { finish({.status = Response::Status::unknown}); });
    try_server(pending, finish);
  }

  void try_server(const std::shared_ptr<Pending>& pending,
                  const std::function<void(const Response&)>& finish) {
    if (pending->is_over) return;
    const size_t client = scenario_.servers + pending->client, entry = below(scenario_.servers);
    const uint64_t attempt = ++pending->attempts;
    const auto answer = [this, pending, finish, client, entry, attempt](Response response) {
      network_.reply(entry, client, [this, pending, finish, response, attempt] {
        if (attempt <= std::exchange(pending->answered, std::max(pending->answered, attempt)))
          return;  // a copy
        if (response.status != Response::Status::moved) return finish(response);
        executor_.run_after(100'000, [this, pending, finish] { try_server(pending, finish); });
      });
    };
    network_.send(client, entry, [this, pending, entry, answer] {
      if (servers_[entry].node) return route(entry, pending->request, answer);
      answer({.status = Response::Status::moved});  // The connection is refused.
    });
  }

  // A server executes requests for its own shards and forwards the others to the owner.
  void route(size_t entry, const Request& request, const std::function<void(Response)>& answer) {
    deliver(entry, [this, entry, request, answer](Node& node) {
      const std::string owner = node.owner_of(request.key);
      const std::string self = fmt::format("n{}", entry);
      if (owner.empty() || owner == self) return node.execute(request, answer);
      const size_t target = std::stoul(owner.substr(1));
      network_.send(entry, target, [this, entry, target, request, answer] {
        deliver(target, [this, entry, target, request, answer](Node& other) {
          other.execute(request, [this, entry, target, answer](Response response) {
            network_.send(target, entry, [this, entry, response, answer] {
              deliver(entry, [response, answer](Node& self) {
                if (response.status == Response::Status::moved) self.refresh();
                answer(response);
              });
            });
          });
        });
      });
    });
  }

  void send_about_views(size_t from, const std::string& to, ViewMessage message) {
    if (to.empty()) return;
    message.from = fmt::format("n{}", from);
    const size_t target = std::stoul(to.substr(1));
    network_.reply(from, target, [this, target, message] {
      deliver(target, [message](Node& node) { node.receive(message); });
    });
  }

  // Runs on the server's thread, later if it is paused. Lost if it is down.
  void deliver(size_t server, std::function<void(Node&)> message) {
    Node* node = servers_[server].node.get();
    if (node) node->executor().run_after(0, [node, message = std::move(message)] { message(*node); });
  }

  // --- Faults
  void schedule_fault() {
    executor_.run_after(between(100'000, 2 * second), [this] {
      if (executor_.now_micros() >= chaos_micros) return;
      inject();
      schedule_fault();
    });
  }

  void inject() {
    const size_t server = below(scenario_.servers);
    switch (below(10)) {
      case 0:
      case 1:
        return crash(server);
      case 2:
      case 3:
        return pause(server);
      case 4:
        return cut(server, below(scenario_.servers));
      case 5:
        return cut_from_storage(server);
      case 6:
        return stop_cleanly(server);
      case 7:
        return disturb_storage();
      case 8:
        return jump_clock(server);
      case 9:
        ++report_.injected.lost_watches;
        return objects_.fail_watches();
    }
  }

  void crash(size_t i) {
    if (!servers_[i].node) return;
    ++report_.injected.crashes;
    servers_[i].node.reset();
    executor_.run_after(between(50'000, 8 * second), [this, i] {
      if (!servers_[i].node) ++report_.injected.restarts;
      start(i);
    });
  }

  void pause(size_t i) {
    Node* node = servers_[i].node.get();
    if (!node || node->executor().is_paused()) return;
    const int64_t micros = between(100'000, 5 * lease_micros / 2);
    ++(micros > lease_micros ? report_.injected.long_pauses : report_.injected.pauses);
    node->executor().pause();
    executor_.run_after(micros, [this, i, id = node->membership().id()] { resume(i, id); });
  }

  void resume(size_t i, const MemberId& id) {
    Node* node = servers_[i].node.get();
    if (node && node->membership().id() == id) node->executor().resume();
  }

  void cut(size_t one, size_t other) {
    if (one == other) return;
    ++report_.injected.cuts;
    network_.cut(one, other);
    executor_.run_after(between(100'000, 6 * second), [this, one, other] { network_.heal(one, other); });
  }

  void cut_from_storage(size_t i) {
    if (!servers_[i].node) return;
    ++report_.injected.storage_cuts;
    const std::string client = servers_[i].node->storage_client();
    objects_.set_cut_off(client, true);
    executor_.run_after(between(100'000, 6 * second),
                        [this, client] { objects_.set_cut_off(client, false); });
  }

  void jump_clock(size_t i) {
    ++report_.injected.clock_jumps;
    servers_[i].clock_offset += between(-20 * second, 20 * second);
  }

  void stop_cleanly(size_t i) {
    if (!servers_[i].node || std::exchange(servers_[i].is_stopping, true)) return;
    ++report_.injected.clean_stops;
    servers_[i].node->leave();
  }

  void disturb_storage() {
    if (chance(0.5)) {
      ++report_.injected.full_storage;
      objects_.set_full(true);
      executor_.run_after(between(100'000, 3 * second), [this] { objects_.set_full(false); });
    } else {
      ++report_.injected.slow_storage;
      Faults slow = ordinary_faults();
      slow.slow = 0.5;
      objects_.set_faults(slow);
      network_.set_loss(0.1);
      executor_.run_after(between(100'000, 4 * second), [this] {
        objects_.set_faults(ordinary_faults());
        network_.set_loss(0);
      });
    }
  }

  void end_faults() {
    // Faults that have begun end during the calm.
    objects_.set_full(false);
    for (size_t i = 0; i < servers_.size(); ++i) {
      if (servers_[i].node && servers_[i].node->executor().is_paused()) servers_[i].node->executor().resume();
      start(i);
    }
    executor_.run_for(10 * second);
    objects_.set_faults({.timeout_micros = second});
    network_.set_loss(0);
    network_.set_late(0, 0);
    network_.set_duplicates(0);
  }

  // --- At the end
  void read_all_keys() {
    size_t answered = 0;
    for (Key key = 0; key < keys(); ++key)
      ask(0, {.key = key},
          [&](const Response& response) { answered += response.status == Response::Status::done ? 1 : 0; });
    executor_.run_for(2 * client_timeout);
    if (answered != keys())
      violate(fmt::format("{} of {} keys cannot be read although all faults have ended", keys() - answered,
                          keys()));
  }

  void check_settled() {
    for (const Server& server : servers_) {
      if (!server.node || !server.node->membership().holds_lease())
        return violate("a server is not a member although all faults have ended");
      for (const Shard& shard : server.node->membership().state()->shards)
        if (!server.node->membership().state()->is_member(shard.owner) || !shard.next.empty() ||
            !shard.logs.empty())
          return violate("the assignment of shards does not settle");
      if (!server.node->membership().state()->unneeded_logs().empty())
        return violate("a log that no shard needs is left over");
    }
  }

  // After the state has settled: the value of a key at its owner.
  Value value_at_owner(Key key) const {
    for (const Server& server : servers_) {
      const auto& state = server.node->membership().state();
      if (state->shards[key % state->shards.size()].owner == server.node->membership().id())
        return server.node->value_of(key);
    }
    return std::nullopt;
  }

  void check_views() {
    for (Key base = 0; base < keys(); ++base) {
      if (!has_view(base)) continue;
      const Value value = value_at_owner(base);
      for (const bool is_odd : {false, true}) {
        Value row = value_at_owner(view_row_of(base, is_odd));
        if (row == no_view_row) row.reset();
        if (row != view_value(value, is_odd))
          violate(fmt::format("a view row of key {} has {}, but the key has {}", base, row.value_or(0),
                              value.value_or(0)));
      }
    }
  }

  const Scenario scenario_;
  std::mt19937_64 random_;
  base::SimulatedExecutor executor_;
  MemoryObjects objects_;
  Network network_;
  History history_;
  Report report_;
  uint64_t incarnations_ = 0, values_ = 0;
  std::map<uint32_t, uint64_t> answered_epochs_;
  std::map<Key, Value> last_seen_;
  // Declared last and thus destroyed first: tasks of the servers use the other members.
  std::vector<Server> servers_;
};

}  // namespace

Report run(const Scenario& scenario) {
  return World(scenario).run();
}

void Injected::add(const Injected& other) {
  crashes += other.crashes;
  restarts += other.restarts;
  clean_stops += other.clean_stops;
  pauses += other.pauses;
  long_pauses += other.long_pauses;
  cuts += other.cuts;
  storage_cuts += other.storage_cuts;
  lost_messages += other.lost_messages;
  late_messages += other.late_messages;
  duplicated_replies += other.duplicated_replies;
  full_storage += other.full_storage;
  slow_storage += other.slow_storage;
  lost_watches += other.lost_watches;
  drifting_clocks += other.drifting_clocks;
  clock_jumps += other.clock_jumps;
  storage.operations += other.storage.operations;
  storage.lost_request += other.storage.lost_request;
  storage.lost_reply += other.storage.lost_reply;
  storage.late += other.storage.late;
  storage.duplicated += other.storage.duplicated;
  storage.slow += other.storage.slow;
  storage.full += other.storage.full;
  storage.fenced += other.storage.fenced;
}

std::vector<Injected::Kind> Injected::kinds() const {
  return {{"crashes of servers", crashes},
          {"restarts after a crash", restarts},
          {"clean stops", clean_stops},
          {"pauses", pauses},
          {"pauses beyond the lease", long_pauses},
          {"cuts between two servers", cuts},
          {"cuts between a server and storage", storage_cuts},
          {"messages lost", lost_messages},
          {"messages late", late_messages},
          {"replies duplicated", duplicated_replies},
          {"clocks that drift", drifting_clocks},
          {"jumps of clocks", clock_jumps},
          {"times that storage refuses writes", full_storage},
          {"times that storage is slow", slow_storage},
          {"times that watches are lost", lost_watches},
          {"operations on storage: request lost", storage.lost_request},
          {"operations on storage: reply lost", storage.lost_reply},
          {"operations on storage: applied late", storage.late},
          {"operations on storage: applied twice", storage.duplicated},
          {"operations on storage: slow", storage.slow},
          {"operations on storage: refused as full", storage.full}};
}

std::string Injected::print() const {
  std::string text;
  for (const Kind& kind : kinds()) text += fmt::format("{:>12}  {}\n", kind.count, kind.name);
  return text;
}

}  // namespace sibyl::cluster::simulation
