// Measures the cost of paging states per page: sealing the next state, and opening the one in the request.
#include "engine/prepared/paging_states.h"

#include <benchmark/benchmark.h>

namespace sibyl::engine {
namespace {

constexpr const char* statement = "SELECT customer, day, number, total FROM shop.orders WHERE customer = ?";

void seal_state(benchmark::State& run) {
  const PagingStates states(*SealingKey::make_random());
  const auth::Login login{"webshop", 1};
  const base::Bytes state(40, 'k');
  for (auto _ : run) benchmark::DoNotOptimize(states.seal(statement, &login, state));
}
BENCHMARK(seal_state);

void open_state(benchmark::State& run) {
  const PagingStates states(*SealingKey::make_random());
  const auth::Login login{"webshop", 1};
  const base::Bytes sealed = *states.seal(statement, &login, base::Bytes(40, 'k'));
  for (auto _ : run) benchmark::DoNotOptimize(states.open(statement, &login, sealed));
}
BENCHMARK(open_state);

}  // namespace
}  // namespace sibyl::engine
