// For tests. Generates statements from bytes. Each byte is a choice, so a similar input gives a similar
// statement. Most statements are valid CQL over generated_schema; some contain one mistake.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace sibyl::engine {

// Definitions in keyspace `f`. The first one creates it.
inline constexpr std::array generated_schema = {
    "CREATE KEYSPACE f WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE TYPE f.pair (a int, b text)",
    "CREATE TABLE f.flat (k int PRIMARY KEY, i int, t text, d decimal, ts timestamp, u uuid, bo boolean)",
    "CREATE TABLE f.wide (k int, j text, c int, d text, v int, w text, s int STATIC, st set<int> STATIC, "
    "PRIMARY "
    "KEY ((k, j), c, d)) WITH CLUSTERING ORDER BY (c DESC, d ASC)",
    "CREATE TABLE f.many (k int, c timestamp, e decimal, v double, s text STATIC, PRIMARY KEY (k, c, e))",
    "CREATE TABLE f.colls (k int PRIMARY KEY, l list<int>, s set<text>, m map<text, int>, fl "
    "frozen<list<int>>, fm "
    "frozen<map<int, text>>, p pair, fp frozen<pair>, tu tuple<int, text>, ve vector<float, 2>)",
    "CREATE TABLE f.cnt (k int, c int, n counter, o counter, PRIMARY KEY (k, c))",
    "CREATE TABLE f.odd (k blob, c inet, d duration, da date, ti time, vi varint, si smallint, ty tinyint, "
    "fl "
    "float, tu timeuuid, a ascii, b bigint, PRIMARY KEY (k, c))",
};

class StatementGenerator {
 public:
  // The bytes must outlive the object.
  explicit StatementGenerator(std::string_view bytes) : bytes_(bytes) {}

  bool at_end() const { return at_ >= bytes_.size(); }
  std::string statement();
  // Returns values for markers, with random lengths and contents.
  std::vector<base::Bytes> values();
  int32_t page_size() { return static_cast<int32_t>(pick(4)); }
  bool sometimes() { return pick(4) == 0; }

 private:
  struct Column {
    const char* name;
    const char* type;
  };
  struct Table {
    const char* name;
    std::vector<Column> columns;
    size_t partition, clustering;
  };
  static const std::vector<Table>& tables();

  uint32_t pick(uint32_t count);  // a number below `count`; zero when the bytes are used up
  template <size_t size>
  const char* one_of(const std::array<const char*, size>& choices) {
    return choices[pick(size)];
  }

  const Column& column(const Table& table) {
    return table.columns[pick(static_cast<uint32_t>(table.columns.size()))];
  }
  std::string column_name(const Table& table);
  std::string literal(std::string_view type);
  std::string elements(std::string_view type);
  std::string value(std::string_view type);  // a literal, a marker, a call or arithmetic
  std::string relation(const Table& table);
  std::string key_relations(const Table& table);
  std::string where(const Table& table);
  std::string selector(const Table& table);
  std::string condition(const Table& table);
  std::string small_number();
  std::string using_clause();
  std::string select(const Table& table);
  std::string insert(const Table& table);
  std::string update(const Table& table);
  std::string assignment(const Table& table);
  std::string remove(const Table& table);
  std::string batch();
  std::string definition(const Table& table);
  std::string modification(const Table& table);

  std::string_view bytes_;
  size_t at_ = 0;
  int depth_ = 0;
};

inline const std::vector<StatementGenerator::Table>& StatementGenerator::tables() {
  static const std::vector<Table> tables = {
      {"flat",
       {{"k", "int"},
        {"i", "int"},
        {"t", "text"},
        {"d", "decimal"},
        {"ts", "timestamp"},
        {"u", "uuid"},
        {"bo", "boolean"}},
       1,
       0},
      {"wide",
       {{"k", "int"},
        {"j", "text"},
        {"c", "int"},
        {"d", "text"},
        {"v", "int"},
        {"w", "text"},
        {"s", "int"},
        {"st", "set<int>"}},
       2,
       2},
      {"many", {{"k", "int"}, {"c", "timestamp"}, {"e", "decimal"}, {"v", "double"}, {"s", "text"}}, 1, 2},
      {"colls",
       {{"k", "int"},
        {"l", "list<int>"},
        {"s", "set<text>"},
        {"m", "map<text,int>"},
        {"fl", "list<int>"},
        {"fm", "map<int,text>"},
        {"p", "pair"},
        {"fp", "pair"},
        {"tu", "tuple"},
        {"ve", "vector"}},
       1,
       0},
      {"cnt", {{"k", "int"}, {"c", "int"}, {"n", "counter"}, {"o", "counter"}}, 1, 1},
      {"odd",
       {{"k", "blob"},
        {"c", "inet"},
        {"d", "duration"},
        {"da", "date"},
        {"ti", "time"},
        {"vi", "varint"},
        {"si", "smallint"},
        {"ty", "tinyint"},
        {"fl", "float"},
        {"tu", "timeuuid"},
        {"a", "ascii"},
        {"b", "bigint"}},
       1,
       1},
  };
  return tables;
}

