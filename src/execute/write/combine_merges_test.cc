#include "execute/write/combine_merges.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>

#include "row/fragment_generator.h"
#include "row/merge.h"

namespace sibyl::execute {
namespace {

using base::Bytes;
using base::BytesView;
using storage::WriteSet;

std::map<Bytes, Bytes> merged(const WriteSet& writes) {
  std::map<Bytes, std::vector<BytesView>> fragments;
  for (const WriteSet::Operation& operation : writes.operations())
    fragments[operation.key].push_back(operation.value);
  std::map<Bytes, Bytes> records;
  for (const auto& [key, values] : fragments) row::merge(values, records[key]);
  return records;
}

RC_GTEST_PROP(CombineMerges, ChangesNoRecord, ()) {
  WriteSet writes;
  const int operations = *rc::gen::inRange(0, 40);
  for (int i = 0; i < operations; ++i)
    writes.merge(std::to_string(*rc::gen::inRange(0, 6)), row::generate::anything());
  const std::map<Bytes, Bytes> expected = merged(writes);
  combine_merges(writes);
  RC_ASSERT(writes.operations().size() == expected.size());
  RC_ASSERT(merged(writes) == expected);
  size_t bytes = 0;
  for (const WriteSet::Operation& operation : writes.operations())
    bytes += operation.key.size() + operation.value.size();
  RC_ASSERT(writes.byte_size() == bytes);
}

TEST(CombineMerges, OperationsThatAreNotMergesKeepTheirOrder) {
  WriteSet writes;
  writes.merge("b", "1");
  writes.erase("a");
  writes.merge("b", "2");
  combine_merges(writes);
  ASSERT_EQ(writes.operations().size(), 3u);
  EXPECT_EQ(writes.operations()[1].action, WriteSet::Action::erase);
}

}  // namespace
}  // namespace sibyl::execute
