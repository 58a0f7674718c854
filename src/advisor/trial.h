// A schema with synthetic data and the statements that are run on it: what a measurement measures. Made here,
// run by whoever has a database: nothing here does I/O.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "advisor/design.h"
#include "advisor/review.h"
#include "advisor/synthetic.h"
#include "base/bytes.h"
#include "base/result.h"

namespace sibyl::advisor {

// A row of values in CQL's serialisation; nullopt: null.
using Cells = std::vector<std::optional<base::Bytes>>;

// What a marker stands for: the column, "in(column)", "[limit]" and the like.
struct Marker {
  std::string name;
  types::TypePtr type;
};

// The database under test. One thread at a time.
class TrialSession {
 public:
  virtual ~TrialSession() = default;
  // Runs a statement of the trial, with values for its markers.
  virtual base::Result<std::vector<Cells>> run(size_t statement, const Cells& values) = 0;
  virtual const std::vector<Marker>& markers(size_t statement) const = 0;
};

// What the cost model counts.
struct Work {
  double requests = 0, partitions = 0, rows = 0;  // read
  double inserts = 0, removes = 0, sorts = 0;
  double scanned = 0;     // partitions that a request passes on its way through many, the first left out
  double tombstones = 0;  // deleted rows that a request walks over

  double cost(const CostModel& model) const {
    return requests * model.lookup + partitions * model.partition + rows * model.row +
           inserts * model.insert + removes * model.remove + sorts * model.sort + scanned * model.scanned +
           tombstones * model.tombstone;
  }
};

// What is measured: a statement of the workload with all requests that it takes.
struct Operation {
  std::string name, group;
  double weight = 1;
  std::optional<Work> work;    // of one execution, predicted
  std::optional<double> rows;  // returned by one execution, predicted
  // A recorded statement, whose values are guessed: one that the database refuses is left out.
  bool may_fail = false;
  std::function<base::Status(TrialSession&, Random&)> run;
  std::optional<double> requests;  // that one execution takes, predicted where it is more than one
};

struct Trial {
  struct Text {
    std::string text, keyspace;
  };
  std::string name;                // "given", "suggested", a schema's
  std::vector<Text> definitions;   // in their order
  std::vector<Text> statements;    // to be prepared; operations name them by their place
  std::vector<std::string> notes;  // what was assumed or left out
  double rows = 0;                 // about as many are loaded
  uint64_t tombstones = 0;         // are loaded beside them
  // Tells every row to load, as a statement with values, until that fails.
  using Sink = std::function<base::Status(size_t statement, const Cells& values)>;
  std::function<base::Status(const Sink&)> load;
  std::vector<Operation> operations;

  // The place of a statement, added when it is new.
  size_t place(const std::string& text, const std::string& keyspace = trial_keyspace);
  static constexpr const char* trial_keyspace = "advise";
};

struct TrialOptions {
  double scale = 1;  // of the declared counts; rows per partition stay what they are
  uint64_t seed = 1;
  // Of reviews: what a database has recorded, which the data and requests are made like. It must outlive the
  // call.
  const Observation* observation = nullptr;
};

// The same with fewer or more of everything that is counted.
Workload scaled(Workload workload, double scale);
// Rows that the tables hold in all: what a scale is chosen by.
double rows_of(const Design& design);

// A design with the plans and the upkeep it states. REQUIRES: its reads are not shared, and everything
// outlives the trial. `schema`: of a design for DesignOptions::complete_schema, whose stated plans are run,
// too.
base::Result<Trial> make_trial(const Workload& workload, const Design& design, const TrialOptions& options,
                               const std::string& schema = {});

// A reviewed schema, and what the review suggests instead where that can be run: one trial or two. The costs
// predicted are for the scaled counts. Refused, with what to do, when an observation has recorded too little.
base::Result<std::vector<Trial>> make_trials(const std::vector<Workload>& workloads,
                                             const TrialOptions& options);
// Operations of known work, which tell what each part of it takes on this machine.
Trial make_calibration(uint64_t seed);

// What the tables hold in all that statements use: what a scale is chosen by.
struct TrialVolume {
  double rows = 0, bytes = 0;
};
base::Result<TrialVolume> trial_volume(const std::vector<Workload>& workloads,
                                       const Observation* observation);

}  // namespace sibyl::advisor
