#include "execute/read/index_entries.h"

#include <limits>

#include "execute/corrupt.h"
#include "row/record_key.h"
#include "types/keys/key.h"
#include "types/keys/key_decode.h"
#include "types/keys/murmur3.h"
#include "types/value.h"

namespace sibyl::execute {

using plan::TermForm;
using row::Marker;
using schema::Index;
using types::Kind;

namespace {

constexpr int64_t never = std::numeric_limits<int64_t>::max();

int64_t end_of(const Marker& marker) {
  return marker.time_to_live == 0 ? never : marker.expires_seconds;
}

Marker marker_of(const row::Cell& cell) {
  if (cell.kind != row::CellKind::expiring) return {cell.timestamp, 0, 0};
  return {cell.timestamp, cell.time_to_live, cell.expires_seconds};
}

// Replaces `marker` with `other` if that lives longer.
void extend(Marker& marker, const Marker& other) {
  if (!marker.exists() || end_of(other) > end_of(marker)) marker = other;
}

// A row exists as long as its marker or any of its cells.
Marker life_of(const row::Fragment& row) {
  Marker life = row.marker;
  for (const row::Cell& cell : row.cells) extend(life, marker_of(cell));
  return life;
}

std::vector<Bytes> cell_terms(const TermForm& form, const schema::Column& column, Index::Target target,
                              const row::Cell& cell) {
  if (!column.type->is_multi_cell()) return form.terms({}, cell.value);
  switch (target) {
    case Index::Target::keys:
      return form.terms({}, element_of(*column.type, cell));
    case Index::Target::entries:
      return form.terms(element_of(*column.type, cell), cell.value);
    default:
      return form.terms(
          {}, column.type->kind() == Kind::set ? element_of(*column.type, cell) : Bytes(cell.value));
  }
}

base::Result<Bytes> key_component(const schema::Table& table, const schema::Column& column,
                                  BytesView serialised_partition_key, BytesView clustering,
                                  const row::Fragment& row) {
  const auto position = static_cast<size_t>(column.position);
  if (column.is_partition_key()) {
    SIBYL_ASSIGN(std::vector<Bytes> parts,
                 types::split_partition_key(serialised_partition_key, table.partition_key_count));
    return std::move(parts[position]);
  }
  if (!row.original_clustering.empty()) {
    base::Reader reader(row.original_clustering);
    BytesView value;
    for (size_t i = 0; i <= position; ++i) reader.sized(value);
    if (!reader.ok()) return base::fail(corrupt_key());
    return Bytes(value);
  }
  for (size_t i = 0;; ++i) {
    const schema::Column& one = table.clustering(i);
    SIBYL_ASSIGN(Bytes value, types::decode_key(*one.type, one.descending, clustering));
    if (i == position) return value;
  }
}

}  // namespace

Bytes element_of(const types::Type& type, const row::Cell& cell) {
  if (!cell.original_path.empty()) return Bytes(cell.original_path);
  BytesView path = cell.path;
  auto decoded = types::decode_key(*type.parameters()[0], false, path);
  return decoded ? std::move(*decoded) : Bytes();
}

Bytes index_prefix(const Index& index, const storage::EntryRun& run) {
  return row::row_record_key(row::partition_prefix(index.storage_id, run.token, {}), {});
}

Bytes row_suffix(BytesView serialised_partition_key, bool is_static, BytesView clustering) {
  const Bytes prefix = row::partition_prefix(0, serialised_partition_key);
  const Bytes key = is_static ? row::partition_record_key(prefix) : row::row_record_key(prefix, clustering);
  return key.substr(sizeof(uint32_t));
}

int64_t token_of_suffix(BytesView suffix) {
  constexpr size_t token_size = 8;
  Bytes token(suffix.substr(0, token_size));
  token.resize(token_size, '\0');
  return types::decode_token(token);
}

bool leads_to_partitions(const schema::Table& table, const Index& index) {
  const schema::Column& column = *table.find_by_id(index.column_id);
  return column.is_static() || column.is_partition_key();
}

base::Result<RowTerms> row_terms(const schema::Table& table, const Index& index,
                                 BytesView serialised_partition_key, bool is_static, BytesView clustering,
                                 const row::Fragment& row) {
  RowTerms terms;
  const schema::Column& column = *table.find_by_id(index.column_id);
  const TermForm form = TermForm::of(table, index);
  if (column.is_primary_key()) {
    const Marker life = life_of(row);
    if (!life.exists() || (is_static && column.is_clustering())) return terms;
    SIBYL_ASSIGN(const Bytes value, key_component(table, column, serialised_partition_key, clustering, row));
    for (Bytes& term : form.terms({}, value)) terms.emplace(std::move(term), life);
    return terms;
  }
  for (const row::Cell& cell : row.cells)
    if (cell.column == column.id)
      for (const Bytes& term : cell_terms(form, column, index.target, cell))
        extend(terms[term], marker_of(cell));
  return terms;
}

}  // namespace sibyl::execute
