// The HTTP server over TLS.
#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <filesystem>
#include <latch>
#include <thread>

#include "server/http/http.h"
#include "server/tls/test_certificate.h"

namespace sibyl::server {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using boost::system::error_code;
using testing::HasSubstr;
using testing::StartsWith;

// Answers with the path. "/hold" is answered once its client has disconnected.
class Paths final : public HttpHandler {
 public:
  ~Paths() override {
    if (thread_.joinable()) thread_.join();
  }
  void handle(HttpRequest request, Done done) override {
    if (request.path != "/hold") return done({200, "text/plain", request.path + request.body + "\n"});
    thread_ = std::thread([this, request = std::move(request), done = std::move(done)] {
      held.count_down();
      while (!request.is_abandoned->load() && !release) std::this_thread::yield();
      was_abandoned = request.is_abandoned->load();
      done({200, "text/plain", "held\n"});
    });
  }
  std::latch held{1};
  std::atomic<bool> release = false, was_abandoned = false;

 private:
  std::thread thread_;
};

class TlsClient {
 public:
  TlsClient(const std::string& address, const std::string& ca, int newest = TLS1_3_VERSION)
      : tls_(ssl::context::tls_client), stream_(context_, tls_) {
    tls_.load_verify_file(ca);
    SSL_set_max_proto_version(stream_.native_handle(), newest);
    stream_.set_verify_mode(ssl::verify_peer);
    const size_t colon = address.find(':');
    stream_.lowest_layer().connect({asio::ip::make_address(address.substr(0, colon)),
                                    static_cast<uint16_t>(std::stoi(address.substr(colon + 1)))});
    stream_.handshake(ssl::stream_base::client);
  }
  void send(const std::string& text) { asio::write(stream_, asio::buffer(text)); }
  // Reads until the text occurs or the server closes the connection, whose error is then in `end`.
  std::string read_until(const std::string& text) {
    std::string received;
    while (received.find(text) == std::string::npos && !end) {
      char buffer[4096];
      received.append(buffer, stream_.read_some(asio::buffer(buffer), end));
    }
    return received;
  }
  // Says goodbye, and closes the socket.
  void close() {
    SSL_shutdown(stream_.native_handle());
    stream_.lowest_layer().close();
  }
  error_code end;

 private:
  asio::io_context context_;
  ssl::context tls_;
  ssl::stream<asio::ip::tcp::socket> stream_;
};

class HttpTlsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("sibyl-https-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    ASSERT_TRUE(make_test_certificate(folder_ / "server", "/CN=server", "IP:127.0.0.1"));
    TlsOptions options;
    options.mode = TlsOptions::Mode::required;
    options.certificate_file = folder_ / "server.pem";
    options.key_file = folder_ / "server.key";
    auto contexts = TlsContexts::open(options);
    ASSERT_TRUE(contexts) << contexts.error().text();
    contexts_ = std::move(*contexts);
    auto http = Http::start("127.0.0.1:0", {{"/a", [] { return HttpAnswer{200, "text/plain", "page\n"}; }}},
                            {}, &paths_, contexts_.get());
    ASSERT_TRUE(http) << http.error().text();
    http_ = std::move(*http);
  }
  void TearDown() override {
    paths_.release = true;
    http_.reset();
    std::filesystem::remove_all(folder_);
  }
  TlsClient connect(int newest = TLS1_3_VERSION) {
    return TlsClient(http_->address(), folder_ / "server.pem", newest);
  }

  std::filesystem::path folder_;
  Paths paths_;
  std::unique_ptr<TlsContexts> contexts_;
  std::unique_ptr<Http> http_;
};

TEST_F(HttpTlsTest, requests_follow_each_other_on_one_connection) {
  TlsClient client = connect();
  for (const char* path : {"/one", "/two"}) {
    client.send(std::string("GET ") + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_THAT(client.read_until(std::string(path) + "\n"), StartsWith("HTTP/1.1 200 OK\r\n"));
  }
  // Two requests are in one record. OpenSSL has already decrypted the bytes of the second one.
  client.send("GET /x HTTP/1.1\r\n\r\nPOST /y HTTP/1.1\r\nContent-Length: 100000\r\n\r\n" +
              std::string(100'000, 'z'));
  EXPECT_THAT(client.read_until("zzz\n"), HasSubstr("/x\n"));
  client.send("GET /a HTTP/1.1\r\n\r\n");
  EXPECT_THAT(client.read_until("never"), HasSubstr("page\n"));
  EXPECT_EQ(client.end, asio::error::eof) << "the end is announced, so nothing can have been cut off";
}

TEST_F(HttpTlsTest, plain_requests_and_unfinished_handshakes_do_not_block_others) {
  asio::io_context context;
  asio::ip::tcp::socket plain(context), silent(context);
  const std::string at = http_->address();
  const asio::ip::tcp::endpoint endpoint(asio::ip::make_address("127.0.0.1"),
                                         static_cast<uint16_t>(std::stoi(at.substr(at.find(':') + 1))));
  silent.connect(endpoint);
  plain.connect(endpoint);
  asio::write(plain, asio::buffer(std::string("GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n")));
  std::string answer(100, '\0');
  error_code end;
  answer.resize(plain.read_some(asio::buffer(answer), end));
  EXPECT_EQ(answer.find("HTTP"), std::string::npos);
  TlsClient client = connect();
  client.send("GET /one HTTP/1.1\r\n\r\n");
  EXPECT_THAT(client.read_until("/one\n"), HasSubstr("/one\n"));
}

TEST_F(HttpTlsTest, the_handler_notices_when_its_client_has_gone) {
  TlsClient client = connect();
  client.send("GET /hold HTTP/1.1\r\n\r\n");
  paths_.held.wait();
  client.close();
  while (!paths_.was_abandoned) std::this_thread::yield();
}

TEST_F(HttpTlsTest, the_handler_notices_a_goodbye_of_an_older_protocol) {
  TlsClient client = connect(TLS1_2_VERSION);
  client.send("GET /hold HTTP/1.1\r\n\r\n");
  paths_.held.wait();
  client.close();
  while (!paths_.was_abandoned) std::this_thread::yield();
}

TEST_F(HttpTlsTest, a_further_request_is_not_taken_for_the_end) {
  TlsClient client = connect();
  client.send("GET /hold HTTP/1.1\r\n\r\n");
  paths_.held.wait();
  client.send("GET /next HTTP/1.1\r\n\r\n");
  paths_.release = true;
  EXPECT_THAT(client.read_until("/next\n"), HasSubstr("held\n"));
  EXPECT_FALSE(paths_.was_abandoned);
}

}  // namespace
}  // namespace sibyl::server
