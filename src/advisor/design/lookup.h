// Finds access plans: ways to read from tables the data that a query asks for, or that an update must know
// before it can write.
//
// Pure functions over a fixed list of tables. Plans refer to tables by index.
#pragma once

#include <string>
#include <vector>

#include "advisor/workload/cost.h"
#include "advisor/workload/workload.h"

namespace sibyl::advisor {

// A field whose value is known when the plan starts.
struct KnownField {
  FieldReference field;
  Operand value;
};

// The data that a plan must find.
struct Requirement {
  Graph graph;
  std::vector<KnownField> given;
  std::vector<Predicate> ranges;
  std::vector<FieldReference> wanted;
  std::vector<OrderTerm> order;
  std::optional<double> limit;
};

Requirement requirement_of(const Statement& query);
// A canonical text. Two requirements have equal texts if they are equal, regardless of the numbering of their
// nodes. With `values`, operands must be equal as well.
std::string requirement_text(const Model& model, const Requirement& need, bool values);

// A table and the meaning of its nodes. For each node, it has the node of the requirement, or npos if the
// requirement does not use it.
struct Place {
  size_t table = 0;
  std::vector<size_t> nodes;
};

// A read. It runs once, or once for each row that the previous reads found.
struct Read {
  // Equivalent tables, narrowest first. A plan may use any of them.
  std::vector<Place> places;
  size_t equal = 0;    // number of leading clustering fields restricted by =
  bool range = false;  // the next clustering field is restricted by a range
  bool limited = false;
  bool first = false;  // uses only values that are known when the plan starts
  double partitions = 1, rows = 1, cost = 0;
  // The periods to read from a table that is split by time.
  enum class Periods { none, one, newest, range, all };
  Periods periods = Periods::none;
  // Within a group, reads of a table with the same key find the same rows, so one read can serve several
  // statements.
  std::string key;

  const Place& place() const { return places[0]; }
};

struct ReadPlan {
  std::vector<Read> reads;
  bool sort = false;
  double rows = 1;
  double cost = 0;
};

// Returns every plan that is not dominated: no plan that uses the same or equivalent tables costs less.
// Cheapest first. Examines at most `limit` plans.
std::vector<ReadPlan> find_plans(const Model& model, const CostModel& cost, const std::vector<Layout>& tables,
                                 const Requirement& need, size_t limit = 20000);

}  // namespace sibyl::advisor
