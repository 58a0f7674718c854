#include "cluster/simulation/history.h"

#include <fmt/format.h>

#include <set>
#include <span>

#include "base/linearizable.h"

namespace sibyl::cluster::simulation {
namespace {

std::string print(const Value& value) {
  return value ? std::to_string(*value) : "-";
}

bool is_unknown(const Operation& operation) {
  return operation.response.status != Response::Status::done;
}

// An operation whose outcome is unknown has no result to compare. If it was never executed, it is last in the
// order, where no other operation sees its effect.
bool step(Value& state, const Operation& operation) {
  const Request& request = operation.request;
  const bool applies = request.kind == Request::Kind::write || request.kind == Request::Kind::add ||
                       (request.kind == Request::Kind::exchange && state == request.expected);
  if (!is_unknown(operation) && (operation.response.seen != state || operation.response.applied != applies))
    return false;
  if (applies) state = request.kind == Request::Kind::add ? state.value_or(0) + request.value : request.value;
  return true;
}

// Values are unique, and every response contains the value that it found. So a write with unknown outcome can
// be left out if no response contains its value. That keeps the search small.
std::vector<Operation> without_unseen(const std::vector<Operation>& operations) {
  std::set<Value> seen;
  for (const Operation& operation : operations)
    if (!is_unknown(operation)) seen.insert(operation.response.seen);
  std::vector<Operation> kept;
  for (const Operation& operation : operations) {
    const bool adds = operation.request.kind == Request::Kind::add;
    const bool reads = operation.request.kind == Request::Kind::read;
    if (!is_unknown(operation) || (!reads && (adds || seen.contains(operation.request.value))))
      kept.push_back(operation);
  }
  return kept;
}

}  // namespace

std::string to_string(const Operation& operation) {
  static constexpr const char* kinds[] = {"read", "write", "exchange", "add"};
  static constexpr const char* statuses[] = {"done", "moved", "unknown"};
  return fmt::format("{:>5}..{:<5} {} expected {} value {}: {} applied {} seen {}", operation.called,
                     operation.returned == UINT64_MAX ? "" : std::to_string(operation.returned),
                     kinds[static_cast<size_t>(operation.request.kind)], print(operation.request.expected),
                     operation.request.value, statuses[static_cast<size_t>(operation.response.status)],
                     operation.response.applied, print(operation.response.seen));
}

size_t History::call(const Request& request) {
  operations_.push_back({request, {.status = Response::Status::unknown}, ++clock_, UINT64_MAX});
  return operations_.size() - 1;
}

void History::finish(size_t operation, const Response& response) {
  operations_[operation].response = response;
  if (!is_unknown(operations_[operation])) operations_[operation].returned = ++clock_;
}

std::string History::find_violation() const {
  std::map<Key, std::vector<Operation>> by_key;
  for (const Operation& operation : operations_) by_key[operation.request.key].push_back(operation);
  for (const auto& [key, operations] : by_key) {
    const auto kept = without_unseen(operations);
    if (base::is_linearizable(std::span<const Operation>(kept), Value(), step)) continue;
    std::string text = fmt::format("the history of key {} is not linearizable:\n", key);
    for (const Operation& operation : operations) text += "  " + to_string(operation) + "\n";
    return text;
  }
  return {};
}

}  // namespace sibyl::cluster::simulation
