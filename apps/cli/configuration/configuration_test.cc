#include "cli/configuration/configuration.h"

#include <gmock/gmock.h>
#include <rapidcheck.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/source_path.h"
#include "cli/configuration/memory.h"
#include "cli/configuration/names.h"
#include "cli/configuration/print.h"
#include "cli/configuration/reader.h"
#include "cli/configuration/settings.h"
#include "cli/configuration/tls.h"
#include "cli/configuration/values.h"
#include "server/scheduling/default_threads.h"

namespace sibyl::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> problems_of(const std::string& yaml) {
  Reader reader;
  reader.read_yaml(yaml, "sibyl.yaml");
  (void)reader.finish();
  std::vector<std::string> texts;
  for (const Problem& problem : reader.problems()) texts.push_back(problem.text());
  return texts;
}

Configuration read(const std::string& yaml) {
  Reader reader;
  reader.read_yaml(yaml, "sibyl.yaml");
  Reader::Result result = reader.finish();
  for (const Problem& problem : reader.problems()) ADD_FAILURE() << problem.text();
  return result.configuration;
}

TEST(Configuration, takes_cassandras_names_and_units) {
  const Configuration found = read(R"(
cluster_name: 'Test Cluster'
data_file_directories:
    - /var/lib/sibyl
commitlog_sync: periodic
commitlog_sync_period: 5000ms
rpc_address: 0.0.0.0
native_transport_port: 9142
native_transport_max_frame_size: 8MiB
native_transport_max_concurrent_connections: -1
file_cache_size: 1GiB
key_cache_size:
batch_size_warn_threshold: 10KiB
tombstone_warn_threshold: 5
slow_query_log_timeout: 2s
tables_warn_threshold: 150
column_value_size_fail_threshold: 1MiB
maximum_timestamp_warn_threshold: 1d
group_by_enabled: false
table_properties_disallowed: [caching, COMPACTION]
write_consistency_levels_warned: any
)");
  EXPECT_EQ(found.engine.cluster_name, "Test Cluster");
  EXPECT_EQ(found.engine.data, "/var/lib/sibyl");
  EXPECT_EQ(found.engine.commitlog_sync, engine::Options::Sync::periodic);
  EXPECT_EQ(found.engine.commitlog_sync_period, std::chrono::seconds(5));
  EXPECT_EQ(found.server.host, "0.0.0.0");
  EXPECT_EQ(found.server.port, 9142);
  EXPECT_EQ(found.server.limits.frame_body_bytes, 8u << 20);
  EXPECT_EQ(found.server.limits.connections, std::numeric_limits<size_t>::max());
  EXPECT_EQ(found.engine.block_cache_bytes, 1u << 30);
  EXPECT_EQ(found.engine.guardrails.batch_size_warn_threshold, 10 << 10);
  EXPECT_EQ(found.engine.guardrails.tombstone_warn_threshold, 5);
  EXPECT_EQ(found.server.slow_query, std::chrono::seconds(2));
  EXPECT_EQ(found.engine.guardrails.tables.warn, 150);
  EXPECT_EQ(found.engine.guardrails.column_value_size.fail, 1 << 20);
  EXPECT_EQ(found.engine.guardrails.maximum_timestamp.warn, 86'400'000'000);
  EXPECT_FALSE(found.engine.guardrails.group_by_enabled);
  EXPECT_THAT(found.engine.guardrails.table_properties.disallowed, ElementsAre("caching", "compaction"));
  EXPECT_THAT(found.engine.guardrails.write_consistency_levels.warned, ElementsAre("ANY"));
}

TEST(Configuration, takes_security_settings_and_shows_no_secret) {
  Reader reader;
  reader.read_yaml(R"(
authenticator:
  class_name: org.apache.cassandra.auth.PasswordAuthenticator
  parameters: {a: b}
authorizer: CassandraAuthorizer
client_encryption_options:
  enabled: true
  optional: true
  keystore: /etc/sibyl/server.p12
  keystore_password: hunter2
  require_client_auth: optional
  truststore: /etc/sibyl/ca.pem
  accepted_protocols: [TLSv1.3]
  algorithm: SunX509
)",
                   "sibyl.yaml");
  const Reader::Result result = reader.finish();
  ASSERT_TRUE(reader.problems().empty()) << reader.problems()[0].text();
  const Configuration& found = result.configuration;
  EXPECT_EQ(found.engine.auth.authenticator, auth::Authenticator::password);
  EXPECT_EQ(found.engine.auth.authorizer, auth::Authorizer::cassandra);
  EXPECT_EQ(found.server.tls.mode, server::TlsOptions::Mode::optional);
  EXPECT_EQ(found.server.tls.certificate_file, "/etc/sibyl/server.p12");
  EXPECT_EQ(found.server.tls.key_password, "hunter2");
  EXPECT_EQ(found.server.tls.client_certificates, server::TlsOptions::ClientCertificates::optional);
  EXPECT_THAT(found.server.tls.protocols, ElementsAre("TLSv1.3"));
  EXPECT_THAT(reader.ignored(), ElementsAre("client_encryption_options.algorithm"));
  EXPECT_EQ(print_configuration(result).find("hunter2"), std::string::npos);
  for (const auto& [name, value] : found.engine.settings) EXPECT_EQ(value.find("hunter2"), std::string::npos);
  EXPECT_THAT(problems_of("client_encryption_options: {enabeld: true}"),
              ElementsAre("sibyl.yaml:1: unknown setting 'client_encryption_options.enabeld'; did you mean "
                          "'client_encryption_options.enabled'?"));
  EXPECT_THAT(problems_of("authenticator: NoSuchThing\nauthorizer: CassandraAuthorizer"),
              ElementsAre(HasSubstr("sibyl.yaml:1: authenticator: ")));
}

