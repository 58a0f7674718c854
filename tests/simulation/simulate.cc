// Runs many seeds of the simulated cluster: simulate [--seed FIRST] [--count N] [--servers N]
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "cluster/simulation/world.h"

int main(int argc, char** argv) {
  using namespace sibyl::cluster::simulation;
  uint64_t first = 1, count = 1'000, servers = 5;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const uint64_t value = std::strtoull(argv[i + 1], nullptr, 10);
    (name == "--seed" ? first : name == "--servers" ? servers : count) = value;
  }
  Injected injected;
  uint64_t answered = 0, owner_changes = 0, violations = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Report report = run({.seed = seed, .servers = servers});
    injected.add(report.injected);
    answered += report.answered;
    owner_changes += report.owner_changes;
    if (!report.violation.empty()) {
      ++violations;
      fmt::print("seed {}: {}\n", seed, report.violation);
    }
    if ((seed - first + 1) % 1'000 == 0)
      fmt::print("{} seeds, {} violations\n", seed - first + 1, violations);
    std::fflush(stdout);
  }
  fmt::print(
      "{} seeds of {} servers: {} violations\n{} answered operations, {} changes of owners, {} operations on "
      "storage\nfaults:\n{}",
      count, servers, violations, answered, owner_changes, injected.storage.operations, injected.print());
  return violations == 0 ? 0 : 1;
}
