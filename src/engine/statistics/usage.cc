#include "engine/statistics/usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <unordered_set>

#include "base/mutex.h"
#include "cql/shape.h"
#include "execute/write/batch.h"
#include "plan/statements/modify.h"
#include "plan/statements/select.h"
#include "schema/storage_ids.h"
#include "storage/store.h"
#include "types/keys/murmur3.h"
#include "types/text.h"

namespace sibyl::plan {

// The counts are guarded by the locks of their stripes.
class QueryShape : public std::enable_shared_from_this<QueryShape> {
 public:
  explicit QueryShape(engine::ShapeName what) : name(std::move(what)) {}

  const engine::ShapeName name;
  std::atomic<bool> is_listed{false};
  std::array<std::unique_ptr<engine::ShapeCounts>, engine::Usage::stripe_count> counts;
};

}  // namespace sibyl::plan

namespace sibyl::engine {

using base::Bytes;
using plan::QueryShape;

namespace {

constexpr size_t token_at = 4, key_at = 12;  // offsets in the prefix of a record key
constexpr uint64_t token_bias = uint64_t{1} << 63;

bool is_users(uint32_t storage_id) {
  return storage_id >= storage::PurgePolicy::first_table_id;
}

// Adds the tables that a plan reads or writes, each table once, by their ids.
struct TablesOf {
  std::vector<const schema::Table*>& tables;

