#include "cli/console/result_json.h"

#include <openssl/evp.h>

#include <algorithm>
#include <boost/json.hpp>

#include "cli/console/statements.h"
#include "types/print_json.h"
#include "types/print_value.h"
#include "types/text.h"

namespace sibyl::cli::console {
namespace {

namespace json = boost::json;

bool is_composite(const types::Type& type) {
  return type.is_collection() || type.kind() == types::Kind::udt || type.kind() == types::Kind::tuple ||
         type.kind() == types::Kind::vector;
}

// Cuts a text before the character that crosses the limit.
std::string_view cut(std::string_view text, size_t limit) {
  if (text.size() <= limit) return text;
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xc0) == 0x80) --limit;
  return text.substr(0, limit);
}

// Writes the cells of a result while a budget lasts. Later cells are cut short.
class CellWriter {
 public:
  json::value write(const types::Type& type, base::BytesView bytes) {
    const size_t limit = std::min(max_cell_bytes, left_ > min_cell_bytes ? left_ : min_cell_bytes);
    // Converting a huge value takes several times its memory, so only its beginning is converted.
    const bool is_text = type.kind() == types::Kind::text || type.kind() == types::Kind::ascii;
    const bool is_blob = type.kind() == types::Kind::blob;
    if (is_blob && bytes.size() * 2 + 2 > limit)
      return shortened(types::to_display(type, bytes.substr(0, limit / 2)), bytes.size());
    if (is_text && bytes.size() > limit) return shortened(std::string(cut(bytes, limit)), bytes.size());
    std::string text = types::to_display(type, bytes);
    if (text.size() > limit) return shortened(std::string(cut(text, limit)), bytes.size());
    take(text.size());
    if (!is_composite(type)) return json::value(std::move(text));
    std::string as_json = types::to_json(type, bytes);
    take(as_json.size());
    return json::object{{"text", std::move(text)}, {"json", std::move(as_json)}};
  }

 private:
  static constexpr size_t min_cell_bytes = 64;

  void take(size_t bytes) { left_ -= std::min(left_, bytes); }
  json::value shortened(std::string text, size_t bytes) {
    take(text.size());
    return json::object{{"text", std::move(text)}, {"bytes", bytes}};
  }

  size_t left_ = max_result_bytes;
};

void add_rows(const execute::ResultSet& result, json::object& out) {
  json::array& columns = out["columns"].emplace_array();
  for (const plan::ColumnSpec& column : result.metadata->columns)
    columns.push_back({{"name", column.name},
                       {"type", column.type->cql_name()},
                       {"keyspace", column.keyspace},
                       {"table", column.table}});
  json::array& rows = out["rows"].emplace_array();
  CellWriter writer;
  for (const Row& row : rows_of(result)) {
    json::array& cells = rows.emplace_back(json::array()).as_array();
    for (size_t i = 0; i < row.size(); ++i)
      cells.push_back(row[i] ? writer.write(*result.metadata->columns[i].type, *row[i]) : json::value());
  }
  out["paging_state"] = result.paging_state ? json::value(to_base64(*result.paging_state)) : json::value();
}

}  // namespace

json::object result_json(const execute::ResultSet& result) {
  using Kind = execute::ResultSet::Kind;
  json::object out;
  switch (result.kind) {
    case Kind::nothing:
      out["kind"] = "nothing";
      break;
    case Kind::rows:
      out["kind"] = "rows";
      add_rows(result, out);
      break;
    case Kind::set_keyspace:
      out["kind"] = "set_keyspace";
      out["keyspace"] = result.keyspace;
      break;
    case Kind::schema_change:
      out["kind"] = "schema_change";
      out["keyspace"] = result.change->keyspace;
      out["name"] = result.change->name;
      break;
  }
  out["warnings"] = json::array(result.warnings.begin(), result.warnings.end());
  out["partitions_read"] = result.partitions_read;
  out["rows_read"] = result.rows_read;
  out["tombstones_read"] = result.tombstones_read;
  return out;
}

std::string to_base64(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int length =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  out.resize(static_cast<size_t>(length));
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0 || text.size() > (1 << 20)) return std::nullopt;
  std::string out(text.size() / 4 * 3 + 1, '\0');
  const int length =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                      reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (length < 0) return std::nullopt;
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  out.resize(static_cast<size_t>(length) - std::min(padding, static_cast<size_t>(length)));
  return out;
}

}  // namespace sibyl::cli::console
