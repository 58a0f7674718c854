#include "execute/vector/vector_indexes.h"

#include "base/check.h"
#include "execute/row_change.h"
#include "row/fragment.h"
#include "row/record_key.h"
#include "schema/index.h"

namespace sibyl::execute {

namespace {

constexpr size_t table_id_size = 4;
// A graph that is not searched is dropped when this many changes are pending.
constexpr size_t max_pending = 100'000;

uint32_t table_id_of(BytesView key) {
  uint32_t id = 0;
  for (size_t i = 0; i < table_id_size && i < key.size(); ++i) id = id << 8 | static_cast<uint8_t>(key[i]);
  return id;
}

}  // namespace

plan::Similarity similarity_of(const schema::Index& index) {
  auto found = index.options.find("similarity_function");
  if (found == index.options.end()) return plan::Similarity::cosine;
  return plan::similarity_of(found->second).value_or(plan::Similarity::cosine);
}

Bytes vector_entry_key(const schema::Index& index, BytesView partition_key, BytesView clustering) {
  return row::row_record_key(row::partition_prefix(index.storage_id, partition_key), clustering);
}

namespace {

const row::Cell* vector_of(const schema::Index& index, const row::Fragment& row) {
  for (const row::Cell& cell : row.cells)
    if (cell.column == index.column_id && !cell.value.empty()) return &cell;
  return nullptr;
}

bool is_same(const row::Cell* left, const row::Cell* right) {
  if (left == nullptr || right == nullptr) return left == right;
  return left->value == right->value && left->kind == right->kind &&
         left->expires_seconds == right->expires_seconds;
}

}  // namespace

base::Status check_vector_change(const schema::Index& index, const RowChange& change) {
  const schema::Column& column = *change.table.find_by_id(index.column_id);
  if (!schema::is_vector_index(change.table, index) || column.is_static() != change.is_static) return {};
  const row::Cell* after = vector_of(index, change.after);
  if (after == nullptr || is_same(vector_of(index, change.before), after)) return {};
  return plan::check_indexable(similarity_of(index), plan::decode_floats(after->value));
}

void write_vector_change(const schema::Index& index, const RowChange& change, storage::WriteSet& writes) {
  const schema::Column& column = *change.table.find_by_id(index.column_id);
  if (column.is_static() != change.is_static) return;
  const row::Cell* after = vector_of(index, change.after);
  if (is_same(vector_of(index, change.before), after)) return;
  Bytes key = vector_entry_key(index, change.partition_key, change.clustering);
  const bool has_place =
      after != nullptr && plan::check_indexable(similarity_of(index), plan::decode_floats(after->value));
  if (!has_place) {
    writes.erase(std::move(key));
    return;
  }
  row::Fragment entry;
  entry.cells.push_back(*after);
  Bytes encoded;
  row::encode(entry, encoded);
  writes.put(std::move(key), std::move(encoded));
}

struct VectorIndexes::Graph {
  Graph(plan::Similarity similarity, size_t dimension) : vectors(similarity, dimension) {}

  // Returns false if too many changes are pending.
  bool add(Change change) {
    std::lock_guard lock(pending_mutex);
    if (pending.size() >= max_pending) return false;
    pending.push_back(std::move(change));
    return true;
  }
  // REQUIRES: settling_mutex is held.
  void settle_in_order() {
    std::vector<Change> changes;
    {
      std::lock_guard lock(pending_mutex);
      changes.swap(pending);
    }
    for (const Change& change : changes) {
      if (change.vector)
        vectors.put(change.row, *change.vector);
      else
        vectors.erase(change.row);
    }
  }
  // Loads the graph. REQUIRES: settling_mutex is held. Changes committed meanwhile are queued in `pending`.
  // Applying changes that the iterator has already seen is harmless.
  base::Status load(const storage::Store& store, uint32_t storage_id, int64_t now_seconds) {
    auto records = store.iterate(row::table_begin(storage_id), row::table_end(storage_id));
    row::Fragment entry;
    for (records->seek_to_first(); records->valid(); records->next()) {
      if (!row::decode(records->value(), entry)) continue;
      if (!row::visible_at(entry, {}, now_seconds) || entry.cells.empty()) continue;
      vectors.put(records->key().substr(table_id_size), plan::decode_floats(entry.cells[0].value));
    }
    SIBYL_TRY(records->status());
    is_loaded = true;
    return {};
  }

