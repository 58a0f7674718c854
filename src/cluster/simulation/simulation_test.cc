#include <gtest/gtest.h>

#include <string>

#include "cluster/simulation/world.h"

namespace sibyl::cluster::simulation {
namespace {

TEST(Simulation, NoSeedViolatesAnything) {
  Injected injected;
  uint64_t answered = 0, owner_changes = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const Report report = run({.seed = seed});
    ASSERT_EQ(report.violation, "") << "seed " << seed;
    injected.add(report.injected);
    answered += report.answered;
    owner_changes += report.owner_changes;
  }
  // Enough requests were answered for the checks to mean something.
  EXPECT_GT(answered, 300u * 100);
  EXPECT_GT(owner_changes, 300u * 10);
  for (const Injected::Kind& kind : injected.kinds()) EXPECT_GT(kind.count, 100u) << kind.name;
}

TEST(Simulation, ASeedGivesTheSameRunAgain) {
  const Report one = run({.seed = 7}), other = run({.seed = 7});
  EXPECT_EQ(one.injected.print(), other.injected.print());
  EXPECT_EQ(one.answered, other.answered);
  EXPECT_NE(one.injected.print(), run({.seed = 8}).injected.print());
}

class PlantedFault : public testing::TestWithParam<std::pair<const char*, Weakness>> {};

TEST_P(PlantedFault, IsFound) {
  for (uint64_t seed = 1; seed <= 300; ++seed)
    if (!run({.seed = seed, .weakness = GetParam().second}).violation.empty()) return;
  FAIL() << "300 seeds did not find it";
}

// The other checks do not read views.
TEST(Simulation, FaultsOfViewsAreFoundInViews) {
  for (const Weakness weakness : {Weakness::lose_intents, Weakness::put_late}) {
    std::string violation;
    for (uint64_t seed = 1; seed <= 300 && violation.empty(); ++seed)
      violation = run({.seed = seed, .weakness = weakness}).violation;
    EXPECT_NE(violation.find("a view row"), std::string::npos) << violation;
  }
}

INSTANTIATE_TEST_SUITE_P(Simulation, PlantedFault,
                         testing::Values(std::pair("no_fencing", Weakness::no_fencing),
                                         std::pair("seal_existing_only", Weakness::seal_existing_only),
                                         std::pair("remove_ends", Weakness::remove_ends),
                                         std::pair("trust_clock", Weakness::trust_clock),
                                         std::pair("acknowledge_early", Weakness::acknowledge_early),
                                         std::pair("answer_without_lease", Weakness::answer_without_lease),
                                         std::pair("remove_early", Weakness::remove_early),
                                         std::pair("no_replay", Weakness::no_replay),
                                         std::pair("hand_over_unflushed", Weakness::hand_over_unflushed),
                                         std::pair("lose_intents", Weakness::lose_intents),
                                         std::pair("put_late", Weakness::put_late)),
                         [](const auto& info) { return info.param.first; });

}  // namespace
}  // namespace sibyl::cluster::simulation
