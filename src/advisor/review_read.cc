// Files into a ReviewModel: definitions into a schema, statements into plans, directives into statistics.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "advisor/review_model.h"
#include "advisor/stored_size.h"
#include "cql/parser.h"
#include "cql/shape.h"
#include "plan/definitions.h"

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

// Queries are planned as if every index had been built.
schema::SnapshotPtr with_built_indexes(const schema::SnapshotPtr& snapshot) {
  auto out = std::make_shared<schema::Snapshot>(*snapshot);
  for (auto& [name, keyspace] : out->keyspaces) {
    auto copy = std::make_shared<schema::Keyspace>(*keyspace);
    for (auto& [table_name, table] : copy->tables) {
      if (table->indexes.empty()) continue;
      auto built = std::make_shared<schema::Table>(*table);
      for (schema::Index& index : built->indexes) index.is_built = true;
      table = std::move(built);
    }
    keyspace = std::move(copy);
  }
  return out;
}

StoredColumn stored(const schema::Column& column, const TableFacts& facts) {
  const ColumnFacts& known = facts.column(column);
  StoredColumn out;
  out.role = column.is_partition_key() ? StoredColumn::Role::partition
             : column.is_clustering()  ? StoredColumn::Role::clustering
             : column.is_static()      ? StoredColumn::Role::fixed
                                       : StoredColumn::Role::regular;
  out.type = column.type;
  out.size = known.size.value_or(0);
  out.elements = known.elements.value_or(0);
  const bool counted = column.is_partition_key() && facts.table->partition_key_count == 1;
  out.distinct = known.distinct.value_or(counted ? facts.partitions.value_or(0) : 0);
  return out;
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
    for (const Workload& workload : workloads) SIBYL_TRY(take_statistics(workload));
    for (StatementFacts& statement : model_.statements) plan(statement);
    for (TableFacts& facts : model_.tables) inherit_from_base(facts);
    for (TableFacts& facts : model_.tables) conclude(facts);
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
    const std::shared_ptr<const cql::Statement> tree = std::move(parsed);
    if (const auto* use = std::get_if<cql::Use>(&tree->node)) keyspace_ = use->keyspace;
    if (is_data(*tree)) add_statement(workload, source, tree);
    if (!is_definition(*tree)) return {};
    if (mixes_counters(*tree)) {
      model_.mixed.push_back({tree, workload.file, source.line});
      return {};
    }
    auto result = plan::define(*tree, schema_, {.keyspace = keyspace_});
    // The database's own definition is the one that holds.
    if (!result && options_.observation != nullptr &&
        result.error().code() == base::ErrorCode::already_exists)
      return {};
    if (!result)
      return base::fail(base::Error(result.error().code(), fmt::format("{}:{}: {}", workload.file,
                                                                       source.line, result.error().message()))
                            .with_hint(result.error().hint()));
    schema_ = std::move(result->schema);
    model_.definitions.push_back({source.text, keyspace_, tree});
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
        model_.internal_errors.push_back(fmt::format(
            "a definition that the database gives is refused: {}: {}", taken.error().message(), definition));
    }
    std::set<std::string> keyspaces;
    for (const auto& [key, where] : places_) keyspaces.insert(where.keyspace);
    if (keyspaces.size() == 1) keyspace_ = *keyspaces.begin();
    std::set<std::string> names;
    for (const ObservedShape& shape : observation.shapes) {
      if (shape.text.ends_with("…")) continue;  // too long to be kept whole
      auto tree = cql::parse_statement(shape.text);
      if (!tree || !is_data(**tree)) {
        model_.internal_errors.push_back(
            fmt::format("a statement that the database has seen cannot be read: {}", shape.text));
        continue;
      }
      source.text = shape.text;
      source.name = shape_name(**tree);
      if (!names.insert(shape.keyspace + "." + shape.table + "/" + source.name).second)
        source.name += "_" + shape.id.substr(0, 4);
      observed_shapes_.push_back(cql::print_shape(**tree, shape.keyspace));
      add_statement(place, source, std::move(*tree));
      take_observed(shape, seconds_of(shape), model_.statements.back());
    }
  }

  // How long statements on the shape's table have been counted.
  std::optional<double> seconds_of(const ObservedShape& shape) const {
    for (const ObservedTable& table : options_.observation->tables)
      if (table.keyspace == shape.keyspace && table.name == shape.table) return table.seconds;
    return std::nullopt;
  }

  void take_observed_tables() {
    if (options_.observation == nullptr) return;
    for (const ObservedTable& table : options_.observation->tables)
      if (TableFacts* facts = find_table(table.keyspace + "." + table.name)) take_observed(table, *facts);
  }

  // The same statement as it was observed; nullptr: it was not.
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
    if (const Option* rows = option("rows")) facts.rows = read_number(rows->value);
    if (const Option* partitions = option("partitions")) facts.partitions = read_number(partitions->value);
    facts.keyspace = keyspace_;
    if (observed == nullptr) model_.statements.push_back(std::move(facts));
  }

  void take_targets(const std::vector<Workload>& workloads) {
    ReviewTarget& target = model_.target;
    for (const auto& [key, place] : places_) {
      const schema::KeyspacePtr keyspace = schema_->find_keyspace(place.keyspace);
      for (const auto& [name, value] : keyspace->replication) {
        const auto factor = name == "class" ? std::nullopt : read_number(value);
        if (factor && place.keyspace != default_keyspace)
          target.replicas = std::max<size_t>(1, static_cast<size_t>(*factor));
      }
    }
    for (const Workload& workload : workloads) {
      const auto number = [&](const char* name, size_t& into) {
        const Option* option = find_option(workload.target.options, name);
        if (option != nullptr) into = static_cast<size_t>(read_number(option->value).value_or(1));
      };
      number("nodes", target.nodes);
      number("rf", target.replicas);
      number("vnodes", target.vnodes);
      if (workload.target.partition_bytes) target.partition_bytes = *workload.target.partition_bytes;
      if (workload.target.partition_rate) target.partition_rate = *workload.target.partition_rate;
      if (const Option* horizon = find_option(workload.target.options, "horizon"))
        target.horizon = read_seconds(horizon->value).value_or(target.horizon);
    }
    target.nodes = std::max(target.nodes, target.replicas);
  }

  static bool sounds_like_a_period(const std::string& name) {
    constexpr std::array words = {"hour", "day",    "date",   "week",  "month",
                                  "year", "minute", "bucket", "period"};
    return std::any_of(words.begin(), words.end(),
                       [&](const char* word) { return name.find(word) != std::string::npos; });
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

  // As it is written, else as CQL reads names without quotes.
  TableFacts* find_table(const std::string& written) {
    for (const std::string& name : {written, in_lower_case(written)}) {
      for (TableFacts& facts : model_.tables) {
        const schema::Table& table = *facts.table;
        if (table.name == name || table.keyspace + "." + table.name == name) return &facts;
      }
    }
    return nullptr;
  }

  static std::string in_lower_case(std::string name) {
    for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return name;
  }

  base::Status take_statistics(const Workload& workload) {
    for (const TableStatistics& statistics : workload.statistics) {
      TableFacts* facts = find_table(statistics.table);
      if (facts == nullptr) return unknown(workload, statistics, "table", statistics.table, table_names());
      if (statistics.column.empty()) {
        take_table_options(*facts, statistics.options);
        continue;
      }
      auto column = facts->columns.find(statistics.column);
      if (column == facts->columns.end()) column = facts->columns.find(in_lower_case(statistics.column));
      if (column == facts->columns.end()) {
        std::vector<std::string> names;
        for (const auto& [name, known] : facts->columns) names.push_back(name);
        return unknown(workload, statistics, "column", statistics.column, names);
      }
      take_column_options(column->second, statistics.options);
    }
    return {};
  }

  std::vector<std::string> table_names() const {
    std::vector<std::string> names;
    for (const TableFacts& facts : model_.tables) names.push_back(facts.table->name);
    return names;
  }

  static base::Status unknown(const Workload& workload, const TableStatistics& statistics,
                              std::string_view kind, const std::string& name,
                              const std::vector<std::string>& candidates) {
    const std::string near = nearest(name, candidates);
    return base::fail(base::ErrorCode::syntax,
                      fmt::format("{}:{}: no {} '{}' is created here{}", workload.file, statistics.line, kind,
                                  name, near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
  }

  static std::optional<double> positive(std::optional<double> value) {
    return value && *value > 0 ? value : std::nullopt;
  }

  static void take_table_options(TableFacts& facts, const Options& options) {
    forget_measured(facts, options);
    for (const Option& option : options) {
      const std::string& name = option.name;
      if (name == "rows") facts.rows = read_number(option.value);
      if (name == "partitions") facts.partitions = positive(read_number(option.value));
      if (name == "row") facts.row_bytes = read_bytes(option.value).value_or(0);
      if (name == "growth") facts.growth = positive(read_rate(option.value));
      if (name == "retention") facts.retention = positive(read_seconds(option.value));
      if (name == "reads") facts.reads = read_rate(option.value).value_or(0);
      if (name == "writes") facts.writes = read_rate(option.value).value_or(0);
      if (name == "p50") facts.p50 = positive(read_number(option.value));
      if (name == "p99") facts.p99 = positive(read_number(option.value));
      if (name == "max") facts.max = positive(read_number(option.value));
      if (name == "skew") facts.skew = read_zipf(option.value).value_or(0);
    }
    const Option* fanout = find_option(options, "fanout");
    const std::optional<double> mean =
        fanout != nullptr ? positive(read_number(fanout->value)) : std::nullopt;
    if (mean && facts.rows && !facts.partitions) facts.partitions = std::max(1.0, *facts.rows / *mean);
    if (mean && facts.partitions && !facts.rows) facts.rows = *facts.partitions * *mean;
  }

  // What is declared wins, and what was measured of the same and would contradict it goes.
  static void forget_measured(TableFacts& facts, const Options& options) {
    const auto declares = [&](std::initializer_list<const char*> names) {
      return std::any_of(names.begin(), names.end(),
                         [&](const char* name) { return find_option(options, name) != nullptr; });
    };
    if (facts.origin == Origin::measured && declares({"rows", "partitions", "row", "p50", "p99", "max"})) {
      facts.origin = Origin::declared;
      facts.partition_bytes.reset();
      facts.p50 = facts.p90 = facts.p99 = facts.max = std::nullopt;
    }
    if (declares({"reads", "writes"})) facts.rate_origin = Origin::declared;
    if (declares({"skew"})) facts.read_share = facts.write_share = facts.request_skew = std::nullopt;
  }

  static void take_column_options(ColumnFacts& facts, const Options& options) {
    for (const Option& option : options) {
      const std::string& name = option.name;
      if (name == "distinct") {
        facts.distinct = positive(read_number(option.value));
        facts.distinct_origin = Origin::declared;
      }
      if (name == "size") facts.size = positive(read_bytes(option.value));
      if (name == "skew") facts.skew = read_zipf(option.value).value_or(0);
      if (name == "growth") facts.growth = positive(read_rate(option.value));
      if (name == "max" || (name == "fanout" && !facts.elements))
        facts.elements = positive(read_number(option.value));
    }
  }

  // Whether the statement, or the index-th of a batch, is an INSERT.
  static bool inserts(const cql::Statement& statement, size_t index) {
    const auto* batch = std::get_if<cql::Batch>(&statement.node);
    if (batch == nullptr) return std::holds_alternative<cql::Insert>(statement.node);
    return index < batch->statements.size() && std::holds_alternative<cql::Insert>(batch->statements[index]);
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
      (use.writes ? write_rates_ : read_rates_)[found->name] += facts.rate * facts.times;
      const auto index = static_cast<size_t>(&use - facts.explanation.uses.data());
      if (inserts(*facts.tree, index)) insert_rates_[found->name] += facts.rate * facts.times;
    }
  }

  // A view has its base's rows and values, unless something else is said of it.
  void inherit_from_base(TableFacts& facts) {
    if (!facts.table->is_view()) return;
    for (const TableFacts& base : model_.tables) {
      if (base.table->keyspace != facts.table->keyspace || base.table->name != facts.table->view->base_table)
        continue;
      if (!facts.rows) facts.rows = base.rows;
      if (!facts.growth) facts.growth = base.growth;
      if (!facts.retention) facts.retention = base.retention;
      for (auto& [name, known] : facts.columns) {
        const auto own = base.columns.find(name);
        if (own != base.columns.end() && !known.distinct && !known.size && !known.growth) known = own->second;
      }
    }
  }

  // What the declarations imply.
  void conclude(TableFacts& facts) {
    const schema::Table& table = *facts.table;
    if (facts.reads == 0) facts.reads = read_rates_[facts.name];
    if (facts.writes == 0) facts.writes = write_rates_[facts.name];
    if (!facts.growth && insert_rates_[facts.name] > 0) {
      facts.growth = insert_rates_[facts.name];
      facts.growth_origin = Origin::estimated;
      // Some of what was inserted overwrote what was there: no more has grown than there is.
      if (facts.observed_seconds && facts.rows) {
        facts.growth =
            positive(std::min(*facts.growth, *facts.rows / std::max(1.0, *facts.observed_seconds)));
        facts.growth_origin = Origin::measured;
      }
    }
    if (facts.growth && facts.writes == 0) facts.writes = *facts.growth;
    for (const schema::Column& column : table.columns) {
      ColumnFacts& known = facts.columns[column.name];
      known.is_period = column.is_partition_key() && column.type->kind() != types::Kind::uuid &&
                        (is_time(column) || sounds_like_a_period(column.name)) &&
                        (known.growth || !known.distinct);
    }
    if (table.clustering_count == 0) facts.partitions = positive(facts.rows);
    if (!facts.partitions) facts.partitions = positive(partitions_by_values(facts));
    if (table.partition_key_count == 1 && facts.skew == 0)
      facts.skew = facts.column(table.partition_key(0)).skew;
    if (table.clustering_count == 0) facts.p50 = facts.p90 = facts.p99 = facts.max = std::nullopt;
    if (facts.row_bytes <= 0) facts.row_bytes = estimated_row_bytes(facts);
  }

  static std::optional<double> partitions_by_values(const TableFacts& facts) {
    double product = 1;
    for (size_t i = 0; i < facts.table->partition_key_count; ++i) {
      const ColumnFacts& known = facts.column(facts.table->partition_key(i));
      if (known.is_period && !known.distinct) return std::nullopt;
      if (!known.distinct) return std::nullopt;
      product *= *known.distinct;
    }
    return facts.rows ? std::min(product, *facts.rows) : product;
  }

  const ReviewOptions& options_;
  ReviewModel model_;
  schema::SnapshotPtr schema_;
  std::string keyspace_ = default_keyspace;
  std::vector<std::string> observed_shapes_;  // of the first statements: those that were observed
  std::vector<std::pair<std::string, Place>> places_;
  std::map<std::string, double> read_rates_, write_rates_, insert_rates_;
};

}  // namespace

double estimated_row_bytes(const TableFacts& facts) {
  std::vector<StoredColumn> columns;
  for (const schema::Column& column : facts.table->columns) columns.push_back(stored(column, facts));
  const StoredSizes sizes = stored_sizes(columns, facts.table->options.default_time_to_live > 0);
  const auto rows = facts.rows_per_partition();
  return sizes.row + (rows ? sizes.partition / std::max(1.0, rows->mean) : 0);
}

base::Result<ReviewModel> read_review_model(const std::vector<Workload>& workloads,
                                            const ReviewOptions& options) {
  return Reader(options).read(workloads);
}

}  // namespace sibyl::advisor
