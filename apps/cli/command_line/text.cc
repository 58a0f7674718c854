#include "cli/command_line/text.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace sibyl::cli::shell {
namespace {

using types::Kind;

constexpr const char* reset = "\033[0m";

const char* code_of(Colour colour) {
  switch (colour) {
    case Colour::none:
      return "";
    case Colour::red:
      return "\033[0;1;31m";
    case Colour::green:
      return "\033[0;1;32m";
    case Colour::yellow:
      return "\033[0;1;33m";
    case Colour::blue:
      return "\033[0;1;34m";
    case Colour::magenta:
      return "\033[0;1;35m";
    case Colour::cyan:
      return "\033[0;1;36m";
    case Colour::white:
      return "\033[0;1;37m";
    case Colour::dark_magenta:
      return "\033[0;35m";
  }
  return "";
}

// Returns the code point at `offset` and advances `offset`. Negative for bytes that are not UTF-8.
int32_t next_code_point(std::string_view text, size_t& offset) {
  int32_t position = 0;
  const auto length = static_cast<int32_t>(std::min<size_t>(text.size() - offset, 4));
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data() + offset);
  UChar32 code = 0;
  U8_NEXT(bytes, position, length, code);
  offset += static_cast<size_t>(position);
  return code;
}

size_t width_of(int32_t code) {
  if (code < 0) return 1;
  if (code < 0x7f) return code < 0x20 ? 0 : 1;
  if (code == 0xad) return 1;  // terminals show the soft hyphen
  if (code >= 0x1160 && code <= 0x11ff)
    return 0;  // Hangul vowels and finals combine with the preceding syllable
  switch (u_charType(code)) {
    case U_NON_SPACING_MARK:
    case U_ENCLOSING_MARK:
    case U_FORMAT_CHAR:
    case U_CONTROL_CHAR:
      return 0;
    default:
      break;
  }
  const int32_t east_asian = u_getIntPropertyValue(code, UCHAR_EAST_ASIAN_WIDTH);
  return east_asian == U_EA_WIDE || east_asian == U_EA_FULLWIDTH ? 2 : 1;
}

bool must_escape(int32_t code) {
  return code < 0x20 || (code >= 0x7f && code <= 0xa0) || (code >= 0x200e && code <= 0x200f) ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

std::string escape_of(int32_t code) {
  switch (code) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return code > 0xff ? fmt::format("\\u{:04x}", code) : fmt::format("\\x{:02x}", code);
  }
}

Colour colour_of(const types::Type& type) {
  switch (type.kind()) {
    case Kind::ascii:
    case Kind::text:
    case Kind::custom:
    case Kind::empty:
      return Colour::yellow;
    case Kind::blob:
      return Colour::dark_magenta;
    case Kind::list:
    case Kind::set:
    case Kind::map:
    case Kind::tuple:
    case Kind::udt:
    case Kind::vector:
      return Colour::blue;
    default:
      return Colour::green;
  }
}

// The length of a backslash escape from escape_controls() or from the value's printer; 0 if there is none.
size_t escape_length(std::string_view text) {
  if (text.size() < 2 || text[0] != '\\') return 0;
  const size_t length = text[1] == 'x' ? 4 : text[1] == 'u' ? 6 : text[1] == 'U' ? 10 : 2;
  return std::min(length, text.size());
}

std::string paint_text(const Palette& palette, Colour colour, std::string_view text) {
  std::string painted;
  size_t plain = 0;
  for (size_t i = 0; i < text.size();) {
    const size_t length = escape_length(text.substr(i));
    if (length == 0) {
      ++i;
      continue;
    }
    if (i > plain) painted += palette.paint(colour, text.substr(plain, i - plain));
    painted += palette.paint(Colour::dark_magenta, text.substr(i, length));
    i += length;
    plain = i;
  }
  if (plain < text.size()) painted += palette.paint(colour, text.substr(plain));
  return painted;
}

bool is_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || c == '_' || c == '.' || c == '-' || c == '+' || byte >= 0x80;
}

