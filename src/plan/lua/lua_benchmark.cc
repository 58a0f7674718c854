#include <benchmark/benchmark.h>

#include "plan/lua/lua.h"

namespace sibyl::plan {
namespace {

using types::Kind;
using types::TypePtr;
using types::ValueView;

std::shared_ptr<const LuaFunction> compiled(const TypePtr& type, const char* body) {
  return *LuaFunction::compile({"ks.f", {"a"}, {type}, type, body});
}

void call_with_a_number(benchmark::State& state) {
  const auto function = compiled(types::scalar(Kind::int_), "return a + 1");
  const base::Bytes one = types::encode_int32(1);
  const ValueView argument = ValueView::of(one);
  for (auto _ : state) benchmark::DoNotOptimize(function->call(std::span(&argument, 1)));
}
BENCHMARK(call_with_a_number)->Threads(1)->Threads(2);

void call_with_a_text(benchmark::State& state) {
  const auto function = compiled(types::scalar(Kind::text), "return a:upper():gsub('O', '0')");
  const base::Bytes text = "hello world, how do you do";
  const ValueView argument = ValueView::of(text);
  for (auto _ : state) benchmark::DoNotOptimize(function->call(std::span(&argument, 1)));
}
BENCHMARK(call_with_a_text);

void call_with_a_list(benchmark::State& state) {
  const TypePtr list = types::list_of(types::scalar(Kind::int_), false);
  const auto function = compiled(list, "table.sort(a) return a");
  const auto made = compiled(list, "local t = {} for i = 1, 100 do t[i] = (i * 37) % 100 end return t");
  const ValueView null;
  const base::Bytes bytes = **made->call(std::span(&null, 1));
  const ValueView argument = ValueView::of(bytes);
  for (auto _ : state) benchmark::DoNotOptimize(function->call(std::span(&argument, 1)));
}
BENCHMARK(call_with_a_list);

void compile(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(compiled(types::scalar(Kind::int_), "return a + 1"));
}
BENCHMARK(compile);

}  // namespace
}  // namespace sibyl::plan
