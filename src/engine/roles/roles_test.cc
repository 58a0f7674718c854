#include "engine/roles/roles.h"

#include <latch>
#include <thread>

#include "auth/password.h"
#include "base/test_directory.h"
#include "engine/catalogue/open_store.h"
#include "engine/roles/role_statements.h"
#include "engine/roles/test_roles.h"
#include "engine/test_schema.h"
#include "execute/write/locks.h"

namespace sibyl::engine {
namespace {

using execute::ResultSet;
using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(RolesTest, TheFirstStartCreatesASuperuser) {
  EXPECT_THAT(ask("cassandra", "LIST ROLES"), ElementsAre("cassandra|True|True|{}|ALL"));
  EXPECT_EQ(engine_->authenticator().log_in("cassandra", "wrong").error().message(),
            "Provided username cassandra and/or password are incorrect");
  EXPECT_EQ(engine_->authenticator().log_in("cassandra", "wrong").error().code(),
            base::ErrorCode::bad_credentials);
}

TEST_F(RolesTest, UnknownRolesAndThoseWithoutPasswordAreRefusedAlike) {
  must("CREATE ROLE group1");
  must("CREATE ROLE asleep WITH PASSWORD = 'asleep'");
  for (const char* role : {"nobody", "group1"})
    EXPECT_EQ(engine_->authenticator().log_in(role, "x").error().message(),
              std::string("Provided username ") + role + " and/or password are incorrect");
  EXPECT_EQ(engine_->authenticator().log_in("asleep", "x").error().message(),
            "Provided username asleep and/or password are incorrect");
  EXPECT_EQ(engine_->authenticator().log_in("asleep", "asleep").error().message(),
            "asleep is not permitted to log in");
}

TEST_F(RolesTest, PlansAreCheckedAgainAfterRevoke) {
  make_family();
  must("GRANT SELECT ON ks.t TO bob");
  const auto select = engine_->planner().plan_query("SELECT * FROM ks.t", "").value();
  EXPECT_THAT(print(run(select, "bob")), IsEmpty());
  EXPECT_THAT(print(run(select, "bob")), IsEmpty());  // now cached
  must("REVOKE SELECT ON ks.t FROM bob");
  EXPECT_THAT(print(run(select, "bob")),
              ElementsAre("User bob has no SELECT permission on <table ks.t> or any of its parents"));
  must("GRANT SELECT ON ALL KEYSPACES TO bob");
  EXPECT_THAT(print(run(select, "bob")), IsEmpty());
}

TEST_F(RolesTest, OneRolesPermissionIsNotAnothers) {
  make_family();
  must("CREATE ROLE alice WITH PASSWORD = 'alice' AND LOGIN = true");
  must("GRANT SELECT ON ks.t TO alice");
  const auto select = engine_->planner().plan_query("SELECT * FROM ks.t", "").value();
  EXPECT_THAT(print(run(select, "alice")), IsEmpty());
  EXPECT_THAT(print(run(select, "bob")),
              ElementsAre("User bob has no SELECT permission on <table ks.t> or any of its parents"));
}

TEST_F(RolesTest, DroppingAResourceRevokesItsPermissions) {
  make_family();
  must("GRANT ALL ON ks.t TO bob");
  must("GRANT SELECT ON KEYSPACE ks TO bob");
  must("DROP TABLE ks.t");
  must("CREATE TABLE ks.t (k int PRIMARY KEY, v int)");
  EXPECT_THAT(ask("bob", "DROP TABLE ks.t"),
              ElementsAre("User bob has no DROP permission on <table ks.t> or any of its parents"));
  EXPECT_THAT(ask("bob", "SELECT * FROM ks.t"), IsEmpty());
  must("DROP KEYSPACE ks");
  EXPECT_THAT(ask("cassandra", "LIST ALL PERMISSIONS OF bob"), ElementsAre("OK"));  // none
}

TEST_F(RolesTest, AGrantThatRacesADropLeavesNoPermission) {
  make_family();
  must("CREATE ROLE carol");
  const std::pair<const char*, const char*> made[] = {
      {"TABLE ks.u", "(k int PRIMARY KEY)"},
      {"FUNCTION ks.f(int)", "RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE lua AS 'return 1'"},
      {"KEYSPACE other", "WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"},
      {"ROLE dave", ""}};
  for (int round = 0; round < 100; ++round)
    for (const auto& [what, definition] : made) {
      const std::string name = what;
      must(name == "FUNCTION ks.f(int)" ? "CREATE FUNCTION ks.f(a int) " + std::string(definition)
                                        : "CREATE " + name + " " + definition);
      std::latch begin(2);
      std::thread granting([&] {
        begin.arrive_and_wait();
        ask("cassandra", "GRANT ALL ON " + name + " TO carol");
      });
      begin.arrive_and_wait();
      must("DROP " + name);
      granting.join();
      ASSERT_THAT(ask("cassandra", "LIST ALL PERMISSIONS OF carol"), ElementsAre("OK")) << what;  // none
      ASSERT_THAT(ask("cassandra", "SELECT role FROM system_auth.role_permissions WHERE role = 'carol'"),
                  IsEmpty());
    }
}

// Tests the same race, step by step.
TEST(GrantPermission, ChecksTheSchemaWhenItGrants) {
  base::SystemClock clock;
  const auto store = make_system_store(clock);
  execute::TimestampSource timestamps(clock);
  execute::PartitionLocks locks;
  execute::Environment environment{*store, *store, clock, timestamps, locks};
  const auth::Options options{auth::Authenticator::password, auth::Authorizer::cassandra};
  Roles roles(environment, options);
  const schema::SnapshotPtr without_table =
      define(system_snapshot(),
             "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
  const schema::SnapshotPtr with_table = define(without_table, "CREATE TABLE ks.t (k int PRIMARY KEY)");
  ASSERT_TRUE(roles.start(with_table));
  const auth::Login* login = roles.log_in("cassandra", "cassandra").value();
  const auto run = [&](std::string_view text, const NewestSchema& schema) {
    const auto result = run_role_statement(**cql::parse_statement(text), login, "", schema, roles);
    return result ? std::string("OK") : result.error().message();
  };
  ASSERT_EQ(run("CREATE ROLE carol", [&] { return with_table; }), "OK");
  // The table is dropped after the statement has begun.
  int asked = 0;
  EXPECT_EQ(run("GRANT SELECT ON ks.t TO carol", [&] { return asked++ == 0 ? with_table : without_table; }),
            "Resource <table ks.t> doesn't exist");
  EXPECT_FALSE(roles.access()->rows().permissions.contains("carol"));
  // The table is dropped after the permission was granted.
  EXPECT_EQ(run("GRANT SELECT ON ks.t TO carol", [&] { return with_table; }), "OK");
  EXPECT_TRUE(roles.access()->rows().permissions.contains("carol"));
  const std::vector<schema::Change> drop = {
      {schema::Change::Kind::dropped, schema::Change::Target::table, "ks", "t", {}}};
  // If the commit fails, nothing changes.
  const auto fail = [](const storage::WriteSet& writes) -> base::Status {
    EXPECT_FALSE(writes.empty());
    return base::fail(base::ErrorCode::write_failure, "No space left on device");
  };
  EXPECT_FALSE(roles.change(permission_change_for(drop, *without_table, nullptr), fail));
  EXPECT_TRUE(roles.access()->rows().permissions.contains("carol"));
  ASSERT_TRUE(roles.change(permission_change_for(drop, *without_table, nullptr)));
  EXPECT_FALSE(roles.access()->rows().permissions.contains("carol"));
}

// Otherwise a failure could leave a definition without the permissions for it.
TEST_F(RolesTest, ADefinitionAndItsPermissionsAreOneCommit) {
  make_family();
  must("GRANT CREATE ON KEYSPACE ks TO bob");
  const auto commits_of = [&](const std::string& role, const char* text) {
    const uint64_t before = engine_->store().statistics().commits;
    EXPECT_THAT(ask(role, text), ElementsAre("OK"));
    return engine_->store().statistics().commits - before;
  };
  EXPECT_EQ(commits_of("bob", "CREATE TABLE ks.mine (k int PRIMARY KEY)"), 1u);
  EXPECT_THAT(ask("bob", "SELECT * FROM ks.mine"), IsEmpty());
  EXPECT_EQ(commits_of("bob", "DROP TABLE ks.mine"), 1u);
  EXPECT_THAT(ask("cassandra", "SELECT resource FROM system_auth.role_permissions WHERE role = 'bob'"),
              ElementsAre("data/ks"));
}

TEST_F(RolesTest, ACallNeedsExecuteOnItsOverload) {
  make_family();
  must("INSERT INTO ks.t (k, v) VALUES (1, 20)");
  must("GRANT SELECT ON ks.t TO bob");
  must("GRANT MODIFY ON ks.t TO bob");
  const std::string rest = " RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE lua AS 'return a + 1'";
  must("CREATE FUNCTION ks.next(a int)" + rest);
  must("CREATE FUNCTION ks.next(a bigint)" + rest);
  must(
      "CREATE FUNCTION ks.sums(a int, b int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE lua AS 'return "
      "a + b'");
  must("CREATE AGGREGATE ks.total(int) SFUNC sums STYPE int FINALFUNC next INITCOND 0");
  const auto refused = [](const std::string& function) {
    return ElementsAre("User bob has no EXECUTE permission on <function ks." + function +
                       "> or any of its parents");
  };
  EXPECT_THAT(ask("bob", "SELECT ks.next(v) FROM ks.t"), refused("next(int)"));
  must("GRANT EXECUTE ON FUNCTION ks.next(int) TO bob");
  EXPECT_THAT(ask("bob", "SELECT ks.next(v) FROM ks.t"), ElementsAre("21"));
  EXPECT_THAT(ask("bob", "SELECT ks.next((bigint)1) FROM ks.t"), refused("next(bigint)"));
  EXPECT_THAT(ask("bob", "SELECT ks.next(ks.next((bigint)1)) FROM ks.t"), refused("next(bigint)"));
  EXPECT_THAT(ask("bob", "SELECT v FROM ks.t WHERE k = ks.next((bigint)0)"), refused("next(bigint)"));
  EXPECT_THAT(ask("bob", "SELECT v FROM ks.t WHERE k = ks.next((int)0)"), ElementsAre("20"));
  EXPECT_THAT(ask("bob", "UPDATE ks.t SET v = ks.next((bigint)7) WHERE k = 2"), refused("next(bigint)"));
  EXPECT_THAT(ask("bob", "UPDATE ks.t SET v = ks.next((int)7) WHERE k = 2"), ElementsAre("OK"));
  EXPECT_THAT(ask("bob", "EXPLAIN SELECT ks.next((bigint)1) FROM ks.t"), refused("next(bigint)"));
  // An aggregate needs EXECUTE on itself and on the functions that it calls.
  EXPECT_THAT(ask("bob", "SELECT ks.total(v) FROM ks.t"), refused("total(int)"));
  must("GRANT EXECUTE ON FUNCTION ks.total(int) TO bob");
  must("REVOKE EXECUTE ON FUNCTION ks.next(int) FROM bob");
  EXPECT_THAT(ask("bob", "SELECT ks.total(v) FROM ks.t"), refused("sums(int, int)"));
  must("GRANT EXECUTE ON FUNCTION ks.sums(int, int) TO bob");
  EXPECT_THAT(ask("bob", "SELECT ks.total(v) FROM ks.t"), refused("next(int)"));
  must("GRANT EXECUTE ON FUNCTION ks.next(int) TO bob");
  EXPECT_THAT(ask("bob", "SELECT ks.total(v) FROM ks.t"), ElementsAre("29"));
  // A new overload does not affect calls of the other function of this name.
  must("CREATE FUNCTION ks.next(a text) RETURNS NULL ON NULL INPUT RETURNS text LANGUAGE lua AS 'return a'");
  EXPECT_THAT(ask("bob", "SELECT ks.next(v) FROM ks.t WHERE k = 1"), ElementsAre("21"));
}

TEST_F(RolesTest, ABatchInOneStatementIsCheckedWhole) {
  make_family();
  must("CREATE TABLE ks.u (k int PRIMARY KEY, v int)");
  must("GRANT MODIFY ON ks.t TO bob");
  EXPECT_THAT(
      ask("bob", "BEGIN BATCH INSERT INTO t (k) VALUES (1); INSERT INTO u (k) VALUES (1); APPLY BATCH"),
      ElementsAre("User bob has no MODIFY permission on <table ks.u> or any of its parents"));
  EXPECT_THAT(ask("cassandra", "SELECT * FROM ks.t"), IsEmpty());
}

TEST_F(RolesTest, SystemTablesOfSecretsAreProtected) {
  make_family();
  EXPECT_THAT(ask("bob", "SELECT key FROM system.local"), ElementsAre("local"));
  for (const char* table : {"roles", "role_permissions", "role_members", "identity_to_role"}) {
    const std::string name = std::string("system_auth.") + table;
    EXPECT_THAT(
        ask("bob", "SELECT * FROM " + name),
        ElementsAre("User bob has no SELECT permission on <table " + name + "> or any of its parents"));
  }
  EXPECT_THAT(ask("bob", "INSERT INTO system_auth.roles (role, is_superuser) VALUES ('bob', true)"),
              ElementsAre("Modification is not supported by table system_auth.roles"));
  for (const char* role : {"bob", "cassandra"})
    for (const char* table : {"system_auth.roles", "system_auth.role_permissions", "system_schema.tables",
                              "system_traces.sessions", "system.local"})
      EXPECT_THAT(ask(role, std::string("TRUNCATE ") + table),
                  ElementsAre(std::string("Truncation is not supported by table ") + table));
  EXPECT_THAT(ask("cassandra", "SELECT role FROM system_auth.roles"), testing::SizeIs(2));
}

TEST_F(RolesTest, StatementsAndDataSizesOfOthersAreProtected) {
  make_family();
  for (const char* table : {"system_traces.sessions", "system_traces.events", "system.size_estimates",
                            "system.table_estimates", "system.prepared_statements"}) {
    const std::string name(table);
    EXPECT_THAT(
        ask("bob", "SELECT * FROM " + name),
        ElementsAre("User bob has no SELECT permission on <table " + name + "> or any of its parents"));
  }
  // Drivers read these tables.
  for (const char* table : {"system.local", "system.peers", "system.peers_v2", "system_schema.tables",
                            "system_schema.functions", "system_virtual_schema.tables"})
    EXPECT_TRUE(run(engine_->planner().plan_query(std::string("SELECT * FROM ") + table, "").value(), "bob"))
        << table;
  must("GRANT SELECT ON KEYSPACE system_traces TO bob");
  EXPECT_THAT(ask("bob", "SELECT * FROM system_traces.sessions"), IsEmpty());
}

TEST_F(RolesTest, AViewNeedsAlterOnItsBaseTable) {
  make_family();
  must("CREATE KEYSPACE other WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
  must("CREATE TABLE other.t (k int PRIMARY KEY, v int)");
  must("GRANT ALTER ON ks.t TO bob");
  constexpr const char* text =
      "CREATE MATERIALIZED VIEW other.mv AS SELECT * FROM t WHERE k IS NOT NULL AND v IS NOT NULL "
      "PRIMARY KEY (v, k)";
  for (const char* session : {"ks", "", "other"})
    EXPECT_THAT(print(run(engine_->planner().plan_query(text, session).value(), "bob")),
                ElementsAre("User bob has no ALTER permission on <table other.t> or any of its parents"))
        << session;
  must("GRANT ALTER ON other.t TO bob");
  EXPECT_THAT(ask("bob", text), ElementsAre("OK"));
}

TEST_F(RolesTest, IdentitiesLogInRoles) {
  make_family();
  must("ADD IDENTITY 'spiffe://x/bob' TO ROLE 'bob'");
  EXPECT_EQ(engine_->authenticator().log_in_by_identity("spiffe://x/bob").value()->role, "bob");
  EXPECT_EQ(engine_->authenticator().log_in_by_identity("spiffe://x/alice").error().message(),
            "Certificate identity 'spiffe://x/alice' not authorized");
  must("DROP ROLE bob");
  EXPECT_FALSE(engine_->authenticator().log_in_by_identity("spiffe://x/bob").has_value());
}

// Cassandra requires CREATE on the role of the user who adds the identity, and no permission on the role that
// it is for.
TEST_F(RolesTest, ChangingAnIdentityNeedsAlterOnItsRole) {
  make_family();
  must("CREATE ROLE alice WITH PASSWORD = 'alice' AND LOGIN = true");
  must("CREATE ROLE heirs");
  must("GRANT cassandra TO heirs");
  must("GRANT CREATE ON ALL ROLES TO bob");
  must("GRANT DROP ON ALL ROLES TO bob");
  must("ADD IDENTITY 'hers' TO ROLE 'alice'");
  must("ADD IDENTITY 'root' TO ROLE 'cassandra'");
  const auto insufficient =
      ElementsAre("User bob does not have sufficient privileges to perform the requested operation");
  EXPECT_THAT(ask("bob", "ADD IDENTITY 'mine' TO ROLE 'alice'"), insufficient);
  EXPECT_THAT(ask("bob", "DROP IDENTITY 'hers'"), insufficient);
  must("GRANT ALTER ON ALL ROLES TO bob");
  EXPECT_THAT(ask("bob", "ADD IDENTITY 'mine' TO ROLE 'alice'"), ElementsAre("OK"));
  EXPECT_THAT(ask("bob", "DROP IDENTITY 'hers'"), ElementsAre("OK"));
  const auto of_superusers =
      ElementsAre("Only superusers can change identities of a role with superuser status");
  EXPECT_THAT(ask("bob", "ADD IDENTITY 'boss' TO ROLE 'cassandra'"), of_superusers);
  EXPECT_THAT(ask("bob", "ADD IDENTITY 'boss' TO ROLE 'heirs'"), of_superusers);
  EXPECT_THAT(ask("bob", "DROP IDENTITY 'root'"), of_superusers);
  EXPECT_FALSE(engine_->authenticator().log_in_by_identity("boss").has_value());
  must("DROP IDENTITY 'root'");
}

TEST_F(RolesTest, OnlySuperusersMaySetExpensiveHashes) {
  make_family();
  const std::string rest = "$JSJEMFm6GeaW9XxT5JIheuEtPvat6i7uKbnTcxX3c1wshIIsGyUtG'";
  must("GRANT CREATE ON ALL ROLES TO bob");
  const std::string dear = "CREATE ROLE dear WITH HASHED PASSWORD = '$2a$13" + rest;
  EXPECT_THAT(ask("bob", dear),
              ElementsAre("Only superusers can set a hashed password of more than 2^12 rounds"));
  EXPECT_THAT(ask("bob", "CREATE ROLE usual WITH HASHED PASSWORD = '$2a$12" + rest), ElementsAre("OK"));
  must(dear);
  // The rate limit is the same as for passwords that are not hashed.
  const std::string again = "ALTER ROLE dear WITH HASHED PASSWORD = '$2a$10" + rest;
  EXPECT_THAT(ask("cassandra", again),
              ElementsAre("Password for role dear can only be changed every 5000ms."));
}

TEST_F(RolesTest, PasswordsInPreparedStatementsAreNotShown) {
  ASSERT_TRUE(engine_->planner().prepare("CREATE ROLE bob WITH PASSWORD = 'tell-nobody'", ""));
  EXPECT_THAT(ask("cassandra", "SELECT query_string FROM system.prepared_statements"),
              ElementsAre("CREATE ROLE bob WITH PASSWORD *******"));
}

TEST_F(RolesTest, WithoutAuthorizerOnlySuperusersManageRoles) {
  options_.auth.authorizer = auth::Authorizer::allow_all;
  open();
  make_family();
  must(
      "CREATE ROLE alice WITH HASHED PASSWORD = "
      "'$2a$10$JSJEMFm6GeaW9XxT5JIheuEtPvat6i7uKbnTcxX3c1wshIIsGyUtG'");
  for (const char* text : {"GRANT cassandra TO bob", "REVOKE cassandra FROM bob", "CREATE ROLE mine",
                           "CREATE ROLE boss WITH SUPERUSER = true", "DROP ROLE alice",
                           "ALTER ROLE alice WITH PASSWORD = 'mine'",
                           "ALTER ROLE cassandra WITH PASSWORD = 'mine'", "ADD IDENTITY 'x' TO ROLE 'bob'"})
    EXPECT_THAT(
        ask("bob", text),
        ElementsAre("User bob does not have sufficient privileges to perform the requested operation"))
        << text;
  // A role may change its own password. The error shows that the password was set a moment ago, not that a
  // permission is missing.
  EXPECT_THAT(ask("bob", "ALTER ROLE bob WITH PASSWORD = 'new'"),
              ElementsAre("Password for role bob can only be changed every 5000ms."));
  must("GRANT alice TO bob");
  EXPECT_THAT(ask("bob", "LIST ROLES OF bob"), testing::SizeIs(2));
}

TEST_F(RolesTest, WithoutAuthorizerRolesLogInAndMayDoEverything) {
  options_.auth.authorizer = auth::Authorizer::allow_all;
  open();
  make_family();
  EXPECT_THAT(ask("bob", "SELECT * FROM ks.t"), IsEmpty());
  EXPECT_THAT(ask("bob", "LIST ALL PERMISSIONS"),
              ElementsAre("LIST PERMISSIONS operation is not supported by AllowAllAuthorizer"));
  EXPECT_THAT(ask("bob", "TRUNCATE ks.t"), ElementsAre("OK"));
}

TEST_F(RolesTest, TheProgramItselfMayDoEverythingButHasNoRole) {
  execute::Request request;
  std::promise<base::Result<ResultSet>> answer;
  engine_->executor().execute(engine_->planner().plan_query("SELECT role FROM system_auth.roles", "").value(),
                              request,
                              [&](base::Result<ResultSet> result) { answer.set_value(std::move(result)); });
  EXPECT_THAT(print(answer.get_future().get()), ElementsAre("cassandra"));
  std::promise<base::Result<ResultSet>> refused;
  engine_->executor().execute(engine_->planner().plan_query("CREATE ROLE x", "").value(), request,
                              [&](base::Result<ResultSet> result) { refused.set_value(std::move(result)); });
  EXPECT_THAT(print(refused.get_future().get()),
              ElementsAre("You have to be logged in and not anonymous to perform this request"));
}

// A table that is dropped and created again is a different table, even if permissions are not checked.
TEST_F(RolesTest, DroppingATableRevokesPermissionsThatAreNotChecked) {
  const base::TemporaryDirectory directory;
  options_.data = directory.path();
  open();
  make_family();
  must("GRANT SELECT ON ks.t TO bob");
  for (const bool asks_who : {true, false}) {
    options_.auth = {asks_who ? auth::Authenticator::password : auth::Authenticator::allow_all,
                     auth::Authorizer::allow_all};
    open();
    for (const char* text : {"DROP TABLE ks.t", "CREATE TABLE ks.t (k int PRIMARY KEY, v int)"})
      ASSERT_TRUE(run_text(*engine_, text, "ks")) << text;
    options_.auth = {auth::Authenticator::password, auth::Authorizer::cassandra};
    open();
    EXPECT_THAT(ask("bob", "SELECT * FROM ks.t"),
                ElementsAre("User bob has no SELECT permission on <table ks.t> or any of its parents"))
        << asks_who;
    must("GRANT SELECT ON ks.t TO bob");
  }
  engine_.reset();
}

TEST(RolesOnDisk, EverythingSurvivesARestart) {
  const base::TemporaryDirectory directory;
  Options options;
  options.data = directory.path();
  options.auth = {auth::Authenticator::password, auth::Authorizer::cassandra};
  const auto run = [](Engine& engine, std::string_view text) {
    std::promise<base::Result<ResultSet>> answer;
    engine.executor().execute_as(
        engine.authenticator().log_in("cassandra", "cassandra").value(),
        engine.planner().plan_query(text, "").value(), {},
        [&](base::Result<ResultSet> result) { answer.set_value(std::move(result)); });
    const auto result = answer.get_future().get();
    EXPECT_TRUE(result) << text << ": " << result.error().message();
    return result ? result->rows.count() : 0;
  };
  {
    auto engine = Engine::open(options).value();
    run(*engine, "CREATE ROLE bob WITH PASSWORD = 'bob' AND LOGIN = true");
    run(*engine, "CREATE ROLE readers");
    run(*engine, "GRANT readers TO bob");
    run(*engine, "GRANT SELECT ON ALL KEYSPACES TO readers");
    run(*engine, "ADD IDENTITY 'x' TO ROLE 'bob'");
  }
  {
    auto engine = Engine::open(options).value();
    EXPECT_TRUE(engine->authenticator().log_in("bob", "bob"));
    EXPECT_TRUE(engine->authenticator().log_in_by_identity("x"));
    EXPECT_EQ(run(*engine, "SELECT * FROM system_auth.role_members"), 1u);
    EXPECT_EQ(run(*engine, "LIST SELECT OF bob"), 1u);
    run(*engine, "DROP ROLE readers");
  }
  {
    auto engine = Engine::open(options).value();
    EXPECT_EQ(run(*engine, "SELECT * FROM system_auth.role_members"), 0u);
    EXPECT_EQ(run(*engine, "SELECT * FROM system_auth.role_permissions WHERE role = 'readers'"), 0u);
  }
}

}  // namespace
}  // namespace sibyl::engine
