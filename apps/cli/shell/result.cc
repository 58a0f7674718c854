#include "cli/shell/result.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "types/elements.h"
#include "types/print_json.h"
#include "types/print_value.h"
#include "types/value.h"

namespace sibyl::cli::shell {
namespace {

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string json_string(std::string_view text) {
  return types::to_json(*types::scalar(types::Kind::text), text);
}

// Returns the value as text for programs: without escapes, and text without quotes.
std::string plain_value(const types::Type& type, std::string_view bytes) {
  if (type.kind() == types::Kind::text || type.kind() == types::Kind::ascii) return std::string(bytes);
  return types::to_display(type, bytes);
}

size_t find_column(const StatementResult& result, std::string_view name) {
  size_t i = 0;
  while (i < result.columns.size() && result.columns[i].name != name) ++i;
  return i;
}

// Returns the text of a column in a row; empty if the column or the value is missing.
std::string text_at(const StatementResult& result, const ResultRow& row, std::string_view column) {
  const size_t i = find_column(result, column);
  if (i >= row.size() || !row[i]) return {};
  return plain_value(*result.columns[i].type, *row[i]);
}

std::string render_name_lists(const StatementResult& result, bool keyspace_in_use, size_t terminal_width) {
  std::string text;
  for (size_t i = 0; i < result.rows.size();) {
    const std::string keyspace = text_at(result, result.rows[i], "keyspace_name");
    std::vector<std::string> names;
    for (; i < result.rows.size() && text_at(result, result.rows[i], "keyspace_name") == keyspace; ++i)
      names.push_back(text_at(result, result.rows[i], "name"));
    text += '\n';
    if (!keyspace_in_use)
      text += fmt::format("Keyspace {}\n---------{}\n", keyspace, std::string(display_width(keyspace), '-'));
    text += in_columns(names, terminal_width);
  }
  return text.empty() ? text : text + '\n';
}

// Joins the texts of a list with commas.
std::string join_texts(const types::Type& type, std::string_view bytes) {
  std::string joined;
  const auto elements = types::split(type, bytes);
  if (!elements) return joined;
  for (const auto& element : *elements)
    joined += (joined.empty() ? "" : ", ") + plain_value(*type.element(), element.value_or(""));
  return joined;
}

// Prints a map from the end of a token range to the addresses that hold it.
std::string render_ownership(const types::Type& type, std::string_view bytes) {
  const auto entries = types::split(type, bytes);
  if (!entries) return {};
  std::string text = "Range ownership:\n";
  for (size_t i = 0; i + 1 < entries->size(); i += 2)
    text += fmt::format(" {:>39}  [{}]\n", plain_value(*type.map_key(), (*entries)[i].value_or("")),
                        join_texts(*type.map_value(), (*entries)[i + 1].value_or("")));
  return text + '\n';
}

std::string render_cluster(const StatementResult& result) {
  std::string text;
  for (const ResultRow& row : result.rows) {
    text += fmt::format("\nCluster: {}\nPartitioner: {}\nSnitch: {}\n\n", text_at(result, row, "cluster"),
                        text_at(result, row, "partitioner"), text_at(result, row, "snitch"));
    const size_t ownership = find_column(result, "range_ownership");
    if (ownership < row.size() && row[ownership])
      text += render_ownership(*result.columns[ownership].type, *row[ownership]);
  }
  return text;
}

}  // namespace

std::optional<Format> parse_format(std::string_view name) {
  if (name == "table") return Format::table;
  if (name == "expanded") return Format::expanded;
  if (name == "csv") return Format::csv;
  if (name == "json") return Format::json;
  return std::nullopt;
}

std::string ResultPrinter::page(const StatementResult& result, bool with_header) {
  if (row_count_ == 0 && !result.columns.empty()) conditional_ = result.columns[0].name == "[applied]";
  std::string text;
  switch (format_) {
    case Format::table:
      text = table(result, with_header);
      break;
    case Format::expanded:
      text = expanded(result);
      break;
    case Format::csv:
      text = csv(result, with_header && row_count_ == 0);
      break;
    case Format::json:
      text = json(result);
      break;
  }
  row_count_ += result.rows.size();
  return text;
}

std::string ResultPrinter::end() const {
  if (format_ == Format::csv || format_ == Format::json) return {};
  if (conditional_) return "\n";
  return fmt::format("{}({} rows)\n", format_ == Format::expanded && row_count_ != 0 ? "" : "\n", row_count_);
}

ResultPrinter::Cell ResultPrinter::cell(const ResultColumn& column, const std::optional<Bytes>& value) const {
  if (!value) return {palette_.paint(Colour::red, "null"), 4};
  const std::string text = escape_controls(types::to_display(*column.type, *value));
  return {paint_value(palette_, *column.type, text), display_width(text)};
}

std::string ResultPrinter::name(const ResultColumn& column) const {
  return escape_controls(column.name);
}

std::string ResultPrinter::painted_name(const ResultColumn& column) const {
  if (!palette_.enabled()) return name(column);
  Colour colour = Colour::magenta;
  const TableNames* table = names_.find_table(column.keyspace, column.table);
  const TableNames::Column* known = table == nullptr ? nullptr : table->find(column.name);
  if (known != nullptr) {
    switch (known->kind) {
      case schema::ColumnKind::partition_key:
        colour = Colour::red;
        break;
      case schema::ColumnKind::clustering:
        colour = Colour::cyan;
        break;
      case schema::ColumnKind::static_:
        colour = Colour::white;
        break;
      case schema::ColumnKind::regular:
        break;
    }
  }
  return palette_.paint(colour, name(column));
}

std::string ResultPrinter::table_header(const StatementResult& result) const {
  std::string header;
  std::string rule;
  for (size_t i = 0; i < result.columns.size(); ++i) {
    const ResultColumn& column = result.columns[i];
    const bool last = i + 1 == result.columns.size();
    header += i == 0 ? " " : " | ";
    header += pad_right(painted_name(column), last ? widths_[i] : display_width(name(column)), widths_[i]);
    rule += i == 0 ? "-" : "-+-";
    rule.append(widths_[i], '-');
  }
  return header + '\n' + rule + "-\n";
}

std::string ResultPrinter::table(const StatementResult& result, bool with_header) {
  std::vector<std::vector<Cell>> rows;
  widths_.resize(result.columns.size());
  for (size_t i = 0; i < result.columns.size(); ++i)
    widths_[i] = std::max(widths_[i], display_width(name(result.columns[i])));
  for (const ResultRow& row : result.rows) {
    std::vector<Cell>& cells = rows.emplace_back();
    for (size_t i = 0; i < row.size(); ++i) {
      cells.push_back(cell(result.columns[i], row[i]));
      widths_[i] = std::max(widths_[i], cells.back().width);
    }
  }
  std::string text;
  if (with_header) text = '\n' + table_header(result);
  for (const std::vector<Cell>& cells : rows) {
    for (size_t i = 0; i < cells.size(); ++i) {
      text += i == 0 ? " " : " | ";
      text += pad_left(cells[i].text, cells[i].width, widths_[i]);
    }
    text += '\n';
  }
  return text;
}

std::string ResultPrinter::expanded(const StatementResult& result) {
  size_t name_width = 0;
  size_t value_width = 0;
  for (const ResultColumn& column : result.columns)
    name_width = std::max(name_width, display_width(name(column)));
  std::vector<std::vector<Cell>> rows;
  for (const ResultRow& row : result.rows) {
    std::vector<Cell>& cells = rows.emplace_back();
    for (size_t i = 0; i < row.size(); ++i) {
      cells.push_back(cell(result.columns[i], row[i]));
      value_width = std::max(value_width, cells.back().width);
    }
  }
  std::string text = row_count_ == 0 && !rows.empty() ? "\n" : "";
  size_t number = row_count_;
  for (const std::vector<Cell>& cells : rows) {
    text += fmt::format("@ Row {}\n-{}-+-{}-\n", ++number, std::string(name_width, '-'),
                        std::string(value_width, '-'));
    for (size_t i = 0; i < cells.size(); ++i) {
      const ResultColumn& column = result.columns[i];
      text += ' ' + pad_right(painted_name(column), display_width(name(column)), name_width) + " | " +
              cells[i].text + '\n';
    }
    text += '\n';
  }
  return text;
}

std::string ResultPrinter::csv(const StatementResult& result, bool with_header) const {
  std::string text;
  if (with_header) {
    for (size_t i = 0; i < result.columns.size(); ++i)
      text += (i == 0 ? "" : ",") + csv_field(result.columns[i].name);
    text += '\n';
  }
  for (const ResultRow& row : result.rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      if (i != 0) text += ',';
      if (!row[i]) continue;  // null is an empty field, an empty text is ""
      const std::string value = plain_value(*result.columns[i].type, *row[i]);
      text += value.empty() ? "\"\"" : csv_field(value);
    }
    text += '\n';
  }
  return text;
}

