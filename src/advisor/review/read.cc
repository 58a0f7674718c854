// Builds a ReviewModel from files: definitions become a schema, statements become plans, directives become
// statistics.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "advisor/review/judgement/supply.h"
#include "advisor/review/review_model.h"
#include "cql/lexer.h"
#include "cql/parser.h"
#include "cql/printer.h"
#include "cql/shape.h"
#include "plan/definitions/definitions.h"

namespace sibyl::advisor {
namespace {

template <typename Node, typename... Kinds>
constexpr bool is_one_of = (std::is_same_v<Node, Kinds> || ...);

bool is_definition(const cql::Statement& statement) {
  return std::visit(
      []<typename Node>(const Node&) {
        return is_one_of<Node, cql::CreateKeyspace, cql::AlterKeyspace, cql::DropKeyspace, cql::CreateTable,
                         cql::AlterTable, cql::DropTable, cql::CreateType, cql::AlterType, cql::DropType,
                         cql::CreateIndex, cql::DropIndex, cql::CreateView, cql::AlterView, cql::DropView,
                         cql::CreateFunction, cql::DropFunction, cql::CreateAggregate, cql::DropAggregate>;
      },
      statement.node);
}

bool is_data(const cql::Statement& statement) {
  return std::visit(
      []<typename Node>(const Node&) {
        return is_one_of<Node, cql::Select, cql::Insert, cql::Update, cql::Delete, cql::Batch>;
      },
      statement.node);
}

bool mixes_counters(const cql::Statement& statement) {
  const auto* create = std::get_if<cql::CreateTable>(&statement.node);
  if (create == nullptr) return false;
  bool counters = false, others = false;
  for (const cql::ColumnDefinition& column : create->columns) {
    bool key = column.is_primary_key;
    for (const auto& keys : create->partition_keys)
      key = key || std::find(keys.begin(), keys.end(), column.name) != keys.end();
    const auto& clustering = create->clustering_columns;
    key = key || std::find(clustering.begin(), clustering.end(), column.name) != clustering.end();
    if (key) continue;
    (column.type.name == "counter" ? counters : others) = true;
  }
  return counters && others;
}

// Plans queries as if all indexes were built.
schema::SnapshotPtr with_built_indexes(const schema::SnapshotPtr& snapshot) {
  auto out = std::make_shared<schema::Snapshot>(*snapshot);
  for (const auto& [name, keyspace] : snapshot->keyspaces) {
    auto copy = std::make_shared<schema::Keyspace>(*keyspace);
    for (const auto& [table_name, table] : keyspace->tables) {
      if (table->indexes.empty()) continue;
      auto built = std::make_shared<schema::Table>(*table);
      for (schema::Index& index : built->indexes) index.is_built = true;
      copy->tables.insert_or_assign(table_name, std::move(built));
    }
    out->keyspaces.insert_or_assign(name, std::move(copy));
  }
  return out;
}

using Replication = std::vector<std::pair<std::string, std::string>>;

// Replaces the replication of several data centres by a single factor, the largest of them, since each data
// centre holds all rows. Returns false if no data centres are named.
bool unite_data_centres(Replication& options) {
  const bool network = std::any_of(options.begin(), options.end(), [](const auto& option) {
    return option.first == "class" && option.second.ends_with("NetworkTopologyStrategy");
  });
  // A value that is not a number gets the error of an ordinary keyspace.
  const auto replicas = [](const auto& option) { return read_number(option.second).value_or(1e9); };
  Replication kept;
  std::optional<Replication::value_type> most;
  for (const auto& option : options) {
    const bool centre = network && option.first != "class" && option.first != "replication_factor";
    if (!centre)
      kept.push_back(option);
    else if (!most || replicas(option) > replicas(*most))
      most = option;
  }
  if (!most) return false;
  kept.emplace_back(plan::DefinitionContext().datacenter, most->second);
  options = std::move(kept);
  return true;
}

bool unite_data_centres(cql::Statement& statement) {
  auto* create = std::get_if<cql::CreateKeyspace>(&statement.node);
  auto* alter = std::get_if<cql::AlterKeyspace>(&statement.node);
  if (create == nullptr && alter == nullptr) return false;
  bool united = false;
  for (cql::Property& property : create != nullptr ? create->properties : alter->properties) {
    auto* options = std::get_if<Replication>(&property.value);
    if (property.name == "replication" && options != nullptr) united = unite_data_centres(*options) || united;
  }
  return united;
}

// Returns the line of an error: the line of the last word in its message that occurs exactly once in the
// statement, otherwise the first line of the statement.
uint32_t line_of(const CqlStatement& source, const base::Error& error) {
  std::map<std::string, std::vector<uint32_t>, std::less<>> lines;
  cql::Lexer lexer(source.text);
  for (cql::Token token = lexer.next(); token.kind != cql::TokenKind::end; token = lexer.next())
    lines[source.text.substr(token.offset, token.length)].push_back(token.line);
  const auto in_word = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
  const std::string message(error.message());
  for (size_t end = message.size(); end > 0;) {
    while (end > 0 && !in_word(message[end - 1])) --end;
    size_t begin = end;
    while (begin > 0 && in_word(message[begin - 1])) --begin;
    const auto found = lines.find(message.substr(begin, end - begin));
    if (begin < end && found != lines.end() && found->second.size() == 1)
      return source.line + found->second[0] - 1;
    end = begin;
  }
  return source.line;
}

class Reader {
 public:
  explicit Reader(const ReviewOptions& options) : options_(options) {}

