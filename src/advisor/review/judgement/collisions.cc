// Reports keys with fewer values than there are rows: new rows then replace old ones.
#include "advisor/review/judgement/collisions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace sibyl::advisor {
namespace {

using types::Kind;

constexpr double unlimited = std::numeric_limits<double>::infinity();

bool has_unique_type(const schema::Column& column) {
  return column.type->kind() == Kind::uuid || column.type->kind() == Kind::timeuuid;
}

// Tables whose rows are meant to be replaced: `latest_prices`, `device_status`, but not `user_events`.
bool keeps_the_latest(const std::string& name) {
  constexpr std::array anywhere = {"latest", "last", "current", "cache", "lock"};
  constexpr std::array things = {"state", "status", "profile", "session",  "config",  "setting",
                                 "token", "user",   "account", "presence", "balance", "availability"};
  const std::string stem = stem_of(name), head = stem.substr(stem.rfind('_') + 1);
  return std::any_of(anywhere.begin(), anywhere.end(),
                     [&](const char* word) { return name.find(word) != std::string::npos; }) ||
         std::any_of(things.begin(), things.end(),
                     [&](const char* word) { return head.find(word) != std::string::npos; });
}

// True if the table has one thing for each key, by its name: `vehicle_position` by `vehicle`, but neither
// `vehicle_positions` nor `vehicle_log`.
bool is_one_thing_of_key(const schema::Table& table) {
  constexpr std::array records = {"reading", "event", "log",    "measurement", "message", "metric", "sample",
                                  "history", "entry", "record", "data",        "visit",   "click",  "order"};
  if (table.partition_key_count != 1 || table.clustering_count > 0) return false;
  const std::string key = table.partition_key(0).name;
  const std::string owner = key.substr(0, key.ends_with("_id") ? key.size() - 3 : key.size());
  if (!table.name.starts_with(owner + "_")) return false;
  const std::string thing = table.name.substr(owner.size() + 1);
  const bool singular = !thing.ends_with('s') || thing.ends_with("ss") || thing.ends_with("us");
  return singular && std::none_of(records.begin(), records.end(),
                                  [&](const char* word) { return thing.ends_with(word); });
}

// Times that belong to the present state of a thing: a row with such a time is meant to be replaced.
bool is_time_of_state(const std::string& name) {
  constexpr std::array words = {"updat", "modif", "chang",  "last", "seen",  "expir", "until",    "valid",
                                "since", "touch", "refres", "sync", "login", "alive", "heartbeat"};
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return name.find(word) != std::string::npos; });
}

// The number of keys that the declared values allow.
struct Capacity {
  double values = 1;      // number of combinations of the columns whose values do not grow
  double per_second = 0;  // new values per second of the columns that grow with time; 0: none grows
  std::string time;       // the column with the most new values
};

// Returns the new values per second of a column; 0 if the column does not grow with time.
double new_values(const TableFacts& facts, const schema::Column& column) {
  const ColumnFacts& known = facts.column(column);
  if (known.is_period && known.growth) return *known.growth;
  return facts.is_time(column) ? facts.ticks_per_second(column) : 0;
}

Capacity capacity_of(const TableFacts& facts, size_t columns) {
  Capacity out;
  for (size_t i = 0; i < columns; ++i) {
    const schema::Column& column = facts.table->columns[i];
    const ColumnFacts& known = facts.column(column);
    if (const double fresh = new_values(facts, column); fresh > 0 && (known.growth || !known.distinct)) {
      if (fresh > out.per_second) out.time = column.name;
      out.per_second = std::max(out.per_second, fresh);
    } else {
      out.values *= known.distinct && !known.growth ? *known.distinct : unlimited;
    }
  }
  return out;
}

class CapacityReview {
 public:
  CapacityReview(const ReviewModel& model, const TableFacts& table, Review& review)
      : model_(model),
        facts_(table),
        table_(*table.table),
        review_(review),
        columns_(table_.partition_key_count + table_.clustering_count),
        capacity_(capacity_of(table, columns_)) {}