// Returns the settings of client_encryption_options in system_views, for `flags` together with a file.
std::map<std::string, std::string> shown_with(const TlsFlags& flags, const std::string& yaml = "") {
  Reader reader;
  reader.read_yaml(yaml, "sibyl.yaml");
  read_tls_flags(flags, reader);
  const Reader::Result result = reader.finish();
  for (const Problem& problem : reader.problems()) ADD_FAILURE() << problem.text();
  constexpr std::string_view group = "client_encryption_options.";
  std::map<std::string, std::string> shown;
  for (const auto& [name, value] : result.configuration.engine.settings)
    if (name.starts_with(group)) shown[name.substr(group.size())] = value;
  return shown;
}

TEST(Configuration, tls_flags_show_as_settings) {
  using Shown = std::map<std::string, std::string>;
  EXPECT_EQ(shown_with({}),
            (Shown{{"enabled", "false"}, {"optional", "false"}, {"require_client_auth", "false"}}));
  EXPECT_EQ(shown_with({"own.pem", "own.key", "", false, false}), (Shown{{"enabled", "true"},
                                                                         {"optional", "false"},
                                                                         {"keystore", "own.pem"},
                                                                         {"key", "own.key"},
                                                                         {"require_client_auth", "false"}}));
  EXPECT_EQ(shown_with({"own.pem", "", "ca.pem", true, false}), (Shown{{"enabled", "true"},
                                                                       {"optional", "true"},
                                                                       {"keystore", "own.pem"},
                                                                       {"truststore", "ca.pem"},
                                                                       {"require_client_auth", "optional"}}));
  EXPECT_EQ(shown_with({"own.pem", "", "ca.pem", false, true}).at("require_client_auth"), "true");
}

TEST(Configuration, flags_for_tls_take_precedence) {
  const std::string file = R"(
client_encryption_options:
  enabled: true
  optional: true
  keystore: of-file.pem
  key: of-file.key
  keystore_password: hunter2
  require_client_auth: true
  truststore: of-file-ca.pem
)";
  const auto shown = shown_with({"own.pem", "", "ca.pem", false, false}, file);
  EXPECT_EQ(shown.at("keystore"), "own.pem");
  EXPECT_FALSE(shown.contains("key"));  // this key belongs to the certificate that is not used
  EXPECT_EQ(shown.at("optional"), "false");
  EXPECT_EQ(shown.at("truststore"), "ca.pem");
  EXPECT_EQ(shown.at("require_client_auth"), "true");
  EXPECT_FALSE(shown.contains("keystore_password"));
  Reader reader;
  reader.set("client_encryption_options.keystore", "a.pem", Origin::flag, "--set");
  read_tls_flags({"b.pem", "", "", false, false}, reader);
  ASSERT_EQ(reader.problems().size(), 1u);
  EXPECT_EQ(reader.problems()[0].text(),
            "--tls-certificate: 'client_encryption_options.keystore' is already set at --set");
}

