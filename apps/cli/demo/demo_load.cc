#include "cli/demo/demo_load.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <array>
#include <chrono>
#include <random>

#include "base/contain.h"
#include "base/mutex.h"
#include "cli/demo/demo_data.h"
#include "cli/session/network.h"
#include "cli/session/session.h"
#include "client/connection.h"
#include "cql/script.h"

namespace sibyl::cli::demo {
namespace {

constexpr int first_rounds = 150;    // rounds that run before the server is announced
constexpr int first_readings = 300;  // these are enough rows that the advisor objects to reading them all
constexpr std::chrono::milliseconds round_pause{100};  // the pause between rounds of about ten statements
constexpr std::array titles = {"Pulp Fiction", "Metropolis", "Stalker", "Ran", "Playtime", "Solaris"};
constexpr std::array users = {"nicholas", "robert", "matthew", "max", "viola", "alex", "lisa", "dan"};
constexpr std::array groups = {"admins", "editors", "readers"};
constexpr std::array kinds = {"temperature", "temperature", "temperature",
                              "temperature", "humidity",    "pressure"};
constexpr std::array event_types = {"login", "order", "search"};
constexpr std::array products = {"L-100", "L-200", "C-10", "C-20", "D-1"};

// Statements as an application would send them. The same seed gives the same statements.
class Statements {
 public:
  explicit Statements(shell::Session& session) : session_(session) {}

  base::Status write_users() {
    int day = 15'000;
    for (const char* user : users) {
      const int age = static_cast<int>(20 + random_() % 15);
      const std::string rest = fmt::format("'{0}', '{0}@example.com', {1}", user, age);
      SIBYL_TRY(
          run(fmt::format("INSERT INTO demo.users_by_username (username, email, age) VALUES ({})", rest)));
      SIBYL_TRY(run(fmt::format("INSERT INTO demo.users_by_email (username, email, age) VALUES ({})", rest)));
      for (const char* group : groups) {
        if (random_() % 3 == 0) continue;
        SIBYL_TRY(run(
            fmt::format("INSERT INTO demo.group_members (groupname, username, email, age) VALUES ('{}', {})",
                        group, rest)));
        SIBYL_TRY(
            run(fmt::format("INSERT INTO demo.groups_by_join_date (groupname, joined, username, email, age) "
                            "VALUES ('{}', {}, {})",
                            group, ++day, rest)));
      }
    }
    return {};
  }

  // Three statements.
  base::Status write_readings() {
    for (int i = 0; i < 3; ++i)
      SIBYL_TRY(run(fmt::format(
          "INSERT INTO demo.readings (kind, at, sensor, value) VALUES ('{}', toTimestamp(now()), {}, {:.1f})",
          pick(kinds), sensor(random_() % 40), 15 + static_cast<double>(random_() % 100) / 10)));
    return {};
  }

  // About ten statements.
  base::Status run_round() {
    SIBYL_TRY(write_readings());
    if (round_ % 10 == 0) SIBYL_TRY(write_rating());
    SIBYL_TRY(
        run(fmt::format("INSERT INTO demo.events (hour, event_type, time, id, data) VALUES "
                        "({}, '{}', toTimestamp(now()), now(), 'from {}')",
                        this_hour(), pick(event_types), pick(users))));
    SIBYL_TRY(
        run(fmt::format("UPDATE demo.page_views SET views = views + 1 WHERE sku = '{}'", pick(products))));
    SIBYL_TRY(run(fmt::format("SELECT * FROM demo.movies WHERE title = '{}' LIMIT 20", pick(titles))));
    SIBYL_TRY(run(fmt::format("SELECT * FROM demo.users_by_username WHERE username = '{}'", pick(users))));
    SIBYL_TRY(run(fmt::format("SELECT * FROM demo.group_members WHERE groupname = '{}'", pick(groups))));
    SIBYL_TRY(run("SELECT name, price FROM demo.products WHERE category = 'lamps'"));
    if (++round_ % 20 != 0) return {};
    // Reads the badly modelled table in the only way that it allows.
    return run(fmt::format("SELECT at, value FROM demo.readings WHERE sensor = {} LIMIT 20 ALLOW FILTERING",
                           sensor(random_() % 4)));
  }

 private:
  base::Status run(const std::string& text) {
    SIBYL_TRY(session_.execute(text, {}));
    return {};
  }
  template <typename List>
  const char* pick(const List& list) {
    return list[random_() % list.size()];
  }
  static std::string sensor(uint32_t number) { return fmt::format("00000000-0000-4000-8000-{:012}", number); }
  // Returns the current hour in milliseconds, as an application computes it.
  static int64_t this_hour() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::floor<std::chrono::hours>(now))
        .count();
  }
  base::Status write_rating() {
    return run(
        fmt::format("INSERT INTO demo.movies (title, time, rating) VALUES ('{}', toTimestamp(now()), {})",
                    pick(titles), 1 + random_() % 10));
  }

  shell::Session& session_;
  std::mt19937 random_{1};
  uint64_t round_ = 0;
};

base::Result<std::unique_ptr<shell::Session>> connect(uint16_t port) {
  client::Options options;
  options.port = port;
  return shell::connect_session(options, "The demo's own server does not answer.");
}

base::Status fill(shell::Session& session) {
  for (const cql::ScriptPiece& piece : cql::split_script(definitions))
    if (piece.text.find_first_not_of(" \n;") != std::string::npos) SIBYL_TRY(session.execute(piece.text, {}));
  Statements statements(session);
  SIBYL_TRY(statements.write_users());
  for (int i = 0; i < first_readings; ++i) SIBYL_TRY(statements.write_readings());
  for (int i = 0; i < first_rounds; ++i) SIBYL_TRY(statements.run_round());
  return {};
}

}  // namespace

base::Result<std::shared_ptr<Load>> Load::start(uint16_t port) {
  SIBYL_ASSIGN(const std::unique_ptr<shell::Session> session, connect(port));
  SIBYL_TRY(fill(*session));
  const std::shared_ptr<Load> load(new Load(port));
  load->thread_ = std::thread([load = load.get()] { load->run(); });
  return load;
}

Load::~Load() {
  {
    const base::MutexLock lock(mutex_);
    is_stopping_ = true;
  }
  stopped_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool Load::wait() {
  const base::MutexLock lock(mutex_);
  const auto end = std::chrono::steady_clock::now() + round_pause;
  while (!is_stopping_ && stopped_.wait_until(mutex_, end)) continue;
  return !is_stopping_;
}

// A user may drop a table that the load uses. The load then continues with the statements on other tables.
void Load::run() {
  const auto session = connect(port_);
  if (!session) return;
  Statements statements(**session);
  while (wait())
    if (const base::Result<void> done = base::contain([&] { return statements.run_round(); }); !done)
      spdlog::debug("the demo's load: {}", done.error().text());
}

}  // namespace sibyl::cli::demo
