// Random data models with known truth: a table with declared distributions, the rows that these
// distributions produce, and what a brute-force execution of the queries finds in them. Independent of the
// arithmetic of the review.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace sibyl::advisor {

struct RandomColumn {
  enum class Kind { id, category, period, timestamp, timeuuid, snowflake, member, unique };
  std::string name;
  Kind kind = Kind::id;
  double distinct = 0;  // number of values of an id, a category or a member
  double zipf = 0;      // id
  double width = 0;     // period: seconds

  bool is_time() const {
    return kind == Kind::timestamp || kind == Kind::timeuuid || kind == Kind::snowflake;
  }
};

struct SimulatedQuery {
  enum class Kind { point, partition, newest, filter, scan, several };
  std::string name;
  Kind kind = Kind::point;
  size_t number = 0;  // newest: the LIMIT; several: the number of values of IN
};

struct RandomModel {
  uint64_t seed = 0;
  std::vector<RandomColumn> partition, clustering;
  bool descending = false;  // whether the last clustering column is descending
  double rows = 0, growth = 0, horizon = 0;
  bool declares_rows = true;
  std::optional<double> retention;
  std::optional<double> dominant;  // the share of rows of the first key, declared as `max`
  double kinds = 10;               // distinct values of the column that queries filter by
  double target_bytes = 0, target_rate = 0;
  size_t nodes = 3, replicas = 1;
  std::vector<SimulatedQuery> queries;

  bool has_period() const;
  std::string text() const;  // the workload file
};

inline constexpr double random_row_bytes = 10000;

// A row by column name. `serial` is unique.
struct RandomRow {
  std::map<std::string, int64_t> values;
  double at = 0;  // seconds; negative: before now
  int64_t serial = 0;
};

// The true numbers, taken from the simulated rows.
struct Truth {
  struct Sizes {
    double p50 = 0, p99 = 0, max = 0, mean = 0, partitions = 0;
  };
  struct Read {
    double partitions = 0, visited = 0, returned = 0;
    bool reversed = false;  // whether the read is against the stored order
  };
  std::vector<RandomRow> rows;  // rows that are stored at the horizon; every key once
  Sizes now, horizon;           // rows per partition
  double inserted = 0, lost = 0;
  double redrawn = 0;        // number of rows whose key was drawn again, because the first key existed
  double hottest_rate = 0;   // rows per second to the busiest partition
  double hottest_count = 0;  // the rows that this rate is computed from
  double largest_share = 0;  // share of the rows at the horizon
  double fullest_node = 1;   // bytes, relative to the mean
  std::map<std::string, Read> reads;
};

RandomModel random_model(uint64_t seed);
// Also sets target_bytes and target_rate clearly above or below the truth, so that about half of the models
// miss each target. REQUIRES: `model` is a result of random_model().
Truth simulate(RandomModel& model);

// Rows per partition if the rows are stored under another key. `value` computes the values of added columns.
std::map<std::vector<int64_t>, size_t> partitions_under(const std::vector<RandomRow>& rows,
                                                        const std::vector<std::string>& key);

}  // namespace sibyl::advisor
