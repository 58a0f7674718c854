#include "execute/write/combine_merges.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "row/merge.h"

namespace sibyl::execute {
namespace {

using base::Bytes;
using base::BytesView;
using storage::WriteSet;
using Write = WriteSet::Operation;

bool by_key(const Write& left, const Write& right) {
  return left.key < right.key;
}

// REQUIRES: the operations are sorted by key.
WriteSet combine(std::vector<Write> operations) {
  WriteSet combined;
  std::vector<BytesView> fragments;
  for (size_t begin = 0, end = 0; begin < operations.size(); begin = end) {
    fragments.clear();
    for (end = begin; end < operations.size() && operations[end].key == operations[begin].key; ++end)
      fragments.push_back(operations[end].value);
    if (fragments.size() == 1) {
      combined.merge(std::move(operations[begin].key), std::move(operations[begin].value));
      continue;
    }
    Bytes merged;
    row::merge(fragments, merged);
    merged.shrink_to_fit();  // shrink, because the buffer was allocated for the worst case
    combined.merge(std::move(operations[begin].key), std::move(merged));
  }
  return combined;
}

}  // namespace

void combine_merges(WriteSet& writes) {
  const std::vector<Write>& operations = writes.operations();
  const auto is_merge = [](const Write& one) { return one.action == WriteSet::Action::merge; };
  if (operations.size() < 2 || !std::all_of(operations.begin(), operations.end(), is_merge)) return;
  const auto is_before = [](const Write& left, const Write& right) { return !by_key(left, right); };
  // If each key occurs once and keys are in order, there is nothing to combine.
  if (std::adjacent_find(operations.begin(), operations.end(), is_before) == operations.end()) return;
  std::vector<Write> sorted = std::move(writes).take();
  std::sort(sorted.begin(), sorted.end(), by_key);
  writes = combine(std::move(sorted));
}

}  // namespace sibyl::execute
