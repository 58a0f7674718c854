#include "server/connection/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sibyl::server {
namespace {

using protocol::Header;
using protocol::Opcode;
using protocol::Version;
using testing::HasSubstr;

Header header(Opcode opcode, Version version = Version::v4, uint8_t flags = 0) {
  return {version, flags, 1, opcode};
}

base::Status start(Session& session, const protocol::StringMap& options, bool must_log_in = false) {
  std::string body;
  protocol::append_startup(body, options);
  protocol::Startup message;
  return session.start_up(body, must_log_in, message);
}

Session at(Session::Stage stage) {
  Session session;
  EXPECT_TRUE(session.admit(header(Opcode::startup)));
  if (stage == Session::Stage::expecting_startup) return session;
  EXPECT_TRUE(start(session, {{"CQL_VERSION", "3.0.0"}}, true));
  if (stage == Session::Stage::ready) {
    static const auth::Login login{"bob", 1};
    session.log_in(&login);
    EXPECT_EQ(session.login(), &login);
  }
  return session;
}

TEST(Session, EachStageAdmitsItsMessages) {
  struct Case {
    Session::Stage stage;
    Opcode opcode;
    const char* error;  // nullptr: admitted
  };
  using enum Session::Stage;
  const std::vector<Case> cases = {
      {expecting_startup, Opcode::startup, nullptr},
      {expecting_startup, Opcode::options, nullptr},
      {expecting_startup, Opcode::query, "Unexpected message QUERY, expecting STARTUP or OPTIONS"},
      {expecting_startup, Opcode::auth_response,
       "Unexpected message AUTH_RESPONSE, expecting STARTUP or OPTIONS"},
      {authenticating, Opcode::auth_response, nullptr},
      {authenticating, Opcode::query, "Unexpected message QUERY, expecting SASL_RESPONSE"},
      {authenticating, Opcode::options, "Unexpected message OPTIONS, expecting SASL_RESPONSE"},
      {authenticating, Opcode::startup, "Unexpected message STARTUP, expecting SASL_RESPONSE"},
      {ready, Opcode::query, nullptr},
      {ready, Opcode::options, nullptr},
      {ready, Opcode::auth_response, nullptr},
      {ready, Opcode::startup, "Unexpected message STARTUP, the connection is already initialized"},
  };
  for (const Case& one : cases) {
    Session session = at(one.stage);
    const base::Status status = session.admit(header(one.opcode));
    EXPECT_EQ(status.has_value(), one.error == nullptr) << protocol::opcode_name(one.opcode);
    if (!status && one.error != nullptr) {
      EXPECT_EQ(status.error().message(), one.error);
    }
  }
}

TEST(Session, TheVersionIsFixedByStartup) {
  Session session;
  EXPECT_TRUE(session.admit(header(Opcode::options, Version::v3)));
  EXPECT_EQ(session.version(), Version::v3);
  EXPECT_TRUE(session.admit(header(Opcode::startup, Version::v5)));
  EXPECT_TRUE(start(session, {{"CQL_VERSION", "3.0.0"}}));
  EXPECT_EQ(session.version(), Version::v5);
  const base::Status status = session.admit(header(Opcode::query, Version::v4));
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message(), HasSubstr("Invalid message version. Got 4/v4"));
  EXPECT_EQ(session.version(), Version::v5);
}

