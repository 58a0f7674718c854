// Checks that settings agree with each other. Each single value is checked when it is read.
#include "cli/configuration/check.h"

#include <fmt/format.h>

#include "auth/options.h"
#include "cli/configuration/configuration.h"
#include "cli/configuration/reader.h"
#include "cli/configuration/values.h"
#include "plan/guardrails_settings.h"

namespace sibyl::cli {
namespace {

using Mode = server::TlsOptions::Mode;
using Certificates = server::TlsOptions::ClientCertificates;

class Check {
 public:
  Check(const Reader::Result& result, std::vector<Problem>& problems, std::vector<std::string>& warnings)
      : result_(result), problems_(problems), warnings_(warnings) {}

  const Configuration& configuration() const { return result_.configuration; }

  // Reports a problem at the place of `name` or, if `name` was not given, at the place of `other`.
  void need(bool fits, const std::string& name, const std::string& what, const std::string& other = "") {
    if (!fits) problems_.push_back({place(name, other), fmt::format("{}: {}", name, what)});
  }
  void warn(bool fits, const std::string& name, const std::string& what, const std::string& other = "") {
    if (!fits) warnings_.push_back(fmt::format("{}: {}: {}", place(name, other), name, what));
  }

  bool is_flag(const std::string& name) const {
    const auto found = result_.origins.find(name);
    return found != result_.origins.end() && found->second == Origin::flag;
  }
  bool is_given(const std::string& name) const { return result_.places.contains(name); }
  std::string place(const std::string& name, const std::string& other = "") const {
    if (const auto found = result_.places.find(name); found != result_.places.end()) return found->second;
    if (const auto found = result_.places.find(other); found != result_.places.end()) return found->second;
    return "defaults";
  }
  void refuse(std::string where, std::string what) {
    problems_.push_back({std::move(where), std::move(what)});
  }

