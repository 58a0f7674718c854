#include "advisor/review/random_workload_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>

namespace sibyl::advisor {
namespace {

using Of = ExpectedFigure::Of;
using Counts = std::vector<double>;

// The targets are clearly above or clearly below the true numbers.
constexpr std::array target_factors = {0.3, 0.5, 2.0, 4.0};

class WorkloadMaker {
 public:
  explicit WorkloadMaker(uint64_t seed) : random_(seed * 2654435761U + 17) { out_.seed = seed; }

  RandomWorkload make() {
    using Shape = void (WorkloadMaker::*)();
    constexpr std::array<Shape, workload_shapes> shapes = {
        &WorkloadMaker::uneven_columns, &WorkloadMaker::static_columns, &WorkloadMaker::collections,
        &WorkloadMaker::views,          &WorkloadMaker::two_steps,      &WorkloadMaker::spans,
        &WorkloadMaker::counters,       &WorkloadMaker::expiring,       &WorkloadMaker::deletes,
        &WorkloadMaker::coarse_times,   &WorkloadMaker::filters,        &WorkloadMaker::given_columns};
    (this->*shapes[out_.seed % workload_shapes])();
    return std::move(out_);
  }

 private:
  // --- Chance

  double uniform() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  bool chance(double share) { return uniform() < share; }
  // Draws a whole number, uniformly on a logarithmic scale.
  double between(double least, double most) {
    return std::round(std::exp(std::log(least) + uniform() * (std::log(most) - std::log(least))));
  }
  template <typename List>
  auto one_of(const List& list) {
    return list[static_cast<size_t>(uniform() * static_cast<double>(list.size()))];
  }
  double skew() { return chance(0.5) ? 0 : 0.3 + 0.9 * uniform(); }

  // Running sums of 1/rank^exponent, from which draw() picks a rank.
  static Counts sums(double values, double exponent) {
    Counts out;
    for (double rank = 1, sum = 0; rank <= values; ++rank) out.push_back(sum += std::pow(rank, -exponent));
    return out;
  }
  size_t draw(const Counts& sums) {
    const double at = uniform() * sums.back();
    return static_cast<size_t>(std::lower_bound(sums.begin(), sums.end(), at) - sums.begin());
  }

  static double quantile(Counts counts, double share) {
    std::sort(counts.begin(), counts.end());
    const auto at = static_cast<size_t>(share * static_cast<double>(counts.size()));
    return counts[std::min(counts.size() - 1, at)];
  }
  static double largest(const Counts& counts) { return *std::max_element(counts.begin(), counts.end()); }

  // The number of rows of each key, if `rows` rows fall at random on `keys` keys.
  Counts fill(double rows, double keys, double exponent) {
    const Counts weights = sums(keys, exponent);
    Counts out(static_cast<size_t>(keys), 0);
    for (double i = 0; i < rows; ++i) ++out[draw(weights)];
    return out;
  }

  // --- The workload and what must be found

  template <typename... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    out_.text += fmt::format(format, std::forward<Values>(values)...);
  }
  static std::string skew_text(double exponent) {
    return exponent > 0 ? fmt::format(" skew=zipf({:.4f})", exponent) : "";
  }
  void expect(const std::string& kind, Verdict verdict, const std::string& table, const std::string& query,
              std::optional<bool> fault, const std::string& what) {
    out_.expectations.push_back({kind, verdict, table, query, fault, what});
  }
  void figure(const std::string& kind, Of of, const std::string& name, double truth, double within,
              double slack) {
    out_.figures.push_back({kind, of, name, truth, within, slack});
  }
  static std::optional<bool> beyond(double value, double good, double bad) {
    if (value >= bad) return true;
    if (value <= good) return false;
    return std::nullopt;
  }

  // Sets the target of partitions to a multiple of the largest one.
  void size_target(const std::string& kind, const std::string& table, double bytes, const std::string& more) {
    const double target = std::ceil(bytes * one_of(target_factors));
    add("-- @target partition={:.0f}B {}\n", target, more);
    expect(kind, Verdict::partition_growth, table, "", bytes > target,
           fmt::format("largest {:.0f} B, target {:.0f} B", bytes, target));
  }

