// A small SVG writer. It writes valid XML for any name, has colours for light and dark backgrounds, and uses
// no scripts and no embedded fonts. Text widths are computed, since all text is monospaced.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sibyl::advisor {

struct Point {
  double x = 0, y = 0;
};

struct Box {
  double x = 0, y = 0, width = 0, height = 0;

  double right() const { return x + width; }
  double bottom() const { return y + height; }
  bool overlaps(const Box& other) const {
    return x < other.right() && other.x < right() && y < other.bottom() && other.y < bottom();
  }
};

// The width of text in a font of `size` pixels, estimated slightly too wide. Wide characters (such as CJK)
// count twice.
double text_width(std::string_view text, double size);
// Shortens text to at most `letters` characters; the last one is "…" if some were removed. Line ends become
// spaces.
std::string shorten(std::string_view text, size_t letters);
// Escapes markup for XML text and attributes, and replaces characters that XML does not allow.
std::string escape_xml(std::string_view text);

class Svg {
 public:
  enum class Anchor { start, middle, end };

  // The CSS classes are defined in the style sheet in svg.cc.
  void rectangle(const Box& box, std::string_view css_class, double radius = 0);
  void text(Point at, std::string_view text, std::string_view css_class, Anchor anchor = Anchor::start);
  void line(const std::vector<Point>& points, std::string_view css_class);
  // A filled triangle that points to the right, its tip at `tip`.
  void arrow_head(Point tip, std::string_view css_class);
  // Opens a group that lasts until `end`. Hovering over it shows `tooltip`.
  void begin(std::string_view css_class, std::string_view tooltip = {});
  void end();

  // Returns the whole document, widened beyond `width` if a text needs it. REQUIRES: every `begin` has its
  // `end`.
  std::string finish(double width, double height, std::string_view title) const;

 private:
  std::string body_;
  double right_ = 0;  // right edge of the widest text
};

}  // namespace sibyl::advisor
