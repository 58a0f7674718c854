#include "execute/read/select_fixture_test.h"

#include <fmt/format.h>

#include <cmath>

#include "types/elements.h"
#include "types/number.h"
#include "types/print.h"
#include "types/print_value.h"

namespace sibyl::execute {

using types::Kind;

std::string printed_type(const types::Type& type) {
  switch (type.kind()) {
    case Kind::text:
      return "varchar";
    case Kind::list:
      return fmt::format("list<{}>", printed_type(*type.element()));
    case Kind::set:
      return fmt::format("set<{}>", printed_type(*type.element()));
    case Kind::map:
      return fmt::format("map<{}, {}>", printed_type(*type.map_key()), printed_type(*type.map_value()));
    case Kind::tuple: {
      std::string parts;
      for (const auto& part : type.parameters()) parts += (parts.empty() ? "" : ", ") + printed_type(*part);
      return fmt::format("tuple<{}>", parts);
    }
    case Kind::udt: {
      std::string parts;
      for (size_t i = 0; i < type.parameters().size(); ++i)
        parts += fmt::format("{}{} {}", i == 0 ? "" : ", ", type.field_names()[i],
                             printed_type(*type.parameters()[i]));
      return fmt::format("{}.{}{{{}}}", type.keyspace(), type.name(), parts);
    }
    case Kind::duration:
      return "duration (custom 'org.apache.cassandra.db.marshal.DurationType')";
    default:
      return type.cql_name();
  }
}

namespace {

std::string printed(const types::Type& type, BytesView bytes);

// Formats strings like Python's repr(), with which the recorded responses were printed.
std::string printed_text(BytesView text) {
  const bool doubles = text.find('\'') != BytesView::npos && text.find('"') == BytesView::npos;
  std::string quoted(1, doubles ? '"' : '\'');
  for (const char c : text) {
    if (c == '\\' || (c == '\'' && !doubles)) quoted.push_back('\\');
    quoted.push_back(c);
  }
  quoted.push_back(quoted.front());
  return quoted;
}

std::string printed_decimal(BytesView bytes) {
  types::BigInteger unscaled;
  int32_t scale = 0;
  types::decode_decimal(bytes, unscaled, scale);
  return fmt::format("decimal({} scale {})", unscaled.str(), scale);
}

std::string printed_floating(double value, std::string finite) {
  if (std::isnan(value)) return "nan";
  return std::isinf(value) ? (value < 0 ? "-inf" : "inf") : std::move(finite);
}

// Python supports the years 1 to 9999.
constexpr int64_t first_day = -719'162, last_day = 2'932'896;

std::string printed_date(BytesView bytes) {
  const int32_t days = types::decode_date(bytes);
  return days < first_day || days > last_day ? fmt::format("date({} days)", days) : types::format_date(days);
}

std::string printed_timestamp(BytesView bytes) {
  const int64_t millis = types::decode_integer(Kind::timestamp, bytes);
  constexpr int64_t day = 86'400'000;
  if (millis < first_day * day || millis >= (last_day + 1) * day)
    return fmt::format("timestamp({}ms)", millis);
  std::string text = types::format_timestamp(millis);
  text[10] = ' ';
  return text;
}

std::string printed_duration(BytesView bytes) {
  const types::Duration value = types::decode_duration(bytes);
  return fmt::format("duration(months={},days={},nanos={})", value.months, value.days, value.nanoseconds);
}

std::string printed_parts(const types::Type& type, BytesView bytes) {
  const auto elements = types::split(type, bytes);
  std::string text;
  for (size_t i = 0; elements && i < elements->size(); ++i) {
    const bool is_map = type.kind() == Kind::map;
    const bool is_value = is_map && i % 2 == 1;
    if (i != 0) text += is_value ? ": " : ", ";
    if (type.kind() == Kind::udt) text += type.field_names()[i] + ": ";
    const size_t parameter = is_map ? i % 2 : type.kind() == Kind::tuple || type.kind() == Kind::udt ? i : 0;
    text += (*elements)[i] ? printed(*type.parameters()[parameter], *(*elements)[i]) : "null";
  }
  return text;
}

std::string printed(const types::Type& type, BytesView bytes) {
  switch (type.kind()) {
    case Kind::list:
    case Kind::vector:
      return fmt::format("[{}]", printed_parts(type, bytes));
    case Kind::set:
    case Kind::map:
    case Kind::udt:
      return fmt::format("{{{}}}", printed_parts(type, bytes));
    case Kind::tuple:
      return fmt::format("({})", printed_parts(type, bytes));
    case Kind::text:
    case Kind::ascii:
      return printed_text(bytes);
    case Kind::decimal:
      return printed_decimal(bytes);
    case Kind::double_:
      return printed_floating(types::decode_double(bytes), types::format_double(types::decode_double(bytes)));
    case Kind::float_:
      return printed_floating(types::decode_float(bytes), types::format_float(types::decode_float(bytes))) +
             "f";
    case Kind::boolean:
      return types::decode_boolean(bytes) ? "True" : "False";
    case Kind::counter:
      return fmt::format("{}", types::decode_integer(Kind::counter, bytes));
    case Kind::timestamp:
      return printed_timestamp(bytes);
    case Kind::date:
      return printed_date(bytes);
    case Kind::time:
      return types::format_time(types::decode_integer(Kind::time, bytes));
    case Kind::inet:
      return types::format_inet(bytes);
    case Kind::duration:
      return printed_duration(bytes);
    default:
      return types::to_literal(type, bytes);
  }
}

}  // namespace

std::vector<std::string> printed_rows(const ResultSet& result) {
  std::vector<std::string> rows;
  base::Reader reader(result.rows.bytes());
  for (size_t i = 0; i < result.rows.count(); ++i) {
    std::string row;
    for (const plan::ColumnSpec& column : result.metadata->columns) {
      uint32_t size = 0;
      BytesView value;
      EXPECT_TRUE(reader.big_endian(size));
      if (!row.empty()) row += " | ";
      if (size == 0xffffffffu) {
        row += "null";
        continue;
      }
      EXPECT_TRUE(reader.take(size, value));
      const Kind kind = column.type->kind();
      const bool is_text = kind == Kind::text || kind == Kind::ascii || kind == Kind::blob;
      row += value.empty() && !is_text ? "EMPTY" : printed(*column.type, value);
    }
    rows.push_back(std::move(row));
  }
  EXPECT_TRUE(reader.at_end());
  return rows;
}

std::vector<std::string> ReadFixture::rows_in_pages(const std::string& text, int32_t page_size, int* pages) {
  std::vector<std::string> all;
  Request request;
  request.page_size = page_size;
  auto prepared = prepare(text);
  EXPECT_TRUE(prepared) << text;
  for (int count = 1; count < 10'000; ++count) {
    auto page = run(**prepared, request);
    EXPECT_TRUE(page) << text << ": " << (page ? "" : page.error().text());
    if (!page) return all;
    if (page_size > 0) {
      EXPECT_LE(page->rows.count(), static_cast<size_t>(page_size));
    }
    for (std::string& row : printed_rows(*page)) all.push_back(std::move(row));
    if (pages != nullptr) *pages = count;
    if (!page->paging_state) return all;
    request.paging_state = page->paging_state;
  }
  ADD_FAILURE() << "pages without end: " << text;
  return all;
}

std::string ReadFixture::answer(const std::string& text) {
  auto result = run(text);
  if (!result) {
    static const std::pair<base::ErrorCode, const char*> names[] = {
        {base::ErrorCode::syntax, "SyntaxError"},
        {base::ErrorCode::invalid, "InvalidRequest"},
        {base::ErrorCode::protocol, "ProtocolError"},
        {base::ErrorCode::function_failure, "FunctionFailure"}};
    std::string name;
    for (const auto& [code, spelled] : names)
      if (code == result.error().code()) name = spelled;
    std::string text = fmt::format("ERROR 0x{:04x} {}: {}", static_cast<int>(result.error().code()), name,
                                   result.error().message());
    if (const auto& details = result.error().details(); !details.function.empty()) {
      std::string types;
      for (const std::string& type : details.argument_types)
        types += fmt::format("{}'{}'", types.empty() ? "" : ", ", type);
      text +=
          fmt::format(" [keyspace='{}' function='{}' args=[{}]]", details.keyspace, details.function, types);
    }
    return text + "\n";
  }
  if (result->kind != ResultSet::Kind::rows) return "OK\n";
  std::string columns, answer;
  for (const plan::ColumnSpec& column : result->metadata->columns)
    columns += fmt::format("{}{} {}", columns.empty() ? "" : ", ", column.name, printed_type(*column.type));
  answer = fmt::format("  columns: {}\n", columns);
  const std::vector<std::string> rows = printed_rows(*result);
  for (const std::string& row : rows) answer += fmt::format("  row: {}\n", row);
  answer += fmt::format("  ({} row{})\n", rows.size(), rows.size() == 1 ? "" : "s");
  for (const std::string& warning : result->warnings) answer += fmt::format("  WARNING: {}\n", warning);
  return answer;
}

}  // namespace sibyl::execute
