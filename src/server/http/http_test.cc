// Metrics over real sockets, from a real engine.
#include "server/http/http.h"

#include <gmock/gmock.h>

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <cmath>
#include <latch>
#include <map>
#include <regex>
#include <sstream>
#include <thread>

#include "engine/engine.h"
#include "server/server.h"
#include "server/test_client.h"

namespace sibyl::server {
namespace {

namespace asio = boost::asio;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string ask(const std::string& address, const std::string& request) {
  asio::io_context context;
  asio::ip::tcp::socket socket(context);
  const size_t colon = address.rfind(':');
  socket.connect({asio::ip::make_address(address.substr(0, colon)),
                  static_cast<uint16_t>(std::stoi(address.substr(colon + 1)))});
  asio::write(socket, asio::buffer(request));
  std::string answer;
  boost::system::error_code end;
  asio::read(socket, asio::dynamic_buffer(answer), end);
  return answer;
}

std::string get(const std::string& address, const std::string& path) {
  return ask(address, "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
}

TEST(Http, serves_known_pages_and_refuses_others) {
  auto http = Http::start("127.0.0.1:0", {{"/a", [] { return HttpAnswer{200, "text/plain", "body\n"}; }}});
  ASSERT_TRUE(http) << http.error().text();
  const std::string at = (*http)->address();
  EXPECT_THAT(get(at, "/a"), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(get(at, "/a?x=1"), HasSubstr("Content-Length: 5\r\n"));
  EXPECT_THAT(get(at, "/b"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(ask(at, "POST /a HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(ask(at, "HEAD /a HTTP/1.1\r\n\r\n"), Not(HasSubstr("body")));
  EXPECT_THAT(ask(at, "\x16\x03\x01 nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  // A request that is too long is closed and does not affect the next one.
  EXPECT_EQ(ask(at, std::string(20'000, 'x')).find("200"), std::string::npos);
  EXPECT_THAT(get(at, "/a"), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_FALSE(Http::start(at, {})) << "the address is taken";
}

TEST(Http, accepts_only_its_own_host_names) {
  auto http = Http::start("127.0.0.1:0", {{"/a", [] { return HttpAnswer{200, "text/plain", "body\n"}; }}},
                          {"Db1.Internal"});
  ASSERT_TRUE(http) << http.error().text();
  const auto status = [&](const std::string& headers) {
    return ask((*http)->address(), "GET /a HTTP/1.1\r\n" + headers + "\r\n").substr(9, 3);
  };
  for (const char* good : {"", "Host: 127.0.0.1:9180\r\n", "host:10.1.2.3\r\n", "HOST: [::1]:9180\r\n",
                           "Host: localhost:9180\r\n", "Host: LocalHost.\r\n", "Host: db1.internal:9180\r\n",
                           "Accept: x\r\nHost: [fe80::1]\r\n"})
    EXPECT_EQ(status(good), "200") << good;
  for (const char* bad :
       {"Host: evil.example\r\n", "Host: evil.example:9180\r\n", "Host: 127.0.0.1.evil.example\r\n",
        "Host: localhost:evil\r\n", "Host: xlocalhost\r\n", "Host: 127.0.0.1@evil.example\r\n"})
    EXPECT_EQ(status(bad), "421") << bad;
  EXPECT_EQ(status("Host: localhost\r\nHost: evil.example\r\n"), "400");
  EXPECT_TRUE(is_own_host("anything", {"*"}));
}

TEST(Http, slow_clients_do_not_block_others) {
  auto http = Http::start("127.0.0.1:0", {{"/a", [] { return HttpAnswer{200, "text/plain", "body\n"}; }}});
  ASSERT_TRUE(http) << http.error().text();
  const std::string at = (*http)->address();
  const auto port = static_cast<uint16_t>(std::stoi(at.substr(at.rfind(':') + 1)));
  std::vector<std::unique_ptr<Client>> slow;
  for (int i = 0; i < 100; ++i) {
    slow.push_back(std::make_unique<Client>(port));
    slow.back()->send_raw("GET /a HT");
  }
  EXPECT_THAT(get(at, "/a"), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(slow.front()->is_closed()) << "the oldest connection is closed";
  EXPECT_FALSE(slow.back()->has_answer(0));
}

// Returns the request as the answer, on another thread.
class Echo final : public HttpHandler {
 public:
  ~Echo() override {
    for (std::thread& thread : threads_) thread.join();
  }
  void handle(HttpRequest request, Done done) override {
    if (request.path == "/throw") throw std::bad_alloc();
    threads_.emplace_back([this, request = std::move(request), done = std::move(done)] {
      if (request.path == "/hold") {
        held.count_down();
        while (!request.is_abandoned->load() && !release.load()) std::this_thread::yield();
        abandoned = request.is_abandoned->load();
      }
      const std::string body = request.method + " " + request.path + " [" + request.query + "] [" +
                               std::string(request.header("x-a")) + "] " + request.body + "\n";
      done({200, "text/plain", body, {{"X-One", "1"}, {"X-One", "2"}}});
    });
  }
  std::latch held{1};
  std::atomic<bool> release = false, abandoned = false;

 private:
  std::vector<std::thread> threads_;
};

// A connection that is kept open.
class KeptOpen {
 public:
  explicit KeptOpen(const std::string& address) : socket_(context_) {
    const size_t colon = address.rfind(':');
    socket_.connect({asio::ip::make_address(address.substr(0, colon)),
                     static_cast<uint16_t>(std::stoi(address.substr(colon + 1)))});
  }
  void send(const std::string& text) { asio::write(socket_, asio::buffer(text)); }
  // Reads until the text occurs or the server closes the connection.
  std::string read_until(const std::string& text) {
    boost::system::error_code end;
    while (received_.find(text) == std::string::npos && !end) {
      char buffer[4096];
      received_.append(buffer, socket_.read_some(asio::buffer(buffer), end));
    }
    return std::exchange(received_, {});
  }
  void close() { socket_.close(); }

 private:
  asio::io_context context_;
  asio::ip::tcp::socket socket_;
  std::string received_;
};

class HandlerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto http = Http::start("127.0.0.1:0", {{"/a", [] { return HttpAnswer{200, "text/plain", "body\n"}; }}},
                            {}, &echo_);
    ASSERT_TRUE(http) << http.error().text();
    http_ = std::move(*http);
  }
  Echo echo_;
  std::unique_ptr<Http> http_;
};

TEST_F(HandlerTest, connections_stay_open_and_requests_may_follow_each_other) {
  KeptOpen client(http_->address());
  client.send("GET /one?x=1 HTTP/1.1\r\nHost: localhost\r\nX-A: p\r\nx-a: q\r\n\r\n");
  const std::string first = client.read_until("p, q] \n");
  EXPECT_THAT(first, HasSubstr("Connection: keep-alive\r\n"));
  EXPECT_THAT(first, HasSubstr("X-One: 1\r\nX-One: 2\r\n"));
  EXPECT_THAT(first, HasSubstr("GET /one [x=1] [p, q] \n"));
  // Two requests at once, the second in two pieces, are answered in their order.
  client.send("POST /two HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcGET /thr");
  EXPECT_THAT(client.read_until("abc\n"), HasSubstr("POST /two [] [] abc\n"));
  client.send("ee HTTP/1.1\r\n\r\n");
  EXPECT_THAT(client.read_until("/three"), HasSubstr("GET /three"));
  // A monitoring page closes the connection.
  client.send("GET /a HTTP/1.1\r\n\r\n");
  EXPECT_THAT(client.read_until("never"), HasSubstr("Connection: close\r\n"));
}

TEST_F(HandlerTest, bodies_may_be_slow_and_chunked_but_not_large) {
  const std::string at = http_->address();
  KeptOpen client(at);
  client.send("POST /slow HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n");
  EXPECT_THAT(get(at, "/a"), StartsWith("HTTP/1.1 200 OK\r\n")) << "others are served meanwhile";
  client.send("1\r\nc\r\n0\r\n\r\n");
  EXPECT_THAT(client.read_until("abc\n"), HasSubstr("POST /slow [] [] abc\n"));
  EXPECT_THAT(ask(at, "POST /x HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n"), StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(ask(at, "POST /a HTTP/1.1\r\nContent-Length: 5\r\n\r\n"), StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(ask(at, "GET /x HTTP/1.1\r\nX-A: " + std::string(9'000, 'x')), StartsWith("HTTP/1.1 431 "));
}

TEST_F(HandlerTest, other_hosts_and_failures_do_not_reach_the_client) {
  const std::string at = http_->address(), close = "Connection: close\r\n\r\n";
  EXPECT_THAT(ask(at, "GET /x HTTP/1.1\r\nHost: evil.example\r\n" + close), StartsWith("HTTP/1.1 421 "));
  EXPECT_THAT(ask(at, "GET /x HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n" + close),
              StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(ask(at, "GET /throw HTTP/1.1\r\n" + close), StartsWith("HTTP/1.1 500 "));
  const std::string head = ask(at, "HEAD /x HTTP/1.1\r\n" + close);
  EXPECT_THAT(head, HasSubstr("Content-Length: 15\r\n"));
  EXPECT_THAT(head, Not(HasSubstr("/x")));
}

TEST_F(HandlerTest, the_handler_notices_when_its_client_has_gone) {
  KeptOpen client(http_->address());
  client.send("GET /hold HTTP/1.1\r\n\r\n");
  echo_.held.wait();
  client.close();
  while (!echo_.abandoned) std::this_thread::yield();
  EXPECT_THAT(get(http_->address(), "/a"), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(HandlerTest, answers_after_the_end_are_ignored) {
  KeptOpen client(http_->address());
  client.send("GET /hold HTTP/1.1\r\n\r\n");
  echo_.held.wait();
  http_.reset();
  EXPECT_EQ(client.read_until("200"), "");
  echo_.release = true;
}

TEST(Http, a_page_that_throws_is_an_error) {
  auto http = Http::start("127.0.0.1:0", {{"/a", []() -> HttpAnswer { throw std::bad_alloc(); }}});
  ASSERT_TRUE(http) << http.error().text();
  for (int i = 0; i < 2; ++i) EXPECT_THAT(get((*http)->address(), "/a"), StartsWith("HTTP/1.1 500 "));
}

// Parses a page and checks the rules of the text format. Every sample belongs to a family that was declared
// before it, once. Histograms are cumulative and end with +Inf, which equals their count.
class Scrape {
 public:
  explicit Scrape(const std::string& page) {
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);) read_line(line);
    EXPECT_EQ(page.back(), '\n');
    for (const auto& [series, buckets] : buckets_) {
      EXPECT_FALSE(buckets.empty());
      for (size_t i = 1; i < buckets.size(); ++i) {
        EXPECT_LT(buckets[i - 1].first, buckets[i].first) << series;
        EXPECT_LE(buckets[i - 1].second, buckets[i].second) << series;
      }
      EXPECT_TRUE(std::isinf(buckets.back().first)) << series;
    }
  }
  double value(const std::string& series) const {
    const auto found = values_.find(series);
    EXPECT_NE(found, values_.end()) << series;
    return found == values_.end() ? -1 : found->second;
  }

 private:
  void read_line(const std::string& line) {
    static const std::regex declared("# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)");
    static const std::regex sample(
        "([a-zA-Z_:][a-zA-Z0-9_:]*)(\\{([a-zA-Z_][a-zA-Z0-9_]*=\"([^\"\\\\\n]|\\\\[\\\\n\"])*\",?)+\\})? "
        "([0-9.e+-]+|\\+Inf|NaN)");
    std::smatch match;
    if (line.starts_with('#')) {
      ASSERT_TRUE(std::regex_match(line, match, declared)) << line;
      if (match[1] == "TYPE") {
        EXPECT_TRUE(families_.emplace(match[2], match[3]).second) << line << " is declared twice";
        family_ = match[2];
      }
      return;
    }
    ASSERT_TRUE(std::regex_match(line, match, sample)) << line;
    const std::string name = match[1], labels = match[2];
    EXPECT_THAT(name, StartsWith(family_));
    const std::string suffix = name.substr(family_.size());
    const bool is_histogram = families_.at(family_) == "histogram";
    EXPECT_EQ(is_histogram, suffix == "_bucket" || suffix == "_sum" || suffix == "_count") << line;
    const double number = std::stod(match[5]);
    EXPECT_TRUE(values_.emplace(name + labels, number).second) << line << " is there twice";
    if (suffix != "_bucket") return;
    const size_t bound = labels.find("le=\"");
    ASSERT_NE(bound, std::string::npos) << line;
    buckets_[family_ + labels.substr(0, bound)].emplace_back(std::stod(labels.substr(bound + 4)), number);
  }

  std::string family_;
  std::map<std::string, std::string> families_;
  std::map<std::string, double> values_;
  std::map<std::string, std::vector<std::pair<double, double>>> buckets_;
};

class MetricsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = engine::Engine::open({});
    ASSERT_TRUE(opened);
    engine_ = std::move(*opened);
    Options options;
    options.port = 0;
    options.http_address = "127.0.0.1:0";
    auto started = Server::start(engine_->services(), options);
    ASSERT_TRUE(started) << started.error().text();
    server_ = std::move(*started);
    client_ = std::make_unique<Client>(server_->port());
    client_->startup();
  }
  std::string page(const std::string& path) {
    const std::string answer = get(server_->http_address(), path);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
    return answer.substr(answer.find("\r\n\r\n") + 4);
  }
  Scrape scrape() { return Scrape(page("/metrics")); }

  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<Client> client_;
};

TEST_F(MetricsTest, counts_requests) {
  client_->query("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
  client_->query("CREATE TABLE k.\"T\" (a int PRIMARY KEY, b int)");
  for (int i = 0; i < 7; ++i) client_->query("INSERT INTO k.\"T\" (a, b) VALUES (1, 2)");
  for (int i = 0; i < 3; ++i) client_->query("SELECT * FROM k.\"T\" WHERE a = 1");
  client_->query("SELECT * FROM k.\"T\"");
  client_->query("UPDATE k.\"T\" SET b = 3 WHERE a = 1 IF b = 2");
  client_->query(
      "BEGIN BATCH INSERT INTO k.\"T\" (a) VALUES (5); INSERT INTO k.\"T\" (a) VALUES (6); APPLY BATCH");
  client_->query("SELECT nonsense");
  client_->query("SELECT * FROM k.missing");
  const Scrape found = scrape();
  const auto requests = [&](const std::string& kind) {
    return found.value("sibyl_request_duration_seconds_count{kind=\"" + kind + "\"}");
  };
  EXPECT_EQ(requests("insert"), 7);
  EXPECT_EQ(requests("select"), 3);
  EXPECT_EQ(requests("scan"), 1);
  EXPECT_EQ(requests("conditional"), 1);
  EXPECT_EQ(requests("batch"), 1);
  EXPECT_EQ(requests("definition"), 2);
  EXPECT_EQ(requests("other"), 2);
  EXPECT_EQ(requests("delete"), 0);
  EXPECT_EQ(found.value("sibyl_errors_total{code=\"0x2000\",name=\"syntax_error\"}"), 1);
  EXPECT_EQ(found.value("sibyl_errors_total{code=\"0x2200\",name=\"invalid\"}"), 1);
  EXPECT_EQ(found.value("sibyl_table_requests_total{keyspace=\"k\",table=\"T\",kind=\"read\"}"), 3);
  EXPECT_EQ(found.value("sibyl_table_requests_total{keyspace=\"k\",table=\"T\",kind=\"scan\"}"), 1);
  EXPECT_EQ(found.value("sibyl_table_requests_total{keyspace=\"k\",table=\"T\",kind=\"write\"}"), 9);
  EXPECT_EQ(found.value("sibyl_table_partitions{keyspace=\"k\",table=\"T\"}"), 3);
  EXPECT_EQ(found.value("sibyl_batch_partitions_sum{kind=\"logged\"}"), 2);
  EXPECT_EQ(found.value("sibyl_statements_total{prepared=\"false\"}"), 15);
  EXPECT_EQ(found.value("sibyl_connections"), 1);
  EXPECT_GT(found.value("sibyl_received_bytes_total"), 500);
  EXPECT_GT(found.value("sibyl_sent_bytes_total"), 200);
  EXPECT_GT(found.value("process_resident_memory_bytes"), 1 << 20);
}

TEST_F(MetricsTest, other_pages_and_system_views_agree) {
  client_->query("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
  client_->query("CREATE TABLE k.t (a int PRIMARY KEY, b int)");
  client_->query("INSERT INTO k.t (a, b) VALUES (1, 2)");
  client_->query("DELETE b FROM k.t WHERE a = 1");
  client_->query("SELECT * FROM k.t WHERE a = 1");
  EXPECT_EQ(page("/health"), "ok\n");
  EXPECT_EQ(page("/ready"), "ready\n");
  EXPECT_THAT(page("/status"), HasSubstr("\"requests\":5,\"errors\":0"));
  const auto values = [&](const std::string& query) { return values_of(client_->query("SELECT " + query)); };
  const std::string one(std::string("\0\0\0\0\0\0\0\1", 8)), two(std::string("\0\0\0\0\0\0\0\2", 8));
  const std::string of_table = " WHERE keyspace_name='k' AND table_name='t'";
  EXPECT_THAT(values("count FROM system_views.coordinator_write_latency" + of_table), ElementsAre(two));
  EXPECT_THAT(values("count FROM system_views.local_read_latency" + of_table), ElementsAre(one));
  EXPECT_THAT(values("count FROM system_views.tombstones_per_read" + of_table), ElementsAre(one));
  EXPECT_THAT(values("name FROM system_views.caches"), ElementsAre("chunks", "rows"));
  EXPECT_EQ(values("name FROM system_views.cql_metrics").size(), 5u);
  EXPECT_EQ(values("name FROM system_views.batch_metrics").size(), 3u);
  EXPECT_EQ(values("name FROM system_views.thread_pools").size(), 2u);
  EXPECT_THAT(values("task FROM system_views.queries"),
              testing::Contains("QUERY SELECT task FROM system_views.queries"));
}

}  // namespace
}  // namespace sibyl::server