inline uint32_t StatementGenerator::pick(uint32_t count) {
  if (at_end() || count == 0) return 0;
  return static_cast<unsigned char>(bytes_[at_++]) % count;
}

inline std::vector<base::Bytes> StatementGenerator::values() {
  std::vector<base::Bytes> values(pick(6));
  for (base::Bytes& value : values) {
    static constexpr std::array<uint32_t, 8> lengths = {4, 0, 1, 2, 8, 16, 12, 3};
    value.resize(lengths[pick(lengths.size())]);
    for (char& byte : value) byte = static_cast<char>(pick(256));
  }
  return values;
}

inline std::string StatementGenerator::column_name(const Table& table) {
  static constexpr std::array odd = {"nosuch", "\"K\"", "\"\"", "token", "key"};
  return pick(64) == 63 ? one_of(odd) : column(table).name;
}

inline std::string StatementGenerator::elements(std::string_view type) {
  std::string text;
  for (uint32_t i = pick(4); i > 0; --i) text += (text.empty() ? "" : ", ") + value(type);
  return text;
}

inline std::string StatementGenerator::literal(std::string_view type) {
  static constexpr std::array numbers = {"0", "1", "2", "-1", "3", "2147483647", "-2147483648", "100"};
  static constexpr std::array texts = {"'a'", "'b'", "''", "'zz'", "'it''s'", "$$x$$", "'ä'"};
  static constexpr std::array fractions = {"0.0", "1.5",      "-2.25",     "1e10", "1e-10",
                                           "NaN", "Infinity", "-Infinity", "1"};
  static constexpr std::array times = {"0", "1700000000000", "'2026-01-01'", "'2026-01-01T00:00:00Z'", "-1"};
  if (pick(48) == 47) return "null";
  if (type == "int" || type == "counter") return one_of(numbers);
  if (type == "smallint" || type == "tinyint" || type == "bigint" || type == "varint") return one_of(numbers);
  if (type == "text" || type == "ascii") return one_of(texts);
  if (type == "decimal" || type == "double" || type == "float") return one_of(fractions);
  if (type == "timestamp") return one_of(times);
  if (type == "boolean") return pick(2) == 0 ? "true" : "false";
  if (type == "uuid") return "00000000-0000-4000-8000-00000000000" + std::to_string(pick(10));
  if (type == "timeuuid") return pick(2) == 0 ? "now()" : "50554d6e-29bb-11e5-b345-feff819cdc9f";
  if (type == "blob") return pick(2) == 0 ? "0x" : "0x0102";
  if (type == "inet") return pick(2) == 0 ? "'127.0.0.1'" : "'::1'";
  if (type == "duration") return pick(2) == 0 ? "1mo2d" : "-3h";
  if (type == "date") return pick(2) == 0 ? "'2026-02-28'" : "2147483648";
  if (type == "time") return pick(2) == 0 ? "'12:34:56.789'" : "0";
  if (type == "list<int>") return "[" + elements("int") + "]";
  if (type == "set<text>") return "{" + elements("text") + "}";
  if (type == "set<int>") return "{" + elements("int") + "}";
  if (type == "map<text,int>") return fmt::format("{{{}: {}}}", value("text"), value("int"));
  if (type == "map<int,text>") return fmt::format("{{{}: {}}}", value("int"), value("text"));
  if (type == "pair") return fmt::format("{{a: {}, b: {}}}", value("int"), value("text"));
  if (type == "tuple") return fmt::format("({}, {})", value("int"), value("text"));
  return fmt::format("[{}, {}]", value("float"), value("float"));
}