  base::Result<ReviewModel> read(const std::vector<Workload>& workloads) {
    model_.cost = options_.cost;
    schema_ = std::make_shared<schema::Snapshot>();
    SIBYL_TRY(
        define(fmt::format("CREATE KEYSPACE {} WITH replication = {{'class': 'SimpleStrategy', "
                           "'replication_factor': 3}}",
                           default_keyspace)));
    if (options_.observation != nullptr) take_observation(*options_.observation);
    for (const Workload& workload : workloads) {
      for (const CqlStatement& statement : workload.cql) SIBYL_TRY(take(workload, statement));
    }
    schema_ = with_built_indexes(schema_);
    take_targets(workloads);
    for (auto& [key, place] : places_) add_table(place);
    take_observed_tables();
    SIBYL_TRY(take_statistics(workloads, options_.observation != nullptr, model_));
    for (StatementFacts& statement : model_.statements) plan(statement);
    derive_statistics(rates_, model_);
    find_supplies(model_);
    for (const StatementFacts& statement : model_.statements) SIBYL_TRY(check_span(statement));
    return std::move(model_);
  }

 private:
  struct Place {
    std::string keyspace, name, file;
    uint32_t line = 0;
  };

  base::Status define(const std::string& text) {
    SIBYL_ASSIGN(const auto tree, cql::parse_statement(text));
    SIBYL_ASSIGN(plan::DefinitionResult result, plan::define(*tree, schema_, {.keyspace = keyspace_}));
    schema_ = std::move(result.schema);
    return {};
  }

  base::Status take(const Workload& workload, const CqlStatement& source) {
    SIBYL_ASSIGN(auto parsed, cql::parse_statement(source.text));
    const std::string text = unite_data_centres(*parsed) ? cql::print(*parsed) : source.text;
    const std::shared_ptr<const cql::Statement> tree = std::move(parsed);
    if (const auto* use = std::get_if<cql::Use>(&tree->node)) keyspace_ = use->keyspace;
    if (is_data(*tree)) add_statement(workload, source, tree);
    if (!is_definition(*tree)) return {};
    if (mixes_counters(*tree)) {
      model_.mixed.push_back({tree, workload.file, source.line});
      return {};
    }
    auto result = plan::define(*tree, schema_, {.keyspace = keyspace_});
    // The definition in the database takes precedence.
    if (!result && options_.observation != nullptr &&
        result.error().code() == base::ErrorCode::already_exists)
      return {};
    if (!result)
      return base::fail(base::Error(result.error().code(),
                                    fmt::format("{}:{}: {}", workload.file, line_of(source, result.error()),
                                                result.error().message()))
                            .with_hint(result.error().hint()));
    schema_ = std::move(result->schema);
    model_.definitions.push_back({text, keyspace_, tree});
    for (const schema::Change& change : result->changes) {
      if (change.target != schema::Change::Target::table) continue;
      const std::string key = change.keyspace + "." + change.name;
      if (change.kind == schema::Change::Kind::dropped)
        std::erase_if(places_, [&](const auto& place) { return place.first == key; });
      else if (change.kind == schema::Change::Kind::created)
        places_.emplace_back(key, Place{change.keyspace, change.name, workload.file, source.line});
    }
    return {};
  }

