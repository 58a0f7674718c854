// The cost of a read excluding its store: the store here is a map.
#include <benchmark/benchmark.h>

#include <map>

#include "cql/parser.h"
#include "execute/read/select.h"
#include "execute/write/locks.h"
#include "execute/write/modify.h"
#include "plan/definitions/definitions.h"
#include "types/value.h"

namespace sibyl::execute {
namespace {

using Map = std::map<Bytes, Bytes, std::less<>>;

class MapIterator final : public storage::Iterator {
 public:
  MapIterator(const Map& map, BytesView begin, BytesView end)
      : first_(map.lower_bound(begin)), last_(map.lower_bound(end)), at_(last_), map_(map) {}
  bool valid() const override { return at_ != last_; }
  void seek(BytesView key) override { at_ = map_.lower_bound(key); }
  void seek_for_prev(BytesView) override { std::abort(); }
  void seek_to_first() override { at_ = first_; }
  void seek_to_last() override { std::abort(); }
  void next() override { ++at_; }
  void prev() override { --at_; }
  BytesView key() const override { return at_->first; }
  BytesView value() const override { return at_->second; }
  base::Status status() const override { return {}; }

 private:
  Map::const_iterator first_, last_, at_;
  const Map& map_;
};

class MapStore final : public storage::Store {
 public:
  void commit(storage::WriteSet writes, Done done) override {
    for (const auto& operation : writes.operations()) map_[operation.key] = operation.value;
    done({});
  }
  base::Result<bool> get(BytesView, Bytes&) const override { return false; }
  base::Status get_many(std::span<const Bytes> keys, std::span<std::optional<Bytes>> values) const override {
    for (size_t i = 0; i < keys.size(); ++i)
      if (const auto found = map_.find(keys[i]); found != map_.end()) values[i] = found->second;
    return {};
  }
  std::unique_ptr<storage::Iterator> iterate(BytesView begin, BytesView end) const override {
    return std::make_unique<MapIterator>(map_, begin, end);
  }
  std::shared_ptr<const storage::Snapshot> snapshot() const override { return nullptr; }
  base::Status flush() override { return {}; }
  base::Status compact(BytesView, BytesView) override { return {}; }
  void set_purge_policy(std::shared_ptr<const storage::PurgePolicy>) override {}
  uint64_t approximate_size(BytesView, BytesView) const override { return 0; }
  storage::StoreStatistics statistics() const override { return {}; }

 private:
  Map map_;
};

struct Bench {
  Bench() {
    define("CREATE KEYSPACE e WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    define("CREATE TABLE t (k text PRIMARY KEY, a text, b bigint, c text)");
    define("CREATE TABLE w (k int, c int, v double, PRIMARY KEY (k, c))");
    write(
        "INSERT INTO t (k, a, b, c) VALUES ('key-0000001', 'a value of forty bytes, more or less so', 5, "
        "'another')");
    for (int c = 0; c < 1000; ++c)
      write("INSERT INTO w (k, c, v) VALUES (1, " + std::to_string(c) + ", 1.5)");
  }
  void define(const std::string& text) {
    auto statement = cql::parse_statement(text);
    schema = plan::define(**statement, schema, {"e", 1})->schema;
  }
  void write(const std::string& text) {
    modify(*prepare(text), {}, environment, [](auto) {});
  }
  plan::PreparedPtr prepare(const std::string& text) {
    auto statement = cql::parse_statement(text);
    return *plan::prepare(std::shared_ptr<const cql::Statement>(std::move(*statement)), text, "e", schema);
  }
  void run(benchmark::State& state, const std::string& text, const std::vector<Bytes>& bound, size_t rows) {
    const plan::PreparedPtr prepared = prepare(text);
    std::vector<types::ValueView> values;
    for (const Bytes& value : bound) values.push_back(types::ValueView::of(value));
    Request request;
    request.values = values;
    request.page_size = 5000;
    for (auto unused : state) {
      auto result = select(*prepared, request, environment);
      if (!result || result->rows.count() != rows) std::abort();
    }
    state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(rows));
  }

  schema::SnapshotPtr schema = std::make_shared<schema::Snapshot>();
  MapStore store;
  base::SystemClock clock;
  TimestampSource timestamps{clock};
  PartitionLocks locks;
  Environment environment{store, store, clock, timestamps, locks};
};

void point_read(benchmark::State& state) {
  Bench().run(state, "SELECT * FROM t WHERE k = ?", {"key-0000001"}, 1);
}
BENCHMARK(point_read);

void point_read_clustered(benchmark::State& state) {
  Bench().run(state, "SELECT v FROM w WHERE k = ? AND c = ?",
              {types::encode_int32(1), types::encode_int32(500)}, 1);
}
BENCHMARK(point_read_clustered);

void slice_of_ten(benchmark::State& state) {
  Bench().run(state, "SELECT c, v FROM w WHERE k = ? AND c >= ? LIMIT 10",
              {types::encode_int32(1), types::encode_int32(500)}, 10);
}
BENCHMARK(slice_of_ten);

void partition_of_thousand(benchmark::State& state) {
  Bench().run(state, "SELECT c, v FROM w WHERE k = ?", {types::encode_int32(1)}, 1000);
}
BENCHMARK(partition_of_thousand);

void count_of_thousand(benchmark::State& state) {
  Bench().run(state, "SELECT count(*) FROM w", {}, 1);
}
BENCHMARK(count_of_thousand);

}  // namespace
}  // namespace sibyl::execute
