#include "advisor/workload/cost.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "advisor/review/test_review.h"

namespace sibyl::advisor {
namespace {

class RubisTest : public testing::Test {
 protected:
  void SetUp() override { workload_ = read_example("rubis.cql"); }
  // The published figures count ten values of `dummy` instead of one.
  void count_as_published() {
    for (Entity& entity : workload_.model.entities) {
      if (const auto dummy = entity.find_field("dummy")) entity.fields[*dummy].distinct = 10;
    }
  }
  double cost_of(const std::string& schema, const std::string& name) const {
    double cost = 0;
    for (const StatedPlan& plan : workload_.plans) {
      if (plan.schema == schema && plan.name == name) cost += evaluate_plan({}, workload_, plan);
    }
    return cost;
  }
  double total(const std::string& schema) const {
    return evaluate_stated({}, workload_, schema, "bidding").total();
  }

  Workload workload_;
};

// Every statement's cost as published, to the last digit that was published.
TEST_F(RubisTest, CostsOfThePublishedAnswer) {
  count_as_published();
  const std::map<int, double> published = {
      {1, 0.009220552463838648},  {2, 0.009267389919193247},  {3, 0.009220552463838648},
      {4, 0.009325936738386496},  {5, 0.009220552463838648},  {6, 0.009325936738386496},
      {7, 0.009501577195966239},  {8, 0.009220552463838648},  {9, 0.00979431129193248},
      {10, 0.1117448609276773},   {11, 0.026658216},          {12, 0.009220552463838648},
      {13, 0.009220552463838648}, {14, 0.009220552463838648}, {15, 0.29254338218525705},
      {16, 0.035878768463838646}, {17, 0.009220552463838648}, {18, 0.009220552463838648},
      {19, 0.009232261827677299}, {20, 0.058428428927677294}, {21, 0.009220552463838648},
      {22, 0.13530967214687054},  {23, 0.009220552463838648}, {24, 0.009220552463838648},
      {25, 0.009220552463838648}, {26, 0.009220552463838648}, {27, 0.013329108},
      {28, 0.035878768463838646}, {29, 0.009220552463838648}, {30, 0.00979431129193248},
      {31, 0.009220552463838648}, {32, 0.009232261827677299}, {33, 0.009325936738386496},
      {34, 0.03097538087677299},  {35, 0.010145592207091967}, {36, 0.009214697781919324}};
  for (const auto& [number, cost] : published)
    EXPECT_NEAR(cost_of("nose", "s" + std::to_string(number)), cost, 1e-15) << "s" << number;
}

TEST_F(RubisTest, TotalsOfThePublishedAnswer) {
  count_as_published();
  const StatedTotal total = evaluate_stated({}, workload_, "nose", "bidding");
  EXPECT_NEAR(total.queries, 1.1107143125642815, 1e-14);
  EXPECT_NEAR(total.updates, 1.1957, 0.5e-4);
  EXPECT_NEAR(total.total(), 2.3065, 0.5e-4);
}

TEST_F(RubisTest, SizesOfThePublishedAnswer) {
  const std::map<std::string, double> published = {
      {"T1", 64000},     {"T2", 640000},    {"T3", 5920000},  {"T4", 2240000},   {"T5", 640000},
      {"T6", 11200000},  {"T7", 16800000},  {"T8", 960000},   {"T9", 206000},    {"T10", 2200},
      {"T11", 1660000},  {"T12", 17800000}, {"T13", 4400000}, {"T14", 13760000}, {"T15", 6240000},
      {"T16", 11200000}, {"T17", 2300000},  {"T18", 245}};
  double all = 0;
  for (const Layout& layout : workload_.layouts) {
    if (layout.schema != "nose") continue;
    EXPECT_EQ(layout_bytes(workload_.model, layout), published.at(layout.name)) << layout.name;
    all += layout_bytes(workload_.model, layout);
  }
  EXPECT_EQ(all, 96032445);
}

TEST_F(RubisTest, HandMadeSchemas) {
  EXPECT_NEAR(total("normalised"), 3.849, 0.0005);
  EXPECT_NEAR(total("expert"), 2.997, 0.0005);
  EXPECT_NEAR(cost_of("normalised", "BrowseCategories"), 0.0959, 0.00005);
  EXPECT_NEAR(cost_of("normalised", "AboutMe"), 0.1974, 0.00005);
  EXPECT_NEAR(cost_of("normalised", "SearchItemsByRegion"), 0.0282, 0.00005);
  EXPECT_NEAR(cost_of("normalised", "StoreBid"), 0.0718, 0.00005);
  EXPECT_NEAR(cost_of("expert", "SearchItemsByRegion"), 0.0866, 0.00005);
  EXPECT_NEAR(cost_of("expert", "StoreBuyNow"), 0.0505, 0.00005);
  EXPECT_NEAR(cost_of("expert", "AboutMe"), 0.1652, 0.00005);
}

TEST(SkewTest, ShareOfTheMostFrequentValue) {
  EXPECT_DOUBLE_EQ(zipf_top_share(50, 0), 1.0 / 50);
  EXPECT_NEAR(zipf_top_share(3, 1), 1 / (1 + 0.5 + 1.0 / 3), 1e-12);
  // Check the integral of the tail against the exact sum.
  double sum = 0;
  for (int rank = 1; rank <= 20000; ++rank) sum += std::pow(rank, -0.9);
  EXPECT_NEAR(zipf_top_share(20000, 0.9), 1 / sum, 1e-6);
}

}  // namespace
}  // namespace sibyl::advisor
