// Charts: the spread of data and requests over nodes, and the growth of partitions up to the horizon.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advisor/report/diagram_sizes.h"
#include "advisor/review/review_model.h"

namespace sibyl::advisor {
namespace {

constexpr double chart_margin = 30, top = 80;
constexpr size_t max_bars = 48;  // bars per chart; with more nodes, a bar represents several of them

// Lists the tables without statistics.
double write_unknown(Svg& svg, double y, const std::vector<std::string>& names, const char* wanted) {
  if (names.empty()) return y;
  svg.text({chart_margin, y += 22}, fmt::format("Not known ({}):", wanted), "muted");
  for (const std::string& name : names)
    svg.text({chart_margin + 16, y += 17}, shorten(name, max_letters), "muted");
  return y + 8;
}

// --- Spread

struct NodeBar {
  double bytes = 0, requests = 0;  // relative to the mean of all nodes
};

size_t nodes_of_a_bar(const Spread& spread) {
  return std::max<size_t>(1, (spread.byte_shares.size() + max_bars - 1) / max_bars);
}

// With many nodes, a bar shows the fullest of several nodes.
std::vector<NodeBar> bars_of(const Spread& spread) {
  const size_t nodes = spread.byte_shares.size(), each = nodes_of_a_bar(spread);
  std::vector<NodeBar> bars((nodes + each - 1) / each);
  for (size_t i = 0; i < nodes; ++i) {
    NodeBar& bar = bars[i / each];
    bar.bytes = std::max(bar.bytes, spread.byte_shares[i] * static_cast<double>(nodes));
    bar.requests = std::max(bar.requests, spread.request_shares[i] * static_cast<double>(nodes));
  }
  return bars;
}

void draw_nodes(Svg& svg, const Box& box, const Spread& spread, double most) {
  const size_t each = nodes_of_a_bar(spread);
  svg.text({box.x, box.y - 10},
           fmt::format("{} node{}{}: fullest / mean {:.2f} bytes, {:.2f} requests", spread.nodes,
                       spread.nodes == 1 ? "" : "s", each > 1 ? fmt::format(", {} a bar", each) : "",
                       spread.bytes, spread.requests),
           "small");
  const auto level = [&](double value) { return box.bottom() - box.height * std::min(1.0, value / most); };
  for (double line = 0; line <= most; line += std::max(1.0, std::ceil(most / 4))) {
    svg.line({{box.x, level(line)}, {box.right(), level(line)}}, line == 0 ? "axis" : "grid");
    svg.text({box.x - 6, level(line) + 4}, fmt::format("{:.0f}", line), "small muted", Svg::Anchor::end);
  }
  const std::vector<NodeBar> bars = bars_of(spread);
  const double step = box.width / static_cast<double>(bars.size());
  const double wide = std::min(26.0, step * 0.4);
  for (size_t i = 0; i < bars.size(); ++i) {
    const double middle = box.x + step * (static_cast<double>(i) + 0.5);
    const std::string nodes = each > 1 ? fmt::format("fullest of nodes {} to {}", i * each + 1,
                                                     std::min((i + 1) * each, spread.nodes))
                                       : fmt::format("node {}", i + 1);
    svg.begin("node", fmt::format("{}: {:.2f} times the mean bytes, {:.2f} times the mean requests", nodes,
                                  bars[i].bytes, bars[i].requests));
    const double bytes = level(bars[i].bytes), requests = level(bars[i].requests);
    svg.rectangle({middle - wide, bytes, wide, box.bottom() - bytes}, "bytes");
    svg.rectangle({middle, requests, wide, box.bottom() - requests}, "requests");
    svg.end();
  }
  svg.line({{box.x, level(1)}, {box.right(), level(1)}}, "mean");
}

void draw_spread_key(Svg& svg, double y) {
  svg.rectangle({chart_margin, y - 10, 12, 12}, "bytes");
  svg.text({chart_margin + 18, y}, "bytes", "small");
  svg.rectangle({chart_margin + 80, y - 10, 12, 12}, "requests");
  svg.text({chart_margin + 98, y}, "requests", "small");
  svg.line({{chart_margin + 180, y - 4}, {chart_margin + 210, y - 4}}, "mean");
  svg.text({chart_margin + 218, y}, "the mean of all nodes", "small");
}

// --- Growth

// A logarithmic scale for numbers of bytes.
class Scale {
 public:
  Scale(const Box& box, double least, double most)
      : box_(box),
        from_(std::floor(std::log10(least))),
        to_(std::max(from_ + 1, std::ceil(std::log10(most)))) {}