inline std::string StatementGenerator::value(std::string_view type) {
  if (++depth_ > 4) {
    --depth_;
    return "1";
  }
  std::string text;
  switch (pick(72)) {
    case 0:
      text = "?";
      break;
    case 1:
      text =
          fmt::format("{} {} {}", literal(type), one_of(std::array{"+", "-", "*", "/", "%"}), literal(type));
      break;
    case 2:
      text = fmt::format("({}) {}", one_of(std::array{"int", "text", "bigint", "timestamp", "decimal"}),
                         literal(type));
      break;
    case 3: {
      static constexpr std::array calls = {"toTimestamp(now())", "uuid()",         "now()",
                                           "token(1)",           "int_as_blob(1)", "blob_as_int(0x00000001)",
                                           "from_json('1')",     "abs(-1)",        "current_date()"};
      text = one_of(calls);
      break;
    }
    case 4: {
      static constexpr std::array types = {"int",     "text", "list<int>", "map<text,int>",
                                           "decimal", "uuid", "duration"};
      text = literal(one_of(types));
      break;
    }
    default:
      text = literal(type);
  }
  --depth_;
  return text;
}

inline std::string StatementGenerator::relation(const Table& table) {
  static constexpr std::array comparisons = {"=", "=", "<", "<=", ">", ">=", "!="};
  const Column& one = column(table);
  switch (pick(12)) {
    case 0:
      return fmt::format("{} IN ({})", one.name, elements(one.type));
    case 1:
      return fmt::format("{} CONTAINS {}{}", one.name, pick(2) == 0 ? "" : "KEY ", value("text"));
    case 2:
      return fmt::format("{}[{}] = {}", one.name, value("text"), value("int"));
    case 3: {
      const Column& other = column(table);
      return fmt::format("({}, {}) {} ({}, {})", one.name, other.name, one_of(comparisons), value(one.type),
                         value(other.type));
    }
    case 4: {
      const Column& other = column(table);
      return fmt::format("({}, {}) IN (({}, {}))", one.name, other.name, value(one.type), value(other.type));
    }
    case 5:
      return fmt::format("token({}) {} {}", one.name, one_of(comparisons), value("bigint"));
    case 6:
      return fmt::format("{} BETWEEN {} AND {}", one.name, value(one.type), value(one.type));
    case 7:
      return fmt::format("{} LIKE {}", one.name, value("text"));
    default:
      return fmt::format("{} {} {}", one.name, one_of(comparisons), value(one.type));
  }
}

inline std::string StatementGenerator::key_relations(const Table& table) {
  std::string text;
  const size_t named = table.partition + pick(static_cast<uint32_t>(table.clustering + 1));
  for (size_t i = 0; i < named; ++i) {
    const Column& one = table.columns[i];
    const bool is_last = i + 1 == named && i >= table.partition;
    static constexpr std::array last = {"=", "=", "<", ">=", ">"};
    text += (text.empty() ? "" : " AND ");
    if (pick(6) == 5)
      text += fmt::format("{} IN ({})", one.name, elements(one.type));
    else
      text += fmt::format("{} {} {}", one.name, is_last ? one_of(last) : "=", value(one.type));
  }
  return text;
}

inline std::string StatementGenerator::where(const Table& table) {
  std::string text;
  if (pick(8) != 0) text = key_relations(table);
  for (uint32_t i = pick(6) / 4 + pick(12) / 11; i > 0; --i)
    text += (text.empty() ? "" : " AND ") + relation(table);
  return text.empty() ? text : " WHERE " + text;
}

inline std::string StatementGenerator::selector(const Table& table) {
  if (++depth_ > 4) {
    --depth_;
    return column_name(table);
  }
  std::string text;
  switch (pick(32)) {
    case 0:
      text = fmt::format("{}({})", one_of(std::array{"count", "min", "max", "sum", "avg"}), selector(table));
      break;
    case 1:
      text = "count(*)";
      break;
    case 2:
      text =
          fmt::format("{}({})", one_of(std::array{"writetime", "ttl", "maxwritetime"}), column_name(table));
      break;
    case 3:
      text = fmt::format("CAST({} AS {})", selector(table),
                         one_of(std::array{"text", "int", "double", "decimal", "date"}));
      break;
    case 4:
      text =
          fmt::format("{} {} {}", selector(table), one_of(std::array{"+", "-", "*", "/", "%"}), value("int"));
      break;
    case 5:
      text = fmt::format("{}[{}]", column_name(table), value("text"));
      break;
    case 6:
      text = fmt::format("{}[{}..{}]", column_name(table), value("text"), pick(2) == 0 ? "" : value("text"));
      break;
    case 7:
      text = fmt::format("{}.a", column_name(table));
      break;
    case 8: {
      static constexpr std::array functions = {
          "token",    "to_json",          "to_date",        "abs",          "round", "log",   "to_timestamp",
          "map_keys", "collection_count", "collection_max", "mask_default", "exp",   "floor", "text_as_blob"};
      text = fmt::format("{}({})", one_of(functions), selector(table));
      break;
    }
    case 9:
      text = value(column(table).type);
      break;
    default:
      text = column_name(table);
  }
  --depth_;
  return text;
}