TEST(Configuration, takes_the_older_names_with_their_units) {
  const Configuration found = read(
      "native_transport_max_frame_size_in_mb: 4\nslow_query_log_timeout_in_ms: 250\n"
      "batch_size_fail_threshold_in_kb: 77\ncommitlog_sync_period_in_ms: 100\n");
  EXPECT_EQ(found.server.limits.frame_body_bytes, 4u << 20);
  EXPECT_EQ(found.server.slow_query, std::chrono::milliseconds(250));
  EXPECT_EQ(found.engine.guardrails.batch_size_fail_threshold, 77 << 10);
  EXPECT_EQ(found.engine.commitlog_sync_period, std::chrono::milliseconds(100));
}

TEST(Configuration, reports_every_problem_with_its_line) {
  EXPECT_THAT(
      problems_of("native_transprt_port: 9042\n\nnative_transport_port: 99999\ncommitlog_sync: sometimes\n"
                  "file_cache_size: 16\nslow_query_log_timeout: 3 fortnights\nrpc_address: [a, b]\n"
                  "quite_another_thing_altogether: 1\n"),
      ElementsAre(
          "sibyl.yaml:1: unknown setting 'native_transprt_port'; did you mean 'native_transport_port'?",
          "sibyl.yaml:8: unknown setting 'quite_another_thing_altogether'",
          "sibyl.yaml:4: commitlog_sync: 'sometimes' is not one of group, batch, periodic",
          "sibyl.yaml:5: file_cache_size: '16' has no unit; write it as 512KiB, 16MiB or 1GiB",
          "sibyl.yaml:3: native_transport_port: 99999 is not between 0 and 65535",
          "sibyl.yaml:7: rpc_address: one value is expected, not a list",
          "sibyl.yaml:6: slow_query_log_timeout: '3 fortnights' has an unknown unit; write it as 500ms, 10s "
          "or 1h"));
  EXPECT_THAT(problems_of("a: b\n  c: ]"), ElementsAre(HasSubstr("sibyl.yaml:2: ")));
  EXPECT_THAT(problems_of("[1, 2]"), ElementsAre("sibyl.yaml: it is not a list of `name: value`"));
  EXPECT_THAT(problems_of("memory: 1GiB\nmemory: 2GiB\n"),
              ElementsAre("sibyl.yaml:2: 'memory' is already set at sibyl.yaml:1"));
  EXPECT_THAT(problems_of("file_cache_size: 1GiB\nfile_cache_size_in_mb: 5\n"),
              ElementsAre("sibyl.yaml:2: 'file_cache_size' is already set at sibyl.yaml:1"));
}

TEST(Configuration, refuses_times_that_overflow) {
  EXPECT_THAT(problems_of("read_request_timeout: 200000d\n"),
              ElementsAre(HasSubstr("200000d is not between")));
}

TEST(Configuration, refuses_settings_that_do_not_fit_together) {
  EXPECT_THAT(
      problems_of("connection_max_request_data_in_flight: 32MiB\nnative_transport_max_frame_size: 64MiB"),
      ElementsAre("sibyl.yaml:1: connection_max_request_data_in_flight: 32MiB is less than "
                  "native_transport_max_frame_size, 64MiB"));
  EXPECT_THAT(problems_of("native_transport_max_frame_size: 64MiB\n"
                          "native_transport_max_request_data_in_flight: 48MiB\n"),
              ElementsAre(HasSubstr("48MiB is less than native_transport_max_frame_size, 64MiB")));
  EXPECT_THAT(problems_of("memory: 512MiB\nfile_cache_size: 1GiB\n"),
              ElementsAre(HasSubstr("is not enough for file_cache_size")));
}

