// Compares reviews of random models with the truth that a simulation of their rows shows. The unit tests use
// a fixed part; SIBYL_ADVISOR_MODELS=2000 and SIBYL_ADVISOR_SEED=1 review others.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "advisor/review/random_model_test.h"
#include "advisor/review/test_review.h"
#include "cql/parser.h"

namespace sibyl::advisor {
namespace {

// Counts how often a kind of verdict was checked, and how often it was wrong.
struct Score {
  size_t good = 0, false_alarms = 0, faults = 0, missed = 0;
  std::vector<std::string> examples;
};

class Judge {
 public:
  explicit Judge(std::map<std::string, Score>& scores) : scores_(scores) {}

  void judge(uint64_t seed) {
    model_ = random_model(seed);
    truth_ = simulate(model_);
    text_ = model_.text();
    auto review = review_workloads({workload_of(text_)}, {});
    ASSERT_TRUE(review.has_value()) << text_ << review.error().message();
    review_ = std::move(*review);
    ASSERT_EQ(review_.tables.size(), 1u);
    growth();
    sizes();
    spread();
    load();
    cardinality();
    collisions();
    reads();
    fixes();
  }

 private:
  void note(const std::string& kind, const std::string& what) {
    std::vector<std::string>& examples = scores_[kind].examples;
    if (examples.size() < 6) examples.push_back(fmt::format("seed {}: {}\n{}", model_.seed, what, text_));
  }

  // `fault`: whether the simulation shows the fault; nullopt: the case is too close to call. `found`: whether
  // the review reports the fault.
  void verdict(const std::string& kind, std::optional<bool> fault, bool found, const std::string& what) {
    if (!fault) return;
    Score& score = scores_[kind];
    ++(*fault ? score.faults : score.good);
    if (*fault == found) return;
    ++(*fault ? score.missed : score.false_alarms);
    note(kind, (*fault ? "missed: " : "false alarm: ") + what);
  }

  // Compares a number with the simulation. It is scored like a model without faults.
  void figure(const std::string& kind, double estimated, double truth, double within, double rows) {
    verdict(kind, false, std::abs(estimated - truth) > std::max(rows, within * truth),
            fmt::format("estimated {:.4g}, simulated {:.4g}", estimated, truth));
  }

  bool has(Verdict verdict, Severity least, const std::string& query = "") const {
    return std::any_of(review_.findings.begin(), review_.findings.end(), [&](const Finding& finding) {
      return finding.verdict == verdict && finding.severity >= least && finding.query == query;
    });
  }

  // Rows that do not fit their keys make all other figures meaningless.
  bool fits() const {
    return truth_.lost <= 0.001 * truth_.inserted && truth_.redrawn <= 0.03 * truth_.inserted;
  }

  void growth() {
    // A few rows more or less are random variation.
    if (!fits() || model_.clustering.empty() || truth_.horizon.max < 10) return;
    const double largest = truth_.horizon.max * random_row_bytes;
    verdict("growth", largest > model_.target_bytes, has(Verdict::partition_growth, Severity::warning),
            fmt::format("largest {:.0f}, target {:.0f}", largest, model_.target_bytes));
  }

  void sizes() {
    if (!fits()) return;
    const TableReview& table = review_.tables[0];
    if (!table.horizon) return verdict("sizes", true, false, "sizes are unknown");
    const auto rows = [](double bytes) { return bytes / random_row_bytes; };
    const double noise = 3 + 3 * std::sqrt(truth_.horizon.mean);
    figure("sizes", rows(table.horizon->max), truth_.horizon.max, 0.35, noise + 2);
    // If there are more possible keys than rows, it is random which keys have rows. With few large keys,
    // their order is random.
    const bool uneven = model_.partition[0].zipf > 0 || model_.dominant;
    if (truth_.horizon.mean < 3 || (uneven && (truth_.horizon.partitions < 400 || keys() > model_.rows)))
      return;
    figure("sizes", rows(table.horizon->p50), truth_.horizon.p50, 0.4, noise);
    figure("sizes", rows(table.horizon->p99), truth_.horizon.p99, 0.4, noise);
  }