  bool run() {
    if (table_.is_counter || table_.is_view()) return false;
    if (std::isfinite(capacity_.values) && table_report()) return true;
    return partition_report() || latest_report();
  }

 private:
  // Returns the declared number of new rows per second; 0 if growth is not declared as new rows.
  double growth() const { return facts_.growth.value_or(0); }

  double rows_then() const {
    const double ahead = model_.horizon_of(facts_), now = facts_.rows.value_or(0);
    const double then = now + growth() * ahead;
    return facts_.retention ? std::min(then, std::max(now, growth() * *facts_.retention)) : then;
  }

  bool is_meant() const { return !facts_.growth_is_declared && keeps_the_latest(table_.name); }

  Finding begin(Severity severity, std::string message) const {
    Finding finding = begin_finding(facts_, Verdict::key_collision, severity, std::move(message));
    if (facts_.growth) finding.evidence.push_back(growth_evidence(facts_));
    return finding;
  }

  void add(Finding finding) {
    fix_collision(facts_, table_.columns[columns_ - 1], finding);
    review_.findings.push_back(std::move(finding));
  }

  // Reports that the whole table has more rows than keys.
  bool table_report() {
    constexpr double margin = 1.02;
    if (growth() <= 0) return false;
    if (capacity_.per_second > 0) {
      const schema::Column& last = table_.columns[columns_ - 1];
      // If the last column is a time, collisions depend on how rows arrive, which is reviewed separately.
      if (last.name == capacity_.time && last.type->kind() != Kind::date && !facts_.column(last).growth)
        return false;
      const double most = capacity_.values * capacity_.per_second;
      if (is_meant()) return false;
      if (growth() <= most * margin) return busiest_report();
      Finding finding = begin(Severity::error,
                              fmt::format("The key has {} new values, but there are {} new rows: most rows "
                                          "overwrite another.",
                                          rate_text(most), rate_text(growth())));
      finding.evidence.push_back(
          {fmt::format("{} has {} new values{}", capacity_.time, rate_text(capacity_.per_second),
                       capacity_.values > 1
                           ? fmt::format(", for each of {} other keys", count_text(capacity_.values))
                           : ""),
           Origin::estimated});
      add(std::move(finding));
      return true;
    }
    if (facts_.rows && *facts_.rows > capacity_.values) return false;  // another finding reports it
    if (is_meant()) return false;
    if (rows_then() <= capacity_.values * margin)
      return facts_.growth_is_declared && table_.clustering_count == 0 && busiest_report();
    if (!facts_.growth_is_declared && time_value() == nullptr) return false;
    const double room = std::max(0.0, capacity_.values - facts_.rows.value_or(0));
    Finding finding =
        begin(facts_.growth_is_declared ? Severity::error : Severity::warning,
              fmt::format("The key has {} possible values, which new rows fill within {}: then each new row "
                          "overwrites another.",
                          count_text(capacity_.values), duration_text(std::max(1.0, room / growth()))));
    finding.evidence.push_back({"product of the distinct values of the key columns", facts_.origin});
    add(std::move(finding));
    return true;
  }

  // The share of new rows that overwrite other rows, because all values of their key are in use.
  double overwritten_share() const {
    const std::optional<double> keys = facts_.keys();
    const double skew = facts_.key_skew();
    if (!keys || skew <= 0) return 0;
    constexpr double most_ranks = 1000;
    // If the key has a time, these numbers are rows per second, otherwise rows that are kept.
    const bool timed = capacity_.per_second > 0;
    const double rows = timed ? growth() : rows_then();
    const double each = capacity_.values / *keys * (timed ? capacity_.per_second : 1);
    const double sum = zipf_sum(*keys, skew);
    double lost = 0;
    for (double rank = 1; rank <= std::min(*keys, most_ranks); ++rank)
      lost += std::max(0.0, rows * std::pow(rank, -skew) / sum - each);
    return lost / rows;
  }