// Returns all warnings, and checks that there are no problems.
std::vector<std::string> warnings_of(const std::string& yaml) {
  Reader reader;
  reader.read_yaml(yaml, "sibyl.yaml");
  (void)reader.finish();
  for (const Problem& problem : reader.problems()) ADD_FAILURE() << problem.text();
  return reader.warnings();
}

TEST(Configuration, an_unclosed_quote_does_not_swallow_settings) {
  const std::string rest = "authenticator: PasswordAuthenticator\nauthorizer: CassandraAuthorizer\n";
  for (const char* open : {"\"x", "'x", "'it''s", "\"x\\\"", "&a \"x", "!!str 'x"})
    EXPECT_THAT(problems_of("# x\ncluster_name: " + std::string(open) + "\n" + rest),
                ElementsAre("sibyl.yaml:2: the quote is not closed"))
        << open;
  EXPECT_THAT(problems_of("cluster_name: 'x\n" + rest + "log_file: 'y'\n"), testing::Not(ElementsAre()));
  EXPECT_THAT(problems_of("cluster_name: 'x\n" + rest + "# closed'\n"),
              ElementsAre("sibyl.yaml:1: the quote is not closed"));
  EXPECT_THAT(problems_of("seed_provider: ['x\n" + rest + "']\n"),
              ElementsAre("sibyl.yaml:1: the quote is not closed"));
  EXPECT_EQ(read("\xef\xbb\xbf"
                 "cluster_name: \"a \\\" b\"\n")
                .engine.cluster_name,
            "a \" b");
  EXPECT_EQ(read("cluster_name: 'it''s\n  long'\n").engine.cluster_name, "it's long");
}

TEST(Configuration, a_second_document_is_refused) {
  EXPECT_THAT(problems_of("cluster_name: x\n---\nauthorizer: CassandraAuthorizer\n"),
              ElementsAre(HasSubstr("sibyl.yaml:3: a second document")));
  EXPECT_EQ(read("---\ncluster_name: x\n...\n").engine.cluster_name, "x");
}

TEST(Configuration, parameters_of_classes_are_reported) {
  EXPECT_THAT(warnings_of("authenticator:\n  class_name: PasswordAuthenticator\n  parameters:\n    a: b\n"),
              ElementsAre("sibyl.yaml:4: authenticator.parameters.a has no meaning in Sibyl and is ignored"));
  EXPECT_THAT(problems_of("authenticator:\n  class_name: PasswordAuthenticator\n  parameters:\n"
                          "    validator_class_name: com.example.Mine\n"),
              ElementsAre(HasSubstr("sibyl.yaml:4: authenticator.parameters.validator_class_name: "
                                    "'com.example.Mine' is not supported")));
  EXPECT_THAT(problems_of("authenticator: {class_name: PasswordAuthenticator, paramters: {}}\n"),
              ElementsAre(HasSubstr("unknown setting 'authenticator.paramters'")));
  EXPECT_THAT(problems_of("cluster_name: {class_name: x}"), ElementsAre(HasSubstr("takes a plain value")));
}

TEST(Configuration, warns_if_certificates_are_required_without_tls) {
  EXPECT_THAT(problems_of("authenticator: MutualTlsAuthenticator"),
              ElementsAre("sibyl.yaml:1: authenticator: MutualTlsAuthenticator requires "
                          "client_encryption_options.enabled to be true & "
                          "client_encryption_options.require_client_auth to be true"));
  EXPECT_THAT(problems_of("authenticator: MutualTlsAuthenticator\nclient_encryption_options: {enabled: true, "
                          "keystore: a.pem, require_client_auth: optional}\n"),
              ElementsAre(HasSubstr("MutualTlsAuthenticator requires")));
  EXPECT_THAT(problems_of("authenticator: MutualTlsAuthenticator\nclient_encryption_options: {enabled: true, "
                          "keystore: a.pem, require_client_auth: true, truststore: b.pem}\n"),
              ElementsAre());
  EXPECT_THAT(problems_of("authenticator: MutualTlsWithPasswordFallbackAuthenticator"),
              ElementsAre(HasSubstr("requires client_encryption_options.require_client_auth to be")));
  EXPECT_THAT(warnings_of("client_encryption_options: {enabled: false, require_client_auth: true}"),
              ElementsAre(HasSubstr("connections are not encrypted")));
}

