#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "server/tls/test_certificate.h"
#include "server/tls/tls_context.h"
#include "server/tls/tls_stream.h"

namespace sibyl::server {
namespace {

using testing::HasSubstr;

// Creates certificates with the openssl tool, in a temporary directory.
class TlsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("sibyl-tls-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    make("ca", "/CN=ca", "");
    make("server", "/CN=server", "DNS:localhost");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void make(const std::string& name, const std::string& subject, const std::string& alternatives) {
    ASSERT_TRUE(make_test_certificate(file(name), subject, alternatives));
  }
  std::string file(const std::string& name) const { return folder_ / name; }
  TlsOptions options() const {
    TlsOptions options;
    options.mode = TlsOptions::Mode::required;
    options.certificate_file = file("server.pem");
    options.key_file = file("server.key");
    return options;
  }

  // The identity that the server sees for a client with this certificate (empty: no certificate).
  PeerCertificate meet(const TlsOptions& options, const std::string& client) {
    const auto context = TlsContext::load(options);
    EXPECT_TRUE(context) << context.error().message();
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    std::thread other([&] { connect(ends[1], client); });
    TlsStream stream(*context, ends[0]);
    TlsStream::Outcome outcome;
    while ((outcome = stream.handshake()) == TlsStream::Outcome::wants_read) {
      pollfd entry{ends[0], POLLIN, 0};
      ::poll(&entry, 1, 5000);
    }
    EXPECT_EQ(outcome, TlsStream::Outcome::done) << stream.error();
    const PeerCertificate peer = stream.peer();
    other.join();
    ::close(ends[0]);
    ::close(ends[1]);
    return peer;
  }

 private:
  void connect(int socket, const std::string& client) {
    SSL_CTX* context = SSL_CTX_new(TLS_client_method());
    if (!client.empty()) {
      SSL_CTX_use_certificate_file(context, file(client + ".pem").c_str(), SSL_FILETYPE_PEM);
      SSL_CTX_use_PrivateKey_file(context, file(client + ".key").c_str(), SSL_FILETYPE_PEM);
    }
    SSL* ssl = SSL_new(context);
    SSL_set_fd(ssl, socket);
    EXPECT_EQ(SSL_connect(ssl), 1);
    SSL_free(ssl);
    SSL_CTX_free(context);
  }

  std::filesystem::path folder_;
};

TEST_F(TlsTest, IdentitiesAreSpiffeOrTheSubject) {
  TlsOptions wanted = options();
  wanted.client_certificates = TlsOptions::ClientCertificates::optional;
  make("spiffe", "/CN=one",
       "DNS:elsewhere,URI:https://example.org/x,URI:spiffe://example.org/app,URI:spiffe://b/c");
  wanted.ca_file = file("spiffe.pem");
  EXPECT_EQ(meet(wanted, "spiffe").identity, "spiffe://example.org/app");
  make("plain", "/O=Example/CN=two", "URI:https://example.org/x");
  wanted.ca_file = file("plain.pem");
  EXPECT_EQ(meet(wanted, "plain").identity, "CN=two,O=Example");
  EXPECT_EQ(meet(wanted, "").identity, "");
}

TEST_F(TlsTest, UnrequestedCertificatesGiveNoIdentity) {
  make("spiffe", "/CN=one", "URI:spiffe://example.org/app");
  EXPECT_EQ(meet(options(), "spiffe").identity, "");
}

TEST_F(TlsTest, ChangedFilesAreNoticed) {
  auto contexts = TlsContexts::open(options(), std::chrono::milliseconds(0));
  ASSERT_TRUE(contexts) << contexts.error().message();
  const auto first = (*contexts)->current();
  EXPECT_EQ((*contexts)->current(), first);
  make("server", "/CN=second", "DNS:localhost");
  const auto second = (*contexts)->current();
  EXPECT_THAT(second->description(), HasSubstr("CN=second"));
  std::ofstream(file("server.key")) << "half a key";
  EXPECT_EQ((*contexts)->current(), second) << "an invalid file changes nothing";
  EXPECT_FALSE((*contexts)->reload());
  EXPECT_EQ((*contexts)->current(), second);
  std::filesystem::remove(file("server.pem"));
  std::filesystem::create_directory(file("server.pem"));
  EXPECT_EQ((*contexts)->current(), second);
  const auto reloaded = (*contexts)->reload();
  ASSERT_FALSE(reloaded);
  EXPECT_THAT(reloaded.error().message(), HasSubstr("it cannot be read: Is a directory"));
}

TEST_F(TlsTest, OldProtocolsAndUnknownSuitesAreRefused) {
  for (const char* protocol : {"SSLv3", "TLSv1", "TLSv1.1", "TLSv1.4"}) {
    TlsOptions wanted = options();
    wanted.protocols = {"TLSv1.2", protocol};
    const auto refused = TlsContext::load(wanted);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), HasSubstr(protocol));
  }
  TlsOptions wanted = options();
  wanted.cipher_suites = {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "TLS_AES_128_GCM_SHA256"};
  EXPECT_TRUE(TlsContext::load(wanted));
  wanted.cipher_suites = {"TLS_NOTHING_WITH_NOTHING"};
  EXPECT_FALSE(TlsContext::load(wanted));
}

}  // namespace
}  // namespace sibyl::server
