#include "cli/console/explain_api.h"

#include <memory>
#include <string>
#include <utility>

#include "cli/console/result_json.h"
#include "cli/console/statements.h"
#include "cql/parser.h"
#include "cql/script.h"
#include "plan/definitions/definitions.h"
#include "plan/execution_profile.h"
#include "plan/prepared.h"

namespace sibyl::cli::console {
namespace {

constexpr size_t max_explained = 200;  // statements of a script
constexpr std::string_view explain_word = "EXPLAIN ";

// Explains the statements of a script in turn. Nothing is run: definitions change a schema of the script's
// own, in which the statements after them are checked.
class Script {
 public:
  explicit Script(const Call& call)
      : call_(call), keyspace_(call.text("keyspace")), schema_(call.engine.schema()) {}

  json::object explain(const cql::ScriptPiece& piece) {
    json::object out{{"offset", piece.offset}, {"length", piece.text.size()}};
    if (const base::Status explained = explain(piece.text, out); !explained)
      out["error"] = error_json(explained.error()).at("error");
    return out;
  }

 private:
  base::Status explain(const std::string& text, json::object& out) {
    SIBYL_ASSIGN(std::shared_ptr<const cql::Statement> statement, cql::parse_statement(text));
    SIBYL_ASSIGN(const auto plan, plan::prepare(statement, text, keyspace_, schema_));
    json::array& markers = out["markers"].emplace_array();
    for (const plan::ColumnSpec& marker : plan->markers)
      markers.push_back({{"name", marker.name}, {"type", marker.type->cql_name()}});
    if (const auto* use = std::get_if<plan::Use>(&plan->plan)) keyspace_ = use->keyspace;
    if (std::holds_alternative<plan::Definition>(plan->plan) && !plan::is_about_roles(*statement))
      SIBYL_TRY(define(*statement));
    return add_steps(text, *plan, out);
  }

  base::Status define(const cql::Statement& statement) {
    // The time and the data centre are placeholders, because the schema is not kept. Masks are refused when
    // the statement runs.
    SIBYL_ASSIGN(
        plan::DefinitionResult made,
        plan::define(statement, schema_, {.keyspace = keyspace_, .now_micros = 1, .masks_columns = true}));
    has_changes_ |= made.schema != schema_;
    schema_ = std::move(made.schema);
    return {};
  }

  static bool uses_rows(const plan::Prepared& plan) {
    return !std::holds_alternative<plan::Use>(plan.plan) &&
           !std::holds_alternative<plan::Definition>(plan.plan) &&
           !std::holds_alternative<plan::Describe>(plan.plan) &&
           !std::holds_alternative<plan::Explain>(plan.plan);
  }

  // A statement that uses what the script would have defined has no plan yet.
  base::Status add_steps(const std::string& text, const plan::Prepared& plan, json::object& out) {
    StatementRequest request;
    request.text = std::string(explain_word) + text;
    request.keyspace = keyspace_;
    const auto result = run_statement(call_.engine, call_.login(), request);
    if (result && result->kind == execute::ResultSet::Kind::rows)
      out["steps"] = result_json(*result).at("rows");
    else if (!result && has_changes_ && result.error().code() != base::ErrorCode::unauthorized)
      out["pending"] = true;
    else if (!result && (uses_rows(plan) || result.error().code() == base::ErrorCode::unauthorized))
      return base::fail(result.error());
    return {};
  }

  const Call& call_;
  std::string keyspace_;
  schema::SnapshotPtr schema_;
  bool has_changes_ = false;  // schema_ differs from the server's schema
};

}  // namespace

Answer explain_script(const Call& call) {
  Script script(call);
  json::array statements;
  for (const cql::ScriptPiece& piece : cql::split_script(call.text("text"))) {
    if (piece.text.find_first_not_of(" \t\r\n;") == std::string::npos) continue;
    if (statements.size() == max_explained) break;
    statements.push_back(script.explain(piece));
  }
  return json::object{{"statements", std::move(statements)}};
}

}  // namespace sibyl::cli::console
