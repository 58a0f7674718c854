// Histories of registers, and the proof that one is linearizable.
//
// A partition holds a few registers (its rows); a register holds a number or nothing. Operations read a
// partition or change it under conditions. A history is linearizable when every operation can be thought to
// happen at one moment between its call and its return, such that all answers are those of one thread running
// them in that order.
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

  // The answer.
  bool applied = false;
  State seen{};  // of a read, and of a refusal as far as the operation's registers go

  // Moments of one clock that never repeats.
  uint64_t called = 0, returned = 0;

  std::string print() const;
};

// Whether an operation at this state answers as it did; if so the state becomes what it leaves.
bool step(State& state, const Operation& operation);

// Searches for an order (Wing and Gong's algorithm, remembering what was tried: Lowe's). All registers start
// empty. Takes time exponential in how many operations run at once, in the worst case.
bool is_linearizable(std::span<const Operation> history);

}  // namespace sibyl::linearizability