TEST(Configuration, metrics_are_not_encrypted_without_a_certificate) {
  EXPECT_THAT(problems_of("metrics_encryption: true"),
              ElementsAre(HasSubstr("metrics_encryption: metrics would not be encrypted")));
  EXPECT_THAT(
      problems_of("metrics_encryption: true\nclient_encryption_options: {enabled: false, keystore: a.pem}"),
      ElementsAre(HasSubstr("metrics_encryption: metrics would not be encrypted")));
  EXPECT_THAT(
      problems_of("metrics_encryption: true\nclient_encryption_options: {enabled: true, keystore: a.pem}"),
      ElementsAre());
}

TEST(Configuration, flags_for_tls_without_a_certificate_are_refused) {
  const auto refused = [](const TlsFlags& flags) {
    Reader reader;
    read_tls_flags(flags, reader);
    (void)reader.finish();
    std::vector<std::string> texts;
    for (const Problem& problem : reader.problems()) texts.push_back(problem.text());
    return texts;
  };
  EXPECT_THAT(refused({"", "k.pem", "", false, false}),
              ElementsAre(HasSubstr("--tls-key: connections would not be encrypted")));
  EXPECT_THAT(refused({"", "", "c.pem", false, false}), ElementsAre(HasSubstr("--tls-ca: connections")));
  EXPECT_THAT(refused({"", "", "", false, true}),
              ElementsAre(HasSubstr("--tls-require-client-certificate: connections")));
  EXPECT_EQ(shown_with({"", "", "c.pem", false, false},
                       "client_encryption_options: {enabled: true, keystore: a.pem}")
                .at("truststore"),
            "c.pem");
}

TEST(Configuration, warns_of_unsupported_security_by_name) {
  EXPECT_THAT(
      warnings_of("cluster_name: x\nnetwork_authorizer: CassandraNetworkAuthorizer\n"
                  "cidr_authorizer:\n  class_name: CassandraCIDRAuthorizer\n"
                  "audit_logging_options:\n  enabled: true\nnative_transport_port_ssl: 9142\n"
                  "client_encryption_options:\n  require_endpoint_verification: true\n"),
      ElementsAre(HasSubstr("sibyl.yaml:2: network_authorizer: CassandraNetworkAuthorizer is not supported"),
                  HasSubstr("sibyl.yaml:3: cidr_authorizer: CassandraCIDRAuthorizer is not supported"),
                  HasSubstr("sibyl.yaml:5: audit_logging_options.enabled: true is not supported"),
                  HasSubstr("sibyl.yaml:7: native_transport_port_ssl: 9142 is not supported"),
                  HasSubstr("sibyl.yaml:9: client_encryption_options.require_endpoint_verification")));
  EXPECT_THAT(warnings_of("network_authorizer: AllowAllNetworkAuthorizer\naudit_logging_options:\n"
                          "  enabled: false\nrole_manager: CassandraRoleManager\n"
                          "native_transport_allow_older_protocols: true\n"),
              ElementsAre());
  EXPECT_THAT(problems_of("role_manager: com.example.LdapRoleManager"),
              ElementsAre(HasSubstr("sibyl.yaml:1: role_manager: Unable to find role_manager class")));
  EXPECT_FALSE(read("enable_user_defined_functions: false").engine.guardrails.user_defined_functions_enabled);
}

TEST(Configuration, sizes_in_flight_follow_each_other) {
  const server::Limits large = read("native_transport_max_frame_size: 64MiB").server.limits;
  EXPECT_EQ(large.bytes_in_flight, 64u << 20);
  EXPECT_GE(large.total_bytes_in_flight, 64u << 20);
  const server::Limits small = read("native_transport_max_request_data_in_flight: 8MiB").server.limits;
  EXPECT_EQ(small.bytes_in_flight, 8u << 20);
  EXPECT_EQ(small.frame_body_bytes, 8u << 20);
  EXPECT_THAT(
      warnings_of("native_transport_max_frame_size_in_mb: 256"),
      ElementsAre("sibyl.yaml:1: native_transport_max_frame_size: it is reduced to 255MiB, the maximum"));
}