  double y(double bytes) const {
    const double place = (std::log10(std::max(bytes, 1e-3)) - from_) / (to_ - from_);
    return box_.bottom() - box_.height * std::clamp(place, 0.0, 1.0);
  }
  void draw(Svg& svg) const {
    const double step = std::max(1.0, std::ceil((to_ - from_) / 5));
    for (double decade = from_; decade <= to_; decade += step) {
      const double at = y(std::pow(10, decade));
      svg.line({{box_.x, at}, {box_.right(), at}}, decade == from_ ? "axis" : "grid");
      svg.text({box_.x - 6, at + 4}, size_text(std::pow(10, decade)), "small muted", Svg::Anchor::end);
    }
  }

 private:
  Box box_;
  double from_, to_;
};

void draw_crossing(Svg& svg, const Box& box, const TableReview& table, const ReviewTarget& target,
                   const Scale& scale) {
  if (!table.days_to_target || *table.days_to_target <= 0) return;
  const double x = box.x + box.width * *table.days_to_target * 86'400 / target.horizon;
  svg.line({{x, scale.y(target.partition_bytes)}, {x, box.bottom()}}, "target");
  const bool left = x > box.x + box.width / 2;
  svg.text({x + (left ? -5 : 5), box.bottom() - 6},
           fmt::format("in {}", duration_text(*table.days_to_target * 86'400)), "small error halo",
           left ? Svg::Anchor::end : Svg::Anchor::start);
}

// Places the label at one end of the target's line, above or below it, where no curve passes if possible.
void label_target(Svg& svg, const Box& box, const TableReview& table, const ReviewTarget& target,
                  const Scale& scale) {
  const std::string text = "target " + size_text(target.partition_bytes);
  const double limit = scale.y(target.partition_bytes), width = text_width(text, 11);
  const auto is_free = [&](const Box& place) {
    for (const GrowthPoint& point : table.growth) {
      const double x = box.x + box.width * point.seconds / target.horizon;
      if (x < place.x - 15 || x > place.right() + 15) continue;
      for (const double size : {point.sizes.p50, point.sizes.p99, point.sizes.max})
        if (scale.y(size) > place.y && scale.y(size) < place.bottom()) return false;
    }
    return true;
  };
  for (const double x : {box.right() - width, box.x + 4}) {
    for (const double y : {limit - 5, limit + 13}) {
      if (!is_free({x, y - 13, width, 17})) continue;
      svg.text({x, y}, text, "small error halo");
      return;
    }
  }
  svg.text({box.right() - width, limit - 5}, text, "small error halo");
}

void draw_curve(Svg& svg, const Box& box, const TableReview& table, const ReviewTarget& target,
                const Scale& scale, double Sizes::* size, const char* css_class) {
  std::vector<Point> points;
  for (const GrowthPoint& point : table.growth)
    points.push_back({box.x + box.width * point.seconds / target.horizon, scale.y(point.sizes.*size)});
  svg.line(points, css_class);
}

void draw_table_growth(Svg& svg, const Box& box, const TableReview& table, const ReviewTarget& target) {
  svg.text({box.x - 60, box.y - 16}, shorten(table.name, 44), "name");
  double least = target.partition_bytes, most = target.partition_bytes;
  for (const GrowthPoint& point : table.growth) {
    most = std::max(most, point.sizes.max);
    if (point.sizes.p50 >= 1) least = std::min(least, point.sizes.p50);
  }
  const Scale scale(box, std::max(1.0, least), most * 1.5);
  scale.draw(svg);
  const double limit = scale.y(target.partition_bytes);
  draw_curve(svg, box, table, target, scale, &Sizes::p50, "p50");
  draw_curve(svg, box, table, target, scale, &Sizes::p99, "p99");
  draw_curve(svg, box, table, target, scale, &Sizes::max, "max");
  svg.line({{box.x, limit}, {box.right(), limit}}, "target");
  label_target(svg, box, table, target, scale);
  draw_crossing(svg, box, table, target, scale);
  svg.text({box.x, box.bottom() + 16}, "now", "small muted");
  svg.text({box.right(), box.bottom() + 16}, "in " + duration_text(target.horizon), "small muted",
           Svg::Anchor::end);
  const Sizes from = table.growth.front().sizes, to = table.growth.back().sizes;
  const auto change = [](double before, double after) {
    return size_text(before) == size_text(after)
               ? size_text(after)
               : fmt::format("{} → {}", size_text(before), size_text(after));
  };
  double x = box.x - 60;
  const auto legend = [&](const std::string& text, const char* css_class) {
    svg.text({x, box.bottom() + 36}, text, css_class);
    x += text_width(text + "   ", 11);
  };
  legend("p50 " + change(from.p50, to.p50), "small ink-p50");
  legend("p99 " + change(from.p99, to.p99), "small ink-p99");
  legend("max " + change(from.max, to.max), "small ink-max");
}

}  // namespace

std::string draw_spread(const Review& review) {
  constexpr double width = 380, height = 110, row = 190;
  Svg svg;
  svg.text({chart_margin, 34}, "Spread over the nodes", "title");
  svg.text({chart_margin, 56},
           fmt::format("{} replicas, {} virtual nodes; today, and on twice the nodes", review.target.replicas,
                       review.target.vnodes),
           "muted");
  double y = top;
  std::vector<std::string> unknown;
  for (const TableReview& table : review.tables) {
    if (!table.spread || !table.spread_doubled) {
      unknown.push_back(table.name);
      continue;
    }
    double most = 2;
    for (const Spread* spread : {&*table.spread, &*table.spread_doubled})
      most = std::max({most, std::ceil(spread->bytes), std::ceil(spread->requests)});
    svg.text({chart_margin, y + 16}, shorten(table.name, max_letters), "name");
    draw_nodes(svg, {chart_margin + 30, y + 52, width, height}, *table.spread, most);
    draw_nodes(svg, {chart_margin + 90 + width, y + 52, width, height}, *table.spread_doubled, most);
    y += row;
  }
  if (y > top) draw_spread_key(svg, y += 12);
  y = write_unknown(svg, y, unknown, "declare rows and partitions with @table");
  return svg.finish(2 * chart_margin + 90 + 2 * width, y + 24, "Spread over the nodes");
}

std::string draw_growth(const Review& review) {
  constexpr double width = 360, height = 150, step_x = 470, step_y = 250;
  Svg svg;
  svg.text({chart_margin, 34}, "Growth of partitions", "title");
  svg.text({chart_margin, 56},
           fmt::format("bytes of a partition until {} from now, against the target of {}",
                       duration_text(review.target.horizon), size_text(review.target.partition_bytes)),
           "muted");
  std::vector<std::string> unknown;
  size_t drawn = 0;
  for (const TableReview& table : review.tables) {
    if (table.growth.empty()) {
      unknown.push_back(table.name);
      continue;
    }
    const double x = chart_margin + 66 + static_cast<double>(drawn % 2) * step_x;
    const double y = top + 36 + static_cast<double>(drawn / 2) * step_y;
    draw_table_growth(svg, {x, y, width, height}, table, review.target);
    ++drawn;
  }
  double y = top + static_cast<double>((drawn + 1) / 2) * step_y;
  y = write_unknown(svg, y, unknown, "declare rows, partitions and growth with @table");
  return svg.finish(2 * chart_margin + 66 + width + (drawn > 1 || drawn == 0 ? step_x : 20), y + 16,
                    "Growth of partitions");
}

}  // namespace sibyl::advisor