  void spread() {
    const TableReview& table = review_.tables[0];
    if (!fits() || !table.spread) return;
    // With few partitions per node, the result depends on the nodes of single partitions.
    if (truth_.horizon.partitions < 15.0 * static_cast<double>(model_.nodes)) return;
    // The simulation spreads the rows of today. It is random which node gets several of the largest
    // partitions.
    if (model_.has_period() && model_.rows > 0) return;
    const double chance = truth_.largest_share * static_cast<double>(model_.nodes);
    figure("spread", table.spread->bytes, truth_.fullest_node, 0.4, 0.3 + 0.6 * chance);
  }

  void load() {
    if (!fits() || model_.growth <= 0 || truth_.hottest_count < 50) return;
    verdict("load", truth_.hottest_rate > model_.target_rate,
            has(Verdict::hot_partition, Severity::warning) && rated(),
            fmt::format("hottest {:.3g}/s, target {:.3g}/s", truth_.hottest_rate, model_.target_rate));
    // whether there is a fault judging by shares alone, ignoring rates
    std::optional<bool> fault;
    if (truth_.largest_share > 0.6) fault = true;
    if (truth_.largest_share < 0.3) fault = false;
    if (truth_.horizon.partitions < 2 || model_.has_period()) fault = std::nullopt;
    if (!model_.clustering.empty() && truth_.hottest_rate <= model_.target_rate)
      verdict("skew", fault, has(Verdict::hot_partition, Severity::warning),
              fmt::format("{:.3g} of the rows in one partition", truth_.largest_share));
  }

  // True if a HOT_PARTITION finding is about a rate.
  bool rated() const {
    const Finding* finding = find(review_, Verdict::hot_partition);
    return finding->message.find("/s") != std::string::npos ||
           finding->message.find("/h") != std::string::npos ||
           finding->message.find("/d") != std::string::npos;
  }

  void cardinality() {
    if (!fits() || model_.clustering.empty() || model_.has_period()) return;
    const double partitions = truth_.horizon.partitions;
    const auto nodes = static_cast<double>(model_.nodes);
    std::optional<bool> fault;
    if (partitions < nodes && truth_.rows.size() > 150) fault = true;
    if (partitions > 12 * nodes) fault = false;
    verdict("cardinality", fault, has(Verdict::low_cardinality, Severity::warning),
            fmt::format("{} partitions, {} nodes", partitions, nodes));
  }

  void collisions() {
    std::optional<bool> fault;
    if (truth_.lost > 0.05 * truth_.inserted && truth_.inserted > 100) fault = true;
    const bool unique = std::any_of(model_.clustering.begin(), model_.clustering.end(), [](const auto& one) {
      return one.kind == RandomColumn::Kind::unique || one.kind == RandomColumn::Kind::timeuuid ||
             one.kind == RandomColumn::Kind::snowflake;
    });
    if (unique) fault = false;
    const bool timed = !model_.clustering.empty() && model_.clustering.back().is_time();
    if (!timed && truth_.lost == 0 && truth_.redrawn <= 0.1 * truth_.inserted)
      fault = has_room() ? std::optional(false) : std::nullopt;
    verdict("collisions", fault, has(Verdict::key_collision, Severity::warning),
            fmt::format("{} of {} rows lost", truth_.lost, truth_.inserted));
  }

  double keys() const {
    double keys = 1;
    for (const RandomColumn& column : model_.partition) keys *= std::max(1.0, column.distinct);
    return keys;
  }

  // Returns true if the key has clearly more possible values than there are rows.
  bool has_room() const {
    double keys = 1;
    for (const auto* part : {&model_.partition, &model_.clustering})
      for (const RandomColumn& column : *part) keys *= std::max(1.0, column.distinct);
    return keys > 1.2 * (model_.rows + model_.growth * model_.horizon);
  }

