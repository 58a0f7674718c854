// `sibyl advise`: reviews data models and designs better ones.
#include "cli/advise/advise.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "advisor/design/design.h"
#include "base/file.h"
#include "cli/advise/diagrams.h"
#include "cli/advise/measure.h"
#include "cli/advise/review.h"
#include "cli/command_line/refuse.h"
#include "cli/commands.h"

namespace sibyl::cli {
namespace {

struct DesignArguments {
  std::string file, mix, space, diagrams, format = "text";
  bool json = false, share = false, from_queries_alone = false;
  double seconds = 8;
  MeasureArguments measure;
};

int refuse_advise(const std::string& message, const std::string& hint = {}) {
  return cli::refuse("advise", exit_refused, message, hint);
}

std::string render(const advisor::Design& design, const std::string& format,
                   const advisor::Measurement* measurement) {
  if (format == "json") return advisor::render_json(design, measurement);
  if (format == "markdown") return advisor::render_markdown(design, measurement);
  return advisor::render_text(design, measurement);
}

int run_design(const DesignArguments& arguments) {
  const auto text = base::read_file(arguments.file);
  if (!text) return refuse_advise(fmt::format("cannot read {}: {}", arguments.file, text.error().message()));
  const auto workload = advisor::parse_workload(*text, arguments.file);
  if (!workload) return refuse_advise(workload.error().message(), workload.error().hint());
  advisor::DesignOptions options;
  options.mix = arguments.mix;
  options.share = arguments.share;
  options.use_layouts = !arguments.from_queries_alone;
  options.seconds = arguments.seconds;
  if (!arguments.space.empty()) {
    options.space_bytes = advisor::read_bytes(arguments.space);
    if (!options.space_bytes)
      return refuse_advise(fmt::format("'{}' is not a size such as 2GB", arguments.space));
  }
  const auto design = advisor::design_tables(*workload, options);
  if (!design) return refuse_advise(design.error().message(), design.error().hint());
  std::optional<advisor::Measurement> measurement;
  if (arguments.measure.measure) {
    auto measured = measure_design(*workload, *design, options, arguments.measure);
    if (!measured) return refuse_advise(measured.error().message(), measured.error().hint());
    measurement = std::move(*measured);
  }
  const std::string format = arguments.json ? "json" : arguments.format;
  std::fputs(render(*design, format, measurement ? &*measurement : nullptr).c_str(), stdout);
  if (arguments.diagrams.empty()) return 0;
  if (const auto written = write_diagrams(*workload, *design, arguments.diagrams); !written)
    return refuse_advise(written.error().message());
  return 0;
}

void add_design_command(CLI::App& advise) {
  auto arguments = std::make_shared<DesignArguments>();
  CLI::App* command = advise.add_subcommand("design", "Design tables from entities, queries and changes");
  command->add_option("file", arguments->file, "The workload (docs/advisor-format.md)")->required();
  command->add_option("--mix", arguments->mix,
                      "The mix of statements to design for; default: the first mix of the file");
  command->add_option("--format", arguments->format, "text (CQL with comments), markdown or json")
      ->check(CLI::IsMember({"text", "markdown", "json"}));
  command->add_flag("--json", arguments->json, "The same as --format json");
  command->add_option("--space", arguments->space, "Maximum space of the tables, such as 2GB");
  command->add_flag("--share", arguments->share, "Share look-ups between the statements of a group");
  command->add_flag("--ignore-layouts", arguments->from_queries_alone,
                    "Do not consider the tables that the file's @layout directives propose");
  command->add_option("--diagrams", arguments->diagrams, "Draw the tables as SVG files in this directory");
  command
      ->add_option("--seconds", arguments->seconds,
                   "Time limit in seconds for the search for the best design")
      ->check(CLI::Range(0.1, 3600.0));
  add_measure_options(*command, arguments->measure);
  command->add_option("--against", arguments->measure.against,
                      "With --measure: @layout schemas to compare with; default: all that have plans");
  command->callback([arguments] {
    if (const int status = run_design(*arguments); status != 0) throw CLI::RuntimeError(status);
  });
}

}  // namespace

void add_advise_command(CLI::App& app) {
  CLI::App* advise = app.add_subcommand("advise", "Review a data model, or design one");
  advise->require_subcommand(0, 1);
  add_review_options(*advise);
  add_design_command(*advise);
}

}  // namespace sibyl::cli
