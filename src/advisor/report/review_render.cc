// Renders a review for a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advisor/report/verdicts.h"
#include "advisor/review/review_model.h"

namespace sibyl::advisor {
namespace {

constexpr size_t bar_width = 30;

// The number of characters.
size_t letters(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// Names and keys may contain any bytes. Control characters must not reach the terminal.
std::string clean(std::string text) {
  std::replace_if(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
  return text;
}

std::string padded(const std::string& unsafe, size_t width, bool right = false) {
  const std::string text = clean(unsafe);
  const std::string space(width > letters(text) ? width - letters(text) : 0, ' ');
  return right ? space + text : text + space;
}

// Wraps text to lines of at most `width` characters. Lines after the first are indented by `indent` spaces.
std::string wrapped(const std::string& unsafe, size_t width, size_t indent) {
  const std::string text = clean(unsafe);
  std::string out, line;
  for (size_t from = 0; from < text.size();) {
    const size_t end = std::min(text.find(' ', from), text.size());
    const std::string word = text.substr(from, end - from);
    from = end + 1;
    if (!line.empty() && letters(line) + 1 + letters(word) > width) {
      out += line + "\n" + std::string(indent, ' ');
      line = word;
    } else {
      line += (line.empty() ? "" : " ") + word;
    }
  }
  return out + line;
}

std::string number(const std::optional<double>& value) {
  return value ? count_text(*value) : "?";
}

class TextReport {
 public:
  TextReport(const Review& review, const RenderOptions& options) : review_(review), options_(options) {}

  std::string write() {
    for (const TableReview& table : review_.tables) names_ = std::max(names_, letters(table.name));
    headline();
    verdicts();
    queries();
    sizes();
    spread();
    goals();
    for (const Finding& finding : review_.findings) {
      if (!finding.accepted) this->finding(finding);
    }
    accepted();
    for (const std::string& error : review_.internal_errors)
      out_ += fmt::format("\n{} {}\n  This is a bug in Sibyl, not in the model: please report it.\n",
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
    const size_t tables = review_.tables.size(), queries = review_.queries.size();
    const std::string scope = fmt::format("{} table{}, {} statement{}, {} node{} x {} replica{}", tables,
                                          tables == 1 ? "" : "s", queries, queries == 1 ? "" : "s",
                                          review_.target.nodes, review_.target.nodes == 1 ? "" : "s",
                                          review_.target.replicas, review_.target.replicas == 1 ? "" : "s") +
                              (review_.source.empty() ? "" : ", as observed in " + review_.source);
    const size_t unknown = unknown_sizes(review_);
    if (const std::optional<Severity> worst = review_.worst()) {
      out_ += paint(*worst, summary_of(review_)) + "  " + scope + "\n";
    } else if (unknown == 0) {
      out_ += paint("1;32", "OK") + "  " + scope + ": no findings\n";
    } else {
      out_ +=
          fmt::format("{}  {}: no findings, but the sizes of {} are unknown\n", paint("1;36", "incomplete"),
                      scope, unknown == 1 ? std::string("a table") : fmt::format("{} tables", unknown));
    }
  }

  // One line per table and statement, the worst first.
  void verdicts() {
    const std::vector<VerdictLine> lines = verdict_lines(review_);
    size_t widest = 0;
    for (const VerdictLine& line : lines) widest = std::max(widest, letters(title_of(line)));
    out_ += lines.empty() ? "" : "\n";
    for (const VerdictLine& line : lines) {
      const std::string code = line.code.empty() ? "" : line.code + "  ";
      const std::string more = line.others > 0 ? fmt::format("  +{} more", line.others) : std::string();
      const size_t used = 6 + widest + letters(code) + letters(more);
      const size_t width = std::max<size_t>(options_.width, 40);
      std::string text = clean(line.text);
      if (letters(text) + used > width) text = cut(text, width > used + 20 ? width - used : 20);
      const bool unknown = line.state == VerdictLine::State::unknown;
      const std::string mark = line.severity ? mark_of(line.severity) : unknown ? "?" : mark_of(std::nullopt);
      out_ +=
          fmt::format("{}  {}  {}{}{}\n", mark, paint("1", padded(title_of(line), widest)), code, text, more);
    }
  }

  static std::string title_of(const VerdictLine& line) {
    return line.is_table ? line.name : line.table.empty() ? line.name : line.table + " / " + line.name;
  }

  // The first words, with a mark. A clause is kept whole if it has at least half of the letters.
  static std::string cut(const std::string& text, size_t letters) {
    std::string out;
    size_t count = 0, word = 0, clause = 0;
    for (const char c : text) {
      if ((c & 0xC0) != 0x80 && ++count > letters - 2) break;
      if (c == ' ') {
        word = out.size();
        const bool ends =
            out.ends_with(',') || out.ends_with(':') || out.ends_with(';') || out.ends_with('.');
        if (ends) clause = out.size();
      }
      out += c;
    }
    out.resize(clause > letters / 2 ? clause - 1 : word > 0 ? word : out.size());
    return out + " …";
  }

  // The mark before a statement: "fine", or the severity of its worst finding.
  std::string sign(const std::string& table, const std::string& query) const {
    std::optional<Severity> worst;
    for (const Finding& finding : review_.findings) {
      if (finding.accepted || finding.query != query || finding.table != table) continue;
      if (!worst || finding.severity > *worst) worst = finding.severity;
    }
    return mark_of(worst);
  }

  std::string mark_of(const std::optional<Severity>& worst) const {
    if (!worst) return paint("32", "✓");
    return paint(*worst, *worst == Severity::error ? "✗" : *worst == Severity::warning ? "!" : "·");
  }

  void row(const std::vector<std::string>& cells) { rows_.push_back(cells); }

  // Prints the collected rows with aligned columns; numbers are right-aligned.
  void print_rows() {
    std::vector<size_t> widths(rows_[0].size(), 0);
    for (const auto& cells : rows_)
      for (size_t i = 1; i < cells.size(); ++i) widths[i] = std::max(widths[i], letters(cells[i]));
    for (size_t r = 0; r < rows_.size(); ++r) {
      std::string line;
      for (size_t i = 1; i < rows_[r].size(); ++i) line += "  " + padded(rows_[r][i], widths[i], i > 2);
      while (line.ends_with(' ')) line.pop_back();
      out_ += r == 0 ? paint("1", " " + line) + "\n" : rows_[r][0] + line + "\n";
    }
    rows_.clear();
  }

  void queries() {
    if (review_.queries.empty()) return;
    out_ += "\n";
    row({" ", "statement", "table", "partitions", "rows read", "per row", "rate"});
    size_t apart = 0;
    for (const QueryReview& query : review_.queries) {
      if (query.ad_hoc) {
        ++apart;
        continue;
      }
      const std::string bound =
          query.bound == "n" && query.partitions ? "n=" + count_text(*query.partitions) : query.bound;
      const std::string ratio = query.rows_per_row() ? count_text(*query.rows_per_row()) : "";
      const std::string mark = sign(query.table, query.name);
      const bool is_reviewed = query.supported || mark != mark_of(std::nullopt);
      row({is_reviewed ? mark : "?", query.name, query.table, bound,
           query.write ? "writes" : number(query.rows_read), ratio,
           query.rate > 0 ? rate_text(query.rate) : ""});
    }
    for (const GroupReview& group : review_.groups) {
      std::string table;  // the table of the first read, under which findings about the group are listed
      for (const QueryReview& query : review_.queries)
        if (table.empty() && query.group == group.name && !query.write) table = query.table;
      row({sign(table, group.name), group.name, "(together)", number(group.partitions), "", "", ""});
    }
    print_rows();
    if (apart > 0)
      out_ += paint("2", fmt::format("   and {} statement{} of tools, or seen once or twice: not reviewed",
                                     apart, apart == 1 ? "" : "s")) +
              "\n";
  }

  // The position of a size on a logarithmic scale that begins at 1 kB.
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
    title(fmt::format("partition sizes after {}: █ p50 ▓ p99 ░ max, | is the target of {}",
                      duration_text(review_.target.horizon), size_text(review_.target.partition_bytes)));
    const size_t mark = scale(review_.target.partition_bytes);
    for (const TableReview& table : review_.tables) {
      out_ += "  " + padded(table.name, names_) + "  ";
      if (!table.horizon) {
        out_ += fmt::format("?  declare -- @table {} rows=… partitions=…\n", table.name);
        continue;
      }
      const size_t half = scale(table.horizon->p50), most = scale(table.horizon->p99),
                   all = scale(table.horizon->max);
      std::string bar;
      for (size_t i = 0; i <= bar_width; ++i)
        bar += i == mark ? "|" : i < half ? "█" : i < most ? "▓" : i < all ? "░" : " ";
      const bool over = table.horizon->max > review_.target.partition_bytes;
      out_ += fmt::format("{}  {}", paint(over ? "31" : "32", bar), sizes_text(*table.horizon));
      // The prediction ends before the horizon if the observed period is short.
      if (table.horizon_seconds < review_.target.horizon && table.now && table.now->max != table.horizon->max)
        out_ += fmt::format(" after {}, the limit of the prediction", duration_text(table.horizon_seconds));
      if (over && table.days_to_target)
        out_ += paint(
            "31", *table.days_to_target > 0
                      ? fmt::format("  above the target in {}", duration_text(*table.days_to_target * 86'400))
                      : std::string("  above the target now"));
      out_ += "\n";
      inputs(table);
    }
  }

  // "2 GB, 4 GB, 9 GB", or once if they are equal.
  static std::string sizes_text(const Sizes& sizes) {
    const std::string p50 = size_text(sizes.p50), p99 = size_text(sizes.p99), max = size_text(sizes.max);
    return p50 == max ? max : fmt::format("{}, {}, {}", p50, p99, max);
  }

  // Prints the numbers from which the sizes follow.
  void inputs(const TableReview& table) {
    if (table.inputs.empty() || table.growth.empty()) return;
    std::vector<std::string> parts;
    for (const Evidence& input : table.inputs) parts.push_back(input.text);
    out_ += paint("2", fmt::format("  {}  from {}", padded("", names_), fmt::join(parts, ", "))) + "\n";
  }

  // One character per node, as high as its share; half the height is the mean.
  static std::string node_bars(const std::vector<double>& shares) {
    static const char* const levels[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    std::string bars;
    const size_t shown = std::min<size_t>(shares.size(), bar_width);
    for (size_t i = 0; i < shown; ++i) {
      const double level = std::clamp(shares[i] * static_cast<double>(shares.size()) / 2, 0.0, 0.999);
      bars += levels[static_cast<size_t>(level * 8)];
    }
    if (shown < shares.size()) bars += "…";
    return bars;
  }

  std::string spread_cell(const std::vector<double>& shares, double fullest) const {
    const size_t width = std::min<size_t>(bar_width + 1, std::max(shares.size(), size_t{6}));
    const std::string bars = padded(node_bars(shares), width);
    return fmt::format("{} {:.2f}", paint(fullest > 1.5 ? "33" : "32", bars), fullest);
  }

  void spread() {
    bool first = true;
    for (const TableReview& table : review_.tables) {
      if (!table.spread || !table.spread_doubled) continue;
      if (first)
        title(fmt::format("spread: load of each node, and fullest node / mean; on {} node{} and on {}",
                          table.spread->nodes, table.spread->nodes == 1 ? "" : "s",
                          table.spread_doubled->nodes));
      first = false;
      out_ += fmt::format("  {}  bytes     {}   {}\n", padded(table.name, names_),
                          spread_cell(table.spread->byte_shares, table.spread->bytes),
                          spread_cell(table.spread_doubled->byte_shares, table.spread_doubled->bytes));
      out_ += fmt::format("  {}  requests  {}   {}{}\n", padded("", names_),
                          spread_cell(table.spread->request_shares, table.spread->requests),
                          spread_cell(table.spread_doubled->request_shares, table.spread_doubled->requests),
                          hottest_text(table));
    }
  }

  // Lists goals for which there is neither a measurement nor an estimate.
  void goals() {
    std::vector<std::string> names;
    for (const QueryReview& query : review_.queries) {
      if ((!query.goal_p50 && !query.goal_p99) || query.latency_p99 || query.latency_p50) continue;
      const bool found =
          std::any_of(review_.findings.begin(), review_.findings.end(), [&](const Finding& one) {
            return one.verdict == Verdict::latency_goal && one.query == query.name;
          });
      if (!found) names.push_back(query.name);
    }
    if (names.empty()) return;
    out_ += "\n";
    paragraph("", "",
              fmt::format("latency goals of {} are not checked: files do not say how fast the machine is; "
                          "use --measure or --live",
                          fmt::join(names, ", ")));
  }

  // The most frequent key, by name if a database has observed it.
  static std::string hottest_text(const TableReview& table) {
    const double percent = 100 * table.hottest_share;
    if (percent < 0.1 * (1 - 1e-9)) return "";
    const std::string& key = table.hottest_write.empty() ? table.hottest_read : table.hottest_write;
    return fmt::format("   hottest key {}{}",
                       percent >= 10 ? fmt::format("{:.0f}%", percent) : fmt::format("{:.2g}%", percent),
                       key.empty() ? "" : ": " + clean(key));
  }

  static std::string indented(const std::string& text, const std::string& by) {
    std::string out;
    for (size_t from = 0; from < text.size();) {
      const size_t end = std::min(text.find('\n', from), text.size());
      out += by + clean(text.substr(from, end - from)) + "\n";
      from = end + 1;
    }
    return out;
  }

  // A label followed by text; wrapped lines are aligned with the text.
  void paragraph(const std::string& label, const char* colour, const std::string& text) {
    const size_t indent = 2 + letters(label) + (label.empty() ? 0 : 1);
    const size_t width = std::max<size_t>(options_.width, 40) - indent;
    out_ += "  " + (label.empty() ? "" : paint(colour, label) + " ") + wrapped(text, width, indent) + "\n";
  }

  void finding(const Finding& finding) {
    out_ += fmt::format("\n{} {}  {}\n", paint(finding.severity, to_string(finding.severity)),
                        paint("1", clean(finding.id())), clean(finding.place()));
    paragraph("", "", finding.message);
    for (const Evidence& evidence : finding.evidence)
      paragraph("-", "2", fmt::format("{} ({})", evidence.text, to_string(evidence.origin)));
    if (!finding.fix.empty()) paragraph("fix:", "32", finding.fix);
    if (!finding.cql.empty()) out_ += paint("36", indented(finding.cql, "    "));
    if (!finding.cost.empty()) paragraph("cost:", "32", finding.cost);
    size_t widest = 0;
    for (const Choice& choice : finding.choices) widest = std::max(widest, letters(choice.name));
    for (const Choice& choice : finding.choices) {
      const std::string line =
          fmt::format("{} {}  {} per read{}, largest {}{}{}{}", choice.chosen ? ">" : " ",
                      padded(choice.name, widest), count_of(choice.partitions, "partition"),
                      choice.partitions_p95 > choice.partitions
                          ? fmt::format(" (p95 {})", count_text(choice.partitions_p95))
                          : "",
                      size_text(choice.largest_bytes),
                      choice.hottest_rate > 0 ? ", hottest " + rate_text(choice.hottest_rate) : "",
                      choice.cost ? fmt::format(", cost {} per second", cost_text(*choice.cost)) : "",
                      choice.fits ? "" : ", misses a target");
      out_ += "  " + (choice.chosen ? paint("32", line) : choice.fits ? line : paint("2", line)) + "\n";
    }
  }

  void accepted() {
    bool first = true;
    for (const Finding& finding : review_.findings) {
      if (!finding.accepted) continue;
      if (first) title("accepted by the baseline");
      first = false;
      out_ += fmt::format("{}: {}\n", clean(finding.id()), clean(*finding.accepted));
    }
    if (!review_.unused_baseline.empty()) title("in the baseline, but no longer found");
    for (const std::string& id : review_.unused_baseline) out_ += id + "\n";
  }

  const Review& review_;
  const RenderOptions& options_;
  size_t names_ = 0;                            // length of the longest table name
  std::vector<std::vector<std::string>> rows_;  // rows of a text table; the first cell is a mark
  std::string out_;
};

}  // namespace

std::string render_text(const Review& review, const RenderOptions& options) {
  return TextReport(review, options).write();
}

}  // namespace sibyl::advisor