// The end of the token at `start`: a quoted string, a word, or a run of punctuation.
size_t token_end(std::string_view text, size_t start) {
  size_t end = start + 1;
  if (text[start] == '\'' || text[start] == '"') {
    while (end < text.size() && text[end] != text[start]) ++end;
    return std::min(end + 1, text.size());
  }
  const bool word = is_word(text[start]);
  while (end < text.size() && text[end] != '\'' && text[end] != '"' && is_word(text[end]) == word) ++end;
  return end;
}

Colour word_colour(std::string_view word) {
  if (word == "null") return Colour::red;
  if (word.starts_with("0x")) return Colour::dark_magenta;
  const bool number = std::isdigit(static_cast<unsigned char>(word[0])) != 0 || word[0] == '-';
  const bool uuid = word.size() == 36 && word[8] == '-' && word[13] == '-';
  const bool constant = word == "True" || word == "False" || word == "NaN" || word == "Infinity";
  return number || uuid || constant ? Colour::green : Colour::yellow;
}

std::string paint_collection(const Palette& palette, std::string_view text) {
  std::string painted;
  for (size_t i = 0; i < text.size();) {
    const size_t end = token_end(text, i);
    const std::string_view token = text.substr(i, end - i);
    if (token[0] == '\'' || token[0] == '"') {
      painted += paint_text(palette, Colour::yellow, token);
    } else if (is_word(token[0])) {
      painted += palette.paint(word_colour(token), token);
    } else {
      painted += palette.paint(Colour::blue, token);
    }
    i = end;
  }
  return painted;
}

}  // namespace

std::string Palette::paint(Colour colour, std::string_view text) const {
  if (!enabled_ || colour == Colour::none || text.empty()) return std::string(text);
  return fmt::format("{}{}{}", code_of(colour), text, reset);
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  for (size_t i = 0; i < text.size();) width += width_of(next_code_point(text, i));
  return width;
}

std::string pad_left(std::string text, size_t width, size_t wanted) {
  if (width < wanted) text.insert(0, wanted - width, ' ');
  return text;
}

std::string pad_right(std::string text, size_t width, size_t wanted) {
  if (width < wanted) text.append(wanted - width, ' ');
  return text;
}

std::string escape_controls(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const size_t start = i;
    const int32_t code = next_code_point(text, i);
    if (code < 0) {
      for (size_t k = start; k < i; ++k)
        escaped += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[k]));
    } else if (must_escape(code)) {
      escaped += escape_of(code);
    } else {
      escaped += text.substr(start, i - start);
    }
  }
  return escaped;
}

std::string paint_value(const Palette& palette, const types::Type& type, std::string_view text) {
  if (!palette.enabled()) return std::string(text);
  const Colour colour = colour_of(type);
  if (colour == Colour::blue) return paint_collection(palette, text);
  if (colour == Colour::yellow) return paint_text(palette, colour, text);
  return palette.paint(colour, text);
}

std::string in_columns(const std::vector<std::string>& names, size_t width) {
  if (names.empty()) return {};
  std::vector<size_t> widths;
  for (const std::string& name : names) widths.push_back(display_width(name));
  size_t lines = 1;
  std::vector<size_t> column_widths;
  for (; lines < names.size(); ++lines) {
    column_widths.clear();
    size_t total = 0;
    for (size_t start = 0; start < names.size(); start += lines) {
      const auto first = widths.begin() + static_cast<std::ptrdiff_t>(start);
      const size_t count = std::min(lines, names.size() - start);
      column_widths.push_back(*std::max_element(first, first + static_cast<std::ptrdiff_t>(count)));
      total += column_widths.back() + 2;
    }
    if (total - 2 <= width) break;
  }
  std::string text;
  for (size_t line = 0; line < lines; ++line) {
    for (size_t i = line, column = 0; i < names.size(); i += lines, ++column) {
      const bool last = i + lines >= names.size();
      text += last ? names[i] : pad_right(names[i], widths[i], column_widths[column] + 2);
    }
    text += '\n';
  }
  return text;
}

size_t terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace sibyl::cli::shell