inline std::string StatementGenerator::select(const Table& table) {
  std::string text = "SELECT ";
  if (pick(8) == 7) text += "DISTINCT ";
  if (pick(12) == 11) text += "JSON ";
  if (pick(3) == 0) {
    text += "*";
  } else {
    text += selector(table);
    for (uint32_t i = pick(3); i > 0; --i) text += ", " + selector(table);
  }
  text += fmt::format(" FROM {}{}", table.name, where(table));
  if (pick(8) == 7) {
    text += " GROUP BY " + column_name(table);
    for (uint32_t i = pick(3); i > 0; --i) text += ", " + column_name(table);
  }
  if (pick(6) == 5) {
    const bool by_key = table.clustering > 0 && pick(8) != 7;
    text += fmt::format(" ORDER BY {}{}", by_key ? table.columns[table.partition].name : column_name(table),
                        pick(2) == 0 ? "" : " DESC");
  }
  if (pick(8) == 7) text += " PER PARTITION LIMIT " + small_number();
  if (pick(6) == 5) text += " LIMIT " + small_number();
  if (pick(2) == 0) text += " ALLOW FILTERING";
  return text;
}

inline std::string StatementGenerator::small_number() {
  return pick(12) == 11 ? value("int") : std::to_string(1 + pick(4));
}

inline std::string StatementGenerator::using_clause() {
  switch (pick(6)) {
    case 0:
      return " USING TIMESTAMP " + std::to_string(pick(16));
    case 1:
      return fmt::format(" USING TTL {}", pick(8) == 7 ? value("int") : "1000");
    case 2:
      return fmt::format(" USING TTL {} AND TIMESTAMP {}", 1000 + pick(4), pick(16));
    default:
      return "";
  }
}

inline std::string StatementGenerator::insert(const Table& table) {
  if (pick(10) == 9) {
    static constexpr std::array documents = {"{\"k\": 1}",
                                             "{\"k\": 1, \"c\": 2}",
                                             "{\"k\": null}",
                                             "{",
                                             "[]",
                                             "{\"k\": 1, \"j\": \"a\", \"c\": 1, \"d\": \"b\", \"v\": 3}"};
    return fmt::format("INSERT INTO {} JSON '{}'{}{}", table.name, one_of(documents),
                       pick(3) == 0 ? " DEFAULT UNSET" : "", pick(6) == 5 ? " IF NOT EXISTS" : "");
  }
  std::string names, values;
  const auto add = [&](const Column& one) {
    names += (names.empty() ? "" : ", ") + std::string(one.name);
    values += (values.empty() ? "" : ", ") + value(one.type);
  };
  const size_t keys = pick(16) == 15 ? table.partition : table.partition + table.clustering;
  for (size_t i = 0; i < keys; ++i) add(table.columns[i]);
  for (size_t i = table.partition + table.clustering; i < table.columns.size(); ++i)
    if (pick(3) != 0) add(table.columns[i]);
  return fmt::format("INSERT INTO {} ({}) VALUES ({}){}{}", table.name, names, values,
                     pick(10) == 9 ? " IF NOT EXISTS" : "", using_clause());
}

inline std::string StatementGenerator::assignment(const Table& table) {
  const auto values = static_cast<uint32_t>(table.columns.size() - table.partition - table.clustering);
  const Column& one =
      pick(24) == 23 ? column(table) : table.columns[table.partition + table.clustering + pick(values)];
  const std::string_view type = one.type;
  const char* sign = pick(2) == 0 ? "+" : "-";
  if (type == "counter") return fmt::format("{0} = {0} {1} {2}", one.name, sign, value("int"));
  switch (pick(6)) {
    case 0:
      return fmt::format("{0} = {0} {1} {2}", one.name, sign, value(type));
    case 1:
      return fmt::format("{0} = {1} + {0}", one.name, value(type));
    case 2:
      return fmt::format("{}[{}] = {}", one.name, type == "list<int>" ? value("int") : value("text"),
                         value("int"));
    case 3:
      return fmt::format("{}.a = {}", one.name, value("int"));
    default:
      return fmt::format("{} = {}", one.name, value(type));
  }
}

