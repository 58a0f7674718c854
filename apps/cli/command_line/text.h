// Text for terminals: colours, display widths, and escaping of control characters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "types/type.h"

namespace sibyl::cli::shell {

// The colours of cqlsh.
enum class Colour { none, red, green, yellow, blue, magenta, cyan, white, dark_magenta };

// Wraps text in the escape codes of a colour, or returns it unchanged if colours are off.
class Palette {
 public:
  explicit Palette(bool enabled) : enabled_(enabled) {}
  bool enabled() const { return enabled_; }
  std::string paint(Colour colour, std::string_view text) const;

 private:
  bool enabled_;
};

// The number of terminal columns of a UTF-8 text: 0 for combining marks, 2 for wide characters.
size_t display_width(std::string_view text);
std::string pad_left(std::string text, size_t width, size_t wanted);
std::string pad_right(std::string text, size_t width, size_t wanted);

// Replaces control characters and characters that reorder text by \n, \x07, \u202e, ..., so that data cannot
// control the terminal. Bytes that are not UTF-8 become \xff.
std::string escape_controls(std::string_view text);

// Colours the text of a value by its type. Escapes and the punctuation of collections have their own colours.
std::string paint_value(const Palette& palette, const types::Type& type, std::string_view text);

// Arranges names in columns, filled downwards, within `width`. Each line ends with a newline.
std::string in_columns(const std::vector<std::string>& names, size_t width);

// The terminal's width in columns; 80 if there is no terminal.
size_t terminal_width();

}  // namespace sibyl::cli::shell