TEST(Configuration, guardrails_warn_before_they_fail) {
  EXPECT_THAT(problems_of("keyspaces_warn_threshold: 20\nkeyspaces_fail_threshold: 10\n"),
              ElementsAre("sibyl.yaml:1: keyspaces_warn_threshold: The warn threshold 20 for "
                          "keyspaces_warn_threshold should be lower than the fail threshold 10"));
  EXPECT_THAT(problems_of("collection_size_warn_threshold: 2MiB\ncollection_size_fail_threshold: 1MiB\n"),
              ElementsAre(HasSubstr("The warn threshold 2MiB for collection_size_warn_threshold should be "
                                    "lower than the fail threshold 1MiB")));
  EXPECT_THAT(problems_of("minimum_replication_factor_warn_threshold: 1\n"
                          "minimum_replication_factor_fail_threshold: 2\n"),
              ElementsAre(HasSubstr("should be greater than the fail threshold 2")));
  EXPECT_THAT(problems_of("tables_warn_threshold: 0"),
              ElementsAre(HasSubstr("0 is not allowed; if attempting to disable use -1")));
  EXPECT_THAT(problems_of("data_disk_usage_percentage_fail_threshold: 101"),
              ElementsAre(HasSubstr("maximum allowed value is 100")));
  // Cassandra accepts these values, and never warns.
  EXPECT_THAT(warnings_of("tombstone_warn_threshold: 200000"),
              ElementsAre(HasSubstr("sibyl.yaml:1: tombstone_warn_threshold: it is more than")));
  EXPECT_THAT(warnings_of("batch_size_warn_threshold: 60KiB"),
              ElementsAre(HasSubstr("sibyl.yaml:1: batch_size_warn_threshold: it is more than")));
}

TEST(Configuration, flags_beat_the_environment_beats_the_file) {
  const char* environment[] = {"PATH=/bin",
                               "SIBYL_CLUSTER_NAME=from the environment",
                               "SIBYL_RPC_ADDRESS=::1",
                               "SIBYL_NATIVE_TRANSPORT_MAX_FRAME_SIZE_IN_MB=2",
                               "SIBYL_NO_SUCH=1",
                               "SIBYL_NATIVE_TRANSPRT_PORT=1",
                               nullptr};
  Reader reader;
  reader.read_yaml("cluster_name: file\nrpc_address: 1.2.3.4\nnative_transport_port: 1\n", "sibyl.yaml");
  reader.read_environment(environment);
  reader.set("cluster_name", "flag", Origin::flag, "--set");
  const Reader::Result result = reader.finish();
  EXPECT_TRUE(reader.problems().empty());
  EXPECT_THAT(reader.warnings(), ElementsAre(HasSubstr("SIBYL_NO_SUCH"),
                                             HasSubstr("did you mean SIBYL_NATIVE_TRANSPORT_PORT?")));
  EXPECT_EQ(result.configuration.engine.cluster_name, "flag");
  EXPECT_EQ(result.configuration.server.host, "::1");
  EXPECT_EQ(result.configuration.server.port, 1);
  EXPECT_EQ(result.configuration.server.limits.frame_body_bytes, 2u << 20);
  const std::string printed = print_configuration(result);
  EXPECT_THAT(printed, HasSubstr("\ncluster_name: flag  # --set\n"));
  EXPECT_THAT(printed, HasSubstr("\nnative_transport_port: 1  # sibyl.yaml:3\n"));
  EXPECT_THAT(printed, HasSubstr("\n# log_level: info  # default\n"));
}