  // Reports that the busiest keys have no room for their new rows, although all keys together have.
  bool busiest_report() {
    const double lost = overwritten_share();
    constexpr double little = 0.01;
    if (lost < little) return false;
    Finding finding =
        begin(lost > 0.1 ? Severity::error : Severity::warning,
              fmt::format("The busiest keys get more rows than {}: {:.0f}% of the new rows overwrite "
                          "another.",
                          capacity_.per_second > 0 ? capacity_.time + " has values" : "they have room for",
                          100 * lost));
    if (capacity_.per_second > 0)
      finding.evidence.push_back(
          {fmt::format("{} has {} new values for each key; the busiest key gets {} rows", capacity_.time,
                       rate_text(capacity_.per_second), rate_text(growth() * facts_.hottest_share())),
           Origin::estimated});
    add(std::move(finding));
    return true;
  }

  // Reports partitions with more rows than the clustering key has values.
  bool partition_report() {
    if (table_.clustering_count == 0) return false;
    double values = 1;
    for (size_t i = 0; i < table_.clustering_count; ++i) {
      const ColumnFacts& known = facts_.column(table_.clustering(i));
      if (!known.distinct || known.growth) return false;
      values *= *known.distinct;
    }
    const double rows = facts_.has_period() ? 0 : rows_then() * facts_.hottest_share();
    constexpr double margin = 1.25;
    if (rows <= values * margin) return false;
    const double lost = (rows - values) / std::max(1.0, rows_then());
    if (lost < 0.01) return false;
    Finding finding =
        begin(lost > 0.1 ? Severity::error : Severity::warning,
              fmt::format("The busiest partition gets {} rows, but its clustering key has {} values: rows "
                          "overwrite each other.",
                          count_text(rows), count_text(values)));
    finding.evidence.push_back(
        {fmt::format("{:.1f}% of the rows have one partition key", 100 * facts_.hottest_share()),
         Origin::estimated});
    add(std::move(finding));
    return true;
  }

  const schema::Column* time_value() const { return time_of_rows(facts_); }

  // True if the table holds the objects that its key identifies: `orders` by `order_id`, `cities` by `city`.
  // An INSERT adds an object or changes its description.
  bool is_of_its_own_key() const {
    if (columns_ != 1) return false;
    std::string thing = table_.partition_key(0).name;
    if (thing == "id" || thing == "key" || thing == "uuid") return true;
    for (const std::string_view ending : {"_id", "_key", "_no", "_number", "_code", "_name", "_uuid", "id"})
      if (thing.size() > ending.size() && thing.ends_with(ending)) {
        thing.resize(thing.size() - ending.size());
        break;
      }
    // A prefix of the table's name only qualifies the object: `user_events` by `event_id`.
    const auto names = [&](const std::string& wanted) {
      return table_.name == wanted || table_.name.ends_with("_" + wanted);
    };
    return names(thing) || names(thing + "s") || names(thing + "es") ||
           (thing.ends_with('y') && names(thing.substr(0, thing.size() - 1) + "ies"));
  }

  // Returns the number of writes per second and key above which the rows count as a history.
  double least_repeats(bool is_unique) const {
    constexpr double daily = 1 / 86'400.0, hourly = 1 / 3600.0;
    return table_.clustering_count > 0 || is_unique ? hourly : daily;
  }

  // Returns the rate of INSERTs, and of UPDATEs that set the time.
  double writes_of(const schema::Column& time) const {
    const auto updates = facts_.updates.find(time.name);
    return facts_.inserts + (updates != facts_.updates.end() ? updates->second : 0);
  }

