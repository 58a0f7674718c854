// For tests: checks that a history of concurrent operations is linearizable.
//
// A history is linearizable if each operation can be assigned one moment between its call and its return,
// such that running the operations in that order on one thread gives the same results.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace sibyl::base {

namespace internal {

// Calls and returns in time order, as a linked list from which operations can be removed and put back.
template <typename Operation>
class Events {
 public:
  struct Event {
    uint64_t time = 0;
    size_t operation = 0;
    bool is_call = false;
    size_t other = 0;  // for a call, the event of its return
    size_t previous = 0, next = 0;
  };

  // Event 0 is the head. `next` is 0 at the end.
  explicit Events(std::span<const Operation> history) : events_(1) {
    for (size_t i = 0; i < history.size(); ++i) {
      events_.push_back({history[i].called, i, true, 0, 0, 0});
      events_.push_back({history[i].returned, i, false, 0, 0, 0});
    }
    std::sort(events_.begin() + 1, events_.end(),
              [](const Event& left, const Event& right) { return left.time < right.time; });
    std::vector<size_t> calls(history.size());
    for (size_t i = 1; i < events_.size(); ++i) {
      events_[i].previous = i - 1;
      events_[i - 1].next = i;
      if (events_[i].is_call)
        calls[events_[i].operation] = i;
      else
        events_[calls[events_[i].operation]].other = i;
    }
    events_.back().next = 0;
  }

  const Event& operator[](size_t event) const { return events_[event]; }
  size_t first() const { return events_[0].next; }
  void take(size_t call) {
    unlink(call);
    unlink(events_[call].other);
  }
  // Must be called in the reverse order of removal.
  void put_back(size_t call) {
    link(events_[call].other);
    link(call);
  }

 private:
  void unlink(size_t event) {
    events_[events_[event].previous].next = events_[event].next;
    if (events_[event].next != 0) events_[events_[event].next].previous = events_[event].previous;
  }
  void link(size_t event) {
    events_[events_[event].previous].next = event;
    if (events_[event].next != 0) events_[events_[event].next].previous = event;
  }
  std::vector<Event> events_;
};

}  // namespace internal

// An Operation has `called` and `returned`: times of one clock that never returns a value twice. `step(state,
// operation)` executes the operation in this state. It returns true, and updates the state, if the result is
// the recorded one. States are ordered by operator<.
//
// Searches for a valid order with Wing and Gong's algorithm and Lowe's memoisation. In the worst case the
// time is exponential in the number of concurrent operations.
template <typename Operation, typename State, typename Step>
bool is_linearizable(std::span<const Operation> history, State state, Step step) {
  struct Taken {
    size_t call;
    State before;
  };
  internal::Events<Operation> events(history);
  std::vector<Taken> taken;
  std::vector<bool> done(history.size());
  std::set<std::pair<std::vector<bool>, State>> tried;
  size_t at = events.first();
  while (events.first() != 0) {
    if (!events[at].is_call) {
      // Some operation must precede this return, but none of the candidates fits. So the last choice was
      // wrong: backtrack.
      if (taken.empty()) return false;
      const Taken last = taken.back();
      taken.pop_back();
      state = last.before;
      done[events[last.call].operation] = false;
      events.put_back(last.call);
      at = events[last.call].next;
      continue;
    }
    State after = state;
    const size_t operation = events[at].operation;
    bool goes = step(after, history[operation]);
    if (goes) {
      done[operation] = true;
      goes = tried.emplace(done, after).second;
      if (!goes) done[operation] = false;
    }
    if (!goes) {
      at = events[at].next;
      continue;
    }
    taken.push_back({at, state});
    state = after;
    events.take(at);
    at = events.first();
  }
  return true;
}

}  // namespace sibyl::base
