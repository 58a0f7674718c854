// Generates random statements from the input bytes, for a schema with tables of all kinds. Plans and runs
// them on a memory store: as text, prepared, with EXPLAIN and page by page. Nothing may crash, and every
// returned value must be valid for the type of its column.
#include <array>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "engine/engine.h"
#include "engine/statement_generator.h"
#include "types/validate.h"
#include "types/value.h"

namespace {

using namespace sibyl;

class Database {
 public:
  Database() {
    auto opened = engine::Engine::open({});
    SIBYL_CHECK(opened.has_value());
    engine_ = std::move(*opened);
  }

  // Restores the initial state before every input.
  void reset() {
    run("DROP KEYSPACE IF EXISTS f", 0);
    for (const char* definition : engine::generated_schema) run(definition, 0);
  }

  void run(const std::string& text, int32_t page_size) {
    const auto plan = engine_->planner().plan_query(text, "f");
    if (!plan) return;
    execute::Request request;
    request.page_size = page_size;
    for (int pages = 0; pages < 100; ++pages) {
      auto result = wait(*plan, request);
      if (!result) return;
      check(*result);
      if (!result->paging_state) return;
      SIBYL_CHECK(page_size > 0);
      request.paging_state = std::move(result->paging_state);
    }
  }

  void run_prepared(const std::string& text, const std::vector<base::Bytes>& values) {
    const auto prepared = engine_->planner().prepare(text, "f");
    if (!prepared) return;
    std::vector<types::ValueView> views;
    for (size_t i = 0; i < prepared->plan->markers.size(); ++i) {
      const size_t which = values.empty() ? 0 : i % (values.size() + 2);
      views.push_back(which < values.size() ? types::ValueView::of(values[which])
                      : which % 2 == 0      ? types::ValueView::null()
                                            : types::ValueView::unset());
    }
    execute::Request request;
    request.values = views;
    if (auto result = wait(prepared->plan, request)) check(*result);
  }

 private:
  base::Result<execute::ResultSet> wait(const plan::PreparedPtr& plan, const execute::Request& request) {
    std::promise<base::Result<execute::ResultSet>> answer;
    engine_->executor().execute(
        plan, request, [&](base::Result<execute::ResultSet> result) { answer.set_value(std::move(result)); });
    return answer.get_future().get();
  }

  static void check(const execute::ResultSet& result) {
    if (result.kind != execute::ResultSet::Kind::rows) return;
    base::Reader reader(result.rows.bytes());
    for (size_t row = 0; row < result.rows.count(); ++row) {
      for (const plan::ColumnSpec& column : result.metadata->columns) {
        uint32_t size = 0;
        base::BytesView value;
        SIBYL_CHECK(reader.big_endian(size));
        if (static_cast<int32_t>(size) < 0) continue;
        SIBYL_CHECK(reader.take(size, value));
        SIBYL_CHECK(types::validate(*column.type, value).has_value());
      }
    }
  }

  std::unique_ptr<engine::Engine> engine_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Database database;
  database.reset();
  engine::StatementGenerator generator(std::string_view(reinterpret_cast<const char*>(data), size));
  constexpr int max_statements = 24;
  for (int i = 0; i < max_statements && !generator.at_end(); ++i) {
    const std::string text = generator.statement();
    database.run(text, generator.page_size());
    if (generator.sometimes()) database.run_prepared(text, generator.values());
    if (generator.sometimes()) database.run("EXPLAIN " + text, 0);
  }
  return 0;
}
