#include "cli/log/log.h"

#include <gmock/gmock.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/log_fields.h"

namespace sibyl::cli {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

std::string written(bool is_json, const std::string& message) {
  std::ostringstream out;
  spdlog::logger log("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(out));
  log.set_formatter(make_formatter(is_json));
  log.warn("{}", message);
  return out.str();
}

TEST(Log, text_shows_fields_as_names_and_values) {
  EXPECT_THAT(written(false, base::with_fields("slow request", {{"milliseconds", "12.5"},
                                                                {"statement", "SELECT \"a\" FROM t"},
                                                                {"id", ""}})),
              MatchesRegex("[0-9-]+T[0-9:]+\\.[0-9]+Z warning slow request milliseconds=12.5 "
                           "statement=\"SELECT \\\\\"a\\\\\" FROM t\"\n"));
  EXPECT_THAT(written(false, "plain"), HasSubstr(" warning plain\n"));
}

TEST(Log, json_is_one_object_per_line_for_any_text) {
  const std::string line =
      written(true, base::with_fields("a \"b\"\nc", {{"error", std::string_view("x\x01y\\", 4)}}));
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  const boost::json::value parsed = boost::json::parse(line);
  EXPECT_EQ(parsed.at("message").as_string(), "a \"b\"\nc");
  EXPECT_EQ(parsed.at("level").as_string(), "warning");
  EXPECT_EQ(parsed.at("error").as_string(), "x\x01y\\");
}

// Names and statements are untrusted. They must not add fields, control a terminal or break a line.
TEST(Log, untrusted_values_stay_values) {
  const std::string hostile = base::with_fields("login refused", {{"error",
                                                                   "x\x1frole\x1e"
                                                                   "admin\x1b[2J\xff"}});
  EXPECT_THAT(written(false, hostile), HasSubstr("login refused error=\"x?role?admin\\u001b[2J\uFFFD\"\n"));
  const boost::json::value parsed = boost::json::parse(written(true, hostile));
  EXPECT_EQ(parsed.at("error").as_string(), "x?role?admin\x1b[2J\uFFFD");
  EXPECT_FALSE(parsed.as_object().contains("role"));
}

TEST(Log, numbers_are_numbers_in_json) {
  const boost::json::value parsed = boost::json::parse(
      written(true, base::with_fields("slow request", {{"milliseconds", "12.5"}, {"role", "17"}})));
  EXPECT_EQ(parsed.at("milliseconds").as_double(), 12.5);
  EXPECT_EQ(parsed.at("role").as_string(), "17");
}

TEST(Log, goes_to_files_and_keeps_the_newest_lines) {
  const auto before = spdlog::default_logger();
  const std::string path = testing::TempDir() + "sibyl-log-test.log";
  LogOptions options;
  options.file = path;
  options.file_bytes = 64 << 10;
  options.files = 2;
  ASSERT_TRUE(start_log(options));
  for (int i = 0; i < 3000; ++i) spdlog::info("line {} with some more text so that files fill up", i);
  const std::vector<engine::LogLine> lines = recent_log_lines();
  spdlog::set_default_logger(before);
  ASSERT_EQ(lines.size(), 1000u);
  EXPECT_EQ(lines.back().level, "INFO");
  EXPECT_THAT(lines.back().message, HasSubstr("line 2999 "));
  EXPECT_LE(std::filesystem::file_size(path), 64u << 10);
  EXPECT_TRUE(std::filesystem::exists(testing::TempDir() + "sibyl-log-test.1.log"));
  EXPECT_FALSE(std::filesystem::exists(testing::TempDir() + "sibyl-log-test.2.log"));
  std::filesystem::remove(path);
  std::filesystem::remove(testing::TempDir() + "sibyl-log-test.1.log");
  options.file = "/dev/null/log";
  EXPECT_FALSE(start_log(options));
}

}  // namespace
}  // namespace sibyl::cli
