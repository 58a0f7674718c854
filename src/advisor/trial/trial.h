// A trial: a schema, synthetic data and the statements to run on it. Trials are built here and run by a
// caller that has a database. No I/O.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "advisor/design/design.h"
#include "advisor/review/review.h"
#include "advisor/workload/synthetic.h"
#include "base/bytes.h"
#include "base/result.h"

namespace sibyl::advisor {

// A row of serialised values; nullopt: null.
using Cells = std::vector<std::optional<base::Bytes>>;

// A marker is named after its column, or "in(column)", "[limit]" and so on.
struct Marker {
  std::string name;
  types::TypePtr type;
};

// The database under test. Not thread-safe.
class TrialSession {
 public:
  virtual ~TrialSession() = default;
  // Runs a statement of the trial with values for its markers.
  virtual base::Result<std::vector<Cells>> run(size_t statement, const Cells& values) = 0;
  virtual const std::vector<Marker>& markers(size_t statement) const = 0;
};

// The quantities that the cost model counts.
struct Work {
  double requests = 0, partitions = 0, rows = 0;  // read
  double inserts = 0, removes = 0, sorts = 0;
  double scanned = 0;     // partitions that a scan passes after the first one
  double tombstones = 0;  // deleted rows that a request skips

  double cost(const CostModel& model) const {
    return requests * model.lookup + partitions * model.partition + rows * model.row +
           inserts * model.insert + removes * model.remove + sorts * model.sort + scanned * model.scanned +
           tombstones * model.tombstone;
  }
};

// The unit of measurement: a statement of the workload with all requests that it needs.
struct Operation {
  std::string name, group;
  double weight = 1;
  std::optional<Work> work;    // the predicted work of one execution
  std::optional<double> rows;  // the predicted number of rows that one execution returns
  // Set for recorded statements, whose values are guessed. The operation is skipped if the database rejects
  // it.
  bool may_fail = false;
  std::function<base::Status(TrialSession&, Random&)> run;
  std::optional<double> requests;  // predicted per execution, if more than one
};

struct Trial {
  struct Text {
    std::string text, keyspace;
  };
  std::string name;                // "given", "suggested" or the name of a schema
  std::vector<Text> definitions;   // the definitions, in an executable order
  std::vector<Text> statements;    // statements to be prepared; operations refer to them by index
  std::vector<std::string> notes;  // assumptions and omissions
  double rows = 0;                 // approximate number of rows to load
  uint64_t tombstones = 0;         // tombstones to load in addition
  // Passes every row to load, as a statement with values, to the sink. Stops at the first error.
  using Sink = std::function<base::Status(size_t statement, const Cells& values)>;
  std::function<base::Status(const Sink&)> load;
  std::vector<Operation> operations;

  // The index of a statement; adds it if it is new.
  size_t place(const std::string& text, const std::string& keyspace = trial_keyspace);
  static constexpr const char* trial_keyspace = "advise";
};

struct TrialOptions {
  double scale = 1;  // the factor by which declared counts are multiplied; rows per partition stay the same
  uint64_t seed = 1;
  // Only for reviews: observations that data and requests should resemble. Must outlive the call.
  const Observation* observation = nullptr;
};

// Scales every count of the workload.
Workload scaled(Workload workload, double scale);
// The total number of rows of the tables; used to choose a scale.
double rows_of(const Design& design);

// Builds a trial of a design with its plans and table maintenance. `schema`: the schema of
// DesignOptions::complete_schema; its stated plans are run as well. REQUIRES: reads of the design are not
// shared, and all arguments outlive the trial.
base::Result<Trial> make_trial(const Workload& workload, const Design& design, const TrialOptions& options,
                               const std::string& schema = {});

// Builds one trial of the reviewed schema, and a second one of the suggested schema if it can be run. Costs
// are predicted for the scaled counts. Returns an error, with advice, if the observation has recorded too
// little.
base::Result<std::vector<Trial>> make_trials(const std::vector<Workload>& workloads,
                                             const TrialOptions& options);
// A trial of operations with known work, used to measure the cost of each kind of work on this machine.
Trial make_calibration(uint64_t seed);

// The total volume of the tables that statements use; used to choose a scale.
struct TrialVolume {
  double rows = 0, bytes = 0;
};
base::Result<TrialVolume> trial_volume(const std::vector<Workload>& workloads,
                                       const Observation* observation);

}  // namespace sibyl::advisor
