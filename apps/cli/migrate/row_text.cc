#include "cli/migrate/row_text.h"

#include <fmt/format.h>

#include "types/identifier.h"
#include "types/print.h"
#include "types/print_value.h"

namespace sibyl::cli::migrate {

std::string key_text(const Part& part, const client::Result& result, const client::Row& row) {
  std::string text = part.quoted_name();
  for (size_t i = 0; i < part.key.size() && i < row.size(); ++i)
    text += fmt::format("{}{} = {}", i == 0 ? " " : " AND ", types::quote_identifier(part.key[i]),
                        row[i] ? types::to_literal(*result.columns[i].type, *row[i]) : "null");
  return text;
}

}  // namespace sibyl::cli::migrate
