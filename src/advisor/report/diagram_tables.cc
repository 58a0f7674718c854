// Draws Chebotko diagrams: a box for each table, arrows for queries, and a legend of the queries.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "advisor/report/diagram_sizes.h"
#include "advisor/review/review_model.h"

namespace sibyl::advisor {
namespace {

constexpr double letter = 12, small = 11, name_letter = 13;
constexpr double title_height = 44;

const char* severity_class(Severity severity) {
  return severity == Severity::error ? "error" : severity == Severity::warning ? "warning" : "note";
}

const char* mark_class(const std::string& marks) {
  return marks.starts_with("K") || marks.starts_with("C") ? "mark mark-key" : "mark mark-other";
}

std::vector<const Finding*> findings_of(const Review& review, const QueryReview& query) {
  std::vector<const Finding*> found;
  for (const Finding& finding : review.findings) {
    const bool own = finding.query == query.name && finding.table == query.table;
    const bool of_group = !query.write && !query.group.empty() && finding.query == query.group;
    if ((own || of_group) && !finding.accepted) found.push_back(&finding);
  }
  return found;
}

// The words in lines of at most `letters` bytes. Longer words have lines of their own.
std::vector<std::string> wrapped(const std::string& text, size_t letters) {
  std::istringstream words(text);
  std::vector<std::string> lines;
  for (std::string word; words >> word;) {
    if (!lines.empty() && lines.back().size() + 1 + word.size() <= letters)
      lines.back() += " " + word;
    else
      lines.push_back(std::move(word));
  }
  return lines;
}

class TablePicture {
 public:
  TablePicture(const Review& review, bool physical)
      : review_(review),
        physical_(physical),
        layout_(lay_out_tables(review, physical)),
        labels_(query_labels(review)) {}

  std::string draw() {
    const char* title = physical_ ? "Physical model" : "Logical model";
    svg_.text({30, 34}, title, "title");
    for (const TableBox& box : layout_.boxes) table(box);
    for (const Arrow& each : layout_.arrows) arrow(each);
    double y = layout_.height + title_height - 44;
    y = list(y);
    y = key(y + 6);
    return svg_.finish(std::max(layout_.width, width_ + 30), y + 16, title);
  }

 private:
  void write(Point at, const std::string& text, std::string_view css_class, double size = letter) {
    svg_.text(at, text, css_class);
    width_ = std::max(width_, at.x + text_width(text, size));
  }

  void table(const TableBox& placed) {
    const TableReview& table = review_.tables[placed.table];
    Box box = placed.box;
    box.y += title_height - 20;
    std::string tooltip = table.name;
    if (!table.view_of.empty()) tooltip += "\nmaterialized view of " + table.view_of;
    for (const Finding* finding : placed.findings)
      tooltip += fmt::format("\n{}: {}", to_string(finding->verdict), finding->message);
    svg_.begin("table", tooltip);
    svg_.rectangle(box, table.view_of.empty() ? "box" : "box view", 4);
    svg_.rectangle({box.x + 1, box.y + 1, box.width - 2, box_head - 2}, "head", 3);
    svg_.text({box.x + box.width / 2, box.y + 19}, shorten(table.name, max_letters), "name",
              Svg::Anchor::middle);
    svg_.rectangle({box.x, box.y + box_head - 1, box.width, 1}, "rule");
    double y = box.y + box_head;
    for (const ColumnReview& column : table.columns) row(table, column, box, y += box_row);
    for (const std::string& note : box_notes(placed))
      svg_.text({box.x + box_padding, y += box_foot}, note, "small muted");
    for (const Finding* finding : placed.findings)
      svg_.text({box.x + box_padding, y += box_foot}, to_string(finding->verdict),
                fmt::format("small mark {}", severity_class(finding->severity)));
    svg_.end();
  }

  void row(const TableReview& table, const ColumnReview& column, const Box& box, double bottom) {
    const double y = bottom - 4;
    svg_.begin("column", column.name + " " + column.type);
    svg_.text({box.x + box_padding, y}, shorten(column.notation, max_letters), "column-name");
    if (physical_)
      svg_.text({box.x + box_padding + names_width(table) + 14, y}, shorten(column.type, max_letters),
                "muted");
    if (!column.marks.empty())
      svg_.text({box.right() - box_padding, y}, column.marks, mark_class(column.marks), Svg::Anchor::end);
    svg_.end();
  }

