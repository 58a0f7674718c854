#include "plan/indexes/stemming.h"

#include <libstemmer.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace sibyl::plan {

namespace {

constexpr std::array<std::pair<std::string_view, const char*>, 15> stemmed_languages = {{
    {"da", "danish"},
    {"de", "german"},
    {"en", "english"},
    {"es", "spanish"},
    {"fl", "finnish"},
    {"fr", "french"},
    {"hu", "hungarian"},
    {"it", "italian"},
    {"nl", "dutch"},
    {"no", "norwegian"},
    {"pt", "portuguese"},
    {"ro", "romanian"},
    {"ru", "russian"},
    {"sv", "swedish"},
    {"tr", "turkish"},
}};

struct DeleteStemmer {
  void operator()(sb_stemmer* stemmer) const { sb_stemmer_delete(stemmer); }
};
using Stemmer = std::unique_ptr<sb_stemmer, DeleteStemmer>;

// Returns nullptr if the language has no algorithm.
sb_stemmer* stemmer_of(std::string_view language) {
  const auto found = std::find_if(stemmed_languages.begin(), stemmed_languages.end(),
                                  [&](const auto& one) { return one.first == language; });
  if (found == stemmed_languages.end()) return nullptr;
  // One per thread, because a stemmer is not thread-safe.
  thread_local std::array<Stemmer, stemmed_languages.size()> stemmers;
  Stemmer& stemmer = stemmers[static_cast<size_t>(found - stemmed_languages.begin())];
  if (stemmer == nullptr) stemmer.reset(sb_stemmer_new(found->second, "UTF_8"));
  return stemmer.get();
}

}  // namespace

Bytes stem_of(std::string_view language, BytesView word) {
  sb_stemmer* stemmer = stemmer_of(language);
  if (stemmer == nullptr) return Bytes(word);
  const auto* stem = sb_stemmer_stem(stemmer, reinterpret_cast<const sb_symbol*>(word.data()),
                                     static_cast<int>(word.size()));
  if (stem == nullptr) return Bytes(word);  // out of memory
  return Bytes(reinterpret_cast<const char*>(stem), static_cast<size_t>(sb_stemmer_length(stemmer)));
}

}  // namespace sibyl::plan