TEST(Configuration, lists_outside_of_yaml_have_several_forms) {
  const char* environment[] = {"SIBYL_TABLE_PROPERTIES_DISALLOWED=[cdc, Caching ,]",
                               "SIBYL_READ_CONSISTENCY_LEVELS_WARNED= all,one ",
                               "SIBYL_DATA_FILE_DIRECTORIES=[/data]", nullptr};
  Reader reader;
  reader.read_environment(environment);
  reader.set("write_consistency_levels_disallowed", "[ANY]", Origin::flag, "--set");
  reader.set("table_properties_warned", "[]", Origin::flag, "--set");
  const Configuration found = reader.finish().configuration;
  for (const Problem& problem : reader.problems()) ADD_FAILURE() << problem.text();
  EXPECT_THAT(found.engine.guardrails.table_properties.disallowed, ElementsAre("caching", "cdc"));
  EXPECT_THAT(found.engine.guardrails.table_properties.warned, ElementsAre());
  EXPECT_THAT(found.engine.guardrails.read_consistency_levels.warned, ElementsAre("ALL", "ONE"));
  EXPECT_THAT(found.engine.guardrails.write_consistency_levels.disallowed, ElementsAre("ANY"));
  EXPECT_EQ(found.engine.data, "/data");
}

TEST(Configuration, refuses_settings_without_effect) {
  EXPECT_THAT(problems_of("read_consistency_levels_warned: [QUORUMM]"),
              ElementsAre(HasSubstr("'QUORUMM' is not one of ALL, ANY")));
  EXPECT_THAT(problems_of("table_properties_disallowed: ['cdc', 'compactoin']"),
              ElementsAre(HasSubstr("'compactoin' is not one of additional_write_policy")));
  EXPECT_THAT(problems_of("slow_query_log_timeout: 500us"), ElementsAre(HasSubstr("µs is less than 1ms")));
}

TEST(Configuration, printed_configuration_reads_back_the_same) {
  Reader reader;
  reader.read_yaml("cluster_name: \"it's: a #name\"\ntable_properties_warned: [cdc, caching]\nmemory: 3GiB\n",
                   "sibyl.yaml");
  const Reader::Result first = reader.finish();
  std::string everything;
  std::istringstream lines(print_configuration(first));
  for (std::string line; std::getline(lines, line);)
    everything += (line.starts_with("# ") && !line.starts_with("# ---") ? line.substr(2) : line) + "\n";
  EXPECT_EQ(read(everything).engine.settings, first.configuration.engine.settings) << everything;
}

TEST(Configuration, shows_the_actual_number_of_threads) {
  for (const char* yaml : {"", "reactor_threads: 0"}) {
    const Configuration found = read(yaml);
    EXPECT_EQ(found.server.threads, server::default_threads());
    EXPECT_EQ(found.engine.settings.at("reactor_threads"), std::to_string(server::default_threads()));
  }
  EXPECT_EQ(read("reactor_threads: 3").engine.settings.at("reactor_threads"), "3");
}

TEST(Configuration, sizes_follow_from_memory) {
  const auto derived = [](const std::string& yaml, uint64_t available) {
    Reader reader;
    reader.read_yaml(yaml, "sibyl.yaml");
    Reader::Result result = reader.finish();
    std::erase_if(result.origins, [](const auto& entry) { return entry.second == Origin::derived; });
    derive_sizes(result, available);
    return result.configuration;
  };
  const Configuration small = derived("", 512u << 20);
  EXPECT_EQ(small.engine.block_cache_bytes, 64u << 20);
  EXPECT_EQ(small.server.limits.total_bytes_in_flight, 51u << 20);
  EXPECT_EQ(small.server.limits.total_unsent_bytes, 51u << 20);
  const Configuration large = derived("", 64ull << 30);
  EXPECT_EQ(large.engine.block_cache_bytes, 8ull << 30);
  EXPECT_TRUE(large.engine.gives_back_memory);
  EXPECT_EQ(large.server.limits.total_bytes_in_flight, 256u << 20);
  const Configuration told = derived("memory: 8GiB", 64ull << 30);
  EXPECT_EQ(told.engine.block_cache_bytes, (8ull << 30) / 16 * 5);
  EXPECT_EQ(told.engine.row_cache_bytes, 512u << 20);
  EXPECT_FALSE(told.engine.gives_back_memory);
  EXPECT_EQ(large.engine.row_cache_bytes, 4ull << 30);
  EXPECT_EQ(large.engine.memtable_bytes, 192u << 20);
  EXPECT_EQ(derived("file_cache_size: 7MiB", 1ull << 30).engine.block_cache_bytes, 7u << 20);
  // Together they leave most of a small machine's memory for responses and for the operating system.
  EXPECT_LT(small.engine.block_cache_bytes + small.engine.row_cache_bytes + small.engine.memtable_bytes +
                small.engine.commit_queue_bytes + small.server.limits.total_bytes_in_flight,
            512u << 19);
}

