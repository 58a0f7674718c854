// Conversions between values of the public API and CQL bytes.
#pragma once

#include <sibyl/value.h>

#include "base/result.h"
#include "types/type.h"
#include "types/value.h"

namespace sibyl::engine {

// A bound value: null, unset, or bytes that are valid for the type.
struct EncodedValue {
  types::ValueView::State state = types::ValueView::State::null;
  base::Bytes bytes;

  types::ValueView view() const { return {state, bytes}; }
};
// Returns an error that names the mismatch if the value does not fit the type.
Result<EncodedValue> encode_value(const types::Type& type, const Value& value);

// Decodes valid bytes. Zero-length bytes of types that have no empty value become null.
Value decode_value(const types::Type& type, base::BytesView bytes);

// Converts an error to the public API's type.
Error public_error(const base::Error& error);

}  // namespace sibyl::engine
