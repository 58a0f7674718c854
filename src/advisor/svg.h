// A small writer of SVG: valid XML whatever the names are, colours for light and dark paper, no scripts and
// no fonts but the reader's own. Widths of text are computed, not asked for: letters are monospaced.
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

// Of text in letters of `size` pixels, at least; wide letters (CJK and the like) count twice.
double text_width(std::string_view text, double size);
// At most `letters` letters, the last one "…" where some were left out; line ends become spaces.
std::string shorten(std::string_view text, size_t letters);
// What may stand in XML text and attributes: markup escaped, letters that XML does not know replaced.
std::string escape_xml(std::string_view text);

class Svg {
 public:
  enum class Anchor { start, middle, end };

  // Classes of `rectangle`, `text`, `line` and `area` are those of the style sheet in svg.cc.
  void rectangle(const Box& box, std::string_view css_class, double radius = 0);
  void text(Point at, std::string_view text, std::string_view css_class, Anchor anchor = Anchor::start);
  void line(const std::vector<Point>& points, std::string_view css_class);
  // A filled triangle that points to the right, its tip at `tip`.
  void arrow_head(Point tip, std::string_view css_class);
  // What follows up to `end` belongs together; pointing at it shows `tooltip`.
  void begin(std::string_view css_class, std::string_view tooltip = {});
  void end();

  // The whole document, wider than `width` where a text reaches farther. REQUIRES: every `begin` has its
  // `end`.
  std::string finish(double width, double height, std::string_view title) const;

 private:
  std::string body_;
  double right_ = 0;  // where the texts end
};

}  // namespace sibyl::advisor
