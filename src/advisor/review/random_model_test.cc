#include "advisor/review/random_model_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace sibyl::advisor {
namespace {

using Kind = RandomColumn::Kind;

// --- Models

class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed) { model_.seed = seed; }

  RandomModel make() {
    key();
    load();
    machines();
    queries();
    return std::move(model_);
  }

 private:
  double uniform() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  bool chance(double share) { return uniform() < share; }
  // Draws a whole number, uniformly on a logarithmic scale.
  double between(double least, double most) {
    return std::round(std::exp(std::log(least) + uniform() * (std::log(most) - std::log(least))));
  }

  void key() {
    constexpr double horizons[] = {20, 3600, 86'400, 30 * 86'400.0, 365 * 86'400.0};
    model_.horizon = horizons[static_cast<size_t>(uniform() * 5)];
    if (chance(0.15))
      model_.partition.push_back({"status", Kind::category, between(2, 12), 0, 0});
    else
      model_.partition.push_back(
          {"owner", Kind::id, between(3, 2000), chance(0.35) ? 0.4 + uniform() : 0, 0});
    if (chance(0.2)) {
      const double width = model_.horizon / between(2, 40);
      model_.partition.push_back({"bucket", Kind::period, 0, 0, width});
    } else if (chance(0.15)) {
      model_.partition.push_back({"region", Kind::category, between(2, 8), 0, 0});
    }
    clustering();
  }

  void clustering() {
    const double at = uniform();
    if (at < 0.12) return;
    if (at < 0.3) {
      model_.clustering.push_back({"member", Kind::member, between(5, 5000), 0, 0});
      if (chance(0.3)) model_.clustering.push_back({"id", Kind::unique, 0, 0, 0});
    } else {
      const Kind time = at < 0.6 ? Kind::timestamp : at < 0.85 ? Kind::timeuuid : Kind::snowflake;
      if (chance(0.1)) model_.clustering.push_back({"member", Kind::member, between(2, 30), 0, 0});
      model_.clustering.push_back({"at", time, 0, 0, 0});
    }
    model_.descending = chance(0.5);
  }

  void load() {
    const double coming = model_.has_period() || chance(0.6) ? between(300, 6000) : 0;
    model_.growth = coming / model_.horizon;
    model_.rows = chance(0.25) && coming > 0 ? 0 : between(200, 6000);
    model_.declares_rows = model_.rows > 0 || chance(0.5);
    if (coming > 0 && chance(0.2)) model_.retention = model_.horizon * (0.1 + 0.6 * uniform());
    const bool plain = model_.partition.size() == 1 && model_.partition[0].zipf == 0;
    if (plain && model_.partition[0].kind == Kind::id && model_.rows > 0 && !model_.clustering.empty() &&
        model_.clustering[0].kind != Kind::member && chance(0.2))
      model_.dominant = 0.3 + 0.6 * uniform();
  }

  void machines() {
    model_.nodes = static_cast<size_t>(between(3, 12));
    model_.replicas = chance(0.5) ? 1 : 2;
    model_.kinds = between(1, 2000);
  }

  void queries() {
    using Query = SimulatedQuery::Kind;
    model_.queries.push_back({"point", Query::point});
    if (!model_.clustering.empty() && chance(0.5)) model_.queries.push_back({"whole", Query::partition});
    if (!model_.clustering.empty() && model_.clustering[0].is_time() && chance(0.6))
      model_.queries.push_back({"newest", Query::newest, static_cast<size_t>(between(1, 50))});
    if (!model_.clustering.empty() && chance(0.4)) model_.queries.push_back({"some", Query::filter});
    if (chance(0.25)) model_.queries.push_back({"search", Query::scan});
    if (chance(0.2))
      model_.queries.push_back({"several", Query::several, static_cast<size_t>(between(2, 40))});
  }

  std::mt19937_64 random_;
  RandomModel model_;
};

// --- The workload file

std::string type_of(const RandomColumn& column) {
  switch (column.kind) {
    case Kind::category:
      return "text";
    case Kind::period:
    case Kind::timestamp:
      return "timestamp";
    case Kind::timeuuid:
      return "timeuuid";
    case Kind::snowflake:
      return "bigint";
    case Kind::unique:
      return "uuid";
    case Kind::id:
    case Kind::member:
      break;
  }
  return "int";
}

std::string names_of(const std::vector<RandomColumn>& columns) {
  std::string out;
  for (const RandomColumn& column : columns) out += (out.empty() ? "" : ", ") + column.name;
  return out;
}

std::string equal(const std::vector<RandomColumn>& columns) {
  std::string out;
  for (const RandomColumn& column : columns) out += (out.empty() ? "" : " AND ") + column.name + " = ?";
  return out;
}

