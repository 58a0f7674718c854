#include "cli/copy/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace sibyl::cli::copy {
namespace {

using testing::ElementsAre;

// Returns the texts of the fields, with quoted ones marked.
std::vector<std::string> fields(const Dialect& dialect, std::string_view record) {
  std::vector<std::string> out;
  const auto parsed = parse_record(dialect, record);
  if (!parsed) return {"refused: " + parsed.error().message()};
  for (const Field& field : *parsed) out.push_back((field.is_quoted ? "q:" : "") + field.text);
  return out;
}

TEST(Csv, ReadsRecords) {
  const Dialect dialect;
  EXPECT_THAT(fields(dialect, "a,b,c\n"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(fields(dialect, "a,b,c\r\n"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(fields(dialect, ",\"\",x"), ElementsAre("", "q:", "x"));
  EXPECT_THAT(fields(dialect, "\"a,b\nc\",d"), ElementsAre("q:a,b\nc", "d"));
  EXPECT_THAT(fields(dialect, "\"say \\\"hi\\\"\",a\\\\b"), ElementsAre("q:say \"hi\"", "a\\b"));
  EXPECT_THAT(fields(dialect, "\"say \"\"hi\"\"\""), ElementsAre("q:say \"hi\""));
  EXPECT_THAT(fields(dialect, "it's 5\" long"), ElementsAre("it's 5\" long"));
}

TEST(Csv, AnUnclosedQuoteIsRejected) {
  Dialect dialect;
  const auto refused = ElementsAre("refused: a quoted field is not closed");
  EXPECT_THAT(fields(dialect, "1,\"open\n2,b\n"), refused);
  EXPECT_THAT(fields(dialect, "1,\""), refused);
  EXPECT_THAT(fields(dialect, "1,\"cut\\\""), refused);
  EXPECT_THAT(fields(dialect, "1,\"whole\""), ElementsAre("1", "q:whole"));
  dialect.escape = '"';
  EXPECT_THAT(fields(dialect, "1,\"cut\"\""), refused);
}

TEST(Csv, KnowsWhereRecordsEnd) {
  const Dialect dialect;
  EXPECT_EQ(record_end(dialect, "a,b\nc"), 4u);
  EXPECT_EQ(record_end(dialect, "a,\"b\nc\"\nd"), 8u);
  EXPECT_EQ(record_end(dialect, "a,\"b\n"), 0u);
  EXPECT_EQ(record_end(dialect, "a\\\nb\n"), 5u);
  EXPECT_EQ(record_end(dialect, "5\" a\nb"), 5u);
  Dialect json;
  json.is_json = true;
  EXPECT_EQ(record_end(json, "{\"a\": \"\n"), 8u);
}

TEST(CsvProperty, FieldsRoundTrip) {
  EXPECT_TRUE(rc::check([] {
    Dialect dialect;
    dialect.delimiter = *rc::gen::element(',', '\t', '|');
    dialect.escape = *rc::gen::element('\\', '"');
    dialect.null = *rc::gen::element(std::string(), std::string("NULL"));
    const auto text = rc::gen::container<std::string>(
        rc::gen::element('a', ',', '"', '\\', '\n', '\r', '\t', '|', ' ', '\''));
    const auto wanted =
        *rc::gen::nonEmpty(rc::gen::container<std::vector<std::optional<std::string>>>(rc::gen::oneOf(
            rc::gen::map(text, [](std::string s) { return std::optional(s); }),
            rc::gen::just(std::optional<std::string>()), rc::gen::just(std::optional<std::string>("NULL")))));
    std::string record;
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (i > 0) record += dialect.delimiter;
      write_field(dialect, wanted[i], record);
    }
    record += '\n';
    RC_ASSERT(record_end(dialect, record + "next") == record.size());
    const auto parsed = parse_record(dialect, record);
    RC_ASSERT(parsed.has_value());
    const std::vector<Field>& found = *parsed;
    RC_ASSERT(found.size() == wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      const bool is_null = !found[i].is_quoted && found[i].text == dialect.null;
      RC_ASSERT(is_null == !wanted[i].has_value());
      if (wanted[i]) RC_ASSERT(found[i].text == *wanted[i]);
    }
  }));
}

TEST(RecordFile, ReturnsCompleteRecordsWithTheirPositions) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("sibyl-csv-" + std::to_string(::getpid()))).string();
  std::string contents;
  for (int i = 0; i < 1000; ++i) contents += std::to_string(i) + ",\"two\nlines\"\n";
  contents += "last,one";
  std::ofstream(path) << contents;
  auto file = RecordFile::open(path, {});
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->size(), contents.size());
  std::string read;
  RecordFile::Piece piece;
  uint64_t line = 1;
  while (*file->next(100, piece)) {
    EXPECT_EQ(piece.begin, read.size());
    EXPECT_EQ(piece.first_line, line);
    read += piece.text;
    EXPECT_EQ(piece.end, read.size());
    line += static_cast<uint64_t>(std::count(piece.text.begin(), piece.text.end(), '\n'));
    EXPECT_TRUE(piece.text.ends_with("\n") || read == contents);
  }
  EXPECT_EQ(read, contents);
  ASSERT_TRUE(file->seek(contents.size() - 8, 2001).has_value());
  ASSERT_TRUE(*file->next(1, piece));
  EXPECT_EQ(piece.text, "last,one");
  EXPECT_EQ(piece.first_line, 2001u);
  std::filesystem::remove(path);
}

// Reads may end anywhere: within quotes, after an escape character, between the two characters of a doubled
// quote.
TEST(RecordFile, RecordsSpanReads) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("sibyl-csv-span-" + std::to_string(::getpid()))).string();
  constexpr size_t read_bytes = 256 << 10;
  for (const std::string marks : {"\"\"", "\\\"", "\n", "\",\""}) {
    for (size_t before = read_bytes - 4; before < read_bytes + 2; ++before) {
      const std::string first =
          "\"" + std::string(before, 'x') + marks + std::string(read_bytes, 'y') + "\"\n";
      std::ofstream(path) << first << "last,one\n";
      auto file = RecordFile::open(path, {});
      ASSERT_TRUE(file.has_value());
      RecordFile::Piece piece;
      ASSERT_TRUE(*file->next_record(piece));
      EXPECT_EQ(piece.text.size(), first.size());
      ASSERT_TRUE(*file->next_record(piece));
      EXPECT_EQ(piece.text, "last,one\n");
      EXPECT_FALSE(*file->next_record(piece));
    }
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace sibyl::cli::copy
