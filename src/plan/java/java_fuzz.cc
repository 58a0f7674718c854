// Any bytes may be a body. A body that compiles runs to its end.
#include <array>
#include <cstdint>
#include <string>
#include <tuple>

#include "plan/java/java.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sibyl;
  const auto scalar = [](types::Kind kind) { return types::scalar(kind); };
  const bool called_on_null_input = size % 2 == 0;
  const auto function = plan::JavaFunction::compile(
      {{"a", "b", "s", "t"},
       {scalar(types::Kind::int_), scalar(types::Kind::double_), scalar(types::Kind::text),
        types::tuple_of({scalar(types::Kind::int_), scalar(types::Kind::text)})},
       scalar(size % 3 == 0 ? types::Kind::text : types::Kind::int_),
       called_on_null_input,
       std::string(reinterpret_cast<const char*>(data), size)});
  if (!function) return 0;
  const base::Bytes number = types::encode_int32(static_cast<int32_t>(size) - 7);
  const base::Bytes real = types::encode_double(static_cast<double>(size) / 3);
  const base::Bytes text = "t\xC3\xA9xt";
  const base::Bytes tuple("\0\0\0\4\0\0\0\5\0\0\0\1x", 13);
  using types::ValueView;
  std::ignore = (*function)->call(
      std::array{ValueView::of(number), ValueView::of(real), ValueView::of(text), ValueView::of(tuple)});
  if (called_on_null_input)
    std::ignore = (*function)->call(
        std::array{ValueView::null(), ValueView::null(), ValueView::null(), ValueView::null()});
  return 0;
}