  void reads() {
    if (!fits() || model_.rows <= 0 || !model_.declares_rows || model_.has_period()) return;
    for (const SimulatedQuery& query : model_.queries) {
      const auto truth = truth_.reads.find(query.name);
      const QueryReview* estimate = review_.find_query(query.name);
      if (truth == truth_.reads.end() || estimate == nullptr) continue;
      partitions_read(query, truth->second, *estimate);
      if (query.kind == SimulatedQuery::Kind::newest)
        verdict("order", truth->second.reversed, has(Verdict::order_mismatch, Severity::note, query.name),
                query.name);
      waste(query, truth->second);
    }
  }

  void partitions_read(const SimulatedQuery& query, const Truth::Read& truth, const QueryReview& estimate) {
    if (!estimate.partitions) {
      if (query.kind != SimulatedQuery::Kind::scan)
        verdict("partitions read", true, false, query.name + " is unknown");
      return;
    }
    const bool scan = query.kind == SimulatedQuery::Kind::scan;
    // Declared keys may have no rows yet.
    if (!scan || truth_.now.mean > 5)
      figure("partitions read", *estimate.partitions, truth.partitions, scan ? 0.3 : 0, 0.01);
    const bool uneven = model_.dominant || model_.partition[0].zipf > 0;
    if (!estimate.rows_read || uneven || query.kind == SimulatedQuery::Kind::several || truth_.now.mean < 5)
      return;
    figure("rows read", *estimate.rows_read, truth.visited, 0.35, 2 + 2 * std::sqrt(truth.visited));
  }

  void waste(const SimulatedQuery& query, const Truth::Read& truth) {
    if (query.kind != SimulatedQuery::Kind::filter && query.kind != SimulatedQuery::Kind::scan) return;
    const Verdict wanted =
        query.kind == SimulatedQuery::Kind::filter ? Verdict::allow_filtering : Verdict::full_scan;
    const double waste = truth.visited / std::max(0.5, truth.returned);
    std::optional<bool> fault;
    if (truth.visited > 1500 && waste > 40) fault = true;
    if (waste < 3 && query.kind == SimulatedQuery::Kind::filter) fault = false;
    verdict("filtering", fault, has(wanted, Severity::warning, query.name),
            fmt::format("{}: {} rows visited for {}", query.name, truth.visited, truth.returned));
    std::optional<bool> error;
    if (waste < 3) error = false;
    verdict("filtering", error, has(wanted, Severity::error, query.name),
            fmt::format("{} is an error: {} visited for {}", query.name, truth.visited, truth.returned));
  }

  // --- Fixes

  void fixes() {
    for (const Finding& finding : review_.findings) {
      if (finding.cql.find("CREATE TABLE") == std::string::npos) continue;
      const Workload workload = workload_of(finding.cql);
      for (const CqlStatement& statement : workload.cql) {
        const auto tree = cql::parse_statement(statement.text);
        ASSERT_TRUE(tree.has_value()) << statement.text;
        if (const auto* create = std::get_if<cql::CreateTable>(&(*tree)->node)) check(finding, *create);
      }
    }
  }

  static std::vector<std::string> partition_of(const cql::CreateTable& create) {
    return create.partition_keys.empty() ? std::vector<std::string>() : create.partition_keys[0];
  }

  // The values that the row has in the suggested table. Added columns only divide partitions.
  RandomRow placed(const RandomRow& row, const Choice* choice) const {
    RandomRow out = row;
    const double width = choice != nullptr ? choice->width : 0;
    out.values["hash_prefix"] = row.serial * 7919 % 104'729 % modulo_;
    if (width > 0) out.values["bucket"] = static_cast<int64_t>(std::floor(row.at / width));
    out.values.try_emplace("bucket", 0);
    for (const char* name : {"copy", "shard"}) out.values[name] = 0;
    for (const RandomColumn& column : model_.clustering)
      if (column.kind == RandomColumn::Kind::timestamp) timestamps_to_serial(column.name, out);
    return out;
  }

