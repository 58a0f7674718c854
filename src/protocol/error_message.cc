#include "protocol/error_message.h"

#include <fmt/format.h>

namespace sibyl::protocol {

using base::ErrorCode;

ErrorMessage to_message(const base::Error& error) {
  ErrorMessage message;
  message.code = error.code();
  message.message = error.text();
  message.keyspace = error.details().keyspace;
  const bool is_function = error.code() == ErrorCode::function_failure;
  message.name = is_function ? error.details().function : error.details().table;
  message.argument_types = error.details().argument_types;
  message.statement_id = error.details().statement_id;
  message.consistency = static_cast<Consistency>(error.details().consistency);
  message.required = error.details().required;
  message.received = error.details().received;
  message.failures = error.details().failures;
  message.data_present = error.details().data_present;
  // There is only one node, and it is the one that failed.
  for (int32_t i = 0; i < message.failures; ++i)
    message.failure_reasons.emplace_back(Bytes("\x7f\0\0\1", 4), error.details().failure_reason);
  return message;
}

void append_position(ErrorMessage& message, const base::Error& error) {
  if (!error.position() || message.message.starts_with("line ")) return;
  message.message += fmt::format(" [position: {}:{}]", error.position()->line, error.position()->column);
}

base::Error to_error(const ErrorMessage& message) {
  base::ErrorDetails details;
  details.code = message.code;
  details.message = message.message;
  details.keyspace = message.keyspace;
  (message.code == ErrorCode::function_failure ? details.function : details.table) = message.name;
  details.argument_types = message.argument_types;
  details.statement_id = message.statement_id;
  details.consistency = static_cast<uint16_t>(message.consistency);
  details.required = message.required;
  details.received = message.received;
  details.failures = message.failures;
  details.data_present = message.data_present;
  if (!message.failure_reasons.empty()) details.failure_reason = message.failure_reasons.front().second;
  return base::Error(std::move(details));
}

namespace {

ErrorCode code_for(Version version, ErrorCode code) {
  if (!has_failure_errors(version)) {
    if (code == ErrorCode::read_failure) return ErrorCode::read_timeout;
    if (code == ErrorCode::write_failure) return ErrorCode::write_timeout;
    if (code == ErrorCode::function_failure || code == ErrorCode::cdc_write_failure)
      return ErrorCode::invalid;
  }
  if (!has_cas_errors(version) && code == ErrorCode::cas_write_unknown) return ErrorCode::write_timeout;
  return code;
}

void append_counts(Bytes& out, const ErrorMessage& message) {
  append_consistency(out, message.consistency);
  append_int(out, message.received);
  append_int(out, message.required);
}

void append_failures(Bytes& out, Version version, const ErrorMessage& message) {
  if (!has_failure_reasons(version)) {
    append_int(out, message.failures);
    return;
  }
  append_int(out, static_cast<int32_t>(message.failure_reasons.size()));
  for (const auto& [address, reason] : message.failure_reasons) {
    append_byte(out, static_cast<uint8_t>(address.size()));
    out.append(address);
    append_short(out, reason);
  }
}

void read_counts(WireReader& reader, ErrorMessage& message) {
  message.consistency = reader.consistency();
  message.received = reader.int_();
  message.required = reader.int_();
}

void read_failures(WireReader& reader, Version version, ErrorMessage& message) {
  message.failures = reader.int_();
  if (!has_failure_reasons(version)) return;
  for (int32_t i = 0; i < message.failures && reader.ok(); ++i) {
    Bytes address(reader.raw(reader.byte()));
    message.failure_reasons.emplace_back(std::move(address), reader.short_());
  }
}

bool is_known(int32_t code) {
  switch (static_cast<ErrorCode>(code)) {
    case ErrorCode::server:
    case ErrorCode::protocol:
    case ErrorCode::bad_credentials:
    case ErrorCode::unavailable:
    case ErrorCode::overloaded:
    case ErrorCode::bootstrapping:
    case ErrorCode::truncate:
    case ErrorCode::write_timeout:
    case ErrorCode::read_timeout:
    case ErrorCode::read_failure:
    case ErrorCode::function_failure:
    case ErrorCode::write_failure:
    case ErrorCode::cdc_write_failure:
    case ErrorCode::cas_write_unknown:
    case ErrorCode::syntax:
    case ErrorCode::unauthorized:
    case ErrorCode::invalid:
    case ErrorCode::config:
    case ErrorCode::already_exists:
    case ErrorCode::unprepared:
      return true;
  }
  return false;
}

}  // namespace

void append_error(Bytes& out, Version version, const ErrorMessage& message) {
  const ErrorCode code = code_for(version, message.code);
  append_int(out, static_cast<int32_t>(code));
  append_string(out, message.message);
  switch (code) {
    case ErrorCode::unavailable:
      append_consistency(out, message.consistency);
      append_int(out, message.required);
      append_int(out, message.received);
      break;
    case ErrorCode::write_timeout: {
      const bool cas = message.code == ErrorCode::cas_write_unknown || message.write_type == "CAS";
      append_counts(out, message);
      append_string(out, cas ? "CAS" : message.write_type);
      if (cas && has_cas_errors(version)) append_short(out, message.contentions);
      break;
    }
    case ErrorCode::read_timeout:
      append_counts(out, message);
      append_byte(out, message.data_present);
      break;
    case ErrorCode::write_failure:
      append_counts(out, message);
      append_failures(out, version, message);
      append_string(out, message.write_type);
      break;
    case ErrorCode::read_failure:
      append_counts(out, message);
      append_failures(out, version, message);
      append_byte(out, message.data_present);
      break;
    case ErrorCode::cas_write_unknown:
      append_counts(out, message);
      break;
    case ErrorCode::function_failure:
      append_string(out, message.keyspace);
      append_string(out, message.name);
      append_string_list(out, message.argument_types);
      break;
    case ErrorCode::already_exists:
      append_string(out, message.keyspace);
      append_string(out, message.name);
      break;
    case ErrorCode::unprepared:
      append_short_bytes(out, message.statement_id);
      break;
    default:
      break;
  }
}

base::Result<ErrorMessage> decode_error(BytesView body, Version version) {
  WireReader reader(body);
  ErrorMessage message;
  const int32_t code = reader.int_();
  message.message = std::string(reader.string());
  if (reader.ok() && !is_known(code)) reader.fail(fmt::format("Unknown error code {}", code));
  message.code = static_cast<ErrorCode>(code);
  if (!reader.ok()) return base::fail(reader.status().error());
  switch (message.code) {
    case ErrorCode::unavailable:
      message.consistency = reader.consistency();
      message.required = reader.int_();
      message.received = reader.int_();
      break;
    case ErrorCode::write_timeout:
      read_counts(reader, message);
      message.write_type = std::string(reader.string());
      if (message.write_type == "CAS" && has_cas_errors(version)) message.contentions = reader.short_();
      break;
    case ErrorCode::read_timeout:
      read_counts(reader, message);
      message.data_present = reader.byte() != 0;
      break;
    case ErrorCode::write_failure:
      read_counts(reader, message);
      read_failures(reader, version, message);
      message.write_type = std::string(reader.string());
      break;
    case ErrorCode::read_failure:
      read_counts(reader, message);
      read_failures(reader, version, message);
      message.data_present = reader.byte() != 0;
      break;
    case ErrorCode::cas_write_unknown:
      read_counts(reader, message);
      break;
    case ErrorCode::function_failure:
      message.keyspace = std::string(reader.string());
      message.name = std::string(reader.string());
      message.argument_types = reader.string_list();
      break;
    case ErrorCode::already_exists:
      message.keyspace = std::string(reader.string());
      message.name = std::string(reader.string());
      break;
    case ErrorCode::unprepared:
      message.statement_id = Bytes(reader.short_bytes());
      break;
    default:
      break;
  }
  SIBYL_TRY(reader.status());
  return message;
}

}  // namespace sibyl::protocol
