// Computes the positions of boxes and arrows.
//
//  - Tables are placed in columns. Tables that a group reads later are further right.
//  - Left of each column is a gutter: vertical tracks for arrows from other tables, then labels.
//  - Arrows between columns that are not adjacent use lanes below all boxes.
//  - Tops of boxes lie on a grid. Arrows leave and arrive at different offsets from it, so no two overlap.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "advisor/report/diagram.h"
#include "advisor/report/diagram_sizes.h"

namespace sibyl::advisor {
namespace {

constexpr double grid = 20, gap = 40, margin = 30;
constexpr double leave_at = 5, arrive_at = 15;  // offsets of an arrow's ends to the grid
constexpr double track = 12, lane = 10;
constexpr double label_gap = 16;  // distance of a label from the previous column
constexpr double label_height = 16, arrow_length = 26;
constexpr size_t labels_of_an_arrow = 3;
constexpr size_t outside = SIZE_MAX;

// Queries with the same source and target.
struct Route {
  size_t from = outside, to = 0;  // indexes of tables
  std::vector<size_t> queries;
};

class Planner {
 public:
  Planner(const Review& review, bool physical)
      : review_(review), physical_(physical), labels_(query_labels(review)) {}

  TableLayout run() {
    find_ways();
    find_layers();
    make_boxes();
    fill_columns();
    place_boxes();
    for (const Route& way : ways_) draw(way);
    out_.width = end_ + margin;
    out_.height = std::max(floor_ + static_cast<double>(lanes_) * lane + 8, margin) + margin;
    return std::move(out_);
  }

 private:
  std::optional<size_t> table_index(const std::string& name) const {
    for (size_t i = 0; i < review_.tables.size(); ++i)
      if (review_.tables[i].name == name) return i;
    return std::nullopt;
  }

  // The reads of a group follow each other; other queries come from outside.
  void find_ways() {
    std::map<std::string, size_t> last;  // per group
    std::map<std::pair<size_t, size_t>, std::vector<size_t>> queries;
    for (size_t i = 0; i < review_.queries.size(); ++i) {
      const QueryReview& query = review_.queries[i];
      const std::optional<size_t> to = table_index(query.table);
      if (query.write || !to) continue;
      size_t from = outside;
      if (!query.group.empty()) {
        const auto before = last.find(query.group);
        if (before != last.end() && before->second != *to) from = before->second;
        last[query.group] = *to;
      }
      queries[{from, *to}].push_back(i);
    }
    for (const auto& [way, indexes] : queries) {
      for (size_t i = 0; i < indexes.size(); i += labels_of_an_arrow) {
        const size_t end = std::min(indexes.size(), i + labels_of_an_arrow);
        ways_.push_back(
            {way.first,
             way.second,
             {indexes.begin() + static_cast<ptrdiff_t>(i), indexes.begin() + static_cast<ptrdiff_t>(end)}});
      }
    }
    std::stable_sort(ways_.begin(), ways_.end(), [](const Route& left, const Route& right) {
      return left.queries.front() < right.queries.front();
    });
  }

  bool leads(size_t from, size_t to, std::vector<bool>& seen) const {
    if (from == to) return true;
    seen[from] = true;
    for (const auto& [source, target] : forward_)
      if (source == from && !seen[target] && leads(target, to, seen)) return true;
    return false;
  }

  // A table is further right than the tables that lead to it. Arrows that would close a cycle point to the
  // left.
  void find_layers() {
    layers_.assign(review_.tables.size(), 0);
    for (const Route& way : ways_) {
      std::vector<bool> seen(review_.tables.size());
      if (way.from == outside || leads(way.to, way.from, seen)) continue;
      forward_.emplace_back(way.from, way.to);
    }
    for (size_t round = 0; round < review_.tables.size(); ++round)
      for (const auto& [from, to] : forward_) layers_[to] = std::max(layers_[to], layers_[from] + 1);
  }

  size_t arrivals(size_t table) const {
    return static_cast<size_t>(
        std::count_if(ways_.begin(), ways_.end(), [&](const Route& way) { return way.to == table; }));
  }
  size_t departures(size_t table) const {
    return static_cast<size_t>(
        std::count_if(ways_.begin(), ways_.end(), [&](const Route& way) { return way.from == table; }));
  }

  void make_boxes() {
    for (size_t i = 0; i < review_.tables.size(); ++i) {
      const TableReview& table = review_.tables[i];
      TableBox box;
      box.table = i;
      for (size_t q = 0; q < review_.queries.size(); ++q) {
        const QueryReview& query = review_.queries[q];
        if (query.write &&
            std::find(query.tables.begin(), query.tables.end(), table.name) != query.tables.end())
          box.written_by.push_back(labels_[q]);
      }
      for (const Finding& finding : review_.findings)
        if (finding.table == table.name && finding.query.empty() && !finding.accepted)
          box.findings.push_back(&finding);
      const double content = box_content_height(table, box);
      const double ports = static_cast<double>(std::max(arrivals(i), departures(i))) * grid;
      box.box.height = std::ceil(std::max(content, ports) / grid) * grid;
      box.box.width = std::ceil(box_content_width(table, box, physical_) / grid) * grid;
      out_.boxes.push_back(std::move(box));
    }
  }