  // Reports a key without a time in a table whose writes all have one: only the last write of each key
  // remains.
  bool latest_report() {
    const schema::Column* time = time_value();
    const double writes = time != nullptr ? writes_of(*time) : 0;
    if (writes <= 0 || is_meant() || facts_.growth || facts_.growth_is_declared) return false;
    const std::optional<double> keys = facts_.rows;
    bool is_unique = false;
    for (size_t i = 0; i < columns_; ++i) {
      const schema::Column& column = table_.columns[i];
      if (has_unique_type(column) && column.is_clustering()) return false;
      if (facts_.is_time(column) || facts_.column(column).is_period) return false;
      is_unique = is_unique || has_unique_type(column);
    }
    // There is no finding if a uuid identifies the rows of this table, or if rows expire.
    if (is_unique && (is_of_its_own_key() || facts_.retention)) return false;
    if (!keys || *keys <= 0 || writes / *keys < least_repeats(is_unique)) return false;
    Finding finding = begin_finding(
        facts_, Verdict::key_collision,
        is_of_its_own_key() || is_one_thing_of_key(table_) ? Severity::note : Severity::warning,
        fmt::format(
            "Each {} replaces the row of its key: rows arrive every {}, and a key keeps only the last one.",
            facts_.inserts > 0 ? "INSERT" : "UPDATE", duration_text(*keys / writes)));
    finding.evidence.push_back({fmt::format("{} {} into {} rows", rate_text(writes),
                                            facts_.inserts > 0 ? "inserts" : "updates", count_text(*keys)),
                                facts_.origin});
    finding.evidence.push_back({fmt::format("{} is not part of the key", time->name), Origin::declared});
    add(std::move(finding));
    return true;
  }

  const ReviewModel& model_;
  const TableFacts& facts_;
  const schema::Table& table_;
  Review& review_;
  size_t columns_;
  Capacity capacity_;
};

// The non-key column that distinguishes rows best: one with unique values, otherwise the time of the row.
const schema::Column* own_column(const TableFacts& facts, bool& is_time) {
  const schema::Column* time = nullptr;
  for (const schema::Column& column : facts.table->columns) {
    if (column.is_primary_key() || column.is_static()) continue;
    if (has_unique_type(column) || column.name == "id" || facts.column(column).is_snowflake) return &column;
    if (column.type->kind() == Kind::timestamp) time = &column;
  }
  is_time = time != nullptr;
  return time;
}

}  // namespace

const schema::Column* time_of_rows(const TableFacts& facts) {
  for (const schema::Column& column : facts.table->columns)
    if (!column.is_primary_key() && !column.is_static() && facts.is_time(column) &&
        !is_time_of_state(column.name))
      return &column;
  return nullptr;
}

void fix_collision(const TableFacts& facts, const schema::Column& last, Finding& finding) {
  Proposal proposal;
  if (last.type->kind() == Kind::timestamp && last.is_clustering() && !facts.column(last).growth) {
    proposal.columns.push_back({last.name, "timeuuid", false});
    finding.proposal = std::make_shared<const Proposal>(std::move(proposal));
    finding.fix =
        fmt::format("Make {} a timeuuid and write it with now(): it sorts by time and is unique.", last.name);
    finding.cost =
        "8 more bytes per row. toTimestamp() returns the time; use minTimeuuid() and maxTimeuuid() for "
        "ranges.";
    return;
  }
  bool is_time = false;
  const schema::Column* own = own_column(facts, is_time);
  std::string name = own != nullptr ? own->name : "id";
  if (own == nullptr) {
    while (facts.table->find(name) != nullptr) name += "_unique";
    proposal.columns.push_back({name, "uuid", false});
  } else if (is_time) {
    proposal.columns.push_back({name, "timeuuid", false});
  }
  proposal.last = name;
  finding.proposal = std::make_shared<const Proposal>(std::move(proposal));
  finding.fix = fmt::format("Add {} at the end of the key{}, so that every row has a unique key.", name,
                            is_time ? " as a timeuuid, written with now()" : "");
  finding.cost = own != nullptr ? "The rows must be copied once." : "16 more bytes per row.";
  if (facts.inserts > 0 || facts.growth) finding.cost += keeps_every_row;
}

bool review_capacity(const ReviewModel& model, const TableFacts& table, Review& review) {
  return CapacityReview(model, table, review).run();
}

}  // namespace sibyl::advisor
