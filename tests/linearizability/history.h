// Checks that histories of registers are linearizable.
//
// A partition holds a few registers (its rows). A register holds a number or nothing. Operations read a
// partition or change it conditionally. A history is linearizable if each operation can be assigned one
// moment between its call and its return, such that running the operations in that order on one thread gives
// the same results.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace sibyl::linearizability {

inline constexpr size_t registers = 2;
using Value = std::optional<int32_t>;  // nullopt: the row does not exist
using State = std::array<Value, registers>;

struct Operation {
  enum class Kind {
    read,      // SELECT of the partition
    insert,    // INSERT IF NOT EXISTS into `where`
    exchange,  // UPDATE IF v = expected of `where`
    remove,    // DELETE IF v = expected of `where`
    batch,     // both registers at once, each if it is as expected: nullopt by INSERT IF NOT EXISTS
  };
  Kind kind = Kind::read;
  size_t where = 0;
  State expected{}, written{};

  // The result.
  bool applied = false;
  State seen{};  // by a read; by a rejected operation, only its own registers

  // Times of one clock that never returns a value twice.
  uint64_t called = 0, returned = 0;

  std::string print() const;
};

// Returns true if the operation, executed in this state, gives its recorded result. If so, updates the state.
bool step(State& state, const Operation& operation);

// Searches for a valid order with Wing and Gong's algorithm and Lowe's memoisation. All registers start
// empty. In the worst case the time is exponential in the number of concurrent operations.
bool is_linearizable(std::span<const Operation> history);

}  // namespace sibyl::linearizability
