// Generators of fragments for property tests. They use few columns, paths, timestamps and values, so that
// ties are common.
#pragma once

#include <rapidcheck.h>

#include <deque>
#include <string>
#include <vector>

#include "row/counter.h"
#include "row/fragment.h"

namespace sibyl::row {

// A fragment and the bytes that its views point into.
struct GeneratedFragment {
  std::deque<Bytes> bytes;
  Fragment fragment;

  BytesView keep(Bytes value) { return bytes.emplace_back(std::move(value)); }
};

namespace generate {

inline int64_t timestamp() {
  return *rc::gen::element<int64_t>(-5, 0, 10, 11, 12, 13, 1'700'000'000'000'000);
}
inline int64_t seconds() {
  return *rc::gen::element<int64_t>(0, 90, 100, 101, 110, 1'000'000);
}
inline int32_t time_to_live() {
  return *rc::gen::element<int32_t>(1, 10, 20);
}
inline Bytes value() {
  return *rc::gen::element<Bytes>("", "a", "b", "aa", Bytes("\0\xff", 2));
}
inline Bytes counter() {
  if (*rc::gen::inRange(0, 8) == 0) return value();
  return encode_counter({*rc::gen::inRange<int64_t>(0, 4), *rc::gen::inRange<int64_t>(-2, 3)});
}

inline Deletion deletion() {
  return {timestamp(), seconds()};
}

inline Cell cell(GeneratedFragment& into) {
  Cell cell;
  cell.column = *rc::gen::element<uint32_t>(0, 1, 2, 3, 7, std::numeric_limits<uint32_t>::max());
  cell.kind = static_cast<CellKind>(*rc::gen::inRange(0, 4));
  cell.timestamp = timestamp();
  if (*rc::gen::inRange(0, 3) == 0) cell.path = into.keep(*rc::gen::element<Bytes>("p", "q", "pp"));
  if (*rc::gen::inRange(0, 8) == 0) cell.original_path = into.keep(*rc::gen::element<Bytes>("P", "Q"));
  if (cell.kind == CellKind::expiring) cell.time_to_live = time_to_live();
  if (cell.kind == CellKind::expiring || cell.kind == CellKind::tombstone) cell.expires_seconds = seconds();
  if (cell.kind != CellKind::tombstone)
    cell.value = into.keep(cell.kind == CellKind::counter ? counter() : value());
  return cell;
}

inline GeneratedFragment fragment() {
  GeneratedFragment generated;
  Fragment& fragment = generated.fragment;
  if (*rc::gen::inRange(0, 2) == 0) {
    fragment.marker.timestamp = timestamp();
    if (*rc::gen::inRange(0, 2) == 0) {
      fragment.marker.time_to_live = time_to_live();
      fragment.marker.expires_seconds = seconds();
    }
  }
  if (*rc::gen::inRange(0, 3) == 0) fragment.deletion = deletion();
  fragment.has_range_deletions = *rc::gen::inRange(0, 8) == 0;
  if (*rc::gen::inRange(0, 8) == 0)
    fragment.original_clustering = generated.keep(*rc::gen::element<Bytes>("c", "d"));
  for (int i = *rc::gen::element(0, 0, 0, 1, 2); i > 0; --i)
    fragment.column_deletions.push_back({*rc::gen::inRange<uint32_t>(0, 4), deletion()});
  for (int i = *rc::gen::inRange(0, 7); i > 0; --i) fragment.cells.push_back(cell(generated));
  return generated;
}

inline Bytes encoded_fragment() {
  GeneratedFragment generated = fragment();
  Bytes out;
  encode(generated.fragment, out);
  return out;
}

// Bytes that a decoder may find in place of a fragment: valid, damaged or random.
inline Bytes anything() {
  switch (*rc::gen::inRange(0, 8)) {
    case 0:
      return *rc::gen::arbitrary<std::string>();
    case 1:
      return *rc::gen::element<Bytes>("", "\x01", Bytes("\x01\0", 2), "\x02", "zz");
    case 2: {
      Bytes damaged = encoded_fragment();
      damaged[*rc::gen::inRange<size_t>(0, damaged.size())] = static_cast<char>(*rc::gen::inRange(0, 256));
      return damaged;
    }
    default:
      return encoded_fragment();
  }
}

}  // namespace generate
}  // namespace sibyl::row