  void operator()(const std::shared_ptr<const plan::Select>& select) const {
    tables.push_back(select->table.get());
  }
  void operator()(const std::shared_ptr<const plan::Modification>& write) const {
    tables.push_back(write->table.get());
  }
  void operator()(const std::shared_ptr<const plan::Batch>& batch) const {
    for (const auto& statement : batch->statements) tables.push_back(statement->table.get());
    const auto by_id = [](const schema::Table* table) { return table->storage_id; };
    std::ranges::sort(tables, {}, by_id);
    tables.erase(std::ranges::unique(tables, {}, by_id).begin(), tables.end());
  }
  template <typename Other>
  void operator()(const Other&) const {}
};

bool is_of(const ShapeName& name, const std::vector<const schema::Table*>& tables) {
  return std::equal(name.tables.begin(), name.tables.end(), tables.begin(), tables.end(),
                    [](uint32_t id, const schema::Table* table) { return id == table->storage_id; });
}

uint64_t id_of(std::string_view query) {
  return static_cast<uint64_t>(types::murmur3_token(query));
}

const char* kind_of(const cql::Statement& statement) {
  if (std::holds_alternative<cql::Select>(statement.node)) return "select";
  if (std::holds_alternative<cql::Insert>(statement.node)) return "insert";
  if (std::holds_alternative<cql::Update>(statement.node)) return "update";
  if (std::holds_alternative<cql::Delete>(statement.node)) return "delete";
  return "batch";
}

// Sets the fields that are derived from the query.
void finish_name(ShapeName& name, std::string query) {
  name.id = id_of(query);
  name.query = std::move(query);
  if (name.query.size() <= Usage::max_query_text) return;
  name.query.resize(types::whole_characters(name.query, Usage::max_query_text).size());
  name.query += "…";
}

// Keeps the ids sorted. Adding a table twice has no effect.
void add_table(ShapeName& name, const std::string& keyspace, const std::string& table, uint32_t id) {
  if (name.tables.empty())
    name.keyspace = keyspace;
  else if (name.tables.back() == id)
    return;
  name.table += (name.tables.empty() ? "" : ", ") + table;
  name.tables.push_back(id);
}

uint64_t mixed(uint64_t hash, uint64_t value) {
  return (std::rotl(hash, 23) ^ value) * 0x9e3779b97f4a7c15u;
}

}  // namespace

void ShapeCounts::merge(const ShapeCounts& other) {
  if (other.calls == 0) return;
  first_seen_micros =
      calls == 0 ? other.first_seen_micros : std::min(first_seen_micros, other.first_seen_micros);
  last_seen_micros = std::max(last_seen_micros, other.last_seen_micros);
  calls += other.calls;
  partitions_read += other.partitions_read;
  rows_read += other.rows_read;
  rows_returned += other.rows_returned;
  tombstones_read += other.tombstones_read;
  partitions_max = std::max(partitions_max, other.partitions_max);
  latency_micros.merge(other.latency_micros);
}

void TableCounts::merge(const TableCounts& other) {
  since_micros = since_micros == 0 ? other.since_micros : std::min(since_micros, other.since_micros);
  reads += other.reads;
  writes += other.writes;
  tombstones_per_read.merge(other.tombstones_per_read);
  partitions_read.merge(other.partitions_read);
  partitions_written.merge(other.partitions_written);
}

Usage::Usage(base::Clock& clock) : clock_(clock) {
  update_now();
  since_micros_ = clock_.now_micros();
}

Usage::~Usage() = default;

void Usage::update_now() {
  using std::chrono::duration_cast, std::chrono::microseconds;
  const auto steady =
      duration_cast<microseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
  clock_offset_.store(clock_.now_micros() - steady, std::memory_order_relaxed);
}

int64_t Usage::micros_of(Time time) const {
  using std::chrono::duration_cast, std::chrono::microseconds;
  return duration_cast<microseconds>(time.time_since_epoch()).count() +
         clock_offset_.load(std::memory_order_relaxed);
}

size_t Usage::stripe_of_thread() {
  static std::atomic<size_t> threads{0};
  thread_local const size_t stripe = threads.fetch_add(1, std::memory_order_relaxed) % stripe_count;
  return stripe;
}

// --- Shapes

std::shared_ptr<QueryShape> Usage::shape_of(const cql::Statement& statement, const plan::Prepared& plan) {
  thread_local std::vector<const schema::Table*> tables;
  tables.clear();
  std::visit(TablesOf{tables}, plan.plan);
  if (tables.empty() || !std::all_of(tables.begin(), tables.end(),
                                     [](const schema::Table* table) { return is_users(table->storage_id); }))
    return nullptr;
  std::string query = cql::print_shape(statement, plan.keyspace);
  {
    // Texts with literal values are planned each time, and nearly all have a known shape.
    const base::MutexLock lock(shapes_mutex_);
    const auto found = shapes_.find(id_of(query));
    if (found != shapes_.end() && is_of(found->second->name, tables)) return found->second;
  }
  ShapeName name;
  name.kind = kind_of(statement);
  for (const schema::Table* table : tables) add_table(name, table->keyspace, table->name, table->storage_id);
  finish_name(name, std::move(query));
  return find_or_add(std::move(name));
}

std::shared_ptr<QueryShape> Usage::shape_of(cql::Batch::Kind kind,
                                            const std::vector<execute::BatchItem>& items) {
  std::vector<const QueryShape*> shapes;
  for (const execute::BatchItem& item : items) {
    const QueryShape* shape = item.statement->shape.get();
    if (shape == nullptr) return nullptr;
    shapes.push_back(shape);
  }
  if (shapes.empty()) return nullptr;
  const auto by_id = [](const QueryShape* shape) { return shape->name.id; };
  std::ranges::sort(shapes, {}, by_id);
  shapes.erase(std::ranges::unique(shapes, {}, by_id).begin(), shapes.end());
  // Includes the tables' ids, since a table may have been dropped and created again.
  uint64_t hash = static_cast<uint64_t>(kind);
  for (const QueryShape* shape : shapes)
    hash = mixed(mixed(hash, shape->name.id), shape->name.tables.front());
  {
    const base::MutexLock lock(shapes_mutex_);
    if (const auto found = batches_.find(hash); found != batches_.end()) return found->second;
  }
  ShapeName name;
  name.kind = "batch";
  std::ranges::sort(shapes, {}, [](const QueryShape* shape) { return shape->name.tables.front(); });
  std::set<std::string> queries;
  for (const QueryShape* shape : shapes) {
    add_table(name, shape->name.keyspace, shape->name.table, shape->name.tables.front());
    queries.insert(" " + shape->name.query + ";");  // the queries as they are printed
  }
  std::string query = "BEGIN ";
  if (kind == cql::Batch::Kind::unlogged) query += "UNLOGGED ";
  if (kind == cql::Batch::Kind::counter) query += "COUNTER ";
  query += "BATCH";
  for (const std::string& one : queries) query += one;
  finish_name(name, query + " APPLY BATCH");
  std::shared_ptr<QueryShape> shape = find_or_add(std::move(name));
  const base::MutexLock lock(shapes_mutex_);
  if (batches_.size() >= max_shapes) batches_.clear();
  batches_[hash] = shape;
  return shape;
}

// Also compares the tables' ids, since a table of the same name may have been dropped.
std::shared_ptr<QueryShape> Usage::find_or_add(ShapeName name) {
  const base::MutexLock lock(shapes_mutex_);
  if (const auto found = shapes_.find(name.id); found != shapes_.end()) {
    if (found->second->name.tables == name.tables) return found->second;
    unlist(*found->second);
    shapes_.erase(found);
  }
  auto shape = std::make_shared<QueryShape>(std::move(name));
  list(shape);
  return shape;
}

void Usage::list(std::shared_ptr<QueryShape> shape) {
  if (shapes_.size() >= max_shapes) make_room();
  shape->is_listed.store(true, std::memory_order_relaxed);
  const uint64_t id = shape->name.id;
  shapes_[id] = std::move(shape);
}

void Usage::unlist(QueryShape& shape) {
  shape.is_listed.store(false, std::memory_order_relaxed);
  for (size_t i = 0; i < stripe_count; ++i) {
    const base::MutexLock lock(stripes_[i].mutex);
    shape.counts[i].reset();
  }
}

void Usage::make_room() {
  std::unordered_map<uint64_t, uint64_t> calls;
  for (size_t i = 0; i < stripe_count; ++i) {
    const base::MutexLock lock(stripes_[i].mutex);
    for (const auto& [id, shape] : shapes_)
      if (shape->counts[i]) calls[id] += shape->counts[i]->calls;
  }
  std::vector<std::pair<uint64_t, uint64_t>> by_calls;
  for (const auto& [id, shape] : shapes_) by_calls.emplace_back(calls[id], id);
  const size_t going = max_shapes / 8;
  std::nth_element(by_calls.begin(), by_calls.begin() + going, by_calls.end());
  for (size_t i = 0; i < going; ++i) {
    const auto found = shapes_.find(by_calls[i].second);
    unlist(*found->second);
    shapes_.erase(found);
  }
}

// Lists the shape again, or returns another one of the same name that was added in the meantime.
std::shared_ptr<QueryShape> Usage::list_again(QueryShape& shape) {
  const base::MutexLock lock(shapes_mutex_);
  const auto found = shapes_.find(shape.name.id);
  if (found != shapes_.end() && found->second->name.tables == shape.name.tables) return found->second;
  // If another shape has this id, the tables of this shape were dropped and created again. The counts of this
  // shape are then never read.
  if (found == shapes_.end()) list(shape.shared_from_this());
  return shape.shared_from_this();
}

// --- Counting

void Usage::ended(const execute::Counted& counted, const execute::ResultSet& result) {
  QueryShape* known = counted.shape.get();
  std::shared_ptr<QueryShape> listed;  // replaces a shape that was evicted
  if (!known->is_listed.load(std::memory_order_relaxed)) {
    listed = list_again(*known);
    known = listed.get();
  }
  QueryShape& shape = *known;
  const Time now = std::chrono::steady_clock::now();
  const auto taken = std::chrono::duration_cast<std::chrono::microseconds>(now - counted.started).count();
  const size_t at = stripe_of_thread();
  const base::MutexLock lock(stripes_[at].mutex);
  if (!shape.counts[at]) shape.counts[at] = std::make_unique<ShapeCounts>();
  ShapeCounts& counts = *shape.counts[at];
  counts.last_seen_micros = micros_of(now);
  if (counts.calls == 0) counts.first_seen_micros = counts.last_seen_micros;
  ++counts.calls;
  counts.partitions_read += result.partitions_read;
  counts.rows_read += result.rows_read;
  counts.rows_returned += result.rows.count();
  counts.tombstones_read += result.tombstones_read;
  counts.partitions_max =
      std::max({counts.partitions_max, result.partitions_read, result.partitions_written});
  counts.latency_micros.add(static_cast<uint64_t>(std::max<int64_t>(taken, 0)));
}

TableCounts& Usage::table_of(Stripe& stripe, uint32_t id) {
  if (stripe.recent != nullptr && stripe.recent_id == id) return *stripe.recent;
  const auto [found, is_new] = stripe.tables.try_emplace(id);
  if (is_new) found->second.since_micros = clock_.now_micros();
  stripe.recent_id = id;
  stripe.recent = &found->second;
  return found->second;
}

void Usage::read(const schema::Table& table, std::span<const Bytes> keys, uint64_t tombstones) {
  if (!is_users(table.storage_id)) return;
  Stripe& stripe = stripes_[stripe_of_thread()];
  const base::MutexLock lock(stripe.mutex);
  TableCounts& counts = table_of(stripe, table.storage_id);
  ++counts.reads;
  counts.tombstones_per_read.add(tombstones);
  for (const Bytes& key : keys)
    counts.partitions_read.add(static_cast<uint64_t>(types::murmur3_token(key)), key);
}

void Usage::written(const schema::Table& table, std::span<const Bytes> prefixes) {
  if (!is_users(table.storage_id)) return;
  Stripe& stripe = stripes_[stripe_of_thread()];
  const base::MutexLock lock(stripe.mutex);
  TableCounts& counts = table_of(stripe, table.storage_id);
  ++counts.writes;
  for (const Bytes& prefix : prefixes) {
    const base::BytesView view = prefix;
    counts.partitions_written.add(base::read_big_endian<uint64_t>(view.substr(token_at)) ^ token_bias,
                                  view.substr(key_at));
  }
}

// --- Reading

std::vector<Usage::Shape> Usage::shapes() const {
  std::vector<std::shared_ptr<QueryShape>> listed;
  {
    const base::MutexLock lock(shapes_mutex_);
    for (const auto& [id, shape] : shapes_) listed.push_back(shape);
  }
  // The lock of a stripe is held for one copy at a time, so that counting threads wait only briefly.
  std::vector<Shape> out;
  for (const std::shared_ptr<QueryShape>& shape : listed) {
    ShapeCounts all;
    for (size_t i = 0; i < stripe_count; ++i) {
      ShapeCounts counts;
      {
        const base::MutexLock lock(stripes_[i].mutex);
        if (!shape->counts[i]) continue;
        counts = *shape->counts[i];
      }
      all.merge(counts);
    }
    if (all.calls > 0) out.push_back({shape->name, std::move(all)});
  }
  return out;
}

std::map<uint32_t, TableCounts> Usage::tables() const {
  std::map<uint32_t, TableCounts> out;
  for (const Stripe& stripe : stripes_) {
    std::vector<uint32_t> ids;
    {
      const base::MutexLock lock(stripe.mutex);
      for (const auto& [id, counts] : stripe.tables) ids.push_back(id);
    }
    for (const uint32_t id : ids) {
      TableCounts counts;
      {
        const base::MutexLock lock(stripe.mutex);
        const auto found = stripe.tables.find(id);
        if (found == stripe.tables.end()) continue;
        counts = found->second;
      }
      out[id].merge(counts);
    }
  }
  return out;
}

void Usage::forget_dropped(const schema::Snapshot& schema) {
  const std::unordered_set<uint32_t> present = schema::table_ids(schema);
  const base::MutexLock lock(shapes_mutex_);
  const auto is_gone = [&](const QueryShape& shape) {
    return !std::all_of(shape.name.tables.begin(), shape.name.tables.end(),
                        [&](uint32_t id) { return present.contains(id); });
  };
  std::erase_if(batches_, [&](const auto& entry) { return is_gone(*entry.second); });
  std::erase_if(shapes_, [&](const auto& entry) {
    if (!is_gone(*entry.second)) return false;
    unlist(*entry.second);
    return true;
  });
  for (Stripe& stripe : stripes_) {
    const base::MutexLock stripe_lock(stripe.mutex);
    stripe.recent = nullptr;
    std::erase_if(stripe.tables, [&](const auto& entry) { return !present.contains(entry.first); });
  }
}

uint64_t Usage::counted_micros(int64_t since_micros) const {
  const int64_t now = clock_.now_micros();
  int64_t counted = now - since_micros;
  for (const Pause& pause : pauses_)
    counted -= std::max<int64_t>(0, pause.end_micros - std::max(pause.begin_micros, since_micros));
  return static_cast<uint64_t>(std::max<int64_t>(0, counted));
}

void Usage::load(int64_t since_micros, std::vector<Pause> pauses, std::vector<Shape> shapes,
                 std::map<uint32_t, TableCounts> tables) {
  since_micros_ = since_micros;
  pauses_ = std::move(pauses);
  // If there are too many pauses, merges the oldest two. Compared with the time after them, little was
  // counted between them.
  while (pauses_.size() > max_pauses) {
    pauses_[1].begin_micros -= pauses_[0].end_micros - pauses_[0].begin_micros;
    pauses_.erase(pauses_.begin());
  }
  const base::MutexLock lock(shapes_mutex_);
  for (Shape& one : shapes) {
    auto shape = std::make_shared<QueryShape>(std::move(one.name));
    shape->counts[0] = std::make_unique<ShapeCounts>(std::move(one.counts));
    list(std::move(shape));
  }
  const base::MutexLock stripe_lock(stripes_[0].mutex);
  for (auto& [id, counts] : tables) stripes_[0].tables[id] = std::move(counts);
}

}  // namespace sibyl::engine
