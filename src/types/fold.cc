#include "types/fold.h"

#include <unicode/locid.h>
#include <unicode/normalizer2.h>
#include <unicode/translit.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <memory>

#include "base/ascii.h"

namespace sibyl::types {

namespace {

bool is_ascii(BytesView text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

icu::UnicodeString to_unicode(BytesView text) {
  return icu::UnicodeString::fromUTF8(icu::StringPiece(text.data(), static_cast<int32_t>(text.size())));
}

Bytes to_bytes(const icu::UnicodeString& text) {
  Bytes out;
  text.toUTF8String(out);
  return out;
}

}  // namespace

Bytes lower_case(BytesView text) {
  if (!is_ascii(text)) return to_bytes(to_unicode(text).toLower(icu::Locale::getRoot()));
  Bytes out(text);
  for (char& c : out) c = base::ascii_lower(c);
  return out;
}

Bytes upper_case(BytesView text) {
  if (!is_ascii(text)) return to_bytes(to_unicode(text).toUpper(icu::Locale::getRoot()));
  Bytes out(text);
  for (char& c : out) c = base::ascii_upper(c);
  return out;
}

Bytes compose(BytesView text) {
  if (is_ascii(text)) return Bytes(text);
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* form = icu::Normalizer2::getNFCInstance(status);
  if (U_FAILURE(status)) return Bytes(text);
  const icu::UnicodeString composed = form->normalize(to_unicode(text), status);
  return U_FAILURE(status) ? Bytes(text) : to_bytes(composed);
}

Bytes fold_to_ascii(BytesView text) {
  if (is_ascii(text)) return Bytes(text);
  // One per thread, because a Transliterator is not thread-safe.
  thread_local const std::unique_ptr<icu::Transliterator> folding = [] {
    UErrorCode status = U_ZERO_ERROR;
    return std::unique_ptr<icu::Transliterator>(
        icu::Transliterator::createInstance("Latin-ASCII", UTRANS_FORWARD, status));
  }();
  if (folding == nullptr) return Bytes(text);
  icu::UnicodeString folded = to_unicode(text);
  folding->transliterate(folded);
  return to_bytes(folded);
}

}  // namespace sibyl::types
