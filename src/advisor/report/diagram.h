// Diagrams of a review: Chebotko's logical and physical diagrams, the spread of data over nodes, and the
// growth of partitions. Pure functions: the same review gives the same bytes.
#pragma once

#include <string>
#include <vector>

#include "advisor/report/svg.h"
#include "advisor/review/review.h"

namespace sibyl::advisor {

struct Diagram {
  std::string file;  // name within the directory
  std::string text;
};

// Returns logical.svg, physical.svg, spread.svg, growth.svg, and model.md, which embeds them and describes
// them in words.
std::vector<Diagram> draw_diagrams(const Review& review);

std::string draw_tables(const Review& review, bool physical);
std::string draw_spread(const Review& review);
std::string draw_growth(const Review& review);
std::string write_model_page(const Review& review);

// Labels in the order of `review.queries`: Q1, Q2, … for queries and W1, W2, … for writes.
std::vector<std::string> query_labels(const Review& review);

// --- Layout of the boxes and arrows of Chebotko diagrams.

struct TableBox {
  Box box;
  size_t table = 0;                     // index of the table in the review
  std::vector<std::string> written_by;  // labels of the writes
  std::vector<const Finding*> findings;
};

// A query that reaches a table: from outside, or from the previous table of its group.
struct Arrow {
  std::vector<size_t> queries;  // indexes of queries in the review, which are drawn as one arrow
  std::string label;
  Box label_box;
  std::vector<Point> points;  // from start to tip; every segment is horizontal or vertical
};

struct TableLayout {
  double width = 0, height = 0;
  std::vector<TableBox> boxes;  // one per table, in the order of the review
  std::vector<Arrow> arrows;
};

// Guarantees that no two boxes or labels overlap and that no arrow crosses a box.
TableLayout lay_out_tables(const Review& review, bool physical);

}  // namespace sibyl::advisor
