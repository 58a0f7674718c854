#include "linearizability/history.h"

#include <fmt/format.h>

#include "base/linearizable.h"

namespace sibyl::linearizability {

namespace {

std::string print_state(const State& state) {
  std::string text;
  for (const Value& value : state)
    text += (text.empty() ? "" : ",") + (value ? std::to_string(*value) : std::string("-"));
  return text;
}

// Returns true if the condition on the register holds; for a batch, all conditions.
bool holds(const State& state, const Operation& operation) {
  switch (operation.kind) {
    case Operation::Kind::read:
      return true;
    case Operation::Kind::insert:
      return !state[operation.where];
    case Operation::Kind::exchange:
    case Operation::Kind::remove:
      return state[operation.where] == operation.expected[operation.where];
    case Operation::Kind::batch:
      return state == operation.expected;
  }
  return false;
}

}  // namespace

std::string Operation::print() const {
  static constexpr const char* names[] = {"read", "insert", "exchange", "remove", "batch"};
  return fmt::format("{:>6}..{:<6} {} {} expected {} written {}: {} seen {}", called, returned,
                     names[static_cast<size_t>(kind)], where, print_state(expected), print_state(written),
                     applied ? "applied" : "refused", print_state(seen));
}

bool step(State& state, const Operation& operation) {
  if (operation.kind == Operation::Kind::read) return state == operation.seen;
  const bool applied = holds(state, operation);
  if (applied != operation.applied) return false;
  const bool is_batch = operation.kind == Operation::Kind::batch;
  if (!applied)
    return is_batch ? state == operation.seen : state[operation.where] == operation.seen[operation.where];
  if (is_batch) {
    state = operation.written;
  } else {
    state[operation.where] =
        operation.kind == Operation::Kind::remove ? Value() : operation.written[operation.where];
  }
  return true;
}

bool is_linearizable(std::span<const Operation> history) {
  return base::is_linearizable(history, State{}, step);
}

}  // namespace sibyl::linearizability