std::string select_of(const RandomModel& model, const SimulatedQuery& query) {
  const std::string from = "SELECT * FROM t WHERE ", key = equal(model.partition);
  switch (query.kind) {
    case SimulatedQuery::Kind::point:
      return from + key + (model.clustering.empty() ? "" : " AND " + equal(model.clustering));
    case SimulatedQuery::Kind::partition:
      return from + key;
    case SimulatedQuery::Kind::newest:
      return fmt::format("{}{} ORDER BY {} DESC LIMIT {}", from, key, model.clustering[0].name, query.number);
    case SimulatedQuery::Kind::filter:
      return from + key + " AND kind = ? ALLOW FILTERING";
    case SimulatedQuery::Kind::scan:
      return from + "kind = ? ALLOW FILTERING";
    case SimulatedQuery::Kind::several:
      break;
  }
  std::string values;
  for (size_t i = 0; i < query.number; ++i) values += i == 0 ? "?" : ", ?";
  std::vector<RandomColumn> rest(model.partition.begin() + 1, model.partition.end());
  return fmt::format("{}{} IN ({}){}", from, model.partition[0].name, values,
                     rest.empty() ? "" : " AND " + equal(rest));
}

std::string statistics_of(const RandomModel& model) {
  std::string out = fmt::format("-- @table t row={}", random_row_bytes);
  if (model.declares_rows) out += fmt::format(" rows={}", model.rows);
  if (model.growth > 0) out += fmt::format(" growth={}/s", model.growth);
  if (model.retention) out += fmt::format(" retention={}s", *model.retention);
  if (model.dominant) out += fmt::format(" max={}", std::floor(*model.dominant * model.rows));
  out += "\n";
  std::vector<RandomColumn> columns = model.partition;
  columns.insert(columns.end(), model.clustering.begin(), model.clustering.end());
  for (const RandomColumn& column : columns) {
    if (column.distinct > 0) {
      out += fmt::format("-- @column t.{} distinct={}", column.name, column.distinct);
      out += column.zipf > 0 ? fmt::format(" skew=zipf({})\n", column.zipf) : "\n";
    }
    if (column.kind == Kind::period)
      out += fmt::format("-- @column t.{} growth={}/s\n", column.name, 1 / column.width);
    if (column.kind == Kind::snowflake) out += fmt::format("-- @column t.{} time=snowflake\n", column.name);
  }
  return out + fmt::format("-- @column t.kind distinct={}\n", model.kinds);
}

// --- Rows

// Draws from 1/rank^exponent.
class Zipf {
 public:
  Zipf(double count, double exponent) {
    double sum = 0;
    for (double rank = 1; rank <= count; ++rank) sums_.push_back(sum += std::pow(rank, -exponent));
  }
  int64_t draw(double uniform) const {
    return std::lower_bound(sums_.begin(), sums_.end(), uniform * sums_.back()) - sums_.begin();
  }

 private:
  std::vector<double> sums_;
};

using Key = std::vector<int64_t>;

class Simulation {
 public:
  explicit Simulation(RandomModel& model) : model_(model), random_(model.seed * 7919 + 1) {
    for (const RandomColumn& column : columns())
      draws_.emplace(column.name, Zipf(std::max(1.0, column.distinct), column.zipf));
  }

  Truth run() {
    insert(before(), model_.rows, true);
    truth_.now = sizes(0);
    // Only rows of the declared growth count as losses, unless even the existing rows do not fit.
    insert({0, model_.horizon}, std::round(model_.growth * model_.horizon), false);
    truth_.horizon = sizes(model_.horizon);
    for (const auto& [key, row] : stored_)
      if (is_kept(row, model_.horizon)) truth_.rows.push_back(row);
    rates();
    spread();
    choose_targets();
    for (const SimulatedQuery& query : model_.queries) execute(query);
    return std::move(truth_);
  }

 private:
  std::vector<RandomColumn> columns() const {
    std::vector<RandomColumn> out = model_.partition;
    out.insert(out.end(), model_.clustering.begin(), model_.clustering.end());
    return out;
  }

  double uniform() { return std::uniform_real_distribution<double>(0, 1)(random_); }

  // Existing rows have arrived at the declared rate, within the retention.
  std::pair<double, double> before() const {
    double ago = model_.growth > 0 ? model_.rows / model_.growth : model_.horizon;
    return {-std::min(ago, model_.retention.value_or(ago)), 0};
  }

  bool is_kept(const RandomRow& row, double now) const {
    return row.at <= now && (!model_.retention || row.at > now - *model_.retention);
  }

