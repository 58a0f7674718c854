// Helpers for advisor tests: read files of the repository and review workload texts.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "advisor/review/review.h"
#include "base/source_path.h"

namespace sibyl::advisor {

// The path is relative to the repository.
inline std::string read_file(const std::string& path) {
  std::ifstream file(base::source_path(path));
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline Workload workload_of(const std::string& text, const std::string& name = "test.cql") {
  auto workload = parse_workload(text, name);
  EXPECT_TRUE(workload.has_value()) << text << (workload ? "" : workload.error().text());
  return workload ? std::move(*workload) : Workload{};
}

// Reads a workload of docs/examples.
inline Workload read_example(const std::string& name) {
  return workload_of(read_file("docs/examples/" + name), name);
}

inline Review review_of(const std::string& text) {
  auto review = review_workloads({workload_of(text)}, {});
  EXPECT_TRUE(review.has_value()) << text << (review ? "" : review.error().message());
  return review ? std::move(*review) : Review{};
}

// The first finding with this verdict, or nullptr.
inline const Finding* find(const Review& review, Verdict verdict) {
  for (const Finding& finding : review.findings)
    if (finding.verdict == verdict) return &finding;
  return nullptr;
}

// The ids of all findings, one per line.
inline std::string ids(const Review& review) {
  std::string out;
  for (const Finding& finding : review.findings) out += finding.id() + "\n";
  return out;
}

// Users are looked up by name, then by the id that was found.
inline constexpr const char* users_in_three_tables = R"(
CREATE TABLE users (id uuid PRIMARY KEY, username text, email text, age int);
CREATE TABLE users_by_username (username text PRIMARY KEY, id uuid);
CREATE TABLE users_by_email (email text PRIMARY KEY, id uuid);
-- @group by_name
-- @query name
SELECT id FROM users_by_username WHERE username = ?;
-- @query user_of_name
SELECT * FROM users WHERE id = ?;
)";

// The ten newest users of groups that gain three users a day.
inline constexpr const char* newest_ten_of_three_a_day = R"(
CREATE TABLE group_join_dates (groupname text, joined timeuuid, username text, email text, age int,
  PRIMARY KEY (groupname, joined)) WITH CLUSTERING ORDER BY (joined DESC);
-- @table group_join_dates rows=1M partitions=1000 growth=3000/d row=100
-- @target partition=150kB horizon=3y
-- @query newest rate=100/s
SELECT * FROM group_join_dates WHERE groupname = ? LIMIT 10;
)";

// Products partitioned by a flag: two large partitions.
inline constexpr const char* products_by_flag = R"(
CREATE TABLE products (available boolean, id uuid, name text, PRIMARY KEY (available, id));
-- @table products rows=10M
)";

}  // namespace sibyl::advisor