  void arrow(const Arrow& arrow) {
    std::vector<Point> points = arrow.points;
    for (Point& point : points) point.y += title_height - 20;
    Box label = arrow.label_box;
    label.y += title_height - 20;
    std::string tooltip;
    std::optional<Severity> worst;
    for (const size_t index : arrow.queries) {
      const QueryReview& query = review_.queries[index];
      tooltip +=
          fmt::format("{}{} {}: {}", tooltip.empty() ? "" : "\n", labels_[index], query.name, query.text);
      for (const Finding* finding : findings_of(review_, query))
        if (!worst || finding->severity > *worst) worst = finding->severity;
    }
    svg_.begin("query", tooltip);
    svg_.line(points, "arrow");
    svg_.arrow_head(points.back(), "arrow-head");
    const bool bad = worst && *worst != Severity::note;
    svg_.rectangle(label, bad ? fmt::format("chip chip-{}", severity_class(*worst)) : "chip", 7);
    svg_.text({label.x + label.width / 2, label.y + 12}, arrow.label,
              bad ? fmt::format("chip-text {}", severity_class(*worst)) : "chip-text", Svg::Anchor::middle);
    svg_.end();
  }

  // The legend: the statement for each label.
  double list(double y) {
    for (size_t i = 0; i < review_.queries.size(); ++i) {
      const QueryReview& query = review_.queries[i];
      std::string about = fmt::format("{:<4} {}", labels_[i], shorten(query.name, max_letters));
      if (!query.write) about += fmt::format("  {} partition{}", query.bound, query.bound == "1" ? "" : "s");
      if (query.rows_read)
        about +=
            fmt::format(", {} row{} read", count_text(*query.rows_read), *query.rows_read == 1 ? "" : "s");
      if (query.rate > 0) about += ", " + rate_text(query.rate);
      y += 19;
      write({30, y}, about, "listed");
      double x = 30 + text_width(about + "  ", letter);
      std::set<Verdict> written;
      for (const Finding* finding : findings_of(review_, query)) {
        if (!written.insert(finding->verdict).second) continue;
        const std::string code = to_string(finding->verdict);
        write({x, y}, code, fmt::format("mark {}", severity_class(finding->severity)));
        x += text_width(code + " ", letter);
      }
      for (const std::string& line : wrapped(query.text, 130)) {
        y += 15;
        write({30 + text_width("     ", letter), y}, line, "small muted", small);
      }
    }
    return y;
  }

  double key(double y) {
    write({30, y += 20},
          "K partition key   C↑ C↓ clustering column, ascending or descending   S static   IDX indexed   ++ "
          "counter",
          "small muted", small);
    write({30, y += 15},
          "[list]   {set}   <map>   (tuple)   *user type*   Q query   W change   ×n runs n times",
          "small muted", small);
    return y;
  }

  const Review& review_;
  bool physical_;
  TableLayout layout_;
  std::vector<std::string> labels_;
  Svg svg_;
  double width_ = 0;
};

}  // namespace

double names_width(const TableReview& table) {
  double widest = 0;
  for (const ColumnReview& column : table.columns)
    widest = std::max(widest, text_width(shorten(column.notation, max_letters), letter));
  return widest;
}

double types_width(const TableReview& table) {
  double widest = 0;
  for (const ColumnReview& column : table.columns)
    widest = std::max(widest, text_width(shorten(column.type, max_letters), letter));
  return widest;
}

std::vector<std::string> box_notes(const TableBox& box) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < box.written_by.size(); i += written_by_line) {
    std::string line = i == 0 ? "written by" : "          ";
    for (size_t j = i; j < std::min(box.written_by.size(), i + written_by_line); ++j)
      line += " " + box.written_by[j];
    lines.push_back(std::move(line));
  }
  return lines;
}

double box_content_width(const TableReview& table, const TableBox& box, bool physical) {
  double marks = 0, notes = 0;
  for (const ColumnReview& column : table.columns) marks = std::max(marks, text_width(column.marks, letter));
  for (const std::string& note : box_notes(box)) notes = std::max(notes, text_width(note, small));
  for (const Finding* finding : box.findings)
    notes = std::max(notes, text_width(to_string(finding->verdict), small));
  const double columns = names_width(table) + (physical ? types_width(table) + 14 : 0) + 20 + marks;
  const double name = text_width(shorten(table.name, max_letters), name_letter);
  return std::max({columns, name, notes}) + 2 * box_padding;
}

double box_content_height(const TableReview& table, const TableBox& box) {
  return box_head + box_row * static_cast<double>(table.columns.size()) +
         box_foot * static_cast<double>(box_notes(box).size() + box.findings.size()) + box_end;
}

std::string draw_tables(const Review& review, bool physical) {
  return TablePicture(review, physical).draw();
}

}  // namespace sibyl::advisor
