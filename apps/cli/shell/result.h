// Prints results as aligned tables like cqlsh, in expanded form, as CSV or as JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line/text.h"
#include "cli/session/session.h"

namespace sibyl::cli::shell {

enum class Format { table, expanded, csv, json };
std::optional<Format> parse_format(std::string_view name);

// Prints the pages of one result. Column widths never shrink from page to page.
class ResultPrinter {
 public:
  // `names` gives the colours of headers by column kind. The calls below read it, so it must outlive the
  // printer.
  ResultPrinter(Format format, const Palette& palette, const SchemaNames& names)
      : format_(format), palette_(palette), names_(names) {}

  // Returns the text of one page. `with_header`: for the first page, and in an interactive shell for every
  // page.
  std::string page(const StatementResult& result, bool with_header);
  // Returns the text after the last page: the number of rows.
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
  bool conditional_ = false;  // the result is of a statement with IF, so it has no row count, as in cqlsh
};

// Returns the text of a DESCRIBE result, as in cqlsh. `what` is the word after DESCRIBE. If a keyspace is in
// use, lists of names have no headings.
std::string render_description(const StatementResult& result, std::string_view what, bool keyspace_in_use,
                               size_t terminal_width);

// "\nWarnings :\n..." or nothing.
std::string render_warnings(const std::vector<std::string>& warnings);

}  // namespace sibyl::cli::shell
