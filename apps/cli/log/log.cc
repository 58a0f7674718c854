#include "cli/log/log.h"

#include <fmt/format.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <deque>
#include <mutex>

#include "base/ascii.h"
#include "base/log_fields.h"
#include "types/print.h"
#include "types/text.h"

namespace sibyl::cli {
namespace {

using Level = spdlog::level::level_enum;

std::string_view level_name(Level level) {
  switch (level) {
    case Level::trace:
    case Level::debug:
      return "debug";
    case Level::info:
      return "info";
    case Level::warn:
      return "warning";
    default:
      return "error";
  }
}

std::string time_text(spdlog::log_clock::time_point time) {
  const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
  return types::format_timestamp(millis);
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

// Quotes the text and escapes control characters, so that it cannot end the line.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (is_control(c)) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

struct Parts {
  std::string_view message;
  std::vector<std::pair<std::string_view, std::string_view>> fields;
};

Parts parts_of(std::string_view payload) {
  Parts parts;
  parts.message = payload.substr(0, payload.find(base::log_field_mark));
  std::string_view rest = payload.substr(parts.message.size());
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view field = rest.substr(0, rest.find(base::log_field_mark));
    const size_t mark = std::min(field.find(base::log_value_mark), field.size());
    parts.fields.emplace_back(field.substr(0, mark), field.substr(std::min(mark + 1, field.size())));
    rest.remove_prefix(field.size());
  }
  return parts;
}

// Empty fields are left out.
std::string text_of(const Parts& parts) {
  std::string out;
  for (const char c : parts.message) out += c == '\n' ? ' ' : c;
  for (const auto& [name, value] : parts.fields) {
    if (value.empty()) continue;
    const bool is_plain = std::none_of(value.begin(), value.end(), [](char c) {
      return is_control(c) || std::string_view(" \"=\\").find(c) != std::string_view::npos;
    });
    out += fmt::format(" {}={}", name, is_plain ? std::string(value) : quoted(value));
  }
  return out;
}

// Returns true for fields that are always numbers. Others are quoted, even if their value looks like a
// number.
bool is_number(std::string_view field) {
  return field == "milliseconds" || field == "not_told";
}

// Replaces invalid UTF-8, which JSON parsers would reject.
std::string payload_of(const spdlog::details::log_msg& message) {
  std::string_view rest(message.payload.data(), message.payload.size());
  std::string out;
  for (size_t bad = types::find_invalid_utf8(rest); bad != std::string_view::npos;
       bad = types::find_invalid_utf8(rest)) {
    out += rest.substr(0, bad);
    out += "\uFFFD";
    rest.remove_prefix(bad + 1);
  }
  return out.append(rest);
}

class TextFormatter final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    const std::string line = fmt::format("{} {} {}\n", time_text(message.time), level_name(message.level),
                                         text_of(parts_of(payload_of(message))));
    out.append(line.data(), line.data() + line.size());
  }
  std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<TextFormatter>(); }
};

class JsonFormatter final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    const std::string payload = payload_of(message);
    const Parts parts = parts_of(payload);
    std::string line = fmt::format(R"({{"time":"{}","level":"{}","message":{})", time_text(message.time),
                                   level_name(message.level), quoted(parts.message));
    for (const auto& [name, value] : parts.fields)
      if (!value.empty())
        line += fmt::format(",{}:{}", quoted(name), is_number(name) ? std::string(value) : quoted(value));
    line += "}\n";
    out.append(line.data(), line.data() + line.size());
  }
  std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<JsonFormatter>(); }
};

// Keeps the newest lines in memory.
class RecentSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  std::vector<engine::LogLine> lines() {
    const std::lock_guard lock(mutex_);
    return {lines_.begin(), lines_.end()};
  }

 private:
  static constexpr size_t kept = 1000;

  void sink_it_(const spdlog::details::log_msg& message) override {
    const auto since = message.time.time_since_epoch();
    std::string level = base::ascii_upper(level_name(message.level));
    if (level == "WARNING") level = "WARN";  // the name that Cassandra uses
    lines_.push_back({std::chrono::duration_cast<std::chrono::microseconds>(since).count(), std::move(level),
                      "sibyl", text_of(parts_of(payload_of(message)))});
    if (lines_.size() > kept) lines_.pop_front();
  }
  void flush_() override {}

  std::deque<engine::LogLine> lines_;
};

// Forwards lines to a sink that can be replaced while other threads write. Each sink has its own formatter.
class Destination final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  void set(spdlog::sink_ptr sink, const LogOptions& options) {
    sink->set_formatter(make_formatter(options.format == "json"));
    const std::lock_guard lock(mutex_);
    sink_ = std::move(sink);
    options_ = options;
  }
  LogOptions options() {
    const std::lock_guard lock(mutex_);
    return options_;
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override { sink_->log(message); }
  void flush_() override { sink_->flush(); }

  spdlog::sink_ptr sink_;
  LogOptions options_;
};

const std::shared_ptr<Destination>& destination() {
  static const auto sink = std::make_shared<Destination>();
  return sink;
}

base::Result<spdlog::sink_ptr> open_sink(const LogOptions& options) {
  try {
    if (options.file.empty()) return std::make_shared<spdlog::sinks::stderr_sink_mt>();
    return std::make_shared<spdlog::sinks::rotating_file_sink_mt>(options.file, options.file_bytes,
                                                                  options.files - 1);
  } catch (const spdlog::spdlog_ex& error) {
    return base::fail(base::ErrorCode::config, fmt::format("log_file: {}", error.what()));
  }
}

const std::shared_ptr<RecentSink>& recent() {
  static const auto sink = std::make_shared<RecentSink>();
  return sink;
}

}  // namespace

std::unique_ptr<spdlog::formatter> make_formatter(bool is_json) {
  if (is_json) return std::make_unique<JsonFormatter>();
  return std::make_unique<TextFormatter>();
}

base::Status start_log(const LogOptions& options) {
  SIBYL_ASSIGN(spdlog::sink_ptr sink, open_sink(options));
  destination()->set(std::move(sink), options);
  auto log = std::make_shared<spdlog::logger>("sibyl", spdlog::sinks_init_list{destination(), recent()});
  log->set_formatter(make_formatter(options.format == "json"));
  log->set_level(spdlog::level::from_str(options.level));
  log->flush_on(Level::info);
  spdlog::set_default_logger(std::move(log));
  return {};
}

base::Status reopen_log() {
  const LogOptions options = destination()->options();
  SIBYL_ASSIGN(spdlog::sink_ptr sink, open_sink(options));
  destination()->set(std::move(sink), options);
  return {};
}

std::vector<engine::LogLine> recent_log_lines() {
  return recent()->lines();
}

}  // namespace sibyl::cli