TEST(Session, StartupIsChecked) {
  struct Case {
    protocol::StringMap options;
    const char* error;  // nullptr: accepted
  };
  const std::vector<Case> cases = {
      {{{"CQL_VERSION", "3.0.0"}}, nullptr},
      {{{"CQL_VERSION", "3"}}, nullptr},
      {{{"CQL_VERSION", "4.1"}}, nullptr},
      {{}, "Missing value CQL_VERSION"},
      {{{"CQL_VERSION", "2.9.9"}}, "CQL version 2.9.9 is not supported"},
      {{{"CQL_VERSION", "3x"}}, "Invalid version value: 3x"},
      {{{"CQL_VERSION", ""}}, "Invalid version value: "},
      {{{"CQL_VERSION", "3.0.0"}, {"COMPRESSION", "zip"}}, "zip"},
      {{{"CQL_VERSION", "3.0.0"}, {"X", std::string(5000, 'x')}}, "Too many options in STARTUP"},
  };
  for (const Case& one : cases) {
    Session session;
    EXPECT_TRUE(session.admit(header(Opcode::startup)));
    const base::Status status = start(session, one.options);
    EXPECT_EQ(session.is_ready(), one.error == nullptr);
    EXPECT_EQ(status.has_value(), one.error == nullptr);
    if (!status && one.error != nullptr) {
      EXPECT_THAT(status.error().message(), HasSubstr(one.error));
    }
  }
}

TEST(Session, CompressionIsOfBodiesOrOfSegments) {
  for (const Version version : {Version::v3, Version::v4, Version::v5}) {
    Session session;
    EXPECT_TRUE(session.admit(header(Opcode::startup, version)));
    EXPECT_TRUE(start(session, {{"CQL_VERSION", "3.0.0"}, {"COMPRESSION", "lz4"}}));
    const bool of_segments = version == Version::v5;
    EXPECT_EQ(session.compression() == protocol::Compression::lz4, !of_segments);
    EXPECT_EQ(session.segment_compression() == protocol::Compression::lz4, of_segments);
  }
}

TEST(Session, BodiesAreOpened) {
  const std::string text(1000, 'x');
  std::string compressed;
  protocol::compress(protocol::Compression::lz4, text, compressed);
  Session session;
  EXPECT_TRUE(session.admit(header(Opcode::startup)));
  EXPECT_TRUE(start(session, {{"CQL_VERSION", "3.0.0"}, {"COMPRESSION", "lz4"}}));
  base::Bytes memory;
  protocol::BytesView body = compressed;
  EXPECT_TRUE(
      session.open_body(header(Opcode::query, Version::v4, protocol::flag::compression), 2000, body, memory));
  EXPECT_EQ(body, text);
  body = compressed;
  EXPECT_FALSE(
      session.open_body(header(Opcode::query, Version::v4, protocol::flag::compression), 500, body, memory));
  body = compressed;
  EXPECT_TRUE(session.open_body(header(Opcode::query), 2000, body, memory));
  EXPECT_EQ(body, compressed);
}

TEST(Session, MessagesAreSmallBeforeLogin) {
  constexpr size_t limit = 16u << 20;
  EXPECT_EQ(at(Session::Stage::expecting_startup).body_limit(limit), 64u << 10);
  EXPECT_EQ(at(Session::Stage::authenticating).body_limit(limit), 64u << 10);
  EXPECT_EQ(at(Session::Stage::authenticating).body_limit(1000), 1000u);
  EXPECT_EQ(at(Session::Stage::ready).body_limit(limit), limit);
}

TEST(Session, EventsAreRegistered) {
  const auto register_names = [](Session& session, const std::vector<std::string>& names) {
    std::string body;
    protocol::append_string_list(body, names);
    return session.register_events(body);
  };
  Session session = at(Session::Stage::ready);
  EXPECT_TRUE(register_names(session, {"STATUS_CHANGE", "topology_change"}));
  EXPECT_FALSE(session.wants(protocol::SchemaChange()));
  const base::Status status = register_names(session, {"SCHEMA_CHANGE", "other"});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message(), "Invalid value 'OTHER' for Type");
  EXPECT_FALSE(session.wants(protocol::SchemaChange()));
  EXPECT_TRUE(register_names(session, {"schema_change"}));
  EXPECT_TRUE(session.wants(protocol::SchemaChange()));
  EXPECT_TRUE(session.wants(protocol::NodeChange{"TOPOLOGY_CHANGE", "NEW_NODE", "", 0}));
  EXPECT_FALSE(session.wants(protocol::NodeChange{"OTHER", "", "", 0}));
}

}  // namespace
}  // namespace sibyl::server
