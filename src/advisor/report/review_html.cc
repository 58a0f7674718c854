// Renders a review as one HTML page without scripts or external files, for light and dark screens.
#include "advisor/report/review_html.h"

#include <fmt/format.h>

#include <algorithm>

#include "advisor/report/diagram.h"
#include "advisor/report/verdicts.h"
#include "advisor/review/review_model.h"

namespace sibyl::advisor {
namespace {

// The classes of the page begin with `r-`, because the classes of the embedded diagrams apply to the page
// too.
constexpr const char* page_style = R"(
:root{color-scheme:light dark;--paper:#f6f8fa;--card:#ffffff;--ink:#1f2933;--muted:#5f6c7b;--line:#d9e0e7;
--bad:#c81e1e;--bad-soft:#fde8e8;--warn:#a15c00;--warn-soft:#fdf1dc;--note:#1d4ed8;--note-soft:#e6edfc;
--good:#0f7a4f;--good-soft:#e0f4ea;--code:#f1f4f8}
@media (prefers-color-scheme:dark){:root{--paper:#0d1117;--card:#12171d;--ink:#e4e7eb;--muted:#9aa7b5;--line:#2e3945;
--bad:#ff8a8a;--bad-soft:#3a1a1c;--warn:#f2b457;--warn-soft:#382a12;--note:#8ab4ff;--note-soft:#182640;
--good:#5fd6a0;--good-soft:#12301f;--code:#1a2129}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:1120px;margin:0 auto;padding:28px 20px 60px}
h1{font-size:24px;margin:0 0 4px}h2{font-size:18px;margin:36px 0 10px}
code,pre,.r-mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:13px}
.r-sub{color:var(--muted);margin:0 0 18px}
.r-chips{display:flex;gap:8px;flex-wrap:wrap;margin:14px 0}
.r-chip{border-radius:999px;padding:2px 12px;font-weight:600;font-size:14px}
.r-error{color:var(--bad);background:var(--bad-soft)}.r-warning{color:var(--warn);background:var(--warn-soft)}
.r-note{color:var(--note);background:var(--note-soft)}.r-good{color:var(--good);background:var(--good-soft)}
.r-unknown{color:var(--muted);background:var(--code)}
.r-card{background:var(--card);border:1px solid var(--line);border-radius:10px;overflow:hidden}
.r-scroll{overflow-x:auto}
table.r-table{border-collapse:collapse;width:100%}
.r-table th{font-size:13px;color:var(--muted);text-align:left;font-weight:600}
.r-table th,.r-table td{padding:8px 12px;border-bottom:1px solid var(--line);vertical-align:top}
.r-table tr:last-child td{border-bottom:0}
.r-table td.r-number,.r-table th.r-number{text-align:right;white-space:nowrap}
.r-table td.r-tight{white-space:nowrap}
.r-sign{display:inline-block;min-width:78px;text-align:center;border-radius:6px;font-size:12px;font-weight:700;padding:1px 8px}
.r-dim{color:var(--muted)}
details{background:var(--card);border:1px solid var(--line);border-radius:10px;margin:10px 0}
summary{cursor:pointer;padding:10px 14px;font-weight:600}
details>div{padding:2px 16px 14px}
summary .r-sign{margin-right:10px}
pre{background:var(--code);border-radius:8px;padding:12px;overflow-x:auto;margin:10px 0}
ul{margin:8px 0;padding-left:20px}
.r-label{font-weight:600;color:var(--muted)}
.r-picture svg{max-width:100%;height:auto;display:block}
@media print{details{break-inside:avoid}}
)";

std::string e(std::string_view text) {
  return escape_xml(text);
}

std::string number_of(const std::optional<double>& value) {
  return value ? count_text(*value) : "?";
}

std::string sign_of(const std::optional<Severity>& severity, bool unknown) {
  if (!severity)
    return fmt::format("<span class=\"r-sign {}</span>", unknown ? "r-unknown\">unknown" : "r-good\">OK");
  return fmt::format("<span class=\"r-sign r-{0}\">{0}</span>", to_string(*severity));
}

// A diagram as an element of the page.
std::string inline_svg(const std::string& svg) {
  const size_t start = svg.find("<svg");
  return start == std::string::npos ? std::string() : svg.substr(start);
}

class HtmlReport {
 public:
  explicit HtmlReport(const Review& review) : review_(review) {}

  std::string write() {
    out_ = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
        "<title>Review of the data model</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n",
        page_style);
    head();
    verdicts();
    findings();
    pictures();
    statements();
    tables();
    accepted();
    return out_ + "</main>\n</body>\n</html>\n";
  }

 private:
  void head() {
    const ReviewTarget& target = review_.target;
    out_ += "<h1>Review of the data model</h1>\n";
    out_ += fmt::format(
        "<p class=\"r-sub\">{} tables, {} statements{}. {} nodes with {} replicas{}; partitions of at most "
        "{}, {} "
        "to one partition, over {}.</p>\n",
        review_.tables.size(), review_.queries.size(),
        review_.source.empty() ? "" : ", as observed in " + e(review_.source), target.nodes, target.replicas,
        target.machines_assumed ? " (assumed)" : "", size_text(target.partition_bytes),
        rate_text(target.partition_rate), duration_text(target.horizon));
    size_t counts[3] = {};
    for (const Finding& finding : review_.findings)
      if (!finding.accepted) ++counts[static_cast<size_t>(finding.severity)];
    out_ += "<div class=\"r-chips\">";
    for (const Severity severity : {Severity::error, Severity::warning, Severity::note}) {
      const size_t count = counts[static_cast<size_t>(severity)];
      if (count > 0)
        out_ += fmt::format("<span class=\"r-chip r-{0}\">{1} {0}{2}</span>", to_string(severity), count,
                            count == 1 ? "" : "s");
    }
    if (counts[0] + counts[1] + counts[2] == 0) out_ += "<span class=\"r-chip r-good\">no findings</span>";
    if (const size_t unknown = unknown_sizes(review_); unknown > 0)
      out_ += fmt::format("<span class=\"r-chip r-unknown\">sizes of {} table{} unknown</span>", unknown,
                          unknown == 1 ? "" : "s");
    out_ += "</div>\n";
    for (const std::string& error : review_.internal_errors)
      out_ += fmt::format("<p><b>Internal error</b>, a bug in Sibyl: {}</p>\n", e(error));
  }

  void verdicts() {
    out_ +=
        "<div class=\"r-card r-scroll\"><table class=\"r-table\">\n"
        "<tr><th>verdict</th><th>table or statement</th><th>why</th></tr>\n";
    for (const VerdictLine& line : verdict_lines(review_)) {
      const std::string name =
          line.is_table ? fmt::format("<b>{}</b>", e(line.name))
                        : fmt::format("{} <span class=\"r-dim\">{}</span>", e(line.name), e(line.table));
      const std::string code =
          line.code.empty() ? "" : fmt::format("<span class=\"r-mono\">{}</span>&ensp;", line.code);
      const std::string more = line.others > 0
                                   ? fmt::format(" <span class=\"r-dim\">(+{} more)</span>", line.others)
                                   : std::string();
      out_ += fmt::format("<tr><td>{}</td><td class=\"r-tight\">{}</td><td>{}{}{}</td></tr>\n",
                          sign_of(line.severity, line.state == VerdictLine::State::unknown), name, code,
                          e(line.text), more);
    }
    out_ += "</table></div>\n";
  }

  void findings() {
    bool first = true;
    for (const Finding& finding : review_.findings) {
      if (finding.accepted) continue;
      if (first) out_ += "<h2>Findings</h2>\n";
      out_ += fmt::format("<details{}><summary>{}<span class=\"r-mono\">{}</span></summary><div>\n",
                          finding.severity == Severity::error || first ? " open" : "",
                          sign_of(finding.severity, false), e(finding.id()));
      first = false;
      body(finding);
      out_ += "</div></details>\n";
    }
  }

  void body(const Finding& finding) {
    out_ +=
        fmt::format("<p>{} <span class=\"r-dim\">{}</span></p>\n", e(finding.message), e(finding.place()));
    evidence(finding.evidence);
    if (!finding.fix.empty())
      out_ += fmt::format("<p><span class=\"r-label\">Fix</span> {}</p>\n", e(finding.fix));
    if (!finding.cql.empty()) out_ += fmt::format("<pre>{}</pre>\n", e(finding.cql));
    if (!finding.cost.empty())
      out_ += fmt::format("<p><span class=\"r-label\">Cost</span> {}</p>\n", e(finding.cost));
    choices(finding);
  }

  void evidence(const std::vector<Evidence>& items) {
    if (items.empty()) return;
    out_ += "<ul>";
    for (const Evidence& item : items)
      out_ +=
          fmt::format("<li>{} <span class=\"r-dim\">{}</span></li>", e(item.text), to_string(item.origin));
    out_ += "</ul>\n";
  }

  void choices(const Finding& finding) {
    if (finding.choices.empty()) return;
    out_ +=
        "<div class=\"r-scroll\"><table class=\"r-table\"><tr><th>choice</th><th "
        "class=\"r-number\">partitions per "
        "read</th><th class=\"r-number\">95% of reads</th><th class=\"r-number\">largest</th><th "
        "class=\"r-number\">hottest</th><th class=\"r-number\">cost per second</th><th></th></tr>\n";
    for (const Choice& choice : finding.choices)
      out_ += fmt::format(
          "<tr><td>{}</td><td class=\"r-number\">{}</td><td class=\"r-number\">{}</td><td "
          "class=\"r-number\">{}</td><td class=\"r-number\">{}</td><td "
          "class=\"r-number\">{}</td><td>{}</td></tr>\n",
          choice.chosen ? "<b>" + e(choice.name) + "</b>" : e(choice.name), count_text(choice.partitions),
          count_text(choice.partitions_p95), size_text(choice.largest_bytes),
          choice.hottest_rate > 0 ? rate_text(choice.hottest_rate) : "",
          choice.cost ? cost_text(*choice.cost) : "",
          choice.chosen ? "chosen"
          : choice.fits ? ""
                        : "misses&nbsp;a&nbsp;target");
    out_ += "</table></div>\n";
  }

  void picture(const char* title, const std::string& svg, bool open) {
    out_ += fmt::format("<details{}><summary>{}</summary><div class=\"r-picture\">{}</div></details>\n",
                        open ? " open" : "", title, inline_svg(svg));
  }

  void pictures() {
    if (review_.tables.empty()) return;
    out_ += "<h2>Charts and diagrams</h2>\n";
    picture("Growth of partitions", draw_growth(review_), true);
    picture("Spread over the nodes", draw_spread(review_), true);
    picture("Tables and queries", draw_tables(review_, false), true);
    picture("Tables with types", draw_tables(review_, true), false);
  }

  void statements() {
    if (review_.queries.empty()) return;
    out_ +=
        "<h2>Statements</h2>\n<div class=\"r-card r-scroll\"><table "
        "class=\"r-table\">\n<tr><th>statement</th>"
        "<th>table</th><th class=\"r-number\">partitions</th><th class=\"r-number\">rows read</th><th "
        "class=\"r-number\">returned</th><th class=\"r-number\">per second</th></tr>\n";
    for (const QueryReview& query : review_.queries) {
      std::string bound = query.bound;
      if (query.partitions && bound != count_text(*query.partitions))
        bound += fmt::format(" = {}", count_text(*query.partitions));
      out_ += fmt::format(
          "<tr><td><b>{}</b><br><code>{}</code>{}</td><td>{}</td><td class=\"r-number\">{}</td><td "
          "class=\"r-number\">{}</td><td class=\"r-number\">{}</td><td class=\"r-number\">{}</td></tr>\n",
          e(query.name), e(query.text),
          query.formula.empty() ? "" : fmt::format("<br><span class=\"r-dim\">{}</span>", e(query.formula)),
          e(query.table), e(bound), query.write ? "writes" : number_of(query.rows_read),
          query.write ? "" : number_of(query.rows_returned), query.rate > 0 ? rate_text(query.rate) : "?");
    }
    out_ += "</table></div>\n";
  }

  void tables() {
    if (review_.tables.empty()) return;
    out_ += "<h2>Tables</h2>\n";
    for (const TableReview& table : review_.tables) {
      out_ += fmt::format("<details><summary>{}</summary><div>\n", e(table.name));
      if (table.horizon)
        out_ += fmt::format("<p>Partitions: p50 {}, p99 {}, largest {} after {}.</p>\n",
                            size_text(table.horizon->p50), size_text(table.horizon->p99),
                            size_text(table.horizon->max), duration_text(table.horizon_seconds));
      else
        out_ += "<p>The sizes of its partitions are unknown.</p>\n";
      out_ += table.inputs.empty() ? "" : "<p class=\"r-label\">These figures follow from</p>";
      evidence(table.inputs);
      out_ +=
          "<div class=\"r-scroll\"><table "
          "class=\"r-table\"><tr><th>column</th><th>type</th><th>key</th></tr>\n";
      for (const ColumnReview& column : table.columns)
        out_ += fmt::format("<tr><td class=\"r-mono\">{}</td><td class=\"r-mono\">{}</td><td>{}</td></tr>\n",
                            e(column.notation), e(column.type), e(column.marks));
      out_ += "</table></div></div></details>\n";
    }
  }

  void accepted() {
    bool first = true;
    for (const Finding& finding : review_.findings) {
      if (!finding.accepted) continue;
      out_ += first ? "<h2>Accepted by the baseline</h2>\n<ul>" : "";
      first = false;
      out_ += fmt::format("<li><span class=\"r-mono\">{}</span> {}</li>\n", e(finding.id()),
                          e(*finding.accepted));
    }
    if (!first) out_ += "</ul>\n";
  }

  const Review& review_;
  std::string out_;
};

}  // namespace

std::string render_html(const Review& review) {
  return HtmlReport(review).write();
}

}  // namespace sibyl::advisor
