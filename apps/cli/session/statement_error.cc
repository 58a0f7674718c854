#include "cli/session/statement_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "types/text.h"

namespace sibyl::cli::shell {
namespace {

using base::ErrorCode;

constexpr size_t longest_line = 160;  // length of a statement's line; more is cut around the caret

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (true) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

// Columns are counted in UTF-16 units, as in Java.
size_t byte_of_column(std::string_view line, uint32_t column) {
  size_t offset = 0;
  for (uint32_t units = 0; offset < line.size() && units < column;) {
    const auto lead = static_cast<unsigned char>(line[offset]);
    units += lead >= 0xf0 ? 2 : 1;
    offset = types::next_character(line, offset + 1);
  }
  return offset;
}

// Prepares a statement's text for one line of the terminal.
std::string shown(std::string_view text) {
  std::string spaced(text);
  std::replace(spaced.begin(), spaced.end(), '\t', ' ');
  return escape_controls(spaced);
}

// Parses "L:C" at the start of a text. Cassandra reports an error at the end of the statement as "0:-1".
std::optional<base::Position> position_in(std::string_view text) {
  const char* end = text.data() + text.size();
  int32_t line = 0;
  int32_t column = 0;
  auto [after_line, line_error] = std::from_chars(text.data(), end, line);
  if (line_error != std::errc() || after_line == end || *after_line != ':') return std::nullopt;
  auto [after_column, column_error] = std::from_chars(after_line + 1, end, column);
  if (column_error != std::errc() || line < 0 || column < -1) return std::nullopt;
  if (column == -1) return base::Position{.line = 0, .column = 0, .offset = 0};
  return base::Position{.line = static_cast<uint32_t>(line), .column = static_cast<uint32_t>(column)};
}

}  // namespace

base::Error error_from_text(ErrorCode code, std::string text) {
  constexpr std::string_view opening = " [hint: ", place = " [position: ";
  base::ErrorDetails details;
  details.code = code;
  if (const size_t start = text.rfind(place); start != std::string::npos && text.ends_with(']')) {
    details.position = position_in(std::string_view(text).substr(start + place.size()));
    if (details.position) text.resize(start);
  }
  if (const size_t start = text.rfind(opening); start != std::string::npos && text.ends_with(']')) {
    details.hint = text.substr(start + opening.size(), text.size() - start - opening.size() - 1);
    text.resize(start);
  }
  constexpr std::string_view line = "line ";
  if (!details.position && text.starts_with(line))
    details.position = position_in(std::string_view(text).substr(line.size()));
  details.message = std::move(text);
  return base::Error(std::move(details));
}

const char* error_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::server:
      return "ServerError";
    case ErrorCode::protocol:
      return "ProtocolException";
    case ErrorCode::bad_credentials:
      return "AuthenticationFailed";
    case ErrorCode::unavailable:
      return "Unavailable";
    case ErrorCode::overloaded:
      return "OverloadedErrorMessage";
    case ErrorCode::bootstrapping:
      return "IsBootstrappingErrorMessage";
    case ErrorCode::truncate:
      return "TruncateError";
    case ErrorCode::write_timeout:
      return "WriteTimeout";
    case ErrorCode::read_timeout:
      return "ReadTimeout";
    case ErrorCode::read_failure:
      return "ReadFailure";
    case ErrorCode::function_failure:
      return "FunctionFailure";
    case ErrorCode::write_failure:
      return "WriteFailure";
    case ErrorCode::cdc_write_failure:
      return "CDCWriteFailure";
    case ErrorCode::cas_write_unknown:
      return "CASWriteUnknown";
    case ErrorCode::syntax:
      return "SyntaxException";
    case ErrorCode::unauthorized:
      return "Unauthorized";
    case ErrorCode::invalid:
      return "InvalidRequest";
    case ErrorCode::config:
      return "ConfigurationException";
    case ErrorCode::already_exists:
      return "AlreadyExists";
    case ErrorCode::unprepared:
      return "PreparedQueryNotFound";
  }
  return "Error";
}

std::string render_caret(const base::Error& error, std::string_view statement) {
  if (!error.position()) return {};
  const std::vector<std::string_view> lines = lines_of(statement);
  std::string_view line;
  size_t offset = 0;
  if (const base::Position& position = *error.position(); position.line == 0) {
    while (statement.ends_with('\n') || statement.ends_with(' ')) statement.remove_suffix(1);
    line = lines_of(statement).back();
    offset = line.size();
  } else if (position.line <= lines.size()) {
    line = lines[position.line - 1];
    offset = byte_of_column(line, position.column);
  } else {
    return {};
  }
  const char* ellipsis = "";
  if (offset > longest_line / 2 && line.size() > longest_line) {
    const size_t cut = types::next_character(line.substr(0, offset), offset - longest_line / 2);
    line.remove_prefix(cut);
    offset -= cut;
    ellipsis = "...";
  }
  const std::string before = shown(line.substr(0, offset));
  const size_t end = types::next_character(line, std::min(line.size(), std::max(offset, longest_line)));
  const std::string after = shown(line.substr(offset, end - offset));
  const std::string space(display_width(before) + std::string_view(ellipsis).size(), ' ');
  return fmt::format("  {}{}{}{}\n  {}^\n", ellipsis, before, after, end < line.size() ? "..." : "", space);
}

std::string render_error(const base::Error& error, std::string_view statement, std::string_view place,
                         const Palette& palette) {
  std::string text = render_caret(error, statement);
  const std::string message = fmt::format("{}{}: {}", place, error_name(error.code()), error.message());
  for (std::string_view line : lines_of(message))
    text += palette.paint(Colour::red, escape_controls(line)) + '\n';
  if (!error.hint().empty())
    text += palette.paint(Colour::cyan, "Hint:") + ' ' + escape_controls(error.hint()) + '\n';
  return text;
}

}  // namespace sibyl::cli::shell
