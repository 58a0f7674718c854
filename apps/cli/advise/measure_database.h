// The database that a trial runs on: an engine in this process with its own directory.
#pragma once

#include <ctime>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "advisor/trial/trial.h"
#include "engine/engine.h"

namespace sibyl::cli {

class TrialDatabase final : public advisor::TrialSession {
 public:
  // Creates the directory and the trial's tables, and prepares its statements. REQUIRES: the directory does
  // not exist. A statement that is rejected reports its error when it is run.
  static base::Result<std::unique_ptr<TrialDatabase>> open(const std::string& directory,
                                                           const advisor::Trial& trial);
  ~TrialDatabase() override;

  base::Result<std::vector<advisor::Cells>> run(size_t statement, const advisor::Cells& values) override;
  const std::vector<advisor::Marker>& markers(size_t statement) const override {
    return statements_[statement].markers;
  }

  // Runs a statement without waiting for the response. A later call returns the error of a failed one.
  base::Status load(size_t statement, const advisor::Cells& values);
  // Waits for pending loads, compacts the data files, and prepares the statements again, since indexes may
  // have been built.
  base::Status finish_loading();

  // Resources used since the last reset_clocks().
  struct Clocks {
    uint64_t wall_nanos = 0, cpu_nanos = 0, requests = 0, rows = 0;
  };
  void reset_clocks() { clocks_ = {}; }
  const Clocks& clocks() const { return clocks_; }

 private:
  class Loads;

  TrialDatabase();
  base::Status define(const std::string& text, const std::string& keyspace);
  void prepare();

  struct Statement {
    advisor::Trial::Text source;
    plan::PreparedPtr plan;  // nullptr: the statement was rejected with `error`
    std::optional<base::Error> error;
    std::vector<advisor::Marker> markers;
  };

  std::unique_ptr<engine::Engine> engine_;
  std::vector<Statement> statements_;
  std::unique_ptr<Loads> loads_;
  Clocks clocks_;
};

}  // namespace sibyl::cli
