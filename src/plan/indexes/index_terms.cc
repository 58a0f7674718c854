#include "plan/indexes/index_terms.h"

#include "base/statement.h"
#include "plan/indexes/stemming.h"
#include "plan/indexes/stop_words.h"
#include "plan/indexes/words.h"
#include "types/fold.h"
#include "types/keys/key.h"
#include "types/keys/key_decode.h"

namespace sibyl::plan {

using types::Kind;

namespace {

// Longer values may share a term, so readers compare the rows' values.
constexpr size_t max_term_bytes = 1024;
// The time to find a word, fold it and compute its stem, for each byte of the text.
constexpr int64_t nanos_of_byte = 100;

// True if the bytes of the values are sorted like the values.
bool is_raw(const types::Type& type) {
  return type.kind() == Kind::text || type.kind() == Kind::ascii || type.kind() == Kind::blob;
}

// True if keys of the type have a bounded size and need no truncation.
bool is_short(const types::Type& type) {
  switch (type.kind()) {
    case Kind::tinyint:
    case Kind::smallint:
    case Kind::int_:
    case Kind::bigint:
    case Kind::timestamp:
    case Kind::date:
    case Kind::time:
    case Kind::float_:
    case Kind::double_:
    case Kind::boolean:
    case Kind::uuid:
    case Kind::timeuuid:
      return true;
    default:
      return false;
  }
}

void append(const types::Type& type, BytesView value, Bytes& out) {
  if (is_short(type)) {
    types::encode_key(type, value, false, out);
  } else if (is_raw(type)) {
    types::encode_raw_key(value.substr(0, max_term_bytes), out);
  } else {
    Bytes key;
    types::encode_key(type, value, false, key);
    types::encode_raw_key(BytesView(key).substr(0, max_term_bytes), out);
  }
}

bool skip_one(const types::Type& type, BytesView& bytes) {
  if (is_short(type)) return types::decode_key(type, false, bytes).has_value();
  return types::decode_raw_key(bytes).has_value();
}

Bytes with_letters(const schema::TextAnalysis& analysis, BytesView text) {
  using Case = schema::TextAnalysis::Case;
  return analysis.letters == Case::lower   ? types::lower_case(text)
         : analysis.letters == Case::upper ? types::upper_case(text)
                                           : Bytes(text);
}

}  // namespace

Bytes analysed(const schema::TextAnalysis& analysis, BytesView value) {
  Bytes text = with_letters(analysis, value);
  if (analysis.normalise) text = types::compose(text);
  if (analysis.ascii) text = types::fold_to_ascii(text);
  return text;
}

std::vector<Bytes> analysed_words(const schema::TextAnalysis& analysis, BytesView text) {
  if (analysis.words == schema::TextAnalysis::Words::delimited)
    return delimited_words(text, analysis.delimiter);
  base::count_work(static_cast<int64_t>(text.size()) * nanos_of_byte);
  std::vector<Bytes> words;
  for (const Bytes& found : standard_words(text)) {
    Bytes word = with_letters(analysis, found);
    if (analysis.skips_stop_words && is_stop_word(analysis.language, word)) continue;
    if (analysis.stems) word = stem_of(analysis.language, word);
    words.push_back(analysis.normalise ? types::compose(word) : std::move(word));
  }
  return words;
}

TermForm TermForm::of(const schema::Table& table, const schema::Index& index) {
  const schema::Column& column = *table.find_by_id(index.column_id);
  TermForm form;
  form.value = schema::indexed_type(column, index.target).get();
  if (index.target == schema::Index::Target::entries) form.key = column.type->map_key().get();
  form.analysis = schema::analysis_of(index, column);
  return form;
}

Bytes TermForm::term(BytesView entry_key, BytesView indexed) const {
  Bytes out;
  if (key != nullptr) append(*key, entry_key, out);
  if (analysis.exists())
    append(*value, analysed(analysis, indexed), out);
  else
    append(*value, indexed, out);
  return out;
}

std::vector<Bytes> TermForm::terms(BytesView entry_key, BytesView indexed) const {
  if (!analysis.has_words()) return {term(entry_key, indexed)};
  std::vector<Bytes> terms = analysed_words(analysis, indexed);
  for (Bytes& word : terms) {
    Bytes term;
    append(*value, word, term);
    word = std::move(term);
  }
  return terms;
}

Bytes TermForm::prefix_of(BytesView text) const {
  Bytes out;
  append(*value, analysis.has_words() ? Bytes(text) : analysed(analysis, text), out);
  out.resize(out.size() - 2);  // remove the terminator of the raw component
  return out;
}

bool TermForm::skip(BytesView& bytes) const {
  return (key == nullptr || skip_one(*key, bytes)) && skip_one(*value, bytes);
}

}  // namespace sibyl::plan