  void take_observation(const Observation& observation) {
    Workload place;
    place.file = observation.source;
    CqlStatement source;
    source.line = 0;
    for (const std::string& definition : observation.definitions) {
      source.text = definition;
      if (const base::Status taken = take(place, source); !taken)
        model_.internal_errors.push_back(fmt::format("cannot apply a definition of the database: {}: {}",
                                                     taken.error().message(), definition));
    }
    std::set<std::string> keyspaces;
    for (const auto& [key, where] : places_) keyspaces.insert(where.keyspace);
    if (keyspaces.size() == 1) keyspace_ = *keyspaces.begin();
    std::set<std::string> names;
    for (const ObservedShape& shape : observation.shapes) {
      if (shape.text.ends_with("…")) continue;  // the server has truncated the text
      auto tree = cql::parse_statement(shape.text);
      if (!tree || !is_data(**tree)) {
        model_.internal_errors.push_back(fmt::format("cannot parse a recorded statement: {}", shape.text));
        continue;
      }
      source.text = shape.text;
      source.name = shape_name(**tree);
      if (!names.insert(shape.keyspace + "." + shape.table + "/" + source.name).second)
        source.name += "_" + shape.id.substr(0, 4);
      observed_shapes_.push_back(cql::print_shape(**tree, shape.keyspace));
      add_statement(place, source, std::move(*tree));
      take_observed(shape, seconds_of(shape), model_.statements.back());
      model_.statements.back().ad_hoc = is_ad_hoc(shape, model_.statements.back());
    }
  }

  // True for statements that are not part of the workload: they ran once or twice, or a few times while
  // thousands of others ran, or only within a few seconds of a long observation (each page of a result is a
  // call), or they scan by token, as tools do.
  bool is_ad_hoc(const ObservedShape& shape, const StatementFacts& facts) const {
    constexpr double few = 3, several = 20, thousands = 2000;
    if (facts.select() == nullptr) return false;
    double most = 0, observed = 0;
    for (const ObservedShape& other : options_.observation->shapes) {
      most = std::max(most, other.calls);
      observed = std::max(observed, other.since_first);
    }
    constexpr double minute = 60, moment = 5, hundredth = 0.01;
    const bool is_burst =
        observed >= minute && shape.since_first - shape.since_last < std::max(moment, hundredth * observed);
    const bool is_rare = shape.calls < few || (shape.calls < several && shape.calls * thousands < most);
    const bool by_token =
        std::any_of(facts.select()->where.begin(), facts.select()->where.end(),
                    [](const cql::Relation& one) { return one.target == cql::Relation::Target::token; });
    return is_rare || is_burst || (by_token && facts.select()->limit == nullptr);
  }

  // The time for which statements on the shape's table have been counted.
  std::optional<double> seconds_of(const ObservedShape& shape) const {
    for (const ObservedTable& table : options_.observation->tables)
      if (table.keyspace == shape.keyspace && table.name == shape.table) return table.seconds;
    return std::nullopt;
  }

  void take_observed_tables() {
    if (options_.observation == nullptr) return;
    for (const ObservedTable& table : options_.observation->tables)
      if (TableFacts* facts = find_table(model_, table.keyspace + "." + table.name))
        take_observed(table, *facts);
  }

