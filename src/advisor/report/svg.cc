#include "advisor/report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sibyl::advisor {
namespace {

// Colours are in separate rules. The colours for a light background come first, for viewers without media
// queries.
constexpr const char* style_sheet = R"(
text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:12px;fill:#1f2933}
.title{font-size:17px;font-weight:bold}
.name{font-size:13px;font-weight:bold}
.small{font-size:11px}
.mark,.chip-text{font-weight:bold}
.line,.arrow,.axis,.grid,.mean,.target,.p50,.p99,.max{fill:none;stroke-width:1.4}
.grid{stroke-width:1}
.max,.p99,.p50{stroke-width:2}
.target,.mean{stroke-dasharray:5 4}
.paper{fill:#ffffff}
.halo{paint-order:stroke;stroke:#ffffff;stroke-width:4px;stroke-linejoin:round}
.box{fill:#ffffff;stroke:#8996a5;stroke-width:1.3}
.view{stroke-dasharray:6 3}
.head{fill:#e3ebf6}
.rule{fill:#dfe4ea}
.muted{fill:#5f6c7b}
.chip{fill:#eef2f7;stroke:#8996a5}
.arrow{stroke:#52606d}
.arrow-head{fill:#52606d}
.axis{stroke:#8996a5}
.grid{stroke:#e4e8ed}
.mean{stroke:#52606d}
.target{stroke:#c81e1e}
.mark-key,.mark-order{fill:#1d4ed8}
.mark-other{fill:#0f766e}
.error{fill:#c81e1e}
.warning{fill:#a15c00}
.note{fill:#1d4ed8}
.chip-error{fill:#fde8e8;stroke:#c81e1e}
.chip-warning{fill:#fdf1dc;stroke:#b7791f}
.bytes{fill:#3b74d0}
.requests{fill:#e08a2e}
.p50{stroke:#3b74d0}
.p99{stroke:#8a5bc7}
.max{stroke:#d4622a}
.ink-p50{fill:#2c5fb3}
.ink-p99{fill:#7647b8}
.ink-max{fill:#b34f1c}
@media (prefers-color-scheme:dark){
text{fill:#e4e7eb}
.paper{fill:#12171d}
.halo{stroke:#12171d}
.box{fill:#1a2129;stroke:#5f7084}
.head{fill:#263443}
.rule{fill:#2e3945}
.muted{fill:#9aa7b5}
.chip{fill:#222c37;stroke:#5f7084}
.arrow{stroke:#9fb0c2}
.arrow-head{fill:#9fb0c2}
.axis{stroke:#66788b}
.grid{stroke:#28323d}
.mean{stroke:#9fb0c2}
.target{stroke:#ff7b72}
.mark-key,.mark-order{fill:#8ab4ff}
.mark-other{fill:#5fd0c0}
.error{fill:#ff8f87}
.warning{fill:#f0b95e}
.note{fill:#8ab4ff}
.chip-error{fill:#43201f;stroke:#ff7b72}
.chip-warning{fill:#3d2f16;stroke:#f0b95e}
.bytes{fill:#6c9df0}
.requests{fill:#f0a85a}
.p50{stroke:#6c9df0}
.p99{stroke:#b592ea}
.max{stroke:#f5945f}
.ink-p50{fill:#8db6ff}
.ink-p99{fill:#c9adf5}
.ink-max{fill:#ffae82}
}
)";

constexpr const char* replacement = "\xEF\xBF\xBD";  // U+FFFD

// The character at `at` and its length in bytes. A malformed one is a single byte with the code U+FFFD.
struct Letter {
  uint32_t code = 0xFFFD;
  size_t bytes = 1;
};

Letter letter_at(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return {first, 1};
  const size_t length = first >= 0xF0 && first < 0xF5 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0;
  if (length == 0 || first >= 0xF5 || at + length > text.size()) return {};
  uint32_t code = first & (0xFFu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return {};
    code = (code << 6) | (byte(at + i) & 0x3Fu);
  }
  constexpr uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < least[length] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return {};
  return {code, length};
}

bool is_wide(uint32_t code) {
  return code >= 0x1100 && code != 0xFFFD;
}

bool is_symbol(uint32_t code) {  // arrows, marks and punctuation of normal width
  return code >= 0x2000 && code < 0x2E00;
}

std::string number(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

// Font sizes of the style sheet.
double letter_size(std::string_view css_class) {
  if (css_class.find("title") != std::string_view::npos) return 17;
  if (css_class.find("name") != std::string_view::npos) return 13;
  return css_class.find("small") != std::string_view::npos ? 11 : 12;
}

std::string points_text(const std::vector<Point>& points) {
  std::string out;
  for (const Point& point : points)
    out += fmt::format("{}{},{}", out.empty() ? "" : " ", number(point.x), number(point.y));
  return out;
}

}  // namespace

double text_width(std::string_view text, double size) {
  size_t units = 0;
  for (size_t at = 0; at < text.size();) {
    const Letter letter = letter_at(text, at);
    units += is_wide(letter.code) && !is_symbol(letter.code) ? 2 : 1;
    at += letter.bytes;
  }
  return static_cast<double>(units) * size * 0.61;
}

std::string shorten(std::string_view text, size_t letters) {
  std::string out;
  size_t count = 0;
  for (size_t at = 0; at < text.size(); ++count) {
    const Letter letter = letter_at(text, at);
    if (count + 1 == letters && at + letter.bytes < text.size()) return out + "…";
    if (letter.code == '\n' || letter.code == '\r' || letter.code == '\t')
      out += ' ';
    else
      out += text.substr(at, letter.bytes);
    at += letter.bytes;
  }
  return out;
}

std::string escape_xml(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const Letter letter = letter_at(text, at);
    switch (letter.code) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        if ((letter.code < 0x20 && letter.code != '\n' && letter.code != '\t') || letter.code == 0xFFFD ||
            letter.code == 0xFFFE || letter.code == 0xFFFF)
          out += replacement;
        else
          out += text.substr(at, letter.bytes);
    }
    at += letter.bytes;
  }
  return out;
}

void Svg::rectangle(const Box& box, std::string_view css_class, double radius) {
  body_ += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}"{} class="{}"/>)", number(box.x),
                       number(box.y), number(box.width), number(box.height),
                       radius > 0 ? fmt::format(R"( rx="{}")", number(radius)) : "", escape_xml(css_class)) +
           "\n";
}

void Svg::text(Point at, std::string_view text, std::string_view css_class, Anchor anchor) {
  const double shares[] = {1, 0.5, 0};  // share of the width that lies to the right
  right_ =
      std::max(right_, at.x + shares[static_cast<size_t>(anchor)] * text_width(text, letter_size(css_class)));
  const char* const anchors[] = {"", R"( text-anchor="middle")", R"( text-anchor="end")"};
  body_ += fmt::format(R"(<text x="{}" y="{}"{} class="{}" xml:space="preserve">{}</text>)", number(at.x),
                       number(at.y), anchors[static_cast<size_t>(anchor)], escape_xml(css_class),
                       escape_xml(text)) +
           "\n";
}

void Svg::line(const std::vector<Point>& points, std::string_view css_class) {
  body_ +=
      fmt::format(R"(<polyline points="{}" class="{}"/>)", points_text(points), escape_xml(css_class)) + "\n";
}

void Svg::arrow_head(Point tip, std::string_view css_class) {
  body_ += fmt::format(R"(<polygon points="{}" class="{}"/>)",
                       points_text({{tip.x - 9, tip.y - 4.5}, tip, {tip.x - 9, tip.y + 4.5}}),
                       escape_xml(css_class)) +
           "\n";
}

void Svg::begin(std::string_view css_class, std::string_view tooltip) {
  body_ += fmt::format(R"(<g class="{}">)", escape_xml(css_class));
  if (!tooltip.empty()) body_ += fmt::format("<title>{}</title>", escape_xml(tooltip));
  body_ += "\n";
}

void Svg::end() {
  body_ += "</g>\n";
}

std::string Svg::finish(double width, double height, std::string_view title) const {
  constexpr double margin = 16;
  const std::string w = number(std::ceil(std::max(width, right_ > 0 ? right_ + margin : 0))),
                    h = number(std::ceil(height));
  return fmt::format(R"(<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img">
<title>{2}</title>
<style>{3}</style>
<rect width="{0}" height="{1}" class="paper"/>
{4}</svg>
)",
                     w, h, escape_xml(title), style_sheet, body_);
}

}  // namespace sibyl::advisor
