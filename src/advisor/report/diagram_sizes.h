// The contents of a table's box and its size, shared by layout and drawing. Internal to the diagrams.
#pragma once

#include "advisor/report/diagram.h"

namespace sibyl::advisor {

inline constexpr double box_head = 28, box_row = 18, box_foot = 16, box_padding = 12, box_end = 8;
inline constexpr size_t max_letters = 48;  // the drawn letters of a name or a type; the tooltip shows all
inline constexpr size_t written_by_line = 6;

// Lines below the columns: the writes to the table.
std::vector<std::string> box_notes(const TableBox& box);

double box_content_width(const TableReview& table, const TableBox& box, bool physical);
double box_content_height(const TableReview& table, const TableBox& box);
// The width of the widest column name and of the widest type, as drawn.
double names_width(const TableReview& table);
double types_width(const TableReview& table);

}  // namespace sibyl::advisor
