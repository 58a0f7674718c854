// Measures the cost of building a write, without the store.
#include <benchmark/benchmark.h>

#include "cql/parser.h"
#include "execute/write/locks.h"
#include "execute/write/modify.h"
#include "plan/definitions/definitions.h"
#include "types/uuid.h"
#include "types/value.h"

namespace sibyl::execute {
namespace {

class NoStore final : public storage::Store {
 public:
  void commit(storage::WriteSet writes, Done done) override {
    benchmark::DoNotOptimize(writes.byte_size());
    done({});
  }
  base::Result<bool> get(BytesView, Bytes&) const override { return false; }
  base::Status get_many(std::span<const Bytes>, std::span<std::optional<Bytes>>) const override { return {}; }
  std::unique_ptr<storage::Iterator> iterate(BytesView, BytesView) const override { return nullptr; }
  std::shared_ptr<const storage::Snapshot> snapshot() const override { return nullptr; }
  base::Status flush() override { return {}; }
  base::Status compact(BytesView, BytesView) override { return {}; }
  void set_purge_policy(std::shared_ptr<const storage::PurgePolicy>) override {}
  uint64_t approximate_size(BytesView, BytesView) const override { return 0; }
  storage::StoreStatistics statistics() const override { return {}; }
};

struct Bench {
  Bench() {
    define("CREATE KEYSPACE e WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    define("CREATE TABLE t (k text PRIMARY KEY, a text, b bigint, c text)");
    define("CREATE TABLE viewed (k text PRIMARY KEY, a text, b bigint, c text)");
    define(
        "CREATE MATERIALIZED VIEW by_b AS SELECT * FROM viewed WHERE b IS NOT NULL AND k IS NOT NULL "
        "PRIMARY KEY (b, k)");
    define("CREATE TABLE w (k uuid, c timestamp, v double, PRIMARY KEY (k, c))");
  }
  void define(const std::string& text) {
    auto statement = cql::parse_statement(text);
    schema = plan::define(**statement, schema, {"e", 1})->schema;
  }
  plan::PreparedPtr prepare(const std::string& text) {
    auto statement = cql::parse_statement(text);
    return *plan::prepare(std::shared_ptr<const cql::Statement>(std::move(*statement)), text, "e", schema);
  }
  void run(benchmark::State& state, const std::string& text, const std::vector<Bytes>& bound) {
    const plan::PreparedPtr prepared = prepare(text);
    std::vector<types::ValueView> values;
    for (const Bytes& value : bound) values.push_back(types::ValueView::of(value));
    Request request;
    request.values = values;
    for (auto unused : state) {
      modify(*prepared, request, environment, [](base::Result<ResultSet> result) {
        if (!result) std::abort();
      });
    }
  }

  schema::SnapshotPtr schema = std::make_shared<schema::Snapshot>();
  NoStore store;
  base::SystemClock clock;
  TimestampSource timestamps{clock};
  PartitionLocks locks;
  Environment environment{store, store, clock, timestamps, locks};
};

void insert_plain(benchmark::State& state) {
  Bench().run(state, "INSERT INTO t (k, a, b, c) VALUES (?, ?, ?, ?)",
              {"key-0000001", Bytes(40, 'x'), types::encode_int64(5), Bytes(40, 'y')});
}
BENCHMARK(insert_plain);

void insert_with_view(benchmark::State& state) {
  Bench().run(state, "INSERT INTO viewed (k, a, b, c) VALUES (?, ?, ?, ?)",
              {"key-0000001", Bytes(40, 'x'), types::encode_int64(5), Bytes(40, 'y')});
}
BENCHMARK(insert_with_view);

void update_clustered(benchmark::State& state) {
  Bench().run(state, "UPDATE w SET v = ? WHERE k = ? AND c = ?",
              {types::encode_double(1.5), types::random_uuid(), types::encode_int64(1'700'000'000'000)});
}
BENCHMARK(update_clustered);

}  // namespace
}  // namespace sibyl::execute
