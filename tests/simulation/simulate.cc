// Runs many seeds of the simulated cluster: simulate [--seed FIRST] [--count N | --hours H] [--servers N]
//
// With --hours, seeds are run until this time has passed. Exits with 1 if a seed violates a check; it is printed, and the same
// seed repeats the run.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "cluster/simulation/world.h"

namespace {

using namespace sibyl::cluster::simulation;
using Clock = std::chrono::steady_clock;

struct Parameters {
  uint64_t first = 1, count = 1'000, servers = 5;
  double hours = 0;  // 0: `count` seeds

  // Returns false if the arguments are not understood.
  bool parse(int argc, char** argv);
};

bool Parameters::parse(int argc, char** argv) {
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) return false;
    const std::string name = argv[i];
    char* end = nullptr;
    if (name == "--hours") {
      hours = std::strtod(argv[i + 1], &end);
      if (hours <= 0) return false;
    } else {
      const uint64_t value = std::strtoull(argv[i + 1], &end, 10);
      if (name == "--seed")
        first = value;
      else if (name == "--count")
        count = value;
      else if (name == "--servers")
        servers = value;
      else
        return false;
    }
    if (end == argv[i + 1] || *end != '\0') return false;
  }
  return true;
}

struct Sum {
  Injected injected;
  uint64_t seeds = 0, violations = 0, answered = 0, owner_changes = 0;

  void add(uint64_t seed, const Report& report) {
    ++seeds;
    injected.add(report.injected);
    answered += report.answered;
    owner_changes += report.owner_changes;
    if (report.violation.empty()) return;
    ++violations;
    fmt::print("seed {}: {}\n", seed, report.violation);
  }
};

}  // namespace

int main(int argc, char** argv) {
  Parameters parameters;
  if (!parameters.parse(argc, argv)) {
    fmt::print(stderr, "usage: simulate [--seed FIRST] [--count N | --hours H] [--servers N]\n");
    return 2;
  }
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double, std::ratio<3600>>(parameters.hours));
  const auto has_more = [&](const Sum& sum) {
    return parameters.hours > 0 ? Clock::now() < end : sum.seeds < parameters.count;
  };
  Sum sum;
  while (has_more(sum)) {
    const uint64_t seed = parameters.first + sum.seeds;
    sum.add(seed, run({.seed = seed, .servers = parameters.servers}));
    if (sum.seeds % 1'000 == 0) fmt::print("{} seeds, {} violations\n", sum.seeds, sum.violations);
    std::fflush(stdout);
  }
  fmt::print(
      "{} seeds of {} servers from {} on: {} violations\n{} answered operations, {} changes of owners, {} "
      "operations "
      "on storage\nfaults:\n{}",
      sum.seeds, parameters.servers, parameters.first, sum.violations, sum.answered, sum.owner_changes,
      sum.injected.storage.operations, sum.injected.print());
  return sum.violations == 0 ? 0 : 1;
}