  int64_t value_of(const RandomColumn& column, RandomRow& row) {
    switch (column.kind) {
      case Kind::period:
        return static_cast<int64_t>(std::floor(row.at / column.width));
      case Kind::timestamp:
        return static_cast<int64_t>(std::floor(row.at * 1000));
      case Kind::timeuuid:
      case Kind::snowflake:
      case Kind::unique:
        return row.serial;
      case Kind::id:
        if (model_.dominant) {
          if (uniform() < *model_.dominant) return 0;
          return 1 + static_cast<int64_t>(uniform() * (column.distinct - 1));
        }
        break;
      default:
        break;
    }
    return draws_.at(column.name).draw(uniform());
  }

  Key key_of(const RandomRow& row, const std::vector<RandomColumn>& columns) const {
    Key key;
    for (const RandomColumn& column : columns) key.push_back(row.values.at(column.name));
    return key;
  }

  // Returns false if a row with this key is still kept.
  bool place(const Key& key, const RandomRow& row) {
    const auto [found, is_new] = stored_.try_emplace(key, row);
    if (is_new) return true;
    if (is_kept(found->second, row.at)) return false;
    expired_.push_back(std::move(found->second));
    found->second = row;
    return true;
  }

  // Inserts new rows: if the key of a row exists, tries other values, as long as the key has any.
  void insert(std::pair<double, double> interval, double count, bool existing) {
    const std::vector<RandomColumn> all = columns();
    std::vector<double> times;
    for (double i = 0; i < count; ++i)
      times.push_back(interval.first + uniform() * (interval.second - interval.first));
    std::sort(times.begin(), times.end());
    for (const double at : times) {
      RandomRow row;
      row.at = at;
      row.serial = ++serial_;
      row.values["kind"] = static_cast<int64_t>(uniform() * model_.kinds);
      bool placed = false;
      int tries = 0;
      for (; tries < 60 && !placed; ++tries) {
        for (const RandomColumn& column : all) row.values[column.name] = value_of(column, row);
        placed = place(key_of(row, all), row);
      }
      truth_.inserted += 1;
      if (!placed) truth_.lost += 1;
      if (tries > 1) truth_.redrawn += 1;
      if (!existing) ++arrivals_[key_of(row, model_.partition)];
    }
  }

  Truth::Sizes sizes(double now) const {
    std::map<Key, double> counts;
    for (const auto& [key, row] : stored_)
      if (is_kept(row, now)) ++counts[key_of(row, model_.partition)];
    std::vector<double> sorted;
    double total = 0;
    for (const auto& [key, count] : counts) {
      sorted.push_back(count);
      total += count;
    }
    std::sort(sorted.begin(), sorted.end());
    if (sorted.empty()) return {};
    // Declared keys without rows count as partitions, unless there are more declared keys than rows.
    double keys = 1;
    for (const RandomColumn& column : model_.partition) keys *= std::max(1.0, column.distinct);
    if (!model_.has_period() && keys <= total)
      while (static_cast<double>(sorted.size()) < keys) sorted.insert(sorted.begin(), 0);
    const auto at = [&](double share) {
      return sorted[std::min(sorted.size() - 1,
                             static_cast<size_t>(share * static_cast<double>(sorted.size())))];
    };
    return {at(0.5), at(0.99), sorted.back(), total / static_cast<double>(sorted.size()),
            static_cast<double>(sorted.size())};
  }

  // Computes the write rate of the busiest partition. If the key has a period, all rows of a partition arrive
  // within its width, otherwise within the horizon.
  void rates() {
    double total = 0;
    for (const auto& [key, row] : stored_)
      if (is_kept(row, model_.horizon)) ++total;
    if (total > 0) truth_.largest_share = truth_.horizon.max / total;
    double most = 0, width = model_.horizon;
    for (const auto& [key, count] : arrivals_) most = std::max(most, count);
    for (const RandomColumn& column : model_.partition)
      if (column.kind == Kind::period) width = column.width;
    truth_.hottest_rate = most / width;
    truth_.hottest_count = most;
  }

  // Nodes own equal ranges; partitions have random tokens.
  void spread() {
    std::map<Key, double> counts;
    for (const RandomRow& row : truth_.rows) ++counts[key_of(row, model_.partition)];
    std::vector<double> load(model_.nodes, 0);
    double total = 0;
    for (const auto& [key, count] : counts) {
      const auto first = static_cast<size_t>(uniform() * static_cast<double>(model_.nodes));
      for (size_t i = 0; i < model_.replicas; ++i) load[(first + i) % model_.nodes] += count;
      total += count * static_cast<double>(model_.replicas);
    }
    if (total > 0)
      truth_.fullest_node =
          *std::max_element(load.begin(), load.end()) * static_cast<double>(model_.nodes) / total;
  }

