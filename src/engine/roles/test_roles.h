// For tests: an engine with authentication, and functions that run statements as a role.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/test_result.h"

namespace sibyl::engine {

class RolesTest : public testing::Test {
 protected:
  RolesTest() {
    options_.auth = {auth::Authenticator::password, auth::Authorizer::cassandra};
    open();
  }
  void open() {
    engine_.reset();
    logins_.clear();
    auto opened = Engine::open(options_);
    ASSERT_TRUE(opened) << opened.error().message();
    engine_ = std::move(*opened);
  }
  const auth::Login* log_in(const std::string& role) {
    auto login = engine_->authenticator().log_in(role, role);
    EXPECT_TRUE(login) << role;
    return login ? *login : nullptr;
  }

  base::Result<execute::ResultSet> run(const plan::PreparedPtr& plan, const std::string& role) {
    if (!logins_.contains(role)) logins_[role] = log_in(role);
    std::promise<base::Result<execute::ResultSet>> answer;
    engine_->executor().execute_as(logins_[role], plan, {}, [&](base::Result<execute::ResultSet> result) {
      answer.set_value(std::move(result));
    });
    return answer.get_future().get();
  }
  // Returns the rows as texts, or "OK", or the error's text.
  std::vector<std::string> ask(const std::string& role, std::string_view text) {
    const auto plan = engine_->planner().plan_query(text, "ks");
    if (!plan) return {plan.error().message()};
    return print(run(*plan, role));
  }
  static std::vector<std::string> print(const base::Result<execute::ResultSet>& result) {
    if (!result) return {result.error().message()};
    if (result->kind != execute::ResultSet::Kind::rows) return {"OK"};
    return lines_of(*result);
  }
  void must(std::string_view text) {
    ASSERT_THAT(ask("cassandra", text), testing::ElementsAre("OK")) << text;
  }
  void make_family() {
    must("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    must("CREATE TABLE ks.t (k int PRIMARY KEY, v int)");
    must("CREATE ROLE bob WITH PASSWORD = 'bob' AND LOGIN = true");
  }

  Options options_;
  std::unique_ptr<Engine> engine_;
  std::map<std::string, const auth::Login*> logins_;
};

}  // namespace sibyl::engine
