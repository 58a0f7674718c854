// The dashboard and the alert rules of packaging/monitoring name only metrics and labels that a server
// exports.
#include <gmock/gmock.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/json.hpp>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "base/source_path.h"
#include "cli/test_process.h"
#include "client/connection.h"

namespace sibyl::cli {
namespace {

using testing::HasSubstr;

std::string read_packaged(const std::string& name) {
  std::ifstream file(base::source_path("packaging/monitoring/" + name));
  EXPECT_TRUE(file.good()) << name;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The samples that a server with a table exports, each as `name{labels} value`.
class MonitoringTest : public ServeTest {
 protected:
  void SetUp() override {
    ServeTest::SetUp();
    server_ = serve(data(), {"--metrics", "127.0.0.1:0"});
    auto connection = connect();
    for (const char* statement :
         {"CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
          "CREATE TABLE k.t (a int PRIMARY KEY)", "INSERT INTO k.t (a) VALUES (1)",
          "SELECT * FROM k.t WHERE a = 1"})
      ASSERT_TRUE(connection->query(statement)) << statement;
    constexpr std::string_view before = "metrics on http://";
    std::string line = server_->read_error_line();
    while (!line.empty() && line.find(before) == line.npos) line = server_->read_error_line();
    const std::string address = line.substr(line.find(before) + before.size());
    const size_t colon = address.find(':');
    boost::asio::ip::tcp::iostream http(address.substr(0, colon),
                                        address.substr(colon + 1, address.find('/') - colon - 1));
    http << "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" << std::flush;
    for (std::string sample; std::getline(http, sample);) samples_.push_back(sample);
    ASSERT_GT(samples_.size(), 100u);
  }

  bool exports(const std::string& name) const {
    return std::any_of(samples_.begin(), samples_.end(), [&](const std::string& sample) {
      return sample.starts_with(name + " ") || sample.starts_with(name + "{");
    });
  }
  bool exports_label(const std::string& name, const std::string& label) const {
    return std::any_of(samples_.begin(), samples_.end(), [&](const std::string& sample) {
      return sample.starts_with(name + "{") &&
             (sample.find("{" + label) != std::string::npos || sample.find("," + label) != std::string::npos);
    });
  }

  // Metrics that only servers of a cluster export.
  static bool is_clustered(const std::string& name) { return name == "sibyl_statements_elsewhere_total"; }

  // Returns the number of metrics that the text names.
  size_t check(std::string text) const {
    for (size_t at = text.find("\\\""); at != std::string::npos; at = text.find("\\\"", at))
      text.erase(at, 1);
    const std::regex selector(R"(\b((?:sibyl|process)_[a-z0-9_]+)(\{[^{}]*\})?)"),
        matcher(R"(([a-z_]+)(=~|!~|!=|=)\"([^\"]*)\")");
    std::set<std::string> names;
    for (std::sregex_iterator at(text.begin(), text.end(), selector), end; at != end; ++at) {
      const std::string name = (*at)[1], labels = (*at)[2];
      names.insert(name);
      if (is_clustered(name)) continue;
      EXPECT_TRUE(exports(name)) << name << " is not exported";
      for (std::sregex_iterator one(labels.begin(), labels.end(), matcher); one != end; ++one) {
        const std::string label = (*one)[1], value = (*one)[3];
        if (label == "instance" || label == "job") continue;  // added by Prometheus
        EXPECT_TRUE(exports_label(name, label + "=\"")) << name << " has no label " << label;
        if ((*one)[2] == "=") {
          EXPECT_TRUE(exports_label(name, label + "=\"" + value + "\""))
              << name << " " << label << " " << value;
        }
      }
    }
    return names.size();
  }

  std::unique_ptr<Process> server_;
  std::vector<std::string> samples_;
};

TEST_F(MonitoringTest, TheDashboardNamesExportedMetrics) {
  const std::string text = read_packaged("grafana-dashboard.json");
  const boost::json::value dashboard = boost::json::parse(text);
  EXPECT_GT(dashboard.at("panels").as_array().size(), 20u);
  std::set<int64_t> ids;
  for (const boost::json::value& panel : dashboard.at("panels").as_array())
    EXPECT_TRUE(ids.insert(panel.at("id").as_int64()).second) << "two panels have one id";
  EXPECT_GT(check(text), 35u);
}

// A metric that was added without a panel or a rule would not be seen by operators.
TEST_F(MonitoringTest, MetricsThatTellOfRefusalsAndFailuresAreShown) {
  const std::string shown = read_packaged("grafana-dashboard.json") + read_packaged("alerts.yaml");
  size_t count = 0;
  const std::regex telling("# TYPE (sibyl_[a-z0-9_]*(?:refused|evicted|errors|slow|pending)[a-z0-9_]*) .*");
  for (const std::string& sample : samples_) {
    std::smatch found;
    if (!std::regex_match(sample, found, telling)) continue;
    EXPECT_THAT(shown, HasSubstr(found[1].str()));
    ++count;
  }
  EXPECT_GT(count, 7u);
}

TEST_F(MonitoringTest, TheAlertsNameExportedMetrics) {
  EXPECT_GT(check(read_packaged("alerts.yaml")), 10u);
  EXPECT_FALSE(exports("sibyl_no_such_metric"));
  EXPECT_FALSE(exports_label("sibyl_errors_total", "kind=\""));
}

}  // namespace
}  // namespace sibyl::cli
