#include "engine/describe/explain_result.h"

#include "plan/explain/explain.h"
#include "types/value.h"

namespace sibyl::engine {
namespace {

void add_text(execute::RowBuffer& rows, const std::string& text) {
  text.empty() ? rows.add_null() : rows.add(text);
}

}  // namespace

execute::ResultSet explain_result(const plan::Explain& explain, const plan::Prepared& prepared) {
  const cql::Statement& statement = *std::get<cql::Explain>(explain.statement->node).statement;
  const plan::Explanation explanation = plan::explain(statement, *explain.explained);
  execute::ResultSet result;
  result.kind = execute::ResultSet::Kind::rows;
  result.metadata = prepared.result;
  int32_t number = 0;
  for (const plan::Explanation::Step& step : explanation.steps) {
    result.rows.add(types::encode_int32(++number));
    for (const std::string* text : {&step.action, &step.target, &step.partitions, &step.rows, &step.detail})
      add_text(result.rows, *text);
    result.rows.end_row();
  }
  for (const std::string& warning : explanation.warnings) {
    result.rows.add(types::encode_int32(++number));
    result.rows.add("warning");
    for (int i = 0; i < 3; ++i) result.rows.add_null();
    result.rows.add(warning);
    result.rows.end_row();
  }
  return result;
}

}  // namespace sibyl::engine