 private:
  const Reader::Result& result_;
  std::vector<Problem>& problems_;
  std::vector<std::string>& warnings_;
};

std::string text_of(uint64_t bytes) {
  return size_text(static_cast<int64_t>(bytes));
}

void check_sizes(Check& check) {
  constexpr const char *frame = "native_transport_max_frame_size",
                       *connection = "connection_max_request_data_in_flight",
                       *all = "native_transport_max_request_data_in_flight";
  const server::Limits& limits = check.configuration().server.limits;
  check.need(limits.frame_body_bytes <= limits.bytes_in_flight, connection,
             fmt::format("{} is less than {}, {}", text_of(limits.bytes_in_flight), frame,
                         text_of(limits.frame_body_bytes)),
             frame);
  check.need(limits.bytes_in_flight <= limits.total_bytes_in_flight, all,
             fmt::format("{} is less than {}, {}", text_of(limits.total_bytes_in_flight),
                         check.is_given(connection) ? connection : frame, text_of(limits.bytes_in_flight)),
             connection);
  const uint64_t memory = check.configuration().memory_bytes;
  const engine::Options& engine = check.configuration().engine;
  const uint64_t taken = engine.block_cache_bytes + engine.row_cache_bytes + engine.memtable_bytes;
  check.need(memory == 0 || taken < memory, "memory",
             fmt::format("{} is not enough for file_cache_size, row_cache_memory and memtable_heap_space, {} "
                         "together",
                         text_of(memory), text_of(taken)));
}

// The server must not start if it is configured to encrypt, to require certificates or to require logins, but
// other settings would prevent that.
void check_security(Check& check) {
  const Configuration& configuration = check.configuration();
  const server::TlsOptions& tls = configuration.server.tls;
  static const std::string group = "client_encryption_options.";
  if (tls.mode == Mode::off) {
    std::string reported;
    for (const char* name :
         {"keystore", "key", "truststore", "require_client_auth", "accepted_protocols", "cipher_suites"}) {
      const std::string place = check.place(group + name);
      if (!check.is_flag(group + name) || place == reported) continue;
      check.refuse(
          place,
          "connections would not be encrypted: --tls-certificate (client_encryption_options.keystore "
          "and enabled) is missing");
      reported = place;
    }
    check.warn(tls.client_certificates == Certificates::ignored || !reported.empty(),
               group + "require_client_auth",
               "connections are not encrypted and no certificate is required, because enabled is false");
  }
  check.need(
      !configuration.server.http_encrypted || tls.mode != Mode::off, "metrics_encryption",
      "metrics would not be encrypted: client_encryption_options has no certificate or is not enabled");
  if (const base::Status status = auth::validate(configuration.engine.auth); !status)
    check.need(false, "authorizer", status.error().text());
  using auth::Authenticator;
  const Authenticator authenticator = configuration.engine.auth.authenticator;
  check.need(authenticator != Authenticator::mutual_tls ||
                 (tls.mode != Mode::off && tls.client_certificates == Certificates::required),
             "authenticator",
             "MutualTlsAuthenticator requires client_encryption_options.enabled to be true & "
             "client_encryption_options.require_client_auth to be true");
  check.need(authenticator != Authenticator::mutual_tls_with_password_fallback ||
                 tls.client_certificates != Certificates::ignored,
             "authenticator",
             "MutualTlsWithPasswordFallbackAuthenticator requires "
             "client_encryption_options.require_client_auth to be optional/true");
}

std::string threshold_text(int64_t value, plan::NamedThreshold::Unit unit) {
  return unit == plan::NamedThreshold::Unit::bytes ? size_text(value) : std::to_string(value);
}

// Like Cassandra's GuardrailsOptions, with its error texts.
void check_threshold(const plan::NamedThreshold& one, Check& check) {
  using Unit = plan::NamedThreshold::Unit;
  const plan::Threshold& threshold = check.configuration().engine.guardrails.*one.threshold;
  const std::string_view guardrail = one.name;
  const std::string names[] = {fmt::format("{}_warn_threshold", one.name),
                               fmt::format("{}_fail_threshold", one.name)};
  const int64_t most = guardrail == "data_disk_usage_percentage" ? 100 : INT32_MAX;
  for (const auto& [name, value] :
       {std::pair(names[0], threshold.warn), std::pair(names[1], threshold.fail)}) {
    if (!check.is_given(name) || one.unit == Unit::micros) continue;
    check.need(value != 0, name,
               fmt::format("Invalid value for {}: 0 is not allowed; if attempting to disable use {}", name,
                           one.unit == Unit::bytes ? "an empty value" : "-1"));
    check.need(one.unit == Unit::bytes || value <= most, name,
               fmt::format("Invalid value {} for {}: maximum allowed value is {}", value, name, most));
  }
  if (threshold.warn < 0 || threshold.fail < 0 ||
      (one.unit != Unit::count && (threshold.warn == 0 || threshold.fail == 0)))
    return;
  const bool is_minimum = guardrail == "minimum_replication_factor";
  check.need(is_minimum ? threshold.fail <= threshold.warn : threshold.warn <= threshold.fail, names[0],
             fmt::format("The warn threshold {} for {} should be {} than the fail threshold {}",
                         threshold_text(threshold.warn, one.unit), names[0], is_minimum ? "greater" : "lower",
                         threshold_text(threshold.fail, one.unit)),
             names[1]);
}

// Cassandra accepts these two pairs in any order. But a warning above the failure threshold has no effect.
void check_older_thresholds(Check& check) {
  const plan::Guardrails& guardrails = check.configuration().engine.guardrails;
  constexpr const char* never = "it is more than {}, so there is never a warning";
  check.warn(guardrails.batch_size_fail_threshold == 0 ||
                 guardrails.batch_size_warn_threshold <= guardrails.batch_size_fail_threshold,
             "batch_size_warn_threshold", fmt::format(never, "batch_size_fail_threshold"),
             "batch_size_fail_threshold");
  check.warn(guardrails.tombstone_failure_threshold < 0 ||
                 guardrails.tombstone_warn_threshold <= guardrails.tombstone_failure_threshold,
             "tombstone_warn_threshold", fmt::format(never, "tombstone_failure_threshold"),
             "tombstone_failure_threshold");
}

}  // namespace

void check_together(const Reader::Result& result, std::vector<Problem>& problems,
                    std::vector<std::string>& warnings) {
  Check check(result, problems, warnings);
  check_sizes(check);
  check_security(check);
  for (const plan::NamedThreshold& one : plan::guardrail_thresholds()) check_threshold(one, check);
  check_older_thresholds(check);
}

}  // namespace sibyl::cli
