// Writes rows of system tables, and encodes their values.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::engine {

using base::Bytes;
using base::BytesView;

// A row as column names and CQL bytes. Columns that are not named are null. Names must be string literals.
using SystemRow = std::vector<std::pair<std::string_view, Bytes>>;

// Replaces the row. REQUIRES: every key column is named; other names are columns of the table; lists are
// frozen.
void put_row(const schema::Table& table, const SystemRow& row, int64_t timestamp_micros,
             storage::WriteSet& writes);
// Erases a row. Uses only the key columns of `row`.
void erase_row(const schema::Table& table, const SystemRow& row, storage::WriteSet& writes);
// REQUIRES: the partition key has one component.
void erase_partition(const schema::Table& table, BytesView key, storage::WriteSet& writes);
// Erases the rows of the partition whose first clustering column, a text, is `first`. REQUIRES: the partition
// key has one component.
void erase_rows(const schema::Table& table, BytesView key, BytesView first, storage::WriteSet& writes);
void erase_table(const schema::Table& table, storage::WriteSet& writes);

Bytes text_list(const std::vector<std::string>& elements);
Bytes boolean_list(const std::vector<bool>& elements);
Bytes text_set(std::vector<std::string> elements);
Bytes text_map(const std::map<std::string, std::string>& map);  // also map<text, blob>

}  // namespace sibyl::engine
