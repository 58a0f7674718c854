// `sibyl advise FILE…`: reviews a data model.
#include "cli/advise/review.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

#include "advisor/report/review_html.h"
#include "advisor/review/review.h"
#include "base/file.h"
#include "cli/advise/diagrams.h"
#include "cli/advise/live.h"
#include "cli/advise/measure.h"
#include "cli/command_line/refuse.h"
#include "cli/commands.h"

namespace sibyl::cli {
namespace {

struct ReviewArguments {
  std::vector<std::string> files;
  std::string format = "text", fail_on = "error", baseline, diagrams;
  LiveFlags live;
  MeasureArguments measure;
};

int refuse_review(const std::string& message, const std::string& hint = {}) {
  return cli::refuse("advise", exit_refused, message, hint);
}

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

std::string render(const advisor::Review& review, const std::string& format) {
  if (format == "json") return advisor::render_json(review);
  if (format == "markdown") return advisor::render_markdown(review);
  if (format == "html") return advisor::render_html(review);
  advisor::RenderOptions options;
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  const char* no_colour = std::getenv("NO_COLOR");
  options.colour = terminal && (no_colour == nullptr || *no_colour == '\0');
  winsize size{};
  if (terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    options.width = std::min<size_t>(size.ws_col, 120);
  return advisor::render_text(review, options);
}

// Prints review and measurement. JSON is printed as one document at the end. Otherwise the review is printed
// first and the measurement follows.
int print_measured(const advisor::Review& review, const std::vector<advisor::Workload>& workloads,
                   const advisor::Observation* observation, const ReviewArguments& arguments) {
  const bool whole = arguments.format == "json";
  if (!whole) print(render(review, arguments.format));
  auto measurement = measure_review(workloads, observation, arguments.measure);
  if (!measurement) return refuse_review(measurement.error().message(), measurement.error().hint());
  advisor::compare_with_goals(review, *measurement);
  print(whole                            ? advisor::render_json(review, &*measurement)
        : arguments.format == "markdown" ? "\n" + advisor::render_markdown(*measurement)
                                         : "\n" + advisor::render_text(*measurement, {}));
  return 0;
}

// Entities and their queries are input for `advise design`. A review without tables would find nothing, and
// would wrongly report that all is well.
base::Status check_reviewable(const std::vector<advisor::Workload>& workloads) {
  for (const advisor::Workload& workload : workloads)
    if (!workload.cql.empty()) return {};
  for (const advisor::Workload& workload : workloads)
    if (!workload.model.entities.empty())
      return base::fail(
          base::Error(base::ErrorCode::invalid,
                      fmt::format("{} has entities but no tables to review", workload.file))
              .with_hint(fmt::format("Design tables for them: sibyl advise design {}", workload.file)));
  return {};
}

int run_review(const ReviewArguments& arguments) {
  std::vector<advisor::Workload> workloads;
  for (const std::string& path : arguments.files) {
    const auto text = base::read_file(path);
    if (!text) return refuse_review(fmt::format("cannot read {}: {}", path, text.error().message()));
    auto workload = advisor::parse_workload(*text, path);
    if (!workload) return refuse_review(workload.error().message(), workload.error().hint());
    workloads.push_back(std::move(*workload));
  }
  if (const base::Status reviewable = check_reviewable(workloads);
      !reviewable && arguments.live.place.empty())
    return refuse_review(reviewable.error().message(), reviewable.error().hint());
  advisor::ReviewOptions options;
  advisor::Observation observation;
  if (!arguments.live.place.empty()) {
    std::vector<std::string> remarks;
    auto observed = observe(arguments.live, remarks);
    if (!observed) return refuse_review(observed.error().message(), observed.error().hint());
    for (const std::string& remark : remarks) fmt::print(stderr, "sibyl advise: {}\n", remark);
    observation = std::move(*observed);
    options.observation = &observation;
  }
  auto review = advisor::review_workloads(workloads, options);
  if (!review) return refuse_review(review.error().message(), review.error().hint());
  // If the files contain nothing to review, reporting that all is well would be wrong.
  if (arguments.live.place.empty() && review->tables.empty() && review->queries.empty() &&
      review->findings.empty())
    return refuse_review("no file has a table or a statement: there is nothing to review");
  if (!arguments.baseline.empty()) {
    const auto text = base::read_file(arguments.baseline);
    if (!text)
      return refuse_review(fmt::format("cannot read {}: {}", arguments.baseline, text.error().message()));
    if (const auto applied = advisor::apply_baseline(*text, arguments.baseline, *review); !applied)
      return refuse_review(applied.error().message());
  }
  if (!arguments.diagrams.empty()) {
    if (const auto written = write_diagrams(*review, arguments.diagrams); !written)
      return refuse_review(written.error().message());
  }
  if (!arguments.measure.measure)
    print(render(*review, arguments.format));
  else if (const int status = print_measured(*review, workloads, options.observation, arguments); status != 0)
    return status;
  const std::optional<advisor::Severity> worst = review->worst();
  const std::optional<advisor::Severity> limit = advisor::severity_by_name(arguments.fail_on);
  return worst && limit && *worst >= *limit ? exit_findings : 0;
}

}  // namespace

void add_review_options(CLI::App& advise) {
  auto arguments = std::make_shared<ReviewArguments>();
  advise.add_option("files", arguments->files,
                    "Definitions and queries with their statistics (docs/advisor-format.md)");
  advise.add_option("--format", arguments->format, "text, markdown, html or json")
      ->check(CLI::IsMember({"text", "markdown", "html", "json"}));
  advise
      .add_option("--fail-on", arguments->fail_on,
                  "Exit with status 3 if a finding is at least this severe: error, warning, note, or never")
      ->check(CLI::IsMember({"error", "warning", "note", "never"}));
  advise.add_option("--baseline", arguments->baseline,
                    "File of accepted findings, one per line: CODE TABLE/QUERY: reason");
  arguments->live.add_to(advise);
  advise.add_option("--diagrams", arguments->diagrams,
                    "Draw the tables, their spread and their growth as SVG files in this directory");
  add_measure_options(advise, arguments->measure);
  advise.footer(
      "Exit status: 0 no such finding; 2 wrong usage, unreadable file or unreachable database; 3 a finding "
      "is at least as severe as --fail-on.");
  advise.callback([arguments, &advise] {
    if (!advise.get_subcommands().empty()) return;
    if (arguments->files.empty() && arguments->live.place.empty())
      throw CLI::RequiredError("A file to review, or --live");
    if (const int status = run_review(*arguments); status != 0) throw CLI::RuntimeError(status);
  });
}

}  // namespace sibyl::cli