  // Chooses a column height so that the whole is about 1.6 times as wide as high.
  void fill_columns() {
    double area = 0, tallest = 0;
    for (const TableBox& box : out_.boxes) {
      area += (box.box.width + 140) * (box.box.height + gap);
      tallest = std::max(tallest, box.box.height);
    }
    const double most = std::max(tallest, std::sqrt(area / 1.6));
    const size_t layers = layers_.empty() ? 0 : *std::max_element(layers_.begin(), layers_.end()) + size_t{1};
    for (size_t layer = 0; layer < layers; ++layer) {
      double height = most + 1;
      for (size_t i = 0; i < layers_.size(); ++i) {
        if (layers_[i] != layer) continue;
        if (height + out_.boxes[i].box.height > most) {
          columns_.emplace_back();
          height = 0;
        }
        columns_.back().push_back(i);
        height += out_.boxes[i].box.height + gap;
      }
    }
    column_of_.assign(review_.tables.size(), 0);
    for (size_t column = 0; column < columns_.size(); ++column)
      for (const size_t table : columns_[column]) column_of_[table] = column;
  }

  std::string label_of(const Route& way) const {
    std::string label;
    for (const size_t query : way.queries) {
      label += (label.empty() ? "" : " ") + labels_[query];
      if (review_.queries[query].times != 1)
        label += fmt::format("×{}", shorten(fmt::format("{:.6g}", review_.queries[query].times), 8));
    }
    return label;
  }
  double label_width(const Route& way) const { return text_width(label_of(way), 12) + 12; }

  bool is_neighbour(const Route& way) const { return column_of_[way.from] + 1 == column_of_[way.to]; }

  void place_boxes() {
    tracks_.assign(columns_.size() + 1, 0);
    used_.assign(columns_.size() + 1, 0);
    arrived_.assign(review_.tables.size(), 0);
    departed_.assign(review_.tables.size(), 0);
    std::vector<double> labels(columns_.size(), 0);
    for (const Route& way : ways_) {
      const size_t column = column_of_[way.to];
      labels[column] = std::max(labels[column], label_width(way) + arrow_length);
      if (way.from == outside) continue;
      ++tracks_[column];
      if (!is_neighbour(way)) ++tracks_[column_of_[way.from] + 1];
    }
    double x = margin;
    for (size_t column = 0; column < columns_.size(); ++column) {
      channels_.push_back(x);
      x += channel_width(column) + (column > 0 ? label_gap : 0);
      label_at_.push_back(x);
      x += column == 0 || labels[column] > 0 ? labels[column] : gap;
      double y = margin, width = 0;
      for (const size_t table : columns_[column]) {
        Box& box = out_.boxes[table].box;
        box.x = x;
        box.y = std::ceil(y / grid) * grid;
        y = box.bottom() + gap;
        width = std::max(width, box.width);
        floor_ = std::max(floor_, box.bottom());
      }
      for (const size_t table : columns_[column]) out_.boxes[table].box.width = width;
      x += width;
    }
    channels_.push_back(x);
    end_ = x + channel_width(columns_.size());
    floor_ += 14;
  }

  double channel_width(size_t channel) const {
    return tracks_[channel] > 0 ? static_cast<double>(tracks_[channel]) * track + 14 : 0;
  }

  double next_track(size_t channel) {
    return channels_[channel] + 8 + static_cast<double>(used_[channel]++) * track;
  }

  void draw(const Route& way) {
    const Box& to = out_.boxes[way.to].box;
    const double arrive = to.y + static_cast<double>(arrived_[way.to]++) * grid + arrive_at;
    Arrow arrow;
    arrow.queries = way.queries;
    arrow.label = label_of(way);
    const size_t column = column_of_[way.to];
    arrow.label_box = {label_at_[column], arrive - label_height / 2, label_width(way), label_height};
    if (way.from == outside) {
      arrow.points = {{arrow.label_box.right(), arrive}};
    } else {
      const Box& from = out_.boxes[way.from].box;
      const double leave = from.y + static_cast<double>(departed_[way.from]++) * grid + leave_at;
      arrow.points = {{from.right(), leave}};
      if (!is_neighbour(way)) {
        const double out = next_track(column_of_[way.from] + 1);
        const double level = floor_ + static_cast<double>(lanes_++) * lane;
        const double in = next_track(column);
        arrow.points.insert(arrow.points.end(), {{out, leave}, {out, level}, {in, level}, {in, arrive}});
      } else {
        const double in = next_track(column);
        arrow.points.insert(arrow.points.end(), {{in, leave}, {in, arrive}});
      }
    }
    arrow.points.push_back({to.x, arrive});
    out_.arrows.push_back(std::move(arrow));
  }

  const Review& review_;
  bool physical_;
  std::vector<std::string> labels_;
  std::vector<Route> ways_;
  std::vector<std::pair<size_t, size_t>> forward_;
  std::vector<size_t> layers_;                // per table
  std::vector<std::vector<size_t>> columns_;  // tables by column, from the left
  std::vector<size_t> column_of_;
  std::vector<size_t> tracks_, used_;  // per channel: left of each column, and right of the last one
  std::vector<double> channels_, label_at_;
  std::vector<size_t> arrived_, departed_;  // per table
  size_t lanes_ = 0;
  double floor_ = 0, end_ = margin;
  TableLayout out_;
};

}  // namespace

std::vector<std::string> query_labels(const Review& review) {
  std::vector<std::string> labels;
  size_t queries = 0, changes = 0;
  for (const QueryReview& query : review.queries)
    labels.push_back(query.write ? fmt::format("W{}", ++changes) : fmt::format("Q{}", ++queries));
  return labels;
}

TableLayout lay_out_tables(const Review& review, bool physical) {
  return Planner(review, physical).run();
}

}  // namespace sibyl::advisor
