// The table of settings.
#include "cli/configuration/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "auth/options.h"
#include "cli/commands.h"
#include "cli/configuration/configuration.h"
#include "cli/configuration/guardrails.h"
#include "cli/configuration/kinds.h"
#include "cli/configuration/values.h"
#include "cql/printer.h"

namespace sibyl::cli {
namespace {

using namespace kinds;

// --- Settings with special forms.

Setting data_directory(const char* section) {
  Setting setting{"data_file_directories", Type::list, section,
                  "The data directory, created if missing, or `:memory:`. Only one: Sibyl keeps everything, "
                  "including its commit log, in one directory"};
  setting.text = [](const Configuration& c) { return "[" + c.engine.data + "]"; };
  setting.assign = [](Configuration& c, const RawValue& value) -> base::Status {
    if (value.items.size() != 1)
      return base::fail(bad(fmt::format("{} directories are named; Sibyl uses one", value.items.size())));
    std::string path = value.items[0];
    if (path.size() > 2 && path.front() == '[' && path.back() == ']') path = path.substr(1, path.size() - 2);
    if (path.empty()) return base::fail(bad("the directory has no name; use :memory: for none"));
    c.engine.data = path;
    return {};
  };
  return setting;
}

Setting commit_sync(const char* section) {
  Setting setting{"commitlog_sync", Type::choice, section,
                  "`group`: a write is on disk when it is acknowledged, and writes that wait together share "
                  "one sync. `batch` is the same here. `periodic`: a write is acknowledged immediately and "
                  "is on disk within `commitlog_sync_period`"};
  setting.text = [](const Configuration& c) {
    return std::string(c.engine.commitlog_sync == engine::Options::Sync::periodic ? "periodic" : "group");
  };
  setting.assign = [](Configuration& c, const RawValue& value) -> base::Status {
    SIBYL_ASSIGN(const std::string given, single(value));
    if (given != "group" && given != "batch" && given != "periodic")
      return base::fail(bad(fmt::format("'{}' is not one of group, batch, periodic", given)));
    c.engine.commitlog_sync =
        given == "periodic" ? engine::Options::Sync::periodic : engine::Options::Sync::group;
    return {};
  };
  return setting;
}

Setting metrics_address(const char* section) {
  Setting setting = text(
      "metrics_address", section, [](auto& c) -> auto& { return c.server.http_address; },
      "HOST:PORT for Prometheus (`/metrics`), `/health`, `/ready` and `/status`; port 0 picks "
      "a free one; `off` for none. It requires no login and is read-only");
  setting.type = Type::address;
  setting.is_ours = true;
  setting.text = [](const Configuration& c) {
    return c.server.http_address.empty() ? std::string("off") : c.server.http_address;
  };
  setting.assign = [](Configuration& c, const RawValue& value) -> base::Status {
    SIBYL_ASSIGN(std::string given, single(value));
    if (given == "off" || given == "false") given.clear();
    server::Options probe;
    if (!given.empty()) SIBYL_TRY(server::parse_listen_address(given, probe));
    c.server.http_address = given;
    return {};
  };
  return setting;
}

// A setting whose value is a Cassandra class, which `parse` finds by name.
template <typename Access, typename Parse>
Setting known_class(const char* name, Access access, Parse parse, std::string help) {
  Setting setting{name, Type::choice, "Security", std::move(help)};
  setting.text = [access](const Configuration& c) { return std::string(auth::to_string(access(c))); };
  setting.assign = [access, parse](Configuration& c, const RawValue& value) -> base::Status {
    SIBYL_ASSIGN(const std::string given, single(value));
    SIBYL_ASSIGN(access(c), parse(given));
    return {};
  };
  return setting;
}

// A text setting that must not be empty, and that cassandra.yaml does not have.
template <typename Access>
Setting name(const char* name, const char* section, Access access, std::string help) {
  Setting setting = text(name, section, access, std::move(help));
  setting.is_ours = true;
  setting.assign = [access](Configuration& c, const RawValue& value) -> base::Status {
    SIBYL_ASSIGN(const std::string given, single(value));
    if (given.empty()) return base::fail(bad("it is empty"));
    access(c) = given;
    return {};
  };
  return setting;
}

// Only Cassandra's own role manager exists.
Setting role_manager() {
  Setting setting{"role_manager", Type::choice, "Security", "CassandraRoleManager, the only one"};
  setting.text = [](const Configuration&) { return std::string("CassandraRoleManager"); };
  setting.assign = [](Configuration&, const RawValue& value) -> base::Status {
    SIBYL_ASSIGN(const std::string given, single(value));
    return auth::check_role_manager(given);
  };
  return setting;
}

Setting client_certificates() {
  using Certificates = server::TlsOptions::ClientCertificates;
  static constexpr const char* names[] = {"false", "optional", "true"};
  Setting setting{"client_encryption_options.require_client_auth", Type::choice, "Security",
                  "Require a certificate from clients: true, false or optional"};
  setting.text = [](const Configuration& c) {
    return std::string(names[static_cast<size_t>(c.server.tls.client_certificates)]);
  };
  setting.assign = [](Configuration& c, const RawValue& value) -> base::Status {
    SIBYL_ASSIGN(const std::string given, single(value));
    for (size_t i = 0; i < std::size(names); ++i)
      if (given == names[i]) {
        c.server.tls.client_certificates = static_cast<Certificates>(i);
        return {};
      }
    return base::fail(bad(fmt::format("'{}' is not one of true, false, optional", given)));
  };
  return setting;
}

void add_security(std::vector<Setting>& list) {
  constexpr const char* section = "Security";
  list.push_back(known_class(
      "authenticator", [](auto& c) -> auto& { return c.engine.auth.authenticator; },
      auth::authenticator_by_name,
      "AllowAllAuthenticator, PasswordAuthenticator, MutualTlsAuthenticator or "
      "MutualTlsWithPasswordFallbackAuthenticator"));
  list.push_back(known_class(
      "authorizer", [](auto& c) -> auto& { return c.engine.auth.authorizer; }, auth::authorizer_by_name,
      "AllowAllAuthorizer or CassandraAuthorizer"));
  list.push_back(role_manager());
  list.push_back(flag(
      "dynamic_data_masking_enabled", section, [](auto& c) -> auto& { return c.engine.dynamic_data_masking; },
      "Allows columns that are MASKED WITH a function: roles without the permission UNMASK see only the "
      "masked value"));
  list.push_back(flag(
      "client_encryption_options.enabled", section, [](auto& c) -> auto& { return c.tls_enabled; },
      "Encrypt connections"));
  list.push_back(flag(
      "client_encryption_options.optional", section, [](auto& c) -> auto& { return c.tls_optional; },
      "Accept plain and encrypted connections on the same port"));
  list.push_back(text(
      "client_encryption_options.keystore", section,
      [](auto& c) -> auto& { return c.server.tls.certificate_file; },
      "The server's certificate with the intermediate certificates: PEM, or PKCS12 with the key (Java's JKS "
      "files must be converted)"));
  list.push_back(text(
      "client_encryption_options.key", section, [](auto& c) -> auto& { return c.server.tls.key_file; },
      "The certificate's key, if it is in a separate file. Not a Cassandra setting"));
  list.push_back(text(
      "client_encryption_options.keystore_password", section,
      [](auto& c) -> auto& { return c.server.tls.key_password; },
      "Password of the key or of the PKCS12 file. Never shown"));
  list.back().is_secret = true;
  list.push_back(client_certificates());
  list.push_back(text(
      "client_encryption_options.truststore", section, [](auto& c) -> auto& { return c.server.tls.ca_file; },
      "The CA that signs client certificates: PEM or PKCS12"));
  list.push_back(text(
      "client_encryption_options.truststore_password", section,
      [](auto& c) -> auto& { return c.server.tls.ca_password; }, "Password of the PKCS12 file. Never shown"));
  list.back().is_secret = true;
  list.push_back(words(
      "client_encryption_options.accepted_protocols", section,
      [](auto& c) -> auto& { return c.server.tls.protocols; }, "TLSv1.2, TLSv1.3; empty: both"));
  list.push_back(words(
      "client_encryption_options.cipher_suites", section,
      [](auto& c) -> auto& { return c.server.tls.cipher_suites; },
      "IANA or OpenSSL names; empty: OpenSSL's default"));
}

// --- The sections

void add_node(std::vector<Setting>& list) {
  constexpr const char* section = "The node";
  list.push_back(text(
      "cluster_name", section, [](auto& c) -> auto& { return c.engine.cluster_name; },
      "The cluster name that drivers show"));
  list.push_back(name(
      "data_center", section, [](auto& c) -> auto& { return c.engine.data_center; },
      "The data center that drivers see and that NetworkTopologyStrategy may name, like `dc` in "
      "cassandra-rackdc.properties"));
  list.push_back(
      name("rack", section, [](auto& c) -> auto& { return c.engine.rack; }, "The rack that drivers see"));
  list.push_back(data_directory(section));
  list.push_back(commit_sync(section));
  list.push_back(duration(
      "commitlog_sync_period", section, [](auto& c) -> auto& { return c.engine.commitlog_sync_period; }, 1000,
      any, "With `periodic`: the longest time between acknowledging a write and its sync"));
  list.back().aliases = {{"commitlog_sync_period_in_ms", "ms"}};
  list.push_back(size(
      "commitlog_segment_size", section, [](auto& c) -> auto& { return c.engine.commitlog_segment_bytes; },
      1 << 20, 1 << 30, "The size of commit log segments"));
  list.back().aliases = {{"commitlog_segment_size_in_mb", "MiB"}};
}

void add_memory(std::vector<Setting>& list) {
  constexpr const char* section = "Memory";
  list.push_back(size(
      "memory", section, [](auto& c) -> auto& { return c.memory_bytes; }, 0, any,
      "Memory that the server may use; the sizes below are derived from it"));
  list.back().is_ours = true;
  list.back().text = [](const Configuration& c) {
    return c.memory_bytes == 0 ? std::string() : size_text(static_cast<int64_t>(c.memory_bytes));
  };
  list.back().default_note = "the memory of the machine or its control group";
  list.push_back(size(
      "file_cache_size", section, [](auto& c) -> auto& { return c.engine.block_cache_bytes; }, 1 << 20, any,
      "Cache for blocks of data files, with their indexes and filters"));
  list.back().aliases = {{"file_cache_size_in_mb", "MiB"}};
  list.back().default_note =
      "5/16 of `memory`; if that is not set, 1/8 of the machine's memory, at least 32MiB, and less while it "
      "is scarce";
  list.push_back(size(
      "row_cache_memory", section, [](auto& c) -> auto& { return c.engine.row_cache_bytes; }, 0, any,
      "Cache for merged rows that point reads name by their whole key; 0B: none"));
  list.back().is_ours = true;
  list.back().default_note = "1/16 of memory, at least 2MiB; if `memory` is not set, less while it is scarce";
  list.push_back(size(
      "memtable_heap_space", section, [](auto& c) -> auto& { return c.engine.memtable_bytes; }, 3 << 20, any,
      "Memory for writes that are not yet in data files"));
  list.back().aliases = {{"memtable_heap_space_in_mb", "MiB"}};
  list.back().default_note = "1/10 of memory, 24MiB to 192MiB, or to 768MiB if `memory` is set";
  list.push_back(size(
      "commit_queue_size", section, [](auto& c) -> auto& { return c.engine.commit_queue_bytes; }, 1 << 20,
      any, "Maximum size of the writes that wait for the disk; above it, writes are answered OVERLOADED"));
  list.back().is_ours = true;
  list.back().default_note = "1/16 of memory, 8MiB to 64MiB";
  list.push_back(size(
      "max_statement_memory", section, [](auto& c) -> auto& { return c.statement_memory_bytes; }, 1 << 20,
      any,
      "Memory that one statement may allocate while it is planned and run, including its result; above this "
      "limit the statement fails with error 2200"));
  list.back().is_ours = true;
  list.back().default_note = "1/4 of memory, 32MiB to 1GiB";
}

// How long writes wait for earlier writes of their partition.
void add_write_timeouts(std::vector<Setting>& list, const char* section) {
  list.push_back(duration(
      "write_request_timeout", section, [](auto& c) -> auto& { return c.engine.lock_timeouts.write; }, 10,
      any,
      "How long a write that reads first (lists by index, tables with indexes or views) may wait for other "
      "writes of its partition; then it fails with a write timeout"));
  list.back().aliases = {{"write_request_timeout_in_ms", "ms"}};
  list.push_back(duration(
      "cas_contention_timeout", section,
      [](auto& c) -> auto& { return c.engine.lock_timeouts.cas_contention; }, 10, any,
      "How long a conditional write may wait for other writes of its partition"));
  list.back().aliases = {{"cas_contention_timeout_in_ms", "ms"}};
  list.push_back(duration(
      "counter_write_request_timeout", section,
      [](auto& c) -> auto& { return c.engine.lock_timeouts.counter_write; }, 10, any,
      "How long a write to counters may wait for other writes of its partition"));
  list.back().aliases = {{"counter_write_request_timeout_in_ms", "ms"}};
  list.push_back(duration(
      "truncate_request_timeout", section, [](auto& c) -> auto& { return c.engine.lock_timeouts.truncate; },
      10, any, "How long TRUNCATE may wait for the writes of all partitions"));
  list.back().aliases = {{"truncate_request_timeout_in_ms", "ms"}};
}

void add_addresses(std::vector<Setting>& list, const char* section) {
  list.push_back(text(
      "rpc_address", section, [](auto& c) -> auto& { return c.server.host; },
      "The address or host name to listen on"));
  list.push_back(integer(
      "native_transport_port", section, [](auto& c) -> auto& { return c.server.port; }, 0, 65'535,
      "The port to listen on; 0 picks a free one"));
  list.push_back(text(
      "broadcast_rpc_address", section, [](auto& c) -> auto& { return c.server.broadcast_host; },
      "The address or host name that drivers are told to use, if it differs from `rpc_address`"));
  list.back().default_note = "`rpc_address`, or the first address of this machine if that is 0.0.0.0";
}

void add_connections(std::vector<Setting>& list, const char* section) {
  list.push_back(limit(
      "native_transport_max_concurrent_connections", section,
      [](auto& c) -> auto& { return c.server.limits.connections; },
      "Maximum number of connections, also bounded by the limit of open files; further ones are closed. -1: "
      "no limit"));
  list.push_back(integer(
      "native_transport_max_concurrent_connections_per_ip", section,
      [](auto& c) -> auto& { return c.server.limits.connections_per_address; }, -1, any,
      "Maximum number of connections per address. 0 or -1: no limit"));
  list.back().assign = [assign = list.back().assign](Configuration& c,
                                                     const RawValue& value) -> base::Status {
    SIBYL_TRY(assign(c, value));
    size_t& found = c.server.limits.connections_per_address;
    if (found == std::numeric_limits<size_t>::max()) found = 0;
    return {};
  };
  list.push_back(duration(
      "native_transport_idle_timeout", section, [](auto& c) -> auto& { return c.server.limits.idle_timeout; },
      0, any, "Closes a connection that sends no request for this time; 0ms: never"));
  list.back().aliases = {{"native_transport_idle_timeout_in_ms", "ms"}};
}

void add_timeouts(std::vector<Setting>& list, const char* section) {
  list.push_back(duration(
      "native_transport_timeout", section, [](auto& c) -> auto& { return c.server.limits.queue_timeout; },
      1000, any, "A request that has waited longer in the queue is answered OVERLOADED"));
  list.push_back(duration(
      "read_request_timeout", section, [](auto& c) -> auto& { return c.server.limits.read_timeout; }, 10, any,
      "Time limit for reading a page when the statement names its partitions; then the read fails with a "
      "read timeout"));
  list.back().aliases = {{"read_request_timeout_in_ms", "ms"}};
  list.push_back(duration(
      "range_request_timeout", section, [](auto& c) -> auto& { return c.server.limits.range_timeout; }, 10,
      any,
      "Time limit for reading a page when the statement does not name partitions: scans, and reads through "
      "an index"));
  list.back().aliases = {{"range_request_timeout_in_ms", "ms"}};
  add_write_timeouts(list, section);
}

void add_requests(std::vector<Setting>& list, const char* section) {
  constexpr int64_t kibibyte = 1 << 10, mebibyte = 1 << 20;
  list.push_back(size(
      "native_transport_max_frame_size", section,
      [](auto& c) -> auto& { return c.server.limits.frame_body_bytes; }, 64 * kibibyte, any,
      "The largest request, up to 255MiB"));
  list.back().aliases = {{"native_transport_max_frame_size_in_mb", "MiB"}};
  list.push_back(size(
      "native_transport_max_request_data_in_flight", section,
      [](auto& c) -> auto& { return c.server.limits.total_bytes_in_flight; }, mebibyte, any,
      "Maximum size of the requests in flight on all connections together; above it, nothing more is read"));
  list.back().aliases = {{"native_transport_max_concurrent_requests_in_bytes", "B"}};
  list.back().default_note = "1/10 of memory, 32MiB to 256MiB";
  list.push_back(flag(
      "native_transport_rate_limiting_enabled", section, [](auto& c) -> auto& { return c.rate_limiting; },
      "Enforce native_transport_max_requests_per_second"));
  list.push_back(integer(
      "native_transport_max_requests_per_second", section,
      [](auto& c) -> auto& { return c.requests_per_second; }, 1, any,
      "Maximum number of requests per second on all connections together; further requests wait, or are "
      "answered OVERLOADED if the client asked for that"));
}

void add_network(std::vector<Setting>& list) {
  constexpr const char* section = "Clients";
  add_addresses(list, section);
  add_connections(list, section);
  add_timeouts(list, section);
  add_requests(list, section);
}

// Limits for which Cassandra has no setting.
void add_own_limits(std::vector<Setting>& list) {
  constexpr const char* section = "Clients";
  constexpr int64_t mebibyte = 1 << 20;
  list.push_back(size(
      "max_unsent_data", section, [](auto& c) -> auto& { return c.server.limits.total_unsent_bytes; },
      mebibyte, any,
      "Maximum size of the results that clients have not read yet, on all connections together; above "
      "it, connections with unread results are not served"));
  list.back().is_ours = true;
  list.back().default_note = "1/10 of memory, 32MiB to 256MiB";
  list.push_back(size(
      "max_result_size", section, [](auto& c) -> auto& { return c.server.limits.result_bytes; }, mebibyte,
      248 * mebibyte,
      "Maximum size of the rows in one response; a larger result is refused unless it is paged"));
  list.back().is_ours = true;
  list.push_back(size(
      "connection_max_request_data_in_flight", section,
      [](auto& c) -> auto& { return c.server.limits.bytes_in_flight; }, mebibyte, any,
      "Maximum size of the requests in flight on one connection; above it, nothing more is read from the "
      "connection"));
  list.back().is_ours = true;
  list.back().default_note = "`32MiB`, or native_transport_max_frame_size if that is more";
  list.push_back(integer(
      "connection_max_requests_in_flight", section,
      [](auto& c) -> auto& { return c.server.limits.requests_in_flight; }, 1, 32'768,
      "Maximum number of requests in flight on one connection; above it, nothing more is read from the "
      "connection"));
  list.back().is_ours = true;
  list.push_back(size(
      "connection_max_unsent_data", section,
      [](auto& c) -> auto& { return c.server.limits.unsent_bytes_overload; }, mebibyte, any,
      "Maximum size of the results that one client has not read yet, at most a quarter of "
      "max_unsent_data; above it, the client's requests wait, or are answered OVERLOADED if the client "
      "asked for that"));
  list.back().is_ours = true;
  list.push_back(duration(
      "unsent_data_timeout", section, [](auto& c) -> auto& { return c.server.limits.unsent_timeout; }, 1, any,
      "Closes a connection that reads none of its pending results for this time, or for a sixth of it "
      "while all connections together exceed max_unsent_data"));
  list.back().is_ours = true;
  list.push_back(integer(
      "reactor_threads", section, [](auto& c) -> auto& { return c.server.threads; }, 0, 1024,
      "Threads that serve connections; 0: one per core, at most four"));
  list.back().is_ours = true;
  list.push_back(integer(
      "blocking_threads", section, [](auto& c) -> auto& { return c.server.blocking_threads; }, 1, 1024,
      "Threads for requests that may block: scans, conditions, schema changes"));
  list.back().is_ours = true;
  list.push_back(integer(
      "blocking_queue", section, [](auto& c) -> auto& { return c.server.limits.blocking_queue; }, 1, any,
      "Maximum number of requests that wait for one of the blocking_threads; further requests are "
      "answered OVERLOADED"));
  list.back().is_ours = true;
}

void add_observing(std::vector<Setting>& list) {
  constexpr const char* section = "Observing";
  list.push_back(metrics_address(section));
  list.push_back(words(
      "metrics_host_names", section, [](auto& c) -> auto& { return c.server.http_host_names; },
      "Accepted names in the Host header of requests for metrics, besides addresses, localhost and this "
      "machine's name; `*`: any"));
  list.back().is_ours = true;
  list.push_back(flag(
      "metrics_encryption", section, [](auto& c) -> auto& { return c.server.http_encrypted; },
      "Serve metrics and the console over HTTPS, with the certificate of client_encryption_options"));
  list.back().is_ours = true;
  list.push_back(choice(
      "console", section, [](auto& c) -> auto& { return c.console.mode; }, {"loopback", "on", "off"},
      "The web console at `metrics_address`. `loopback`: if that is a loopback address; `on`: at any "
      "address. "
      "Where clients log in, so does the console, with the same roles"));
  list.back().is_ours = true;
  list.push_back(flag(
      "console_read_only", section, [](auto& c) -> auto& { return c.console.read_only; },
      "Refuse every statement of the console that changes something, whatever permissions its role has"));
  list.back().is_ours = true;
  list.push_back(duration(
      "slow_query_log_timeout", section, [](auto& c) -> auto& { return c.server.slow_query; }, 0, any,
      "Log requests that take longer than this, without their values; 0ms turns this off"));
  list.back().aliases = {{"slow_query_log_timeout_in_ms", "ms"}};
  list.push_back(choice(
      "log_level", section, [](auto& c) -> auto& { return c.log.level; },
      {"debug", "info", "warning", "error"}, "debug, info, warning or error"));
  list.back().is_ours = true;
  list.push_back(choice(
      "log_format", section, [](auto& c) -> auto& { return c.log.format; }, {"text", "json"},
      "`text`, or `json`: one object a line"));
  list.back().is_ours = true;
  list.push_back(text(
      "log_file", section, [](auto& c) -> auto& { return c.log.file; },
      "File for the log, instead of standard error"));
  list.back().is_ours = true;
  list.push_back(size(
      "log_file_size", section, [](auto& c) -> auto& { return c.log.file_bytes; }, 64 << 10, any,
      "A log file of this size is rotated"));
  list.back().is_ours = true;
  list.push_back(integer(
      "log_files", section, [](auto& c) -> auto& { return c.log.files; }, 1, 1000,
      "How many log files are kept"));
  list.back().is_ours = true;
}

void add_cluster(std::vector<Setting>& list) {
  constexpr const char* section = "The cluster";
  list.push_back(text(
      "cluster", section, [](auto& c) -> auto& { return c.cluster.storage; },
      "`rados:POOL` or `rados:POOL/NAMESPACE`: serve the database of this cluster, which `sibyl cluster "
      "create` made, "
      "instead of a data directory (docs/cluster.md)"));
  list.back().is_ours = true;
  list.back().assign = [](Configuration& c, const RawValue& value) -> base::Status {
    SIBYL_ASSIGN(const std::string given, single(value));
    if (!given.empty() && (!given.starts_with("rados:") || given.size() == 6 || given[6] == '/'))
      return base::fail(bad(fmt::format("'{}' is not rados:POOL or rados:POOL/NAMESPACE", given)));
    c.cluster.storage = given;
    return {};
  };
  list.push_back(text(
      "cluster_ceph_configuration", section, [](auto& c) -> auto& { return c.cluster.configuration; },
      "Ceph's configuration file"));
  list.back().is_ours = true;
  list.push_back(name(
      "cluster_ceph_user", section, [](auto& c) -> auto& { return c.cluster.user; },
      "The user of Ceph, without `client.`; its keyring is where Ceph's configuration says"));
  list.push_back(integer(
      "storage_port", section, [](auto& c) -> auto& { return c.cluster.port; }, 0, 65'535,
      "The port to listen on for other servers of the cluster, at `rpc_address`; 0 picks a free one, which "
      "the others learn"));
  list.push_back(text(
      "cluster_server_name", section, [](auto& c) -> auto& { return c.cluster.server_name; },
      "The name of this server within the cluster. Two servers that run at the same time must not have the "
      "same name"));
  list.back().is_ours = true;
  list.back().default_note = "HOSTNAME:PORT";
}

std::vector<Setting> make_settings() {
  std::vector<Setting> list;
  add_node(list);
  add_cluster(list);
  add_memory(list);
  add_network(list);
  add_own_limits(list);
  add_security(list);
  add_observing(list);
  add_guardrails(list);
  return list;
}

}  // namespace

Configuration::Configuration() {
  engine.data = default_data_directory;
  server.http_address = default_metrics_address;
}

const std::vector<Setting>& settings() {
  static const std::vector<Setting> list = make_settings();
  return list;
}

const Setting* find_setting(std::string_view name) {
  for (const Setting& setting : settings()) {
    if (name == setting.name) return &setting;
    for (const Setting::Alias& alias : setting.aliases)
      if (name == alias.name) return &setting;
  }
  return nullptr;
}

const char* to_string(Setting::Type type) {
  static constexpr const char* names[] = {"boolean", "integer", "size", "duration",
                                          "text",    "choice",  "list", "address"};
  return names[static_cast<size_t>(type)];
}

}  // namespace sibyl::cli
