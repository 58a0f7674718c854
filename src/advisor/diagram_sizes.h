// What a table's box holds, and how much room that takes: for the layout and for the drawing alike. Internal
// to the diagrams.
#pragma once

#include "advisor/diagram.h"

namespace sibyl::advisor {

inline constexpr double box_head = 28, box_row = 18, box_foot = 16, box_padding = 12, box_end = 8;
inline constexpr size_t most_letters = 48;  // of a name or a type; the tooltip has all
inline constexpr size_t written_by_line = 6;

// Lines below the columns: who writes the table.
std::vector<std::string> box_notes(const TableBox& box);

double box_content_width(const TableReview& table, const TableBox& box, bool physical);
double box_content_height(const TableReview& table, const TableBox& box);
// The widest name and the widest type of the columns, as drawn.
double names_width(const TableReview& table);
double types_width(const TableReview& table);

}  // namespace sibyl::advisor
