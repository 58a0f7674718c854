// Ways to find data in tables: what a query asks for, or what a change must know before it can write.
//
// Pure functions over a fixed list of tables; a plan names tables by their index in it.
#pragma once

#include <string>
#include <vector>

#include "advisor/cost.h"
#include "advisor/workload.h"

namespace sibyl::advisor {

// A field whose value is known from the start.
struct Given {
  FieldReference field;
  Operand value;
};

// What has to be found.
struct Need {
  Graph graph;
  std::vector<Given> given;
  std::vector<Predicate> ranges;
  std::vector<FieldReference> wanted;
  std::vector<OrderTerm> order;
  std::optional<double> limit;
};

Need need_of(const Statement& query);
// Equal texts: equal needs, whatever their nodes' numbers. `values`: also equal operands.
std::string need_text(const Model& model, const Need& need, bool values);

// A table, and the need's node for each of its nodes; npos: the need does not ask for it.
struct Place {
  size_t table = 0;
  std::vector<size_t> nodes;
};

// One request, or as many as the reads before it found rows.
struct Read {
  // Tables that serve alike: any one will do. The narrowest comes first.
  std::vector<Place> places;
  size_t equal = 0;    // leading clustering fields that are restricted by =
  bool range = false;  // the next one is restricted by a range
  bool limited = false;
  bool first = false;  // bound by given values alone
  double partitions = 1, rows = 1, cost = 0;
  // Which periods of a table that is split by time are asked.
  enum class Periods { none, one, newest, range, all };
  Periods periods = Periods::none;
  // Reads of one table with the same key within a group find the same rows: one serves several statements.
  std::string key;

  const Place& place() const { return places[0]; }
};

struct ReadPlan {
  std::vector<Read> reads;
  bool sort = false;
  double rows = 1;
  double cost = 0;
};

// Every plan worth having: where it can be run, no other one can that costs less. Cheapest first. At most
// `limit` plans are looked at.
std::vector<ReadPlan> find_plans(const Model& model, const CostModel& cost, const std::vector<Layout>& tables,
                                 const Need& need, size_t limit = 20000);

}  // namespace sibyl::advisor
