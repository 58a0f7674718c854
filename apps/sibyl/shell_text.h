// Text on a terminal: colours, widths, and what must not reach a terminal as it is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "types/type.h"

namespace sibyl::shell {

// cqlsh's colours, so that eyes need not learn new ones.
enum class Colour { none, red, green, yellow, blue, magenta, cyan, white, dark_magenta };

// Text with the codes of a colour around it, or as it is when colours are off.
class Palette {
 public:
  explicit Palette(bool enabled) : enabled_(enabled) {}
  bool enabled() const { return enabled_; }
  std::string paint(Colour colour, std::string_view text) const;

 private:
  bool enabled_;
};

// How many columns a terminal gives the UTF-8 text: 0 for combining marks, 2 for wide characters.
size_t display_width(std::string_view text);
std::string pad_left(std::string text, size_t width, size_t wanted);
std::string pad_right(std::string text, size_t width, size_t wanted);

// Control characters and those that reorder text become \n, \x07, \u202e, ...: data cannot drive the
// terminal. Bytes that are not UTF-8 become \xff.
std::string escape_controls(std::string_view text);

// A value's text in its type's colours; escapes and the parts of collections stand out.
std::string paint_value(const Palette& palette, const types::Type& type, std::string_view text);

// Names in columns, filled downwards, within `width`; each line ends with a newline.
std::string in_columns(const std::vector<std::string>& names, size_t width);

// The terminal's width in columns; 80 where there is none.
size_t terminal_width();

// ASCII only, which keywords are.
std::string to_upper(std::string_view text);
std::string to_lower(std::string_view text);
bool equal_ignoring_case(std::string_view left, std::string_view right);
bool starts_with_ignoring_case(std::string_view text, std::string_view prefix);

}  // namespace sibyl::shell