std::string ResultPrinter::json(const StatementResult& result) const {
  std::string text;
  for (const ResultRow& row : result.rows) {
    text += '{';
    for (size_t i = 0; i < row.size(); ++i) {
      if (i != 0) text += ", ";
      text += json_string(result.columns[i].name) + ": ";
      text += row[i] ? types::to_json(*result.columns[i].type, *row[i]) : "null";
    }
    text += "}\n";
  }
  return text;
}

std::string render_description(const StatementResult& result, std::string_view what, bool keyspace_in_use,
                               size_t terminal_width) {
  const std::string kind = base::ascii_lower(what);
  if (kind == "keyspaces") {
    std::vector<std::string> names;
    for (const ResultRow& row : result.rows) names.push_back(text_at(result, row, "name"));
    return '\n' + in_columns(names, terminal_width) + '\n';
  }
  if (kind == "cluster") return render_cluster(result);
  if (kind == "tables" || kind == "columnfamilies" || kind == "types" || kind == "functions" ||
      kind == "aggregates")
    return render_name_lists(result, keyspace_in_use, terminal_width);
  std::string text;
  for (const ResultRow& row : result.rows) text += '\n' + text_at(result, row, "create_statement") + '\n';
  return text;
}

std::string render_warnings(const std::vector<std::string>& warnings) {
  if (warnings.empty()) return {};
  std::string text = "\nWarnings :\n";
  for (const std::string& warning : warnings) text += escape_controls(warning) + "\n\n";
  return text;
}

}  // namespace sibyl::cli::shell
