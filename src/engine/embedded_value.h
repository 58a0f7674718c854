// Between the public API's values and CQL bytes.
#pragma once

#include <sibyl/value.h>

#include "base/result.h"
#include "types/type.h"
#include "types/value.h"

namespace sibyl::engine {

// A bound value: null, unset, or bytes that are valid for the type. Errors say what does not fit.
struct EncodedValue {
  types::ValueView::State state = types::ValueView::State::null;
  base::Bytes bytes;

  types::ValueView view() const { return {state, bytes}; }
};
Result<EncodedValue> encode_value(const types::Type& type, const Value& value);

// A value of valid bytes. Zero-length bytes of types that have no empty value give null.
Value decode_value(const types::Type& type, base::BytesView bytes);

// An error as the public API shows it.
Error public_error(const base::Error& error);

}  // namespace sibyl::engine
