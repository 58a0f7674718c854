// Results as text: cqlsh's aligned tables, one row below another, CSV and JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sibyl/session.h"
#include "sibyl/shell_text.h"

namespace sibyl::shell {

enum class Format { table, expanded, csv, json };
std::optional<Format> parse_format(std::string_view name);

// Writes the pages of one result. Column widths only grow from page to page.
class ResultPrinter {
 public:
  // `names` colours headers by the columns' roles; it is read during the calls below.
  ResultPrinter(Format format, const Palette& palette, const SchemaNames& names)
      : format_(format), palette_(palette), names_(names) {}

  // One page's text. `with_header`: the first page, and in an interactive shell every one.
  std::string page(const StatementResult& result, bool with_header);
  // What follows the last page: the number of rows.
  std::string end() const;

  size_t row_count() const { return row_count_; }

 private:
  struct Cell {
    std::string text;
    size_t width = 0;
  };
  Cell cell(const ResultColumn& column, const std::optional<Bytes>& value) const;
  std::string name(const ResultColumn& column) const;
  std::string painted_name(const ResultColumn& column) const;
  std::string table(const StatementResult& result, bool with_header);
  std::string table_header(const StatementResult& result) const;
  std::string expanded(const StatementResult& result);
  std::string csv(const StatementResult& result, bool with_header) const;
  std::string json(const StatementResult& result) const;

  Format format_;
  const Palette& palette_;
  const SchemaNames& names_;
  std::vector<size_t> widths_;
  size_t row_count_ = 0;
  bool conditional_ = false;  // the answer to an IF: it has no row count, as in cqlsh
};

// The text of DESCRIBE's answer, as cqlsh shows it. `what` is the word after DESCRIBE. With a keyspace in use
// lists of names have no headings.
std::string render_description(const StatementResult& result, std::string_view what, bool keyspace_in_use,
                               size_t terminal_width);

// "\nWarnings :\n..." or nothing.
std::string render_warnings(const std::vector<std::string>& warnings);

}  // namespace sibyl::shell
