#include "cli/advise/measure.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>

#include "cli/advise/measure_database.h"
#include "cli/bench/histogram.h"

namespace sibyl::cli {
namespace {

using advisor::MeasuredOperation;
using advisor::MeasuredTrial;
using advisor::Measurement;
using advisor::Operation;
using advisor::Trial;
using Clock = std::chrono::steady_clock;

constexpr double max_rows = 300'000, max_bytes = 500e6;  // loaded in total unless a scale is given
constexpr int least_rounds = 5, rounds_planned = 20;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// A progress line that is overwritten; shown only on a terminal.
class TrialProgress {
 public:
  ~TrialProgress() { show(""); }
  void show(const std::string& text) {
    if (isatty(STDERR_FILENO) == 0) return;
    fmt::print(stderr, "\r{:<{}}\r{}", "", width_, text);
    std::fflush(stderr);
    width_ = text.size();
  }

 private:
  size_t width_ = 0;
};

// The directory of the databases. A temporary one is removed by the destructor.
class Folder {
 public:
  static base::Result<Folder> make(const std::string& wanted) {
    std::error_code error;
    if (!wanted.empty()) {
      std::filesystem::create_directories(wanted, error);
      if (error) return base::invalid(fmt::format("cannot create {}: {}", wanted, error.message()));
      return Folder(wanted, true);
    }
    std::string pattern = (std::filesystem::temp_directory_path(error) / "sibyl-measure-XXXXXX").string();
    if (error || mkdtemp(pattern.data()) == nullptr)
      return base::invalid(fmt::format("cannot create a temporary directory like {}", pattern));
    return Folder(pattern, false);
  }
  Folder(Folder&& other) noexcept : path_(std::exchange(other.path_, {})), keep_(other.keep_) {}
  Folder& operator=(Folder&&) = delete;
  ~Folder() {
    std::error_code ignored;
    if (!keep_ && !path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  std::string of(const Trial& trial) const { return (std::filesystem::path(path_) / trial.name).string(); }

 private:
  Folder(std::string path, bool keep) : path_(std::move(path)), keep_(keep) {}
  std::string path_;
  bool keep_;
};

// The samples of one operation, per round.
struct Samples {
  std::vector<double> cpu, latency;  // microseconds per execution: the mean of each round
  bench::Histogram latencies;        // nanoseconds
  uint64_t runs = 0, requests = 0, rows = 0;
};

struct Running {
  Trial trial;
  std::unique_ptr<TrialDatabase> database;
  double load_seconds = 0;
  uint64_t rows = 0;
  std::vector<Samples> samples;
};

class Measuring {
 public:
  explicit Measuring(const MeasureArguments& arguments) : arguments_(arguments) {}

  base::Result<Measurement> run(std::vector<Trial> trials) {
    const auto begin = Clock::now();
    SIBYL_ASSIGN(Folder folder, Folder::make(arguments_.directory));
    folder_.emplace(std::move(folder));
    trials.push_back(advisor::make_calibration(arguments_.seed));
    for (Trial& trial : trials) SIBYL_TRY(load(std::move(trial)));
    SIBYL_TRY(drop_rejected_operations());
    SIBYL_TRY(run_rounds());
    Measurement out;
    out.scale = arguments_.scale;
    out.seed = arguments_.seed;
    out.seconds = seconds_since(begin);
    for (const Running& running : running_) out.trials.push_back(report(running));
    out.fitted = advisor::fit_constants(out.trials.back());
    out.trials.pop_back();
    return out;
  }

 private:
  base::Status load(Trial trial) {
    const auto begin = Clock::now();
    Running running;
    if (std::filesystem::exists(folder_->of(trial)))
      return base::invalid(fmt::format("{} already exists", folder_->of(trial)));
    SIBYL_ASSIGN(running.database, TrialDatabase::open(folder_->of(trial), trial));
    const double expected = std::max(1.0, trial.rows);
    SIBYL_TRY(trial.load([&](size_t statement, const advisor::Cells& values) -> base::Status {
      if (++running.rows % 1000 == 0)
        progress_.show(fmt::format("loading {}: {:.0f}%", trial.name,
                                   std::min(100.0, 100 * static_cast<double>(running.rows) / expected)));
      return running.database->load(statement, values);
    }));
    progress_.show(fmt::format("loading {}: compacting", trial.name));
    SIBYL_TRY(running.database->finish_loading());
    running.load_seconds = seconds_since(begin);
    running.samples.resize(trial.operations.size());
    running.trial = std::move(trial);
    running_.push_back(std::move(running));
    return {};
  }

  // Removes operations that the database rejects, from all schemas, if they may fail.
  base::Status drop_rejected_operations() {
    std::set<std::string> refused;
    for (Running& running : running_) {
      for (const Operation& operation : running.trial.operations) {
        const base::Status ran = operation.run(*running.database, random_);
        if (ran) continue;
        if (!operation.may_fail) return failed(running, operation, ran.error());
        if (refused.insert(operation.name).second)
          running.trial.notes.push_back(
              fmt::format("{} is not run: {}", operation.name, ran.error().message()));
      }
    }
    bool any = false;
    for (Running& running : running_) {
      std::erase_if(running.trial.operations,
                    [&](const Operation& operation) { return refused.contains(operation.name); });
      const bool calibrates = &running == &running_.back();
      any = any || (!calibrates && !running.trial.operations.empty());
      running.samples.resize(running.trial.operations.size());
    }
    return any ? base::Status() : base::invalid("no statement can be run");
  }

  static base::Status failed(const Running& running, const Operation& operation, const base::Error& error) {
    return base::fail(base::Error(error.code(), fmt::format("{} / {}: {}", running.trial.name, operation.name,
                                                            error.message()))
                          .with_hint(error.hint()));
  }

  // Runs one execution. The clocks run while the database works, not while the next request is prepared.
  base::Status run_once(Running& running, const Operation& operation, Samples& samples, bool counts) {
    running.database->reset_clocks();
    SIBYL_TRY(operation.run(*running.database, random_));
    const TrialDatabase::Clocks& clocks = running.database->clocks();
    if (!counts) return {};
    samples.latencies.add(clocks.wall_nanos);
    samples.cpu.back() += static_cast<double>(clocks.cpu_nanos) * 1e-3;
    samples.latency.back() += static_cast<double>(clocks.wall_nanos) * 1e-3;
    samples.requests += clocks.requests;
    samples.rows += clocks.rows;
    ++samples.runs;
    return {};
  }

  base::Status run_slice(Running& running, size_t index, double slice_seconds, bool counts) {
    Samples& samples = running.samples[index];
    const auto begin = Clock::now();
    if (counts) {
      samples.cpu.push_back(0);
      samples.latency.push_back(0);
    }
    uint64_t runs = 0;
    do {
      SIBYL_TRY(run_once(running, running.trial.operations[index], samples, counts));
      ++runs;
    } while (seconds_since(begin) < slice_seconds);
    if (!counts) return {};
    samples.cpu.back() /= static_cast<double>(runs);
    samples.latency.back() /= static_cast<double>(runs);
    return {};
  }

  // The schemas take turns, so that other load on the machine affects all of them.
  base::Status run_rounds() {
    size_t operations = 0;
    for (const Running& running : running_) operations += running.samples.size();
    const double slice =
        arguments_.seconds / (rounds_planned + 1) / static_cast<double>(std::max<size_t>(1, operations));
    const auto begin = Clock::now();
    for (int round = 0; round <= least_rounds || seconds_since(begin) < arguments_.seconds; ++round) {
      progress_.show(fmt::format("measuring: {:.0f} of {:.0f} s", seconds_since(begin), arguments_.seconds));
      for (Running& running : running_) {
        for (size_t i = 0; i < running.samples.size(); ++i) {
          const base::Status ran = run_slice(running, i, slice, round > 0);
          if (!ran) return failed(running, running.trial.operations[i], ran.error());
        }
      }
    }
    return {};
  }

  static MeasuredTrial report(const Running& running) {
    MeasuredTrial out;
    out.name = running.trial.name;
    out.rows = static_cast<double>(running.rows - std::min(running.rows, running.trial.tombstones));
    out.load_seconds = running.load_seconds;
    out.notes = running.trial.notes;
    for (size_t i = 0; i < running.samples.size(); ++i) {
      const Operation& operation = running.trial.operations[i];
      const Samples& samples = running.samples[i];
      MeasuredOperation one;
      one.name = operation.name;
      one.group = operation.group;
      one.weight = operation.weight;
      one.work = operation.work;
      one.runs = samples.runs;
      one.expected_rows = operation.rows;
      const auto runs = static_cast<double>(std::max<uint64_t>(1, samples.runs));
      one.requests = static_cast<double>(samples.requests) / runs;
      one.rows = static_cast<double>(samples.rows) / runs;
      one.cpu = advisor::mean_of(samples.cpu);
      one.latency = advisor::mean_of(samples.latency);
      one.latency_p99 = static_cast<double>(samples.latencies.quantile(0.99)) * 1e-3;
      if (one.expected_rows &&
          (one.rows > 2 * *one.expected_rows + 1 || *one.expected_rows > 2 * one.rows + 1))
        out.notes.push_back(fmt::format("{} returns {:.1f} rows with this data; {:.1f} were expected",
                                        one.name, one.rows, *one.expected_rows));
      constexpr double factor = 1.5;
      if (operation.requests &&
          (one.requests > factor * *operation.requests || *operation.requests > factor * one.requests))
        out.notes.push_back(fmt::format("{} takes {:.2f} requests with this data; {:.2f} were expected",
                                        one.name, one.requests, *operation.requests));
      out.operations.push_back(std::move(one));
    }
    return out;
  }

  const MeasureArguments& arguments_;
  advisor::Random random_{arguments_.seed};
  TrialProgress progress_;
  std::optional<Folder> folder_;  // must be destroyed after the databases in it
  std::vector<Running> running_;
};

// Schemas of the file that have plans, for comparison with a design.
std::vector<std::string> stated_schemas(const advisor::Workload& workload,
                                        const MeasureArguments& arguments) {
  if (!arguments.against.empty()) return arguments.against;
  std::vector<std::string> names;
  for (const advisor::StatedPlan& plan : workload.plans) {
    if (std::find(names.begin(), names.end(), plan.schema) == names.end()) names.push_back(plan.schema);
  }
  return names;
}

// Tables of the second design that the first one does not have.
size_t count_others(const advisor::Design& first, const advisor::Design& second) {
  std::set<std::string> known;
  for (const advisor::DesignedTable& table : first.tables) known.insert(table.definition);
  return static_cast<size_t>(
      std::count_if(second.tables.begin(), second.tables.end(),
                    [&](const advisor::DesignedTable& table) { return !known.contains(table.definition); }));
}

}  // namespace

void add_measure_options(CLI::App& command, MeasureArguments& arguments) {
  command.add_flag("--measure", arguments.measure,
                   "Load synthetic data into an embedded database, run the statements, and compare");
  command
      .add_option("--scale", arguments.scale,
                  "Fraction of the declared or recorded counts to load, such as 0.1")
      ->check(CLI::Range(1e-9, 1e6));
  command.add_option("--seed", arguments.seed, "Equal seeds give equal data and requests");
  command.add_option("--measure-seconds", arguments.seconds, "How long to run statements")
      ->check(CLI::Range(0.1, 86'400.0));
  command.add_option("--directory", arguments.directory, "Keep the measured databases in this directory");
}

double choose_scale(const MeasureArguments& arguments, const advisor::TrialVolume& volume) {
  if (arguments.scale > 0) return arguments.scale;
  const double exact =
      std::min(max_rows / std::max(1.0, volume.rows), max_bytes / std::max(1.0, volume.bytes));
  if (exact >= 1) return 1;
  // Round down to one significant digit.
  const double unit = std::pow(10, std::floor(std::log10(exact)));
  return std::floor(exact / unit) * unit;
}

base::Result<Measurement> measure(std::vector<Trial> trials, const MeasureArguments& arguments) {
  return Measuring(arguments).run(std::move(trials));
}

base::Result<Measurement> measure_review(const std::vector<advisor::Workload>& workloads,
                                         const advisor::Observation* observation,
                                         MeasureArguments arguments) {
  SIBYL_ASSIGN(const advisor::TrialVolume volume, advisor::trial_volume(workloads, observation));
  arguments.scale = choose_scale(arguments, volume);
  advisor::TrialOptions options = arguments.trial_options();
  options.observation = observation;
  SIBYL_ASSIGN(std::vector<Trial> trials, advisor::make_trials(workloads, options));
  SIBYL_ASSIGN(Measurement out, measure(std::move(trials), arguments));
  if (observation != nullptr) out.source = observation->source;
  return out;
}

base::Result<Measurement> measure_design(const advisor::Workload& workload, const advisor::Design& design,
                                         const advisor::DesignOptions& options, MeasureArguments arguments) {
  arguments.scale = choose_scale(arguments, {advisor::rows_of(design), design.bytes});
  const advisor::Workload smaller = advisor::scaled(workload, arguments.scale);
  SIBYL_ASSIGN(const advisor::Design own_design, advisor::design_tables(smaller, options));
  std::vector<Trial> trials;
  SIBYL_ASSIGN(Trial own, advisor::make_trial(smaller, own_design, arguments.trial_options()));
  if (const size_t others = count_others(design, own_design); others > 0)
    own.notes.push_back(fmt::format(
        "at this scale another design is best and was measured: {} of its {} tables differ from those above",
        others, own_design.tables.size()));
  trials.push_back(std::move(own));
  for (const std::string& schema : stated_schemas(workload, arguments)) {
    advisor::DesignOptions complete = options;
    complete.complete_schema = schema;
    SIBYL_ASSIGN(const advisor::Design completed, advisor::design_tables(smaller, complete));
    if (completed.tables.empty())
      return base::invalid(fmt::format("{} has no @layout of a schema '{}'", workload.file, schema));
    SIBYL_ASSIGN(Trial trial, advisor::make_trial(smaller, completed, arguments.trial_options(), schema));
    trials.push_back(std::move(trial));
  }
  return measure(std::move(trials), arguments);
}

}  // namespace sibyl::cli
