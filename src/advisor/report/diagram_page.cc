// The page that embeds the diagrams and states the same facts in words.
#include <fmt/format.h>

#include "advisor/report/diagram.h"
#include "advisor/review/review_model.h"

namespace sibyl::advisor {
namespace {

std::string diagram_cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '\\' || c == '`' || c == '*' || c == '[' || c == '_') out += '\\';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out;
}

// Text for a code span: replaces line ends and backquotes.
std::string code(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\n' || c == '\r' ? ' ' : c == '`' ? '\'' : c == '|' ? '/' : c;
  return "`" + out + "`";
}

std::string tables_text(const Review& review) {
  std::string text;
  for (const TableReview& table : review.tables) {
    text += fmt::format("\n### {}\n\n", diagram_cell(table.name));
    if (!table.view_of.empty())
      text += fmt::format("A materialized view of {}.\n\n", diagram_cell(table.view_of));
    text += "| column | type | |\n|-|-|-|\n";
    for (const ColumnReview& column : table.columns)
      text += fmt::format("| {} | {} | {} |\n", diagram_cell(column.notation), diagram_cell(column.type),
                          column.marks);
  }
  return text;
}

std::string queries_text(const Review& review) {
  const std::vector<std::string> labels = query_labels(review);
  std::string text = "\n## Statements\n\n| | name | tables | partitions | statement |\n|-|-|-|-|-|\n";
  for (size_t i = 0; i < review.queries.size(); ++i) {
    const QueryReview& query = review.queries[i];
    std::string tables;
    for (const std::string& name : query.tables) tables += (tables.empty() ? "" : ", ") + diagram_cell(name);
    text += fmt::format("| {} | {} | {} | {} | {} |\n", labels[i], diagram_cell(query.name), tables,
                        query.write ? "" : query.bound, code(query.text));
  }
  return text;
}

std::string spread_text(const Review& review) {
  std::string text = fmt::format(
      "\n## Spread over the nodes\n\n![spread](spread.svg)\n\nThe load of the fullest node, divided by the "
      "mean of all nodes.\n\n"
      "| table | bytes on {0} nodes | requests | bytes on {1} | requests |\n|-|-|-|-|-|\n",
      review.target.nodes, 2 * review.target.nodes);
  for (const TableReview& table : review.tables) {
    if (table.spread && table.spread_doubled)
      text += fmt::format("| {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} |\n", diagram_cell(table.name),
                          table.spread->bytes, table.spread->requests, table.spread_doubled->bytes,
                          table.spread_doubled->requests);
    else
      text += fmt::format("| {} | ? | ? | ? | ? |\n", diagram_cell(table.name));
  }
  return text;
}

std::string growth_text(const Review& review) {
  const ReviewTarget& target = review.target;
  std::string text = fmt::format(
      "\n## Growth of partitions\n\n![growth](growth.svg)\n\nThe target is {}.\n\n"
      "| table | now p50 / p99 / max | after {} | after {} | reaches the target |\n|-|-|-|-|-|\n",
      size_text(target.partition_bytes), duration_text(target.horizon / 2), duration_text(target.horizon));
  const auto sizes = [](const Sizes& one) {
    return fmt::format("{} / {} / {}", size_text(one.p50), size_text(one.p99), size_text(one.max));
  };
  for (const TableReview& table : review.tables) {
    if (table.growth.empty()) {
      text += fmt::format("| {} | ? | ? | ? | ? |\n", diagram_cell(table.name));
      continue;
    }
    text += fmt::format(
        "| {} | {} | {} | {} | {} |\n", diagram_cell(table.name), sizes(table.growth.front().sizes),
        sizes(table.growth[table.growth.size() / 2].sizes), sizes(table.growth.back().sizes),
        table.days_to_target ? "in " + duration_text(*table.days_to_target * 86'400) : "not until then");
  }
  return text;
}

}  // namespace

std::string write_model_page(const Review& review) {
  std::string text =
      "# Tables\n\n![logical](logical.svg)\n\n![physical](physical.svg)\n\nK partition key, C↑ C↓ clustering "
      "column, S static, IDX indexed, ++ counter; \\[list], {set}, \\<map>, (tuple), \\*user type\\*.\n";
  return text + tables_text(review) + queries_text(review) + spread_text(review) + growth_text(review);
}

std::vector<Diagram> draw_diagrams(const Review& review) {
  return {{"logical.svg", draw_tables(review, false)},
          {"physical.svg", draw_tables(review, true)},
          {"spread.svg", draw_spread(review)},
          {"growth.svg", draw_growth(review)},
          {"model.md", write_model_page(review)}};
}

}  // namespace sibyl::advisor
