// A review to be read at a glance, on a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advisor/review_model.h"

namespace sibyl::advisor {
namespace {

constexpr size_t bar_width = 30;

class TextReport {
 public:
  TextReport(const Review& review, const RenderOptions& options) : review_(review), options_(options) {}

  std::string write() {
    headline();
    queries();
    groups();
    sizes();
    spread();
    for (const Finding& finding : review_.findings) {
      if (!finding.accepted) this->finding(finding);
    }
    accepted();
    for (const std::string& error : review_.internal_errors)
      out_ += fmt::format("\n{} {}\n  This is a bug of Sibyl's, not of the model: please report it.\n",
                          paint("1;35", "internal error"), error);
    return std::move(out_);
  }

 private:
  std::string paint(const char* code, const std::string& text) const {
    return options_.colour ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
  }
  std::string paint(Severity severity, const std::string& text) const {
    return paint(severity == Severity::error     ? "1;31"
                 : severity == Severity::warning ? "1;33"
                                                 : "1;36",
                 text);
  }
  void title(const std::string& text) { out_ += "\n" + paint("1", text) + "\n"; }

  void headline() {
    size_t counts[3] = {};
    for (const Finding& finding : review_.findings)
      if (!finding.accepted) ++counts[static_cast<size_t>(finding.severity)];
    const size_t tables = review_.tables.size(), queries = review_.queries.size();
    const std::string scope =
        fmt::format("{} table{}, {} statement{}, {} nodes x {} replicas", tables, tables == 1 ? "" : "s",
                    queries, queries == 1 ? "" : "s", review_.target.nodes, review_.target.replicas) +
        (review_.source.empty() ? "" : ", as observed in " + review_.source);
    if (counts[0] + counts[1] + counts[2] == 0) {
      out_ += paint("1;32", "OK") + "  " + scope + ": nothing to mend\n";
      return;
    }
    const Severity worst = *review_.worst();
    std::vector<std::string> parts;
    for (const Severity severity : {Severity::error, Severity::warning, Severity::note}) {
      const size_t count = counts[static_cast<size_t>(severity)];
      if (count > 0)
        parts.push_back(fmt::format("{} {}{}", count, to_string(severity), count == 1 ? "" : "s"));
    }
    out_ += paint(worst, fmt::format("{}", fmt::join(parts, ", "))) + "  " + scope + "\n";
  }

  static std::string number(const std::optional<double>& value) { return value ? count_text(*value) : "?"; }

  void queries() {
    if (review_.queries.empty()) return;
    title(fmt::format("{:<24} {:<26} {:>10} {:>14}  {}", "statement", "table", "partitions", "rows read",
                      "per row"));
    for (const QueryReview& query : review_.queries) {
      const std::string bound =
          query.bound == "n" && query.partitions ? "n=" + count_text(*query.partitions) : query.bound;
      const std::string ratio =
          query.rows_read && query.rows_returned
              ? fmt::format("{}", count_text(*query.rows_read / std::max(1.0, *query.rows_returned)))
              : "";
      // The sign ≤ takes three bytes and one column.
      const size_t pad = bound.starts_with("≤") ? 12 : 10;
      out_ += fmt::format("{:<24} {:<26} {:>{}} {:>14}  {}\n", query.name, query.table, bound, pad,
                          query.write ? "writes" : number(query.rows_read), ratio);
    }
  }

  void groups() {
    for (const GroupReview& group : review_.groups)
      out_ += fmt::format("{:<24} {:<26} {:>10}\n", group.name, "(together)", number(group.partitions));
  }

  // On a scale of decades from 1 kB; the target is a mark on it.
  size_t scale(double bytes) const {
    const double most = std::max(largest(), review_.target.partition_bytes * 2);
    const double place = std::log10(std::max(bytes, 1e3) / 1e3) / std::log10(most / 1e3);
    return static_cast<size_t>(std::clamp(place, 0.0, 1.0) * static_cast<double>(bar_width));
  }
  double largest() const {
    double most = 1e4;
    for (const TableReview& table : review_.tables)
      if (table.horizon) most = std::max(most, table.horizon->max);
    return most;
  }

