#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "server/test_client.h"

namespace sibyl::server {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using testing::HasSubstr;

std::string token_body(std::string_view token) {
  std::string body;
  protocol::append_auth_response(body, token);
  return body;
}
std::string plain(const std::string& role, const std::string& password) {
  return token_body("\0"s + role + "\0"s + password);
}

class LoginTest : public ServerTest {
 protected:
  void SetUp() override {
    engine_.auth.authenticator = auth::Authenticator::password;
    start();
  }
  // Exchanges STARTUP and AUTHENTICATE. Afterwards frames are in segments.
  void begin(Client& client, Version version = Version::v4) {
    const Answer answer = client.authenticate(version);
    EXPECT_EQ(answer.header.opcode, Opcode::authenticate);
    EXPECT_EQ(protocol::decode_authenticate(answer.body).value(),
              "org.apache.cassandra.auth.PasswordAuthenticator");
  }
};

TEST_F(LoginTest, EveryVersionLogsIn) {
  for (const Version version : {Version::v3, Version::v4, Version::v5}) {
    Client client(port());
    begin(client, version);
    const Answer success = client.ask(Opcode::auth_response, plain("bob", "bob"));
    EXPECT_EQ(success.header.opcode, Opcode::auth_success);
    EXPECT_EQ(protocol::decode_auth_token(success.body).value(), std::nullopt);
    EXPECT_THAT(values_of(client.query("who")), ElementsAre("bob"));
  }
}

TEST_F(LoginTest, RequestsBeforeLoginAreRefused) {
  Client client(port());
  begin(client);
  const std::vector<std::pair<Opcode, std::string>> messages = {
      {Opcode::query, "QUERY"},    {Opcode::prepare, "PREPARE"}, {Opcode::execute, "EXECUTE"},
      {Opcode::batch, "BATCH"},    {Opcode::options, "OPTIONS"}, {Opcode::register_, "REGISTER"},
      {Opcode::startup, "STARTUP"}};
  for (const auto& [opcode, name] : messages) {
    const auto error = error_of(client.ask(opcode, ""));
    EXPECT_EQ(error.code, base::ErrorCode::protocol);
    EXPECT_EQ(error.message, "Unexpected message " + name + ", expecting SASL_RESPONSE");
  }
  EXPECT_EQ(engine_.logins, 0);
}

TEST_F(LoginTest, ARefusedLoginDoesNotAuthenticate) {
  Client client(port());
  begin(client);
  const auto error = error_of(client.ask(Opcode::auth_response, plain("bob", "wrong")));
  EXPECT_EQ(error.code, base::ErrorCode::bad_credentials);
  EXPECT_EQ(error.message, "Provided username bob and/or password are incorrect");
  EXPECT_EQ(error_of(client.query("who")).code, base::ErrorCode::protocol);
  EXPECT_EQ(client.ask(Opcode::auth_response, plain("bob", "bob")).header.opcode, Opcode::auth_success);
  EXPECT_THAT(values_of(client.query("who")), ElementsAre("bob"));
}

TEST_F(LoginTest, MalformedTokensNeverReachTheEngine) {
  Client client(port());
  begin(client);
  for (const std::string& body : {token_body(""), token_body("x"), token_body("\0\0x"s),
                                  token_body("a\0b\0c\0d"s), "\xff\xff\xff\xff"s})
    EXPECT_EQ(error_of(client.ask(Opcode::auth_response, body)).code, base::ErrorCode::bad_credentials);
  for (const std::string& body : {""s, "\x00\x00\x00\x10x"s})
    EXPECT_EQ(error_of(client.ask(Opcode::auth_response, body)).code, base::ErrorCode::protocol);
  EXPECT_EQ(engine_.logins, 0);
}

TEST_F(LoginTest, ASecondAttemptDuringALoginIsRefused) {
  Client client(port());
  begin(client);
  client.send_frames(Client::frame(Opcode::auth_response, 1, plain("slow", "slow")));
  client.send_frames(Client::frame(Opcode::auth_response, 2, plain("bob", "bob")));
  const Answer refused = client.read();
  EXPECT_EQ(refused.header.stream, 2);
  EXPECT_EQ(error_of(refused).code, base::ErrorCode::protocol);
  engine_.release("login");
  EXPECT_EQ(client.read().header.opcode, Opcode::auth_success);
}

TEST_F(LoginTest, AClientMayDisconnectDuringItsLogin) {
  {
    Client client(port());
    begin(client);
    client.send_frames(Client::frame(Opcode::auth_response, 1, plain("slow", "slow")));
    while (engine_.logins == 0) std::this_thread::yield();
  }
  engine_.release("login");
  Client other(port());
  begin(other);
  EXPECT_EQ(other.ask(Opcode::auth_response, plain("bob", "bob")).header.opcode, Opcode::auth_success);
}

TEST_F(LoginTest, GuessingIsSlowedAndDoesNotDelayShutdown) {
  Client client(port());
  begin(client);
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(error_of(client.ask(Opcode::auth_response, plain("bob", "wrong"))).code,
              base::ErrorCode::bad_credentials);
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(client.ask(Opcode::auth_response, plain("bob", "bob")).header.opcode, Opcode::auth_success);
  EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(100));
  // Delayed attempts do not delay the shutdown.
  std::vector<std::unique_ptr<Client>> waiting;
  for (int i = 0; i < 5; ++i) {
    waiting.push_back(std::make_unique<Client>(port()));
    begin(*waiting.back());
    waiting.back()->send_frames(Client::frame(Opcode::auth_response, 1, plain("bob", "wrong")));
  }
  const auto stopping = std::chrono::steady_clock::now();
  server_->stop(std::chrono::milliseconds(0));
  EXPECT_LT(std::chrono::steady_clock::now() - stopping, std::chrono::seconds(2));
}