  // Returns the same statement among the observed ones, or nullptr.
  StatementFacts* find_observed(const cql::Statement& statement) {
    if (observed_shapes_.empty()) return nullptr;
    const auto found =
        std::find(observed_shapes_.begin(), observed_shapes_.end(), cql::print_shape(statement, keyspace_));
    if (found == observed_shapes_.end()) return nullptr;
    return &model_.statements[static_cast<size_t>(found - observed_shapes_.begin())];
  }

  void add_statement(const Workload& workload, const CqlStatement& source,
                     std::shared_ptr<const cql::Statement> tree) {
    StatementFacts* observed = source.line > 0 ? find_observed(*tree) : nullptr;
    StatementFacts fresh;
    StatementFacts& facts = observed != nullptr ? *observed : fresh;
    facts.ad_hoc = false;  // a file declares it as part of the workload
    if (observed == nullptr || !source.name.empty())
      facts.name = source.name.empty() ? fmt::format("line {}", source.line) : source.name;
    facts.group = source.group;
    facts.file = workload.file;
    facts.line = source.line;
    facts.text = source.text;
    while (!facts.text.empty() && std::string_view("; \n\r\t").find(facts.text.back()) != std::string::npos)
      facts.text.pop_back();
    facts.tree = std::move(tree);
    const auto option = [&](const char* name) { return find_option(source.options, name); };
    if (const Option* rate = option("rate")) {
      facts.rate = read_rate(rate->value).value_or(0);
      facts.origin = Origin::declared;
    }
    if (const Option* times = option("times")) facts.times = read_number(times->value).value_or(1);
    if (const Option* skew = option("skew")) facts.skew = read_zipf(skew->value).value_or(0);
    if (const Option* p50 = option("slo_p50")) facts.slo_p50 = read_seconds(p50->value);
    if (const Option* p99 = option("slo_p99")) facts.slo_p99 = read_seconds(p99->value);
    if (const Option* span = option("span")) facts.span = read_seconds(span->value);
    if (const Option* rows = option("rows")) facts.rows = read_number(rows->value);
    if (const Option* partitions = option("partitions")) facts.partitions = read_number(partitions->value);
    facts.keyspace = keyspace_;
    if (observed == nullptr) model_.statements.push_back(std::move(facts));
  }

  base::Status check_span(const StatementFacts& facts) const {
    if (!facts.span || facts.error) return {};
    const auto& uses = facts.explanation.uses;
    const TableFacts* table = uses.empty() ? nullptr : model_.find(*uses[0].table);
    if (facts.select() != nullptr && table != nullptr && table->has_period()) return {};
    return base::fail(
        base::Error(
            base::ErrorCode::syntax,
            fmt::format("{}:{}: span is the time range that a SELECT reads, one period per request; {}",
                        facts.file, facts.line,
                        facts.select() == nullptr
                            ? std::string("this is not a SELECT")
                            : fmt::format("the partition key of {} has no time period",
                                          table != nullptr ? table->name : "its table")))
            .with_hint("-- @column TABLE.COLUMN growth=1/d declares that a key column is a day."));
  }

  void take_targets(const std::vector<Workload>& workloads) {
    ReviewTarget& target = model_.target;
    // A database of one node has one replica of everything, even if its keyspaces declare more.
    const std::optional<size_t> observed =
        options_.observation != nullptr ? options_.observation->nodes : std::nullopt;
    target.machines_assumed = !observed;
    if (observed) target.nodes = target.replicas = std::max<size_t>(1, *observed);
    for (const auto& [key, place] : places_) {
      const schema::KeyspacePtr keyspace = schema_->find_keyspace(place.keyspace);
      for (const auto& [name, value] : keyspace->replication) {
        const auto factor = name == "class" ? std::nullopt : read_number(value);
        if (factor && place.keyspace != default_keyspace)
          target.replicas = std::max<size_t>(1, static_cast<size_t>(*factor));
        if (observed) target.replicas = std::min(target.replicas, *observed);
      }
    }
    for (const Workload& workload : workloads) {
      const auto number = [&](const char* name, size_t& into) {
        const Option* option = find_option(workload.target.options, name);
        if (option == nullptr) return;
        into = static_cast<size_t>(read_number(option->value).value_or(1));
        target.machines_assumed = false;
      };
      number("nodes", target.nodes);
      number("rf", target.replicas);
      number("vnodes", target.vnodes);
      if (workload.target.partition_bytes) target.partition_bytes = *workload.target.partition_bytes;
      if (workload.target.partition_rate) target.partition_rate = *workload.target.partition_rate;
      if (const Option* horizon = find_option(workload.target.options, "horizon"))
        target.horizon = read_seconds(horizon->value).value_or(target.horizon);
      if (const Option* latency = find_option(workload.target.options, "latency"))
        target.latency = read_seconds(latency->value);
    }
    target.nodes = std::max(target.nodes, target.replicas);
  }