TEST(Configuration, ignores_meaningless_settings_of_cassandra_yaml) {
  Reader reader;
  reader.read_yaml(R"(
cluster_name: 'Test Cluster'
num_tokens: 16
hinted_handoff_enabled: true
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters:
      - seeds: "127.0.0.1:7000"
memtable:
  configurations:
    skiplist:
      class_name: SkipListMemtable
server_encryption_options:
  internode_encryption: none
hints_flush_period_in_ms: 10000
)",
                   "cassandra.yaml");
  const Reader::Result result = reader.finish();
  EXPECT_TRUE(reader.problems().empty());
  EXPECT_EQ(result.configuration.engine.cluster_name, "Test Cluster");
  EXPECT_THAT(reader.ignored(),
              ElementsAre("num_tokens", "hinted_handoff_enabled", "partitioner", "seed_provider", "memtable",
                          "server_encryption_options", "hints_flush_period_in_ms"));
}

TEST(Configuration, a_file_that_cannot_be_read_is_a_problem) {
  for (const char* path : {"/", "/no/such/file"}) {
    Reader reader;
    reader.read_file(path);
    ASSERT_EQ(reader.problems().size(), 1u) << path;
    EXPECT_THAT(reader.problems()[0].text(),
                testing::StartsWith(std::string(path) + ": it cannot be read: "));
  }
}

TEST(Configuration, every_name_is_cassandras_or_marked_as_ours) {
  for (const Setting& setting : settings()) {
    const std::string_view name = setting.name;
    const std::string_view top = name.substr(0, name.find('.'));
    EXPECT_NE(is_cassandra_name(top), setting.is_ours) << name;
    for (const Setting::Alias& alias : setting.aliases)
      EXPECT_TRUE(is_cassandra_name(alias.name)) << alias.name;
    EXPECT_EQ(find_setting(name), &setting) << name << " occurs twice";
  }
}

TEST(Configuration, the_documentation_matches_the_table) {
  std::ifstream file(base::source_path("docs/configuration.md"));
  std::stringstream page;
  page << file.rdbuf();
  const std::string text = page.str();
  constexpr std::string_view begin = "<!-- settings -->\n", end = "<!-- end of settings -->";
  const size_t from = text.find(begin), to = text.find(end);
  ASSERT_NE(from, std::string::npos);
  ASSERT_NE(to, std::string::npos);
  EXPECT_TRUE(text.substr(from + begin.size(), to - from - begin.size()) == settings_page())
      << "put what `sibyl serve --list-settings` prints between the markers of docs/configuration.md";
}

TEST(Quantities, are_printed_as_they_are_read) {
  EXPECT_EQ(*parse_size("16MiB"), 16 << 20);
  EXPECT_EQ(*parse_size("5", "KiB"), 5 << 10);
  EXPECT_EQ(*parse_duration("1h"), 3'600'000'000);
  EXPECT_EQ(*parse_duration("10", "ms"), 10'000);
  for (const char* wrong : {"", "MiB", "-1MiB", "1.5GiB", "10", "10Mb", "99999999999TiB"})
    EXPECT_FALSE(parse_size(wrong)) << wrong;
  EXPECT_TRUE(rc::check([] {
    const auto value = *rc::gen::inRange<int64_t>(0, INT64_MAX);
    RC_ASSERT(*parse_size(size_text(value)) == value);
    RC_ASSERT(*parse_duration(duration_text(value)) == value);
  }));
}

}  // namespace
}  // namespace sibyl::cli
