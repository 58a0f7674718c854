// Measures the cost of statistics: the same statements with and without them, on a store in memory, where
// other costs are small. Also measures the parts.
#include <benchmark/benchmark.h>

#include "base/space_saving.h"
#include "cql/parser.h"
#include "cql/shape.h"
#include "engine/engine.h"
#include "types/value.h"

namespace sibyl::engine {
namespace {

class Prepared {
 public:
  Prepared(bool statistics, const char* text) {
    Options options;
    options.statistics = statistics;
    engine_ = std::move(*Engine::open(options));
    run("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    run("CREATE TABLE k.t (p int, c int, v text, PRIMARY KEY (p, c))");
    for (int i = 0; i < 1000; ++i)
      run("INSERT INTO k.t (p, c, v) VALUES (" + std::to_string(i) + ", 1, 'some text')");
    plan_ = engine_->planner().prepare(text, "k")->plan;
  }
  void run(const std::string& text) {
    engine_->executor().execute(*engine_->planner().plan_query(text, "k"), {}, [](auto) {});
  }
  void execute(int32_t key, size_t values) {
    const base::Bytes bytes = types::encode_int32(key), one = types::encode_int32(1);
    const types::ValueView all[] = {types::ValueView::of(bytes), types::ValueView::of(one),
                                    types::ValueView::of(bytes)};
    execute::Request request;
    request.values = {all, values};
    engine_->executor().execute(plan_, request, [](auto result) { benchmark::DoNotOptimize(result); });
  }

 private:
  std::unique_ptr<Engine> engine_;
  plan::PreparedPtr plan_;
};

// All keys are used equally often, which is the worst case for finding heavy hitters.
void read_row(benchmark::State& state) {
  Prepared prepared(state.range(0) != 0, "SELECT v FROM t WHERE p = ? AND c = ?");
  int32_t key = 0;
  for (auto _ : state) prepared.execute(key++ * 7 % 1000, 2);
}
BENCHMARK(read_row)->ArgName("statistics")->Arg(0)->Arg(1);

void write_row(benchmark::State& state) {
  Prepared prepared(state.range(0) != 0, "INSERT INTO t (p, c, v) VALUES (?, ?, ?)");
  int32_t key = 0;
  for (auto _ : state) prepared.execute(key++ * 7 % 1000, 3);
}
BENCHMARK(write_row)->ArgName("statistics")->Arg(0)->Arg(1);

// Texts that differ each time are parsed, planned and assigned a shape each time.
void plan_text(benchmark::State& state) {
  Prepared prepared(state.range(0) != 0, "SELECT v FROM t WHERE p = ? AND c = ?");
  int key = 0;
  for (auto _ : state) prepared.run("SELECT v FROM t WHERE p = " + std::to_string(key++) + " AND c = 1");
}
BENCHMARK(plan_text)->ArgName("statistics")->Arg(0)->Arg(1);

void count_partition(benchmark::State& state) {
  base::SpaceSaving counter;
  uint64_t key = 0;
  for (auto _ : state) counter.add(key++ % static_cast<uint64_t>(state.range(0)), "key");
}
BENCHMARK(count_partition)->ArgName("keys")->Arg(10)->Arg(1000);

void print_shape(benchmark::State& state) {
  const auto statement = cql::parse_statement("SELECT v FROM t WHERE p = 5 AND c = 1");
  for (auto _ : state) benchmark::DoNotOptimize(cql::print_shape(**statement, "k"));
}
BENCHMARK(print_shape);

}  // namespace
}  // namespace sibyl::engine