  void add_table(const Place& place) {
    TableFacts facts;
    facts.table = schema_->find_table(place.keyspace, place.name);
    if (facts.table == nullptr) return;
    facts.name = place.keyspace == default_keyspace ? place.name : place.keyspace + "." + place.name;
    facts.file = place.file;
    facts.line = place.line;
    if (facts.table->options.default_time_to_live > 0)
      facts.retention = facts.table->options.default_time_to_live;
    for (const schema::Column& column : facts.table->columns) {
      ColumnFacts& known = facts.columns[column.name];
      if (column.type->kind() != types::Kind::boolean) continue;
      known.distinct = 2;
      known.distinct_origin = Origin::estimated;
    }
    model_.tables.push_back(std::move(facts));
  }

  void plan(StatementFacts& facts) {
    auto prepared = plan::prepare(facts.tree, facts.text, facts.keyspace, schema_);
    std::shared_ptr<const cql::Statement> tree = facts.tree;
    if (!prepared) {
      facts.error = prepared.error();
      if (facts.select() == nullptr || facts.select()->allow_filtering) return;
      auto filtering = cql::parse_statement(facts.text + " ALLOW FILTERING");
      if (!filtering) return;
      tree = std::move(*filtering);
      prepared = plan::prepare(tree, facts.text, facts.keyspace, schema_);
      if (!prepared) return;
    }
    facts.explanation = plan::explain(*tree, **prepared);
    for (const plan::Explanation::TableUse& use : facts.explanation.uses) {
      const auto found =
          std::find_if(model_.tables.begin(), model_.tables.end(), [&](const TableFacts& table) {
            return table.table->keyspace == use.table->keyspace && table.table->name == use.table->name;
          });
      if (found == model_.tables.end()) continue;
      const auto index = static_cast<size_t>(&use - facts.explanation.uses.data());
      TableRates& rates = rates_[found->name];
      rates.add(*facts.tree, index, use, facts.rate * facts.times);
      if (!facts.observed || !use.writes) continue;
      rates.loads_ended = rates.loads_ended.value_or(true) && has_ended(*facts.observed);
    }
  }

  // True if the statement has paused for much longer than the time between its calls, like a load of data
  // that has ended. In an observation of more than a day, calls may come once a day, so a pause must be
  // longer than half of it.
  bool has_ended(const ObservedShape& shape) const {
    constexpr double least = 10, pause = 20, day = 86'400, half = 0.5;
    const double seen = seconds_of(shape).value_or(shape.since_first);
    // Time in which no server ran does not count.
    const double idle = shape.since_last - std::max(0.0, shape.since_first - seen);
    if (idle > half * seen) return true;
    const double apart = std::max(0.0, shape.since_first - shape.since_last) / std::max(1.0, shape.calls);
    return seen < day && idle > std::max(least, pause * apart);
  }

  const ReviewOptions& options_;
  ReviewModel model_;
  schema::SnapshotPtr schema_;
  std::string keyspace_ = default_keyspace;
  std::vector<std::string> observed_shapes_;  // shapes of the observed statements, which come first
  std::vector<std::pair<std::string, Place>> places_;
  std::map<std::string, TableRates> rates_;  // by table name
};

}  // namespace

base::Result<ReviewModel> read_review_model(const std::vector<Workload>& workloads,
                                            const ReviewOptions& options) {
  return Reader(options).read(workloads);
}

}  // namespace sibyl::advisor
