#include "execute/write/modify_json.h"

#include "plan/terms/json.h"

namespace sibyl::execute {

using types::ValueView;

base::Status read_json(const plan::Modification& statement, const plan::Bindings& bindings,
                       plan::Scratch& scratch, std::vector<ValueView>& values) {
  const schema::Table& table = *statement.table;
  SIBYL_ASSIGN(const ValueView text, statement.json->text->evaluate(bindings, scratch));
  if (!text.is_present()) return base::invalid("Got null for INSERT JSON values");
  SIBYL_ASSIGN(auto columns, plan::json_columns(table, text.bytes));
  const ValueView absent = statement.json->default_unset ? ValueView::unset() : ValueView::null();
  values.assign(table.columns.size(), absent);
  for (auto& [index, value] : columns)
    values[index] = value ? ValueView::of(scratch.keep(std::move(*value))) : ValueView::null();
  return {};
}

}  // namespace sibyl::execute