  // Targets are clearly above or clearly below the true numbers.
  void choose_targets() {
    constexpr double factors[] = {0.25, 0.5, 1.9, 4};
    const auto factor = [&] { return factors[static_cast<size_t>(uniform() * 4)]; };
    model_.target_bytes = std::max(300.0, truth_.horizon.max * random_row_bytes * factor());
    model_.target_rate = truth_.hottest_rate > 0 ? truth_.hottest_rate * factor() : 1000;
  }

  // Executes the query for random partitions, as of now.
  void execute(const SimulatedQuery& query) {
    std::map<Key, std::vector<const RandomRow*>> partitions;
    for (const auto& [key, row] : stored_)
      if (is_kept(row, 0)) partitions[key_of(row, model_.partition)].push_back(&row);
    for (const RandomRow& row : expired_)
      if (is_kept(row, 0)) partitions[key_of(row, model_.partition)].push_back(&row);
    if (partitions.empty()) return;
    std::vector<const std::vector<const RandomRow*>*> all;
    for (const auto& [key, rows] : partitions) all.push_back(&rows);
    Truth::Read& out = truth_.reads[query.name];
    constexpr size_t times = 40;
    for (size_t i = 0; i < times; ++i) execute_once(query, all, i * all.size() / times, out);
    out.partitions /= times;
    out.visited /= times;
    out.returned /= times;
    out.reversed =
        query.kind == SimulatedQuery::Kind::newest && !(model_.descending && model_.clustering.size() == 1);
  }

  void execute_once(const SimulatedQuery& query, const std::vector<const std::vector<const RandomRow*>*>& all,
                    size_t start, Truth::Read& out) {
    using Query = SimulatedQuery::Kind;
    const auto kind = static_cast<int64_t>(uniform() * model_.kinds);
    const bool filters = query.kind == Query::filter || query.kind == Query::scan;
    const size_t count = query.kind == Query::scan      ? all.size()
                         : query.kind == Query::several ? query.number
                                                        : 1;
    out.partitions += static_cast<double>(count);
    for (size_t i = 0; i < count; ++i) {
      double most = 1e18;
      if (query.kind == Query::point) most = 1;
      if (query.kind == Query::newest) most = static_cast<double>(query.number);
      for (const RandomRow* row : *all[(start + i) % all.size()]) {
        if (most-- < 1) break;
        out.visited += 1;
        if (!filters || row->values.at("kind") == kind) out.returned += 1;
      }
    }
  }

  RandomModel& model_;
  std::mt19937_64 random_;
  std::map<std::string, Zipf> draws_;
  std::map<Key, RandomRow> stored_;
  std::vector<RandomRow> expired_;  // rows that later rows with the same key have replaced
  std::map<Key, double> arrivals_;
  int64_t serial_ = 0;
  Truth truth_;
};

}  // namespace

bool RandomModel::has_period() const {
  return std::any_of(partition.begin(), partition.end(),
                     [](const RandomColumn& column) { return column.kind == Kind::period; });
}

std::string RandomModel::text() const {
  std::string out = "CREATE TABLE t (\n";
  for (const auto* part : {&partition, &clustering})
    for (const RandomColumn& column : *part) out += fmt::format("  {} {},\n", column.name, type_of(column));
  out += fmt::format("  kind int,\n  note text,\n  PRIMARY KEY (({}){}))", names_of(partition),
                     clustering.empty() ? "" : ", " + names_of(clustering));
  if (descending && clustering.size() == 1)
    out += fmt::format(" WITH CLUSTERING ORDER BY ({} DESC)", clustering[0].name);
  out += ";\n" + statistics_of(*this);
  out += fmt::format("-- @target partition={}B partition_rate={}/s nodes={} rf={} horizon={}s\n\n",
                     std::ceil(target_bytes), target_rate, nodes, replicas, horizon);
  for (const SimulatedQuery& query : queries)
    out += fmt::format("-- @query {}\n{};\n\n", query.name, select_of(*this, query));
  return out;
}

RandomModel random_model(uint64_t seed) {
  return Maker(seed).make();
}

Truth simulate(RandomModel& model) {
  return Simulation(model).run();
}

std::map<std::vector<int64_t>, size_t> partitions_under(const std::vector<RandomRow>& rows,
                                                        const std::vector<std::string>& key) {
  std::map<std::vector<int64_t>, size_t> out;
  for (const RandomRow& row : rows) {
    std::vector<int64_t> values;
    for (const std::string& name : key) {
      const auto value = row.values.find(name);
      values.push_back(value == row.values.end() ? row.serial : value->second);
    }
    ++out[values];
  }
  return out;
}

}  // namespace sibyl::advisor
