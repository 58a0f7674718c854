// Creates a source's schema on the target, and reports what the target refuses.
#pragma once

#include <memory>
#include <vector>

#include "cli/migrate/report.h"
#include "cli/migrate/source_schema.h"
#include "client/connection.h"

namespace sibyl::cli::migrate {

class SchemaCopier {
 public:
  SchemaCopier(std::unique_ptr<client::Connection>& target, Report& report)
      : target_(target), report_(report) {}

  // Keyspaces, types, functions, aggregates and tables. Tables that could not be created are removed from
  // `keyspaces`. Fails if a table exists with other columns, or the connection is lost.
  base::Status copy_tables(std::vector<SourceKeyspace>& keyspaces);
  // Indexes and views. They are created after the data, because maintaining them during the copy would take
  // longer.
  base::Status copy_indexes_and_views(const std::vector<SourceKeyspace>& keyspaces);
  // Blocks until the target has built them.
  base::Status wait_for_builds();

 private:
  // Runs a definition. False if the target refused it; `refusal_` says why.
  base::Result<bool> define(const std::string& statement);
  base::Status create_keyspace(const SourceKeyspace& keyspace);
  // Types may use each other. So if some fail, they are tried again after the others.
  base::Status create_types(const SourceKeyspace& keyspace);
  base::Status create_functions(const SourceKeyspace& keyspace);
  base::Status create_tables(SourceKeyspace& keyspace);
  base::Status check_columns(const SourceTable& table);
  base::Status create_views(const SourceKeyspace& keyspace);

  std::unique_ptr<client::Connection>& target_;  // a reference, because the caller may replace the connection
  Report& report_;
  std::string refusal_;
  std::vector<std::pair<std::string, std::string>> indexes_, views_;  // keyspace and name, to wait for
};

}  // namespace sibyl::cli::migrate
