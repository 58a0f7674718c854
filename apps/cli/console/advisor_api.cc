#include "cli/console/advisor_api.h"

#include <algorithm>
#include <set>

#include "advisor/design/design.h"
#include "advisor/report/diagram.h"
#include "advisor/review/review.h"
#include "base/mutex.h"
#include "cli/advise/live.h"
#include "cli/console/statements.h"
#include "cli/session/session.h"

namespace sibyl::cli::console {
namespace {

constexpr const char* pasted_name = "pasted text";
constexpr double max_design_seconds = 8;
// Diagrams of more tables cannot be read, and the tables of a whole review are megabytes.
constexpr size_t max_tables = 150;

// Reviews and designs take a core for seconds, so only one runs at a time.
base::Mutex& one_at_a_time() {
  static base::Mutex mutex;
  return mutex;
}

// Reads the schema and the statistics of this server. Tables that the role may not read are removed
// afterwards.
class OwnSession final : public shell::Session {
 public:
  explicit OwnSession(engine::Engine& engine) : engine_(engine) {}

  base::Result<shell::StatementResult> execute(std::string_view text,
                                               const shell::StatementOptions&) override {
    StatementRequest request;
    request.text = std::string(text);
    SIBYL_ASSIGN(const execute::ResultSet set, run_statement(engine_, nullptr, request));
    shell::StatementResult result;
    if (!set.metadata) return result;
    result.kind = shell::StatementResult::Kind::rows;
    for (const plan::ColumnSpec& column : set.metadata->columns)
      result.columns.push_back({column.keyspace, column.table, column.name, column.type});
    for (const Row& row : rows_of(set)) {
      shell::ResultRow& copy = result.rows.emplace_back();
      for (const auto& value : row) copy.push_back(value ? std::optional(base::Bytes(*value)) : std::nullopt);
    }
    return result;
  }
  base::Status log_in(const std::string&, const std::string&) override {
    return base::invalid("the console's own session has no login");
  }
  std::string place() const override { return "this server"; }
  shell::ServerVersions versions() override {
    return {"Sibyl", engine::release_version, engine::cql_version, "5"};
  }
  const shell::SchemaNames& names() override { return names_; }

 private:
  engine::Engine& engine_;
  shell::SchemaNames names_;
};

// Statistics contain hot keys, and shapes contain statements of other users.
void remove_unreadable(const Call& call, advisor::Observation& observation,
                       std::vector<std::string>& remarks) {
  if (call.login() == nullptr) return;
  const auto hidden = [&](const auto& one, const std::string& table) {
    return !may_select(call.engine, call.login(), one.keyspace, table);
  };
  const size_t removed =
      std::erase_if(observation.tables, [&](const auto& one) { return hidden(one, one.name); });
  std::erase_if(observation.shapes, [&](const auto& one) { return hidden(one, one.table); });
  if (removed > 0)
    remarks.push_back(std::to_string(removed) +
                      " tables are reviewed without statistics, because you may not read them");
}

// Removes the tables without findings. Returns their number.
size_t remove_faultless(json::object& review) {
  std::set<std::string, std::less<>> named;
  for (const json::value& finding : review.at("findings").as_array())
    named.emplace(finding.at("table").as_string());
  json::array& tables = review.at("tables").as_array();
  const auto end = std::remove_if(tables.begin(), tables.end(), [&](const json::value& table) {
    return !named.contains(std::string_view(table.at("name").as_string()));
  });
  const auto removed = static_cast<size_t>(tables.end() - end);
  tables.erase(end, tables.end());
  return removed;
}

json::object large_review_json(const advisor::Review& review, std::vector<std::string>& remarks) {
  json::value all = json::parse(advisor::render_json(review));
  const size_t removed = remove_faultless(all.as_object());
  remarks.push_back("There are no diagrams of more than " + std::to_string(max_tables) + " tables. " +
                    std::to_string(removed) + " tables without findings are left out");
  return {{"review", std::move(all)}, {"diagrams", json::object()}};
}

json::object review_json(const advisor::Review& review) {
  json::object diagrams;
  for (const advisor::Diagram& diagram : advisor::draw_diagrams(review))
    if (diagram.file.ends_with(".svg"))
      diagrams[diagram.file.substr(0, diagram.file.size() - 4)] = diagram.text;
  return {{"review", json::parse(advisor::render_json(review))}, {"diagrams", std::move(diagrams)}};
}

}  // namespace

Answer review_live(const Call& call) {
  std::vector<std::string> keyspaces, remarks;
  if (const std::string keyspace = call.parameter("keyspace"); !keyspace.empty())
    keyspaces.push_back(keyspace);
  const schema::SnapshotPtr schema = call.engine.schema();
  const bool has_tables =
      std::any_of(schema->keyspaces.begin(), schema->keyspaces.end(),
                  [](const auto& one) { return !one.second->is_system && !one.second->tables.empty(); });
  if (!has_tables) return json::object{{"review", nullptr}, {"remarks", json::array()}};
  const base::MutexLock lock(one_at_a_time());
  OwnSession session(call.engine);
  SIBYL_ASSIGN(advisor::Observation observation, observe(session, keyspaces, "this server", remarks));
  remove_unreadable(call, observation, remarks);
  advisor::ReviewOptions options;
  options.observation = &observation;
  SIBYL_ASSIGN(const advisor::Review review, advisor::review_workloads({}, options));
  json::object out =
      review.tables.size() > max_tables ? large_review_json(review, remarks) : review_json(review);
  out["remarks"] = json::array(remarks.begin(), remarks.end());
  return out;
}

Answer review_text(const Call& call) {
  const base::MutexLock lock(one_at_a_time());
  SIBYL_ASSIGN(const advisor::Workload workload, advisor::parse_workload(call.text("text"), pasted_name));
  SIBYL_ASSIGN(const advisor::Review review, advisor::review_workloads({workload}, {}));
  if (review.tables.empty() && review.queries.empty())
    return base::fail(base::Error(base::ErrorCode::invalid, "The text has no table and no statement")
                          .with_hint("Paste CREATE TABLE statements and the queries that use them."));
  return review_json(review);
}

Answer design_text(const Call& call) {
  const base::MutexLock lock(one_at_a_time());
  SIBYL_ASSIGN(const advisor::Workload workload, advisor::parse_workload(call.text("text"), pasted_name));
  advisor::DesignOptions options;
  options.seconds = max_design_seconds;
  SIBYL_ASSIGN(const advisor::Design design, advisor::design_tables(workload, options));
  const std::string cql = advisor::print_design(workload, design);
  SIBYL_ASSIGN(const advisor::Workload tables, advisor::parse_workload(cql, pasted_name));
  SIBYL_ASSIGN(const advisor::Review review, advisor::review_workloads({tables}, {}));
  json::object out = review_json(review);
  out["design"] = json::parse(advisor::render_json(design));
  out["cql"] = cql;
  return out;
}

}  // namespace sibyl::cli::console