  // --- Shapes

  // Makes a model with two key columns: each is evenly or unevenly distributed, or one of them is a period.
  void uneven_columns() {
    const double first = between(5, 200), second = between(2, 30), row = 10000, nodes = 3;
    const double first_skew = skew(), second_skew = skew(), rows = between(4000, 20'000);
    const bool period = chance(0.4);
    const Counts a = sums(first, first_skew), b = sums(second, second_skew);
    std::map<std::array<size_t, 3>, double> counts;
    constexpr double periods = 10;
    for (double i = 0; i < rows; ++i)
      ++counts[{draw(a), draw(b), period ? static_cast<size_t>(uniform() * periods) : 0}];
    Counts sizes;
    for (const auto& [key, count] : counts) sizes.push_back(count);
    add("CREATE TABLE t (a int, b int, {}id uuid, note text, PRIMARY KEY ((a, b{}), id));\n",
        period ? "slot timestamp, " : "", period ? ", slot" : "");
    const double horizon = 10 * 86'400.0, growth = rows / horizon;
    if (period)
      add("-- @table t row={} growth={:.8f}/s\n-- @column t.slot growth=1/d\n", row, growth);
    else
      add("-- @table t row={} rows={}\n", row, rows);
    add("-- @column t.a distinct={}{}\n-- @column t.b distinct={}{}\n", first, skew_text(first_skew), second,
        skew_text(second_skew));
    const double most = largest(sizes), share = most / rows;
    size_target("uneven columns", "t", most * row,
                fmt::format("horizon={:.0f}s nodes={} rf=1", horizon, nodes));
    figure("uneven columns", Of::largest, "t", most * row, 0.35, row * (3 + 4 * std::sqrt(most)));
    if (!period)
      expect("uneven columns", Verdict::hot_partition, "t", "", beyond(share, 0.35, 0.65),
             fmt::format("{:.0f}% of the rows in one partition", 100 * share));
    if (first * second < 10 * nodes) low_cardinality_is_open("t");
    if (period) hot_is_open("t");
  }

  void low_cardinality_is_open(const std::string& table) {
    expect("open", Verdict::low_cardinality, table, "", std::nullopt, "few partitions");
  }
  void hot_is_open(const std::string& table) {
    expect("open", Verdict::hot_partition, table, "", std::nullopt, "a partition with most of the rows");
  }

  // Each partition has a static value, which may be larger than its rows.
  void static_columns() {
    const double keys = between(100, 3000), exponent = skew(), rows = keys * between(1, 12);
    const double shared = between(1000, 200'000), each = between(2000, 8000);
    const Counts counts = fill(rows, keys, exponent);
    add("CREATE TABLE t (owner int, id uuid, profile text static, note text, PRIMARY KEY (owner, id));\n");
    add("-- @table t rows={}\n-- @column t.owner distinct={}{}\n", rows, keys, skew_text(exponent));
    add("-- @column t.profile size={}\n-- @column t.note size={}\n", shared, each);
    const double most = shared + largest(counts) * each;
    size_target("static columns", "t", most, "");
    figure("static columns", Of::largest, "t", most, 0.35, each * 4);
    hot_is_open("t");
    add("SELECT profile FROM t WHERE owner = ? LIMIT 1;\n");
  }

  // Collections with many elements are read as a whole.
  void collections() {
    struct Element {
      const char* type;
      double bytes;
    };
    constexpr std::array<Element, 5> types = {{{"set<uuid>", 16},
                                               {"list<int>", 4},
                                               {"map<text, text>", 32},
                                               {"set<text>", 16},
                                               {"list<frozen<vector<float, 128>>>", 512}}};
    const Element element = one_of(types);
    const double usual = between(2, 300), most = usual * between(2, 3000);
    const double bytes = most * element.bytes;
    add("CREATE TABLE t (id uuid PRIMARY KEY, many {});\n-- @table t rows=1000\n", element.type);
    add("-- @column t.many fanout={} max={}\n", usual, most);
    // Many elements are slow to read, however small they are.
    std::optional<bool> fault;
    if (bytes > 2.2e6 || most > 100'000) fault = true;
    if (bytes < 0.25e6 && most < 8000) fault = false;
    expect("collections", Verdict::large_cell, "t", "", fault,
           fmt::format("{} elements of {}", most, element.type));
    if (bytes > 20e6) expect("open", Verdict::partition_growth, "t", "", std::nullopt, "a large row");
    add("SELECT many FROM t WHERE id = ?;\n");
  }

  // A view by another column, whose values are few or uneven.
  void views() {
    const double rows = between(3000, 20'000), values = between(3, 2000), exponent = skew(), row = 10000;
    const double nodes = between(3, 9);
    const Counts counts = fill(rows, values, exponent);
    add("CREATE TABLE t (id uuid PRIMARY KEY, city text, note text);\n");
    add("CREATE MATERIALIZED VIEW v AS SELECT * FROM t WHERE city IS NOT NULL AND id IS NOT NULL "
        "PRIMARY KEY (city, id);\n");
    add("-- @table t rows={} row={}\n-- @column t.city distinct={}{}\n", rows, row, values,
        skew_text(exponent));
    const double most = largest(counts);
    size_target("views", "v", most * row, fmt::format("nodes={} rf=1", nodes));
    figure("views", Of::largest, "v", most * row, 0.35, row * (3 + 4 * std::sqrt(most)));
    const double share = most / rows;
    expect("views", Verdict::hot_partition, "v", "", beyond(share, 0.35, 0.65),
           fmt::format("{:.0f}% of the rows in one partition", 100 * share));
    const bool few = values < nodes;
    expect("views", Verdict::low_cardinality, "v", "",
           few                   ? std::optional(true)
           : values > 12 * nodes ? std::optional(false)
                                 : std::nullopt,
           fmt::format("{} values, {} nodes", values, nodes));
    add("-- @query of_city\nSELECT * FROM v WHERE city = ? LIMIT 20;\n");
  }

  // The rows of one statement are the values of IN ? of the next.
  void two_steps() {
    // Only few owners may have no members, because a review cannot know of those.
    const double keys = between(200, 3000), exponent = skew(), mean = between(exponent > 0 ? 12 : 3, 60);
    const bool limited = chance(0.3);
    const double limit = between(2, 100);
    Counts counts = fill(keys * mean, keys, exponent);
    std::erase(counts, 0);
    if (limited)
      for (double& count : counts) count = std::min(count, limit);
    add("CREATE TABLE lists (owner int, member uuid, PRIMARY KEY (owner, member));\n"
        "CREATE TABLE items (id uuid PRIMARY KEY, note text);\n");
    add("-- @table lists rows={}\n-- @column lists.owner distinct={}{}\n-- @table items rows=1M\n",
        keys * mean, keys, skew_text(exponent));
    add("-- @group page\n-- @query members\nSELECT member FROM lists WHERE owner = ?{};\n",
        limited ? fmt::format(" LIMIT {}", limit) : "");
    add("-- @query items\nSELECT * FROM items WHERE id IN ?;\n");
    const double p99 = quantile(counts, 0.99), p50 = quantile(counts, 0.5);
    const double average =
        std::accumulate(counts.begin(), counts.end(), 0.0) / static_cast<double>(counts.size());
    expect("two steps", Verdict::multi_partition, "items", "items", beyond(p99, 14, 30),
           fmt::format("p99 {}", p99));
    expect("open", Verdict::multi_partition, "lists", "page",
           average > 12 ? std::optional<bool>() : std::optional(false), "the group");
    const double noise = 2 + 2 * std::sqrt(average);
    // A limit lowers the mean of an uneven distribution. The quantiles do not show by how much.
    if (!limited) figure("two steps", Of::partitions, "items", average, 0.25, noise);
    figure("two steps", Of::partitions_p50, "items", p50, 0.4, noise);
    figure("two steps", Of::partitions_p99, "items", p99, 0.4, 2 + 3 * std::sqrt(p99));
    hot_is_open("lists");
  }

  // A statement runs once for each period that an interval touches.
  void spans() {
    constexpr std::array widths = {3600.0, 6 * 3600.0, 86'400.0, 7 * 86'400.0, 30 * 86'400.0};
    const double width = one_of(widths), span = width * between(1, 400) / 10, keys = between(50, 2000);
    const double each = between(10, 400), growth = each * keys / width;
    double touched = 0;
    constexpr int tries = 4000;
    for (int i = 0; i < tries; ++i) {
      const double from = uniform() * width;
      touched += std::floor((from + span) / width) + 1;
    }
    touched /= tries;
    add("CREATE TABLE t (owner int, slot timestamp, id timeuuid, note text, PRIMARY KEY ((owner, slot), "
        "id));\n");
    add("-- @table t row=100 growth={:.6f}/s retention={:.0f}s\n", growth, width * 100);
    add("-- @column t.owner distinct={}\n-- @column t.slot growth={:.12f}/s\n-- @target horizon={:.0f}s\n",
        keys, 1 / width, 200 * width);
    add("-- @query range span={:.0f}s\nSELECT * FROM t WHERE owner = ? AND slot = ?;\n", span);
    figure("spans", Of::partitions, "range", touched, 0.05, 0.1);
    figure("spans", Of::rows_read, "range", each * span / width, 0.1, 2);
    expect("spans", Verdict::multi_partition, "t", "range", beyond(touched, 17, 24),
           fmt::format("{:.1f} periods", touched));
    if (growth / keys > 200 || growth > 900) hot_is_open("t");
  }

  // One partition gets more requests than it should, or a large share of requests that are not few.
  static std::optional<bool> is_hot(double rate, double share) {
    if (rate >= 1500 || (share >= 0.42 && rate >= 150)) return true;
    if (rate <= 650 && (share <= 0.28 || rate <= 70)) return false;
    return std::nullopt;
  }

  // Increments of counters, more of some than of others.
  void counters() {
    const double keys = between(20, 5000), exponent = skew(), rate = between(50, 20'000);
    const bool sharded = chance(0.3);
    const double shards = sharded ? between(2, 20) : 1;
    constexpr double draws = 20'000;
    Counts counts = fill(draws, keys, exponent);
    double hottest = largest(counts) / draws / shards * rate;
    // The largest value of an even distribution is random.
    if (exponent == 0) hottest = rate / keys / shards;
    add("CREATE TABLE t (page int, {}views counter, PRIMARY KEY (({}page)));\n", sharded ? "shard int, " : "",
        sharded ? "shard, " : "");
    add("-- @table t rows={}\n", keys * shards);
    if (sharded)
      add("-- @column t.shard distinct={}\n-- @column t.page distinct={}{}\n", shards, keys,
          skew_text(exponent));
    else
      add("-- @column t.page distinct={}{}\n", keys, skew_text(exponent));
    add("-- @write view rate={}/s\nUPDATE t SET views = views + 1 WHERE {}page = ?;\n", rate,
        sharded ? "shard = ? AND " : "");
    expect("counters", Verdict::hot_partition, "t", "", is_hot(hottest, hottest / rate),
           fmt::format("{:.0f} increments per second, {:.0f}% of all", hottest, 100 * hottest / rate));
    expect("counters", Verdict::key_collision, "t", "", false, "increments do not overwrite");
  }

  // Makes rows that expire: a partition holds the rows that arrive within one time to live.
  void expiring() {
    const double keys = between(20, 2000), exponent = skew(), kept = between(3000, 20'000), row = 10000;
    constexpr std::array lives = {600.0, 86'400.0, 30 * 86'400.0};
    const double life = one_of(lives), growth = kept / life;
    const bool filled = chance(0.5);
    const Counts counts = fill(kept, keys, exponent);
    add("CREATE TABLE t (owner int, at timeuuid, note text, PRIMARY KEY (owner, at)) "
        "WITH default_time_to_live = {:.0f};\n",
        life);
    add("-- @table t row={} growth={:.8f}/s{}\n-- @column t.owner distinct={}{}\n", row, growth,
        filled ? fmt::format(" rows={}", kept) : "", keys, skew_text(exponent));
    const double most = largest(counts);
    size_target("expiring", "t", most * row, fmt::format("horizon={:.0f}s", life * between(2, 20)));
    figure("expiring", Of::largest, "t", most * row, 0.35, row * (3 + 4 * std::sqrt(most)));
    if (most / kept > 0.3) hot_is_open("t");
    if (keys < 40) low_cardinality_is_open("t");
    add("-- @query oldest\nSELECT * FROM t WHERE owner = ? ORDER BY at ASC LIMIT 20;\n");
    // The rows of the busiest owner that have expired within gc_grace_seconds come before those that are alive.
    constexpr double grace = 10 * 86'400.0;
    const double dead = (exponent > 0 ? most : kept / keys) / life * grace;
    expect("expiring", Verdict::tombstone_scan, "t", "oldest", beyond(dead, 600, 1600),
           fmt::format("{:.0f} expired rows before the first one", dead));
  }

  // Adds and deletes rows. A read of a whole partition scans the tombstones that are kept.
  void deletes() {
    const double keys = between(3, 20'000), rate = between(1, 500), grace = between(3600, 864'000);
    const double live = between(2, 100);
    const bool front = chance(0.5), bounded = front && chance(0.3);
    const double tombstones = rate * grace / keys;
    add("CREATE TABLE t (room int, at timeuuid, note text, PRIMARY KEY (room, at)) WITH gc_grace_seconds = "
        "{:.0f};\n",
        grace);
    add("-- @table t rows={} row=50 growth=0/s\n-- @column t.room distinct={}\n", live * keys, keys);
    add("-- @write enter rate={}/s\nINSERT INTO t (room, at, note) VALUES (?, now(), ?);\n", rate);
    add("-- @write leave rate={}/s\nDELETE FROM t WHERE room = ? AND at = ?;\n", rate);
    add("-- @query read rate=10/s\nSELECT * FROM t WHERE room = ?{}{};\n", bounded ? " AND at > ?" : "",
        front ? " LIMIT 5" : "");
    expect("deletes", Verdict::tombstone_scan, "t", "read",
           bounded ? std::optional(false) : beyond(tombstones, 60, 3000),
           fmt::format("{:.0f} tombstones per read", tombstones));
  }

  // Makes a key with a time whose unit is longer than the interval between rows.
  void coarse_times() {
    struct Time {
      const char *type, *unit;
      double tick;
    };
    constexpr std::array<Time, 5> times = {{{"date", "", 86'400},
                                            {"bigint", "s", 1},
                                            {"bigint", "ms", 1e-3},
                                            {"timestamp", "", 1e-3},
                                            {"bigint", "us", 1e-6}}};
    const Time time = one_of(times);
    const double keys = between(1, 3000), exponent = skew(), apart = time.tick * between(1, 1e7) / 1e3;
    const double growth = keys / apart;
    // Simulates random arrivals, and counts the rows that have a key and time of their own.
    constexpr double draws = 20'000;
    std::set<std::pair<size_t, int64_t>> seen;
    const Counts weights = sums(keys, exponent);
    const double length = draws / growth;
    for (double i = 0; i < draws; ++i)
      seen.insert({draw(weights), static_cast<int64_t>(std::floor(uniform() * length / time.tick))});
    const double lost = 1 - static_cast<double>(seen.size()) / draws;
    add("CREATE TABLE t (owner int, at {}, note text, PRIMARY KEY (owner, at));\n", time.type);
    add("-- @table t growth={:.9f}/s row=1 arrival=random retention={:.0f}s\n", growth,
        std::max(1.0, std::ceil(length)));
    add("-- @column t.owner distinct={}{}\n", keys, skew_text(exponent));
    if (*time.unit != 0) add("-- @column t.at time={}\n", time.unit);
    // A row whose key is a date is a summary of the day, unless there are far more rows than days.
    expect("coarse times", Verdict::key_collision, "t", "", lost > 0.08 ? std::optional(true) : std::nullopt,
           fmt::format("{:.1f}% lost", 100 * lost));
    hot_is_open("t");
    low_cardinality_is_open("t");
    expect("open", Verdict::partition_growth, "t", "", std::nullopt, "size");
  }

  // Filters on one or two columns, within a partition or over the table.
  void filters() {
    const double keys = between(2, 200), rows = keys * between(20, 400), kinds = between(1, 3000);
    const double states = between(2, 8), wanted = between(1, 4);
    const bool two = chance(0.4), scan = chance(0.4);
    double visited = 0, returned = 0;
    constexpr int tries = 40;
    for (int i = 0; i < tries; ++i) {
      const double count = scan ? rows : std::round(rows / keys);
      visited += count;
      for (double j = 0; j < count; ++j) {
        const bool kind = uniform() * kinds < std::min(wanted, kinds);
        returned += kind && (!two || uniform() * states < 1) ? 1 : 0;
      }
    }
    visited /= tries;
    returned /= tries;
    add("CREATE TABLE t (owner int, id uuid, kind int, state int, PRIMARY KEY (owner, id));\n");
    add("-- @table t rows={} row=100\n-- @column t.owner distinct={}\n-- @column t.kind distinct={}\n"
        "-- @column t.state distinct={}\n",
        rows, keys, kinds, states);
    std::string values = "?";
    for (double i = 1; i < wanted; ++i) values += ", ?";
    add("-- @query some\nSELECT * FROM t WHERE {}kind IN ({}){} ALLOW FILTERING;\n",
        scan ? "" : "owner = ? AND ", values, two ? " AND state = ?" : "");
    figure("filters", Of::rows_read, "some", visited, 0.05, 2);
    figure("filters", Of::rows_returned, "some", returned, 0.35, 2 + 3 * std::sqrt(returned / tries));
    const double waste = visited / std::max(0.5, returned);
    const Verdict verdict = scan ? Verdict::full_scan : Verdict::allow_filtering;
    std::optional<bool> fault;
    if (visited > 1500 && waste > 40) fault = true;
    if (waste < 3 && !scan) fault = false;
    if (visited < 500 && waste < 60) fault = false;
    expect("filters", verdict, "t", "some", fault,
           fmt::format("{:.0f} rows visited for {:.1f}", visited, returned));
  }

  // Makes a clustering column that every statement compares with =. Such a column divides partitions at no
  // cost.
  void given_columns() {
    const double keys = between(20, 500), kinds = between(3, 40), rows = between(6000, 20'000), row = 10000;
    const double key_skew = skew(), kind_skew = skew();
    const Counts owners = sums(keys, key_skew), each = sums(kinds, kind_skew);
    Counts whole(static_cast<size_t>(keys), 0);
    std::map<std::array<size_t, 2>, double> parts;
    for (double i = 0; i < rows; ++i) {
      const size_t owner = draw(owners);
      ++whole[owner];
      ++parts[{owner, draw(each)}];
    }
    double most = 0;
    for (const auto& [key, count] : parts) most = std::max(most, count);
    // The target is clearly above the largest part, and clearly below the largest partition.
    const double target = std::max(1.8 * most, 30.0);
    const bool clear = largest(whole) > 1.8 * target;
    add("CREATE TABLE t (owner int, kind int, id uuid, note text, PRIMARY KEY (owner, kind, id));\n");
    add("-- @table t rows={} row={}\n-- @column t.owner distinct={}{}\n-- @column t.kind distinct={}{}\n",
        rows, row, keys, skew_text(key_skew), kinds, skew_text(kind_skew));
    add("-- @target nodes=2 rf=1 partition={:.0f}B\n", std::ceil(target * row));
    add("-- @query some\nSELECT * FROM t WHERE owner = ? AND kind = ? LIMIT 20;\n");
    expect("given columns", Verdict::partition_growth, "t", "", clear ? std::optional(true) : std::nullopt,
           fmt::format("largest {}, target {}", largest(whole), target));
    if (clear)
      figure("given columns", Of::split_largest, "t", most * row, 0.35, row * (4 + 4 * std::sqrt(most)));
    if (clear) figure("given columns", Of::split_partitions, "t", 1, 0, 0.001);
    hot_is_open("t");
    low_cardinality_is_open("t");
  }

  std::mt19937_64 random_;
  RandomWorkload out_;
};

}  // namespace

bool RandomWorkload::is_good() const {
  return std::all_of(expectations.begin(), expectations.end(),
                     [](const Expectation& one) { return one.fault && !*one.fault; });
}

RandomWorkload random_workload(uint64_t seed) {
  return WorkloadMaker(seed).make();
}

}  // namespace sibyl::advisor
