// `sibyl status`: shows the state of a running server, read over HTTP (metrics_address), or of all servers of
// a cluster.
#include "cli/operate/status.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <boost/json.hpp>
#include <memory>
#include <string>

#include "base/result.h"
#include "cli/cluster/cluster_calls.h"
#include "cli/cluster/servers_status.h"
#include "cli/cluster/show.h"
#include "cli/command_line/refuse.h"
#include "cli/command_line/tls_flags.h"
#include "cli/commands.h"
#include "cli/configuration/running_server.h"
#include "cli/session/session.h"
#include "client/connection.h"
#include "server/server.h"

namespace sibyl::cli {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;
namespace ssl = boost::asio::ssl;
using asio::ip::tcp;

constexpr uint16_t default_metrics_port = 9180;

struct StatusArguments {
  std::string host = default_metrics_address;
  client::TlsOptions tls;
  ClusterOptions cluster;  // if its storage is not empty, shows all servers of this cluster
  bool as_json = false;
};

// The response to a request over a plain or encrypted connection.
template <typename Stream>
std::string exchange(Stream& stream, const std::string& request, boost::system::error_code& error) {
  std::string answer;
  asio::write(stream, asio::buffer(request), error);
  if (error) return answer;
  asio::read(stream, asio::dynamic_buffer(answer, 64u << 20), error);
  if (error == asio::error::eof || error == ssl::error::stream_truncated) error = {};
  return answer;
}

std::string exchange_encrypted(tcp::socket& socket, const client::TlsOptions& options,
                               const std::string& host, const std::string& request,
                               boost::system::error_code& error) {
  ssl::context context(ssl::context::tls_client);
  if (options.ca_file.empty()) context.set_default_verify_paths(error);
  if (!options.ca_file.empty()) context.load_verify_file(options.ca_file, error);
  if (!error && !options.certificate_file.empty()) {
    const std::string& key = options.key_file.empty() ? options.certificate_file : options.key_file;
    context.use_certificate_chain_file(options.certificate_file, error);
    if (!error) context.use_private_key_file(key, ssl::context::pem, error);
  }
  if (error) return {};
  ssl::stream<tcp::socket&> stream(socket, context);
  const std::string name = options.server_name.empty() ? host : options.server_name;
  stream.set_verify_mode(options.verify ? ssl::verify_peer : ssl::verify_none);
  if (options.verify) stream.set_verify_callback(ssl::host_name_verification(name));
  stream.handshake(ssl::stream_base::client, error);
  return error ? std::string() : exchange(stream, request, error);
}

// `address` is the metrics_address of a server.
base::Result<std::string> get(const std::string& address, const client::TlsOptions& tls,
                              const std::string& path) {
  server::Options where;
  where.port = default_metrics_port;
  SIBYL_TRY(server::parse_listen_address(address, where));
  asio::io_context context;
  boost::system::error_code error;
  tcp::resolver resolver(context);
  const auto found = resolver.resolve(where.host, std::to_string(where.port), error);
  tcp::socket socket(context);
  if (!error) asio::connect(socket, found, error);
  const std::string request =
      fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", path, where.host);
  std::string answer;
  if (!error)
    answer = tls.enabled ? exchange_encrypted(socket, tls, where.host, request, error)
                         : exchange(socket, request, error);
  const auto failed = [&](const std::string& why, base::ErrorCode code = base::ErrorCode::server) {
    return base::fail(base::Error(code, fmt::format("{}: {}", address, why))
                          .with_hint("use --host with the server's metrics_address, and --ssl if it has "
                                     "metrics_encryption"));
  };
  if (error) return failed(error.message());
  if (!answer.starts_with("HTTP/")) return failed("it does not speak HTTP", base::ErrorCode::protocol);
  if (!answer.starts_with("HTTP/1.1 200 ")) return failed(answer.substr(0, answer.find("\r\n")));
  return answer.substr(answer.find("\r\n\r\n") + 4);
}

// Reads the status of a server given by its metrics_address, or by the address for CQL clients if it needs no login.
base::Result<std::string> get_status(const StatusArguments& arguments) {
  auto page = get(arguments.host, arguments.tls, "/status");
  if (page || page.error().code() != base::ErrorCode::protocol) return page;
  const auto clients = shell::parse_address(arguments.host);
  if (!clients) return page;
  client::Options server;
  server.host = clients->host;
  server.port = clients->port;
  const auto metrics = ask_setting(server, "metrics_address");
  server::Options listening;
  listening.port = default_metrics_port;
  if (!metrics || metrics->empty() || !server::parse_listen_address(*metrics, listening)) return page;
  return get(fmt::format(fmt::runtime(server.host.find(':') == std::string::npos ? "{}:{}" : "[{}]:{}"),
                         server.host, listening.port),
             arguments.tls, "/status");
}

std::string time_text(double seconds) {
  const auto whole = static_cast<int64_t>(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  if (whole < 86'400) return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
  return fmt::format("{} d {} h", whole / 86'400, whole % 86'400 / 3600);
}

void print_status(const json::object& status) {
  const auto number = [&](const char* name) { return status.at(name).to_number<double>(); };
  const auto text = [&](const char* name) { return std::string(status.at(name).as_string()); };
  const auto line = [](const char* name, const std::string& value) {
    fmt::print("{:<12} {}\n", name, value);
  };
  const double uptime = std::max(number("uptime_seconds"), 0.001);
  line("version", fmt::format("{} (as Cassandra {})", text("version"), text("cassandra")));
  line("address", text("address"));
  line("up for", time_text(uptime));
  line("connections", fmt::format("{:.0f}", number("connections")));
  line("requests", fmt::format("{:.0f} ({:.1f}/s), {:.0f} in flight, {:.0f} errors", number("requests"),
                               number("requests") / uptime, number("requests_in_flight"), number("errors")));
  line("traffic",
       fmt::format("{} in, {} out", bytes_text(number("bytes_received")), bytes_text(number("bytes_sent"))));
  line("processor", fmt::format("{:.1f} s, {:.1f}% since the start", number("cpu_seconds"),
                                number("cpu_seconds") / uptime * 100));
  line("memory", fmt::format("{}, {} of {} cache", bytes_text(number("resident_bytes")),
                             bytes_text(number("cache_bytes")), bytes_text(number("cache_capacity_bytes"))));
  line("disk", fmt::format("{}, {:.0f} compactions running, {} to compact", bytes_text(number("disk_bytes")),
                           number("running_compactions"), bytes_text(number("pending_compaction_bytes"))));
  const double groups = std::max(number("commit_groups"), 1.0);
  line("commits", fmt::format("{:.0f}, {:.1f} to a sync", number("commits"), number("commits") / groups));
  const json::object& statements = status.at("statements").as_object();
  if (!statements.empty())
    fmt::print("\n{:<12} {:>12} {:>10} {:>10} {:>10}\n", "statements", "count", "p50 us", "p99 us", "max us");
  for (const auto& [kind, one] : statements)
    fmt::print("{:<12} {:>12} {:>10} {:>10} {:>10}\n", std::string(kind),
               one.at("count").to_number<int64_t>(), one.at("p50_us").to_number<int64_t>(),
               one.at("p99_us").to_number<int64_t>(), one.at("max_us").to_number<int64_t>());
  const json::array& tables = status.at("tables").as_array();
  if (!tables.empty()) fmt::print("\n{:>12} {:>14}  table\n", "size", "partitions");
  for (const json::value& table : tables)
    fmt::print("{:>12} {:>14}  {}.{}\n", bytes_text(table.at("bytes").to_number<double>()),
               table.at("partitions").to_number<int64_t>(), table.at("keyspace").as_string().c_str(),
               table.at("table").as_string().c_str());
}

int run_on_cluster(const StatusArguments& arguments) {
  const auto calls = ClusterCalls::connect(arguments.cluster);
  if (!calls) return refuse("status", exit_failed, calls.error());
  const auto status = servers_status(**calls);
  if (!status) return refuse("status", exit_failed, status.error());
  fmt::print("{}", arguments.as_json ? json::serialize(*status) + "\n" : servers_status_text(*status));
  return 0;
}

int run(const StatusArguments& arguments) {
  if (!arguments.cluster.storage.empty()) return run_on_cluster(arguments);
  const auto page = get_status(arguments);
  if (!page) return refuse("status", exit_failed, page.error());
  boost::system::error_code error;
  const json::value status = json::parse(*page, error);
  if (error || !status.is_object())
    return refuse("status", exit_failed, fmt::format("{} is not a Sibyl server", arguments.host));
  if (arguments.as_json) {
    fmt::print("{}", *page);
  } else {
    print_status(status.as_object());
  }
  return 0;
}

}  // namespace

void add_status_command(CLI::App& app) {
  auto arguments = std::make_shared<StatusArguments>();
  CLI::App* command = app.add_subcommand("status", "Show the state of a running server");
  command
      ->add_option(
          "--host", arguments->host,
          "The server: HOST[:PORT] of its metrics_address, or of its CQL port if it requires no login")
      ->capture_default_str();
  add_ssl_flags(*command, arguments->tls);
  command->add_option("--cluster", arguments->cluster.storage,
                      "All servers of a cluster instead: rados:POOL or rados:POOL/NAMESPACE");
  command->add_option("--ceph", arguments->cluster.configuration, "Ceph's configuration file")
      ->capture_default_str();
  command->add_option("--user", arguments->cluster.user, "The user of Ceph, without client.")
      ->capture_default_str();
  command->add_flag("--json", arguments->as_json, "As JSON");
  command->callback([arguments] {
    if (const int status = run(*arguments); status != 0) throw CLI::RuntimeError(status);
  });
}

}  // namespace sibyl::cli
