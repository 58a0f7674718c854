// The database that a trial runs on: an engine in this process, on a directory.
#pragma once

#include <ctime>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "advisor/trial.h"
#include "engine/engine.h"

namespace sibyl {

class TrialDatabase final : public advisor::TrialSession {
 public:
  // A directory that is not there yet; the trial's tables are made and its statements prepared. One that is
  // refused fails when it is run.
  static base::Result<std::unique_ptr<TrialDatabase>> open(const std::string& directory,
                                                           const advisor::Trial& trial);
  ~TrialDatabase() override;

  base::Result<std::vector<advisor::Cells>> run(size_t statement, const advisor::Cells& values) override;
  const std::vector<advisor::Marker>& markers(size_t statement) const override {
    return statements_[statement].markers;
  }

  // The same without waiting for the answer; a failure is told by a later call.
  base::Status load(size_t statement, const advisor::Cells& values);
  // Waits for what was loaded, rewrites the files as they will be after a while, and prepares the statements
  // again: indexes may have been built meanwhile.
  base::Status settle();

  // What the database used since the clocks were reset.
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
    plan::PreparedPtr plan;            // nullptr: it is refused,
    std::optional<base::Error> error;  // with this
    std::vector<advisor::Marker> markers;
  };

  std::unique_ptr<engine::Engine> engine_;
  std::vector<Statement> statements_;
  std::unique_ptr<Loads> loads_;
  Clocks clocks_;
};

}  // namespace sibyl
