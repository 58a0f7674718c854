#include "storage/partition_sample.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <random>
#include <set>

#include "row/record_key.h"

namespace sibyl::storage {
namespace {

using Data = std::map<int64_t, PartitionSize>;  // by token

PartitionSample sample_of(const Data& data, size_t most = PartitionSample::listed_by_piece) {
  PartitionSample sample(most);
  for (const auto& [token, size] : data) sample.add(token, size);
  return sample;
}

PartitionSample merged(const std::vector<Data>& pieces) {
  PartitionSample all(PartitionSample::listed_in_all);
  for (const Data& piece : pieces) all.merge(sample_of(piece));
  return all;
}

std::vector<uint64_t> numbers(const PartitionSample& sample) {
  const PartitionSample::Summary found = sample.summary();
  return {found.partitions,
          found.rows,
          found.bytes,
          found.partition_rows.p50,
          found.partition_rows.p90,
          found.partition_rows.p99,
          found.partition_rows.max,
          found.partition_bytes.p50,
          found.partition_bytes.p90,
          found.partition_bytes.p99,
          found.partition_bytes.max};
}

// Random partitions, each of which may be in several pieces.
Data random_data(std::mt19937_64& random, size_t partitions, int64_t different) {
  Data data;
  for (size_t i = 0; i < partitions; ++i) {
    const uint64_t rows = 1 + random() % 100;
    const auto token =
        static_cast<int64_t>((random() % static_cast<uint64_t>(different)) * 0x9e3779b97f4a7c15u);
    data[token] = {rows, rows * 50 + random() % 1000};
  }
  return data;
}

Data sum(const std::vector<Data>& pieces) {
  Data all;
  for (const Data& piece : pieces)
    for (const auto& [token, size] : piece) {
      all[token].rows += size.rows;
      all[token].bytes += size.bytes;
    }
  return all;
}

TEST(PartitionSample, few_partitions_are_exact) {
  EXPECT_TRUE(rc::check([] {
    std::mt19937_64 random(*rc::gen::arbitrary<uint32_t>());
    std::vector<Data> pieces(*rc::gen::inRange<size_t>(1, 5));
    for (Data& piece : pieces) piece = random_data(random, random() % 14, 30);
    const Data all = sum(pieces);
    // The merged sample equals the sample of a single piece, except for the number of runs.
    RC_ASSERT(numbers(merged(pieces)) == numbers(sample_of(all, PartitionSample::listed_in_all)));
    RC_ASSERT(merged(pieces).summary().partitions == all.size());
  }));
}

TEST(PartitionSample, merging_gives_the_same_in_any_order_and_grouping) {
  EXPECT_TRUE(rc::check([] {
    std::mt19937_64 random(*rc::gen::arbitrary<uint32_t>());
    std::vector<PartitionSample> pieces;
    for (int i = 0; i < 4; ++i) pieces.push_back(sample_of(random_data(random, random() % 2000, 3000)));
    const size_t most = *rc::gen::element<size_t>(400, PartitionSample::listed_in_all);
    PartitionSample one(most), two(most), three(most), inner(most);
    for (const PartitionSample& piece : pieces) one.merge(piece);
    for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) two.merge(*piece);
    inner.merge(pieces[1]);
    inner.merge(pieces[3]);
    three.merge(pieces[2]);
    three.merge(inner);
    three.merge(pieces[0]);
    RC_ASSERT(numbers(one) == numbers(two));
    RC_ASSERT(numbers(one) == numbers(three));
  }));
}

TEST(PartitionSample, many_partitions_are_estimated_within_the_stated_errors) {
  std::mt19937_64 random(5);
  int outside = 0;
  constexpr int rounds = 60;
  for (int round = 0; round < rounds; ++round) {
    std::vector<Data> pieces(1 + random() % 4);
    for (Data& piece : pieces) piece = random_data(random, 3000 + random() % 3000, 9000);
    const Data all = sum(pieces);
    const PartitionSample::Summary found = merged(pieces).summary();
    uint64_t rows = 0, largest = 0;
    std::vector<uint64_t> sorted;
    for (const auto& [token, size] : all) {
      rows += size.rows;
      largest = std::max(largest, size.bytes);
      sorted.push_back(size.rows);
    }
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(found.rows, rows);
    EXPECT_LE(found.partition_bytes.max, largest);
    const double partitions = static_cast<double>(found.partitions) / static_cast<double>(all.size());
    // This limit is twice the standard error. At most one in twenty estimates may exceed it.
    outside += std::abs(partitions - 1) > 2 * 0.044 ? 1 : 0;
    const auto rank = [&](uint64_t value) {
      const auto end = std::upper_bound(sorted.begin(), sorted.end(), value);
      return static_cast<double>(end - sorted.begin()) / static_cast<double>(sorted.size());
    };
    outside += std::abs(rank(found.partition_rows.p50) - 0.5) > 2 * 0.022 + 0.01 ? 1 : 0;
    outside += std::abs(rank(found.partition_rows.p99) - 0.99) > 2 * 0.005 + 0.01 ? 1 : 0;
  }
  EXPECT_LE(outside, 3 * rounds / 10);
}

TEST(PartitionSample, a_single_piece_knows_how_many_partitions_it_has) {
  std::mt19937_64 random(6);
  const Data data = random_data(random, 50'000, 1'000'000);
  EXPECT_EQ(sample_of(data).summary().partitions, data.size());
}

TEST(PartitionSample, the_largest_partition_is_found_though_it_is_split) {
  std::mt19937_64 random(7);
  std::vector<Data> pieces(8);
  for (Data& piece : pieces) {
    piece = random_data(random, 5000, 1'000'000);
    piece[42] = {10'000, 1'000'000};
  }
  const PartitionSample::Summary found = merged(pieces).summary();
  EXPECT_EQ(found.partition_rows.max, 80'000u);
  EXPECT_EQ(found.partition_bytes.max, 8'000'000u);
}

TEST(PartitionSample, partial_samples_are_scaled) {
  std::mt19937_64 random(8);
  PartitionSample sample = sample_of(random_data(random, 1000, 1'000'000));
  const PartitionSample::Summary before = sample.summary();
  sample.set_share(0.25);
  const PartitionSample::Summary after = sample.summary();
  EXPECT_EQ(after.rows, before.rows * 4);
  EXPECT_EQ(after.partitions, before.partitions * 4);
  EXPECT_EQ(after.partition_rows.p50, before.partition_rows.p50);
}

TEST(PartitionSample, is_read_back_and_garbage_is_refused) {
  EXPECT_TRUE(rc::check([] {
    std::mt19937_64 random(*rc::gen::arbitrary<uint32_t>());
    const PartitionSample sample = sample_of(random_data(random, random() % 1500, 9000));
    Bytes bytes;
    sample.append_to(bytes);
    base::Reader in(bytes);
    PartitionSample again;
    RC_ASSERT(again.read_from(in));
    RC_ASSERT(in.at_end());
    RC_ASSERT(numbers(again) == numbers(sample));
    base::Reader part(BytesView(bytes).substr(0, *rc::gen::inRange<size_t>(0, bytes.size())));
    RC_ASSERT(!again.read_from(part));
  }));
}

TEST(PartitionSample, merged_samples_are_read_back_completely) {
  EXPECT_TRUE(rc::check([] {
    std::mt19937_64 random(*rc::gen::arbitrary<uint32_t>());
    PartitionSample sample(PartitionSample::listed_in_all);
    for (int piece = 0; piece < 3; ++piece)
      sample.merge(sample_of(random_data(random, random() % 1500, 500)));
    Bytes bytes;
    sample.append_merged_to(bytes);
    base::Reader in(bytes);
    PartitionSample again;
    RC_ASSERT(again.read_merged_from(in));
    RC_ASSERT(in.at_end());
    RC_ASSERT(numbers(again) == numbers(sample));
    const PartitionSample more = sample_of(random_data(random, 700, 500));
    again.merge(more);
    sample.merge(more);
    RC_ASSERT(numbers(again) == numbers(sample));
    base::Reader part(BytesView(bytes).substr(0, *rc::gen::inRange<size_t>(0, bytes.size())));
    RC_ASSERT(!again.read_merged_from(part));
  }));
}

TEST(PartitionCounter, counts_rows_and_bytes_of_partitions) {
  PartitionCounter counter;
  const Bytes first = row::partition_prefix(2000, -5, "a"), second = row::partition_prefix(2000, 7, "b");
  counter.add(row::partition_record_key(first), 10);
  counter.add(row::row_record_key(first, "1"), 20);
  counter.add(row::row_record_key(first, "1"), 30);  // this is another fragment of the same row
  counter.add(row::row_record_key(first, "2"), 40);
  counter.add(row::row_record_key(second, "1"), 50);
  counter.add(row::row_record_key(row::partition_prefix(2001, 7, "b"), "1"), 60);
  counter.finish();
  const PartitionSample::Summary found = counter.samples()[2000].summary();
  EXPECT_EQ(found.partitions, 2u);
  EXPECT_EQ(found.rows, 3u);
  EXPECT_EQ(found.partition_rows.max, 2u);
  EXPECT_EQ(found.partition_rows.p50, 1u);
  EXPECT_EQ(counter.samples()[2001].summary().rows, 1u);
}

}  // namespace
}  // namespace sibyl::storage
