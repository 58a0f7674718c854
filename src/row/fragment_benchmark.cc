// The codec and the merge law on a row of five columns: the inner loop of every write and read.
#include <benchmark/benchmark.h>

#include "row/merge.h"

namespace sibyl::row {
namespace {

Fragment five_columns(int64_t timestamp, BytesView value) {
  Fragment fragment;
  fragment.marker.timestamp = timestamp;
  for (uint32_t column = 0; column < 5; ++column) {
    Cell cell;
    cell.column = column;
    cell.timestamp = timestamp;
    cell.value = value;
    fragment.cells.push_back(cell);
  }
  return fragment;
}

void encode_row(benchmark::State& state) {
  Fragment fragment = five_columns(1'700'000'000'000'000, "eighteen bytes....");
  Bytes out;
  for (auto _ : state) {
    encode(fragment, out);
    benchmark::DoNotOptimize(out);
  }
}
BENCHMARK(encode_row);

void decode_row(benchmark::State& state) {
  Fragment fragment = five_columns(1'700'000'000'000'000, "eighteen bytes....");
  Bytes bytes;
  encode(fragment, bytes);
  for (auto _ : state) benchmark::DoNotOptimize(decode(bytes, fragment));
}
BENCHMARK(decode_row);

void merge_two(benchmark::State& state) {
  Fragment older = five_columns(1'700'000'000'000'000, "eighteen bytes....");
  Fragment newer = five_columns(1'700'000'000'000'001, "nineteen bytes.....");
  Bytes first, second, out;
  encode(older, first);
  encode(newer, second);
  const BytesView both[] = {first, second};
  for (auto _ : state) {
    merge(both, out);
    benchmark::DoNotOptimize(out);
  }
}
BENCHMARK(merge_two);

}  // namespace
}  // namespace sibyl::row