  void sizes() {
    if (std::none_of(review_.tables.begin(), review_.tables.end(),
                     [](const TableReview& table) { return table.horizon.has_value(); }))
      return;
    title(fmt::format("partition sizes after {} (| is the target of {})",
                      duration_text(review_.target.horizon), size_text(review_.target.partition_bytes)));
    const size_t mark = scale(review_.target.partition_bytes);
    for (const TableReview& table : review_.tables) {
      if (!table.horizon) {
        out_ += fmt::format("{:<26} ?  declare rows and partitions: -- @table {} rows=… partitions=…\n",
                            table.name, table.name);
        continue;
      }
      const size_t half = scale(table.horizon->p50), most = scale(table.horizon->p99),
                   all = scale(table.horizon->max);
      std::string bar;
      for (size_t i = 0; i <= bar_width; ++i)
        bar += i == mark ? "|" : i < half ? "█" : i < most ? "▓" : i < all ? "░" : " ";
      const bool over = table.horizon->max > review_.target.partition_bytes;
      out_ += fmt::format("{:<26} {} p50 {}, p99 {}, max {}\n", table.name, over ? paint("31", bar) : bar,
                          size_text(table.horizon->p50), size_text(table.horizon->p99),
                          size_text(table.horizon->max));
    }
  }

  // One sign for each node, higher for more bytes; the fullest over the mean, now and on twice the nodes.
  void spread() {
    static const char* const levels[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    bool first = true;
    for (const TableReview& table : review_.tables) {
      if (!table.spread || !table.spread_doubled) continue;
      if (first)
        title(fmt::format("spread over {} nodes: fullest / mean in bytes, in requests (over {})",
                          table.spread->nodes, table.spread_doubled->nodes));
      first = false;
      std::string bars;
      const size_t shown = std::min<size_t>(table.spread->byte_shares.size(), bar_width);
      const double most = 2.0 / static_cast<double>(table.spread->nodes);
      for (size_t i = 0; i < shown; ++i) {
        const double level = std::clamp(table.spread->byte_shares[i] / most, 0.0, 0.999);
        bars += levels[static_cast<size_t>(level * 8)];
      }
      bars += std::string(bar_width - shown, ' ');
      const bool uneven = table.spread->bytes > 1.5;
      out_ += fmt::format("{:<26} {}  {:.2f}, {:.2f} ({:.2f}, {:.2f})\n", table.name,
                          uneven ? paint("33", bars) : bars, table.spread->bytes, table.spread->requests,
                          table.spread_doubled->bytes, table.spread_doubled->requests);
    }
  }

  static std::string indented(const std::string& text, const std::string& by) {
    std::string out;
    for (size_t from = 0; from < text.size();) {
      const size_t end = std::min(text.find('\n', from), text.size());
      out += by + text.substr(from, end - from) + "\n";
      from = end + 1;
    }
    return out;
  }

  void finding(const Finding& finding) {
    out_ += fmt::format("\n{} {}  {}\n", paint(finding.severity, to_string(finding.severity)),
                        paint("1", finding.id()), finding.place());
    out_ += "  " + finding.message + "\n";
    for (const Evidence& evidence : finding.evidence)
      out_ += fmt::format("  - {} ({})\n", evidence.text, to_string(evidence.origin));
    if (!finding.fix.empty()) out_ += fmt::format("  {} {}\n", paint("32", "fix:"), finding.fix);
    if (!finding.cql.empty()) out_ += indented(finding.cql, "    ");
    if (!finding.cost.empty()) out_ += fmt::format("  {} {}\n", paint("32", "cost:"), finding.cost);
    for (const Choice& choice : finding.choices)
      out_ += fmt::format("  {} {:<52} reads {} partition{}, largest {}{}{}\n", choice.chosen ? ">" : " ",
                          choice.name, count_text(choice.partitions), choice.partitions == 1 ? "" : "s",
                          size_text(choice.largest_bytes),
                          choice.cost ? fmt::format(", {:.3g} per second", *choice.cost) : "",
                          choice.fits ? "" : ", not enough");
  }

  void accepted() {
    bool first = true;
    for (const Finding& finding : review_.findings) {
      if (!finding.accepted) continue;
      if (first) title("accepted by the baseline");
      first = false;
      out_ += fmt::format("{}: {}\n", finding.id(), *finding.accepted);
    }
    if (!review_.unused_baseline.empty()) title("in the baseline, but found no more");
    for (const std::string& id : review_.unused_baseline) out_ += id + "\n";
  }

  const Review& review_;
  const RenderOptions& options_;
  std::string out_;
};

}  // namespace

std::string render_text(const Review& review, const RenderOptions& options) {
  return TextReport(review, options).write();
}

}  // namespace sibyl::advisor
