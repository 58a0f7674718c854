// Pictures of a review: Chebotko's logical and physical diagrams, how the data spread over the nodes, and
// how partitions grow. Pure functions of the review: the same review gives the same bytes.
#pragma once

#include <string>
#include <vector>

#include "advisor/review.h"
#include "advisor/svg.h"

namespace sibyl::advisor {

struct Diagram {
  std::string file;  // its name within a directory
  std::string text;
};

// logical.svg, physical.svg, spread.svg, growth.svg, and model.md, which shows them and says the same in
// words.
std::vector<Diagram> draw_diagrams(const Review& review);

std::string draw_tables(const Review& review, bool physical);
std::string draw_spread(const Review& review);
std::string draw_growth(const Review& review);
std::string write_model_page(const Review& review);

// Q1, Q2, … for the queries and W1, W2, … for the changes, as `review.queries` has them.
std::vector<std::string> query_labels(const Review& review);

// --- The places of Chebotko's boxes and arrows.

struct TableBox {
  Box box;
  size_t table = 0;                     // of the review
  std::vector<std::string> written_by;  // labels
  std::vector<const Finding*> findings;
};

// A query reaches a table, from outside or, as the next of its group, from the table before.
struct Arrow {
  std::vector<size_t> queries;  // of the review; drawn as one
  std::string label;
  Box label_box;
  std::vector<Point> points;  // from its begin to its tip; every segment is level or upright
};

struct TableLayout {
  double width = 0, height = 0;
  std::vector<TableBox> boxes;  // one for each table of the review, in its order
  std::vector<Arrow> arrows;
};

// No two boxes or labels overlap, and no arrow crosses a box.
TableLayout lay_out_tables(const Review& review, bool physical);

}  // namespace sibyl::advisor
