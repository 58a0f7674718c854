// Movie ratings in an embedded database. Run it as `embedded [DIRECTORY]`; without a directory it works in
// memory.
//
// There is one partition per movie, with the newest rating first: the table is designed for the question
// "what are the latest ratings?".
#include <sibyl/sibyl.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

// Errors are returned as values. This program prints the error and exits.
template <typename T>
T check(sibyl::Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "error: %s\n", result.error().text().c_str());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

void create_schema(sibyl::Session& session) {
  check(session.execute_script(R"cql(
    CREATE KEYSPACE IF NOT EXISTS films
      WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
    USE films;
    CREATE TABLE IF NOT EXISTS ratings (
      title text, rated_at timestamp, stars int, tags set<text>,
      PRIMARY KEY (title, rated_at)
    ) WITH CLUSTERING ORDER BY (rated_at DESC);
    CREATE TABLE IF NOT EXISTS rating_counts (title text PRIMARY KEY, ratings counter);
  )cql"));
}

void rate(sibyl::Session& session) {
  sibyl::Statement insert =
      check(session.prepare("INSERT INTO ratings (title, rated_at, stars, tags) VALUES (?, ?, ?, ?)"));
  sibyl::Statement count =
      check(session.prepare("UPDATE rating_counts SET ratings = ratings + 1 WHERE title = :title"));

  const int64_t first = 1368284297711;
  for (int i = 0; i < 250; ++i) {
    std::set<std::string> tags = {"film"};
    if (i % 2 == 0) tags.insert("seen twice");
    check(session.execute(insert.bind("Pulp Fiction", sibyl::Timestamp{first + i * 1000}, 1 + i % 10, tags)));
    check(session.execute(count.bind().set("title", "Pulp Fiction")));
  }

  // Both rows are written atomically: no reader sees one without the other.
  sibyl::Batch batch;
  batch.add(insert.bind("Futurama", sibyl::Timestamp{first}, 10, sibyl::Null{}));
  batch.add("INSERT INTO ratings (title, rated_at, stars) VALUES ('Futurama', ?, ?)",
            {sibyl::Timestamp{first + 1000}, 9});
  check(session.execute(batch));
}

void show_latest(sibyl::Session& session, const std::string& title) {
  sibyl::Rows rows =
      check(session.execute("SELECT rated_at, stars, tags FROM ratings WHERE title = ? LIMIT 3", {title}));
  std::printf("%s, newest first:\n", title.c_str());
  for (const sibyl::Row& row : rows) {
    auto at = check(row.get<sibyl::Timestamp>("rated_at"));
    auto stars = check(row.get<int>("stars"));
    auto tags = check(row.get<std::set<std::string>>("tags"));
    std::printf("  %lld  %2d stars, %zu tags\n", static_cast<long long>(at.milliseconds), stars, tags.size());
  }
  check(rows.status());
}

void show_average(sibyl::Session& session) {
  // Pages of 100 rows are fetched while the loop runs.
  sibyl::Rows rows = check(session.execute("SELECT stars FROM ratings WHERE title = 'Pulp Fiction'", {},
                                           sibyl::Request{.page_size = 100, .timestamp_micros = {}}));
  int64_t sum = 0, count = 0;
  for (const sibyl::Row& row : rows) {
    sum += check(row.get<int>(0));
    ++count;
  }
  check(rows.status());
  std::printf("%lld ratings, %.2f stars on average\n", static_cast<long long>(count),
              static_cast<double>(sum) / static_cast<double>(count));
}

}  // namespace

int main(int argument_count, char** arguments) {
  sibyl::Database database = check(sibyl::Database::open(argument_count > 1 ? arguments[1] : ":memory:"));
  sibyl::Session session = database.session();
  create_schema(session);
  rate(session);
  show_latest(session, "Pulp Fiction");
  show_latest(session, "Futurama");
  show_average(session);

  // Errors have Cassandra's texts and often a hint.
  auto wrong = session.execute("SELECT * FROM ratings WHERE stars = 10");
  std::printf("without an index: %s\n", wrong ? "?" : wrong.error().message.c_str());
}