  // A fix may replace a timestamp by a timeuuid.
  void timestamps_to_serial(const std::string& name, RandomRow& row) const {
    if (changed_.contains(name)) row.values[name] = row.serial;
  }

  void check(const Finding& finding, const cql::CreateTable& create) {
    const Choice* chosen = nullptr;
    for (const Finding& other : review_.findings)
      for (const Choice& choice : other.choices)
        if (choice.chosen &&
            (other.id() == finding.id() || (!finding.replaces.empty() && other.replaces == finding.replaces)))
          chosen = &choice;
    changed_.clear();
    const size_t modulo = finding.cql.find(" modulo ");
    modulo_ = modulo == std::string::npos ? 1 : std::max(1, std::atoi(finding.cql.c_str() + modulo + 8));
    for (const cql::ColumnDefinition& column : create.columns)
      if (column.name == "at" && column.type.name == "timeuuid") changed_.insert("at");
    std::vector<RandomRow> rows;
    for (const RandomRow& row : truth_.rows) rows.push_back(placed(row, chosen));
    std::vector<std::string> key = partition_of(create);
    for (const cql::ColumnDefinition& column : create.columns)
      if (column.is_primary_key) key.push_back(column.name);
    std::vector<std::string> whole = key;
    whole.insert(whole.end(), create.clustering_columns.begin(), create.clustering_columns.end());
    const size_t held = partitions_under(rows, whole).size();
    verdict("rows kept", false, held < truth_.rows.size(),
            fmt::format("{} keeps {} of {} rows\n{}", finding.id(), held, truth_.rows.size(), finding.cql));
    size_t largest = 0;
    for (const auto& [partition, count] : partitions_under(rows, key)) largest = std::max(largest, count);
    const double bytes = static_cast<double>(largest) * random_row_bytes;
    const bool told = finding.fix.find("would itself") != std::string::npos ||
                      finding.fix.find("not declared") != std::string::npos;
    if (create.table.name.ends_with("_to_read") || !fits() || largest < 20) return;
    verdict("fixes fit", false, bytes > 1.4 * model_.target_bytes && !told,
            fmt::format("{}: {} has a partition of {:.0f}, target {:.0f}\n{}\n{}", finding.id(),
                        create.table.name, bytes, model_.target_bytes, finding.fix, finding.cql));
  }

  std::map<std::string, Score>& scores_;
  RandomModel model_;
  Truth truth_;
  std::string text_;
  Review review_;
  std::set<std::string> changed_;
  int64_t modulo_ = 1;  // modulo of the suggested hash prefix
};

uint64_t number_of(const char* variable, uint64_t otherwise) {
  const char* value = std::getenv(variable);
  return value != nullptr ? std::strtoull(value, nullptr, 10) : otherwise;
}

TEST(Truth, RandomModels) {
  const uint64_t models = number_of("SIBYL_ADVISOR_MODELS", 150), first = number_of("SIBYL_ADVISOR_SEED", 1);
  std::map<std::string, Score> scores;
  for (uint64_t seed = first; seed < first + models && !HasFatalFailure(); ++seed) Judge(scores).judge(seed);
  Score all;
  for (const auto& [kind, score] : scores) {
    std::string text = fmt::format("{}: {} good, {} false alarms, {} faults, {} missed\n", kind, score.good,
                                   score.false_alarms, score.faults, score.missed);
    if (std::getenv("SIBYL_ADVISOR_MODELS") != nullptr) fmt::print("{}", text);
    for (const std::string& example : score.examples) text += example + "\n";
    EXPECT_LE(static_cast<double>(score.false_alarms), 0.01 * static_cast<double>(score.good)) << text;
    EXPECT_LE(static_cast<double>(score.missed), 0.02 * static_cast<double>(score.faults)) << text;
    if (kind == "rows kept") {
      EXPECT_EQ(score.false_alarms, 0u) << text;
    }
    EXPECT_GT(score.good + score.faults, models / 25) << text << "too few models check this";
  }
  EXPECT_EQ(scores.size(), 13u);
}

}  // namespace
}  // namespace sibyl::advisor