  VectorGraph vectors;
  std::mutex settling_mutex;  // serialises the application of changes, so that they keep their order
  bool is_loaded = false;     // guarded by settling_mutex
  std::mutex pending_mutex;
  std::vector<Change> pending;
};

VectorIndexes::VectorIndexes() = default;
VectorIndexes::~VectorIndexes() = default;

std::shared_ptr<VectorIndexes::Graph> VectorIndexes::find(uint32_t storage_id) const {
  std::shared_lock lock(mutex_);
  auto found = graphs_.find(storage_id);
  return found == graphs_.end() ? nullptr : found->second;
}

base::Result<std::vector<VectorIndexes::Row>> VectorIndexes::nearest(const storage::Store& store,
                                                                     const schema::Table& table,
                                                                     const schema::Index& index,
                                                                     std::span<const float> query,
                                                                     size_t count, int64_t now_seconds) {
  std::shared_ptr<Graph> graph = find(index.storage_id);
  if (!graph) {
    const schema::Column* column = table.find_by_id(index.column_id);
    SIBYL_CHECK(column != nullptr);
    std::unique_lock lock(mutex_);
    std::shared_ptr<Graph>& place = graphs_[index.storage_id];
    if (!place) place = std::make_shared<Graph>(similarity_of(index), column->type->dimension());
    graph = place;
  }
  {
    std::lock_guard order(graph->settling_mutex);
    if (!graph->is_loaded) SIBYL_TRY(graph->load(store, index.storage_id, now_seconds));
    graph->settle_in_order();
  }
  std::vector<Row> rows;
  for (const Bytes& name : graph->vectors.nearest(query, count)) {
    const Bytes key = row::table_begin(index.storage_id) + name;
    row::RecordKey parsed;
    Row row;
    SIBYL_CHECK(row::parse_record_key(key, parsed) &&
                row::decode_partition_key(parsed.prefix(key), row.partition_key));
    row.clustering = Bytes(parsed.rest);
    rows.push_back(std::move(row));
  }
  return rows;
}

void VectorIndexes::watch(std::set<uint32_t> storage_ids) {
  std::unique_lock lock(mutex_);
  watched_ = std::move(storage_ids);
  std::erase_if(graphs_, [&](const auto& graph) { return !watched_.contains(graph.first); });
}

// Returns the changes of all watched indexes, even of those without a graph: a graph may be built while the
// write is in flight, from records that do not include it yet.
std::vector<VectorIndexes::Change> VectorIndexes::changes_of(const storage::WriteSet& writes) const {
  std::vector<Change> changes;
  std::shared_lock lock(mutex_);
  if (watched_.empty()) return changes;
  using Action = storage::WriteSet::Action;
  for (const storage::WriteSet::Operation& operation : writes.operations()) {
    const uint32_t storage_id = table_id_of(operation.key);
    if (!watched_.contains(storage_id)) continue;
    Change& change = changes.emplace_back();
    change.storage_id = storage_id;
    if (operation.action == Action::erase_range) continue;
    change.row = operation.key.substr(table_id_size);
    row::Fragment entry;
    if (operation.action == Action::put && row::decode(operation.value, entry) && !entry.cells.empty())
      change.vector = plan::decode_floats(entry.cells[0].value);
  }
  return changes;
}

void VectorIndexes::committed(std::vector<Change> changes) {
  for (Change& change : changes) {
    const std::shared_ptr<Graph> graph = find(change.storage_id);
    if (!graph) continue;
    const uint32_t storage_id = change.storage_id;
    const bool all_gone = change.row.empty();
    if (!all_gone && graph->add(std::move(change))) continue;
    // The next search builds a new graph. Concurrent searches of the old one may return deleted rows, which
    // the reader skips.
    std::unique_lock lock(mutex_);
    if (auto found = graphs_.find(storage_id); found != graphs_.end() && found->second == graph)
      graphs_.erase(found);
  }
}

}  // namespace sibyl::execute
