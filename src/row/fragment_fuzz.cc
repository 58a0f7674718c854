// Decodes arbitrary bytes. Accepted bytes must be encoded to the same bytes, and the merge law must hold for
// the parts of the input, whether they are fragments or not.
#include <array>
#include <cstdint>

#include "base/check.h"
#include "row/merge.h"

namespace {

using sibyl::base::Bytes;
using sibyl::base::BytesView;

Bytes merged(std::initializer_list<BytesView> fragments) {
  Bytes out;
  sibyl::row::merge(std::span(fragments.begin(), fragments.size()), out);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const BytesView input(reinterpret_cast<const char*>(data), size);
  sibyl::row::Fragment fragment;
  if (sibyl::row::decode(input, fragment)) {
    Bytes again;
    sibyl::row::encode(fragment, again);
    SIBYL_CHECK(BytesView(again) == input);
    sibyl::row::visible_at(fragment, {}, 0);
  }
  // The first two bytes determine where to cut the rest into three parts.
  if (size < 2) return 0;
  const BytesView rest = input.substr(2);
  const size_t first = std::min<size_t>(data[0], rest.size());
  const size_t second = std::min<size_t>(first + data[1], rest.size());
  const BytesView a = rest.substr(0, first), b = rest.substr(first, second - first), c = rest.substr(second);
  const Bytes all = merged({a, b, c});
  SIBYL_CHECK(merged({a}) == a);
  SIBYL_CHECK(merged({a, a}) == a);
  SIBYL_CHECK(merged({a, b}) == merged({b, a}));
  SIBYL_CHECK(merged({merged({a, b}), c}) == all);
  SIBYL_CHECK(merged({a, merged({b, c})}) == all);
  SIBYL_CHECK(merged({all, b}) == all);
  if (sibyl::row::decode(all, fragment)) {
    sibyl::row::purge(fragment, {{0, 0}, 100, 50, true});
    Bytes purged;
    sibyl::row::encode(fragment, purged);
    sibyl::row::Fragment decoded;
    SIBYL_CHECK(sibyl::row::decode(purged, decoded));
  }
  return 0;
}