TEST_F(LoginTest, AttemptsBeyondTheQueueAreRefusedImmediately) {
  Client client(port());
  begin(client);
  for (int i = 0; i < 8; ++i) error_of(client.ask(Opcode::auth_response, plain("bob", "wrong")));
  bool refused = false;
  std::vector<std::unique_ptr<Client>> waiting;
  for (int i = 0; i < 20; ++i) {
    waiting.push_back(std::make_unique<Client>(port()));
    begin(*waiting.back());
    waiting.back()->send_frames(Client::frame(Opcode::auth_response, 1, plain("bob", "wrong")));
    if (waiting.back()->has_answer(20))
      refused |= error_of(waiting.back()->read()).code == base::ErrorCode::overloaded;
  }
  EXPECT_TRUE(refused);
}

// However many passwords one address sends at once, logins from other addresses wait only for a few of them.
TEST_F(LoginTest, OneAddressDoesNotFillTheLoginQueue) {
  const auto begin_to_log_in = [&](Client& client, const std::string& role) {
    begin(client);
    client.send_frames(Client::frame(Opcode::auth_response, 1, plain(role, role)));
    // The second attempt is refused, which shows that the first has arrived.
    client.send_frames(Client::frame(Opcode::auth_response, 2, plain(role, role)));
    EXPECT_EQ(client.read().header.stream, 2);
  };
  std::vector<std::unique_ptr<Client>> many;
  for (int i = 0; i < 30; ++i) {
    many.push_back(std::make_unique<Client>(port()));
    begin_to_log_in(*many.back(), "slow");
  }
  Client other(port(), 0, "127.0.0.2");
  begin_to_log_in(other, "bob");
  engine_.release("login");
  EXPECT_EQ(other.read().header.opcode, Opcode::auth_success);
  // None of the many logins is refused.
  for (const auto& client : many) EXPECT_EQ(client->read().header.opcode, Opcode::auth_success);
  const std::vector<std::string> order = engine_.login_order();
  EXPECT_LE(std::find(order.begin(), order.end(), "bob") - order.begin(), 8 + 4);  // the pool's threads
}

TEST_F(LoginTest, LargeMessagesBeforeLoginAreRefused) {
  Client client(port());
  begin(client);
  EXPECT_EQ(client.ask(Opcode::auth_response, token_body(std::string(1 << 20, 'x'))).header.opcode,
            Opcode::error);
  EXPECT_EQ(client.ask(Opcode::auth_response, plain("bob", "bob")).header.opcode, Opcode::auth_success);
}

TEST_F(ServerTest, AuthResponseWithoutAuthenticationIsASuccess) {
  Client client(port());
  client.startup();
  EXPECT_EQ(client.ask(Opcode::auth_response, plain("bob", "wrong")).header.opcode, Opcode::auth_success);
  EXPECT_THAT(values_of(client.query("who")), ElementsAre("nobody"));
}

TEST_F(LoginTest, MutualTlsRequiresACertificate) {
  engine_.auth.authenticator = auth::Authenticator::mutual_tls;
  restart({});
  Client client(port());
  EXPECT_EQ(protocol::decode_authenticate(client.authenticate(Version::v4).body).value(),
            "org.apache.cassandra.auth.MutualTlsAuthenticator");
  EXPECT_EQ(error_of(client.ask(Opcode::auth_response, plain("bob", "bob"))).message,
            "Invalid or not supported certificate");
}

}  // namespace
}  // namespace sibyl::server