inline std::string StatementGenerator::condition(const Table& table) {
  if (pick(8) != 7) return "";
  if (pick(2) == 0) return " IF EXISTS";
  const Column& one = column(table);
  return fmt::format(" IF {} {} {}", one.name, one_of(std::array{"=", "<", "!=", ">="}), value(one.type));
}

inline std::string StatementGenerator::update(const Table& table) {
  std::string text = fmt::format("UPDATE {}{} SET {}", table.name, using_clause(), assignment(table));
  for (uint32_t i = pick(3); i > 0; --i) text += ", " + assignment(table);
  return text + where(table) + condition(table);
}

inline std::string StatementGenerator::remove(const Table& table) {
  std::string targets;
  for (uint32_t i = pick(3); i > 0; --i) {
    targets += (targets.empty() ? "" : ", ") + column_name(table);
    if (pick(4) == 3) targets += fmt::format("[{}]", value("int"));
  }
  const std::string timestamp = pick(2) == 0 ? "" : fmt::format(" USING TIMESTAMP {}", pick(16));
  return fmt::format("DELETE {} FROM {}{}{}{}", targets, table.name, timestamp, where(table),
                     condition(table));
}

inline std::string StatementGenerator::modification(const Table& table) {
  switch (pick(4)) {
    case 0:
      return update(table);
    case 1:
      return remove(table);
    default:
      return table.columns.back().type == std::string_view("counter") ? update(table) : insert(table);
  }
}

inline std::string StatementGenerator::batch() {
  std::string text =
      fmt::format("BEGIN {}BATCH{} ", one_of(std::array{"", "UNLOGGED ", "COUNTER "}), using_clause());
  const Table& same = tables()[pick(static_cast<uint32_t>(tables().size()))];
  for (uint32_t i = 1 + pick(4); i > 0; --i)
    text += modification(pick(4) == 3 ? tables()[pick(static_cast<uint32_t>(tables().size()))] : same) + "; ";
  return text + "APPLY BATCH";
}

inline std::string StatementGenerator::definition(const Table& table) {
  static constexpr std::array types = {"int",
                                       "text",
                                       "list<int>",
                                       "frozen<pair>",
                                       "pair",
                                       "counter",
                                       "nosuch",
                                       "map<text, frozen<list<int>>>",
                                       "vector<float, 3>",
                                       "duration"};
  switch (pick(10)) {
    case 0:
      return fmt::format("ALTER TABLE {} ADD x{} {}", table.name, pick(3), one_of(types));
    case 1:
      return fmt::format("ALTER TABLE {} DROP {}", table.name, column_name(table));
    case 2:
      return fmt::format("ALTER TABLE {} RENAME {} TO r{}", table.name, column_name(table), pick(2));
    case 3:
      return fmt::format("ALTER TABLE {} WITH gc_grace_seconds = {}", table.name, value("int"));
    case 4:
      return fmt::format("ALTER TYPE pair ADD x{} {}", pick(3), one_of(types));
    case 5:
      return fmt::format("CREATE TABLE n{} (a {} PRIMARY KEY, b {})", pick(3), one_of(types), one_of(types));
    case 6:
      return fmt::format("DROP TABLE {}", pick(4) == 0 ? table.name : "n0");
    case 7:
      return fmt::format("TRUNCATE {}", table.name);
    case 8:
      return fmt::format("CREATE INDEX IF NOT EXISTS ON {} ({})", table.name, column_name(table));
    default:
      return pick(2) == 0 ? "DESCRIBE SCHEMA" : fmt::format("DESCRIBE TABLE {}", table.name);
  }
}

inline std::string StatementGenerator::statement() {
  depth_ = 0;
  const Table& table = tables()[pick(static_cast<uint32_t>(tables().size()))];
  switch (pick(16)) {
    case 0:
      return batch();
    case 1:
      return definition(table);
    case 2:
    case 3:
    case 4:
    case 5:
    case 6:
      return modification(table);
    default:
      return select(table);
  }
}

}  // namespace sibyl::engine
