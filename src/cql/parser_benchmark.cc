// The cost of parsing an unprepared statement.
#include <benchmark/benchmark.h>

#include "cql/parser.h"

namespace {

constexpr const char* statements[] = {
    "SELECT * FROM ks.t WHERE k = 1",
    "INSERT INTO ks.users (id, name, email, created) VALUES (123e4567-e89b-12d3-a456-426614174000, 'Ada', "
    "'ada@example.org', '2024-01-01') USING TTL 3600",
    "SELECT name, to_timestamp(id), m['x'] AS x, (a + b) * 2 FROM ks.t WHERE k = ? AND c IN (1, 2, 3) AND d "
    "> 5 ORDER BY "
    "c DESC LIMIT 100 ALLOW FILTERING",
    "CREATE TABLE ks.t (a int, b text STATIC, c frozen<list<text>>, d map<int, text>, PRIMARY KEY ((a), c)) "
    "WITH "
    "CLUSTERING ORDER BY (c DESC) AND gc_grace_seconds = 100 AND compaction = {'class': "
    "'LeveledCompactionStrategy'}",
};

void parse(benchmark::State& state) {
  const std::string_view text = statements[state.range(0)];
  for (auto _ : state) benchmark::DoNotOptimize(sibyl::cql::parse_statement(text));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}
BENCHMARK(parse)->DenseRange(0, std::size(statements) - 1);

void refuse(benchmark::State& state) {
  for (auto _ : state)
    benchmark::DoNotOptimize(sibyl::cql::parse_statement("SELECT * FORM ks.t WHERE k = 1"));
}
BENCHMARK(refuse);

}  // namespace
