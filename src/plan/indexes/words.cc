#include "plan/indexes/words.h"

#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/uscript.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace sibyl::plan {

namespace {

constexpr int32_t max_word_units = 255;

enum class CharacterClass : uint8_t {
  letter,
  hebrew_letter,
  numeric,
  katakana,
  joiner,        // joins letters, digits and Katakana: `_`
  mid_letter,    // between letters: `:`
  mid_number,    // between digits: `,`
  mid_both,      // between letters or between digits: `.`
  single_quote,  // between letters or between digits, or after a Hebrew letter
  double_quote,  // between Hebrew letters
  extend,        // belongs to the character before it: combining marks
  single,        // a word of its own: Han, Hiragana
  regional,      // half of a flag
  other,
};

struct CharacterRange {
  UChar32 first, last;
};

// Characters that end words in the version of Unicode that Cassandra uses, and belong to words in later ones.
constexpr CharacterRange former_symbols[] = {
    {0x2C2, 0x2C5},   {0x2D2, 0x2D7},   {0x2DE, 0x2DF},   {0x2E5, 0x2EB},     {0x2ED, 0x2ED},
    {0x2EF, 0x2FF},   {0x55A, 0x55C},   {0x55E, 0x55F},   {0x58A, 0x58A},     {0x202F, 0x202F},
    {0xA708, 0xA716}, {0xA720, 0xA721}, {0xA789, 0xA78A}, {0x1F3FB, 0x1F3FF},
};

bool is_former_symbol(UChar32 character) {
  return std::any_of(std::begin(former_symbols), std::end(former_symbols), [&](const CharacterRange& range) {
    return character >= range.first && character <= range.last;
  });
}

CharacterClass class_by_word_break(UChar32 character) {
  using enum CharacterClass;
  if (is_former_symbol(character)) return other;
  switch (u_getIntPropertyValue(character, UCHAR_WORD_BREAK)) {
    case U_WB_ALETTER:
      return letter;
    case U_WB_HEBREW_LETTER:
      return hebrew_letter;
    case U_WB_NUMERIC:
      return numeric;
    case U_WB_KATAKANA:
      return katakana;
    case U_WB_EXTENDNUMLET:
      return joiner;
    case U_WB_MIDLETTER:
      return mid_letter;
    case U_WB_MIDNUM:
      return mid_number;
    case U_WB_MIDNUMLET:
      return mid_both;
    case U_WB_SINGLE_QUOTE:
      return single_quote;
    case U_WB_DOUBLE_QUOTE:
      return double_quote;
    case U_WB_EXTEND:
    case U_WB_FORMAT:
    case U_WB_ZWJ:
      return extend;
    case U_WB_REGIONAL_INDICATOR:
      return regional;
    default:
      return other;
  }
}

bool is_extension(UChar32 character) {
  return character >= 128 && class_by_word_break(character) == CharacterClass::extend;
}

bool is_undivided(UChar32 character) {
  return character >= 128 && u_getIntPropertyValue(character, UCHAR_LINE_BREAK) == U_LB_COMPLEX_CONTEXT;
}

CharacterClass class_by_properties(UChar32 character) {
  using enum CharacterClass;
  const CharacterClass by_break = class_by_word_break(character);
  if (by_break != other) return by_break;
  UErrorCode status = U_ZERO_ERROR;
  const UScriptCode script = uscript_getScript(character, &status);
  if (script == USCRIPT_HAN || script == USCRIPT_HIRAGANA) return single;
  return other;
}

CharacterClass character_class(UChar32 character) {
  static const auto ascii = [] {
    std::array<CharacterClass, 128> classes;
    for (size_t i = 0; i < classes.size(); ++i) classes[i] = class_by_properties(static_cast<UChar32>(i));
    return classes;
  }();
  return character < 128 ? ascii[static_cast<size_t>(character)] : class_by_properties(character);
}

bool is_letter(CharacterClass of) {
  return of == CharacterClass::letter || of == CharacterClass::hebrew_letter;
}

bool is_unit(CharacterClass of) {
  return is_letter(of) || of == CharacterClass::numeric || of == CharacterClass::katakana;
}

// A character with the marks that extend it.
struct Unit {
  CharacterClass of = CharacterClass::other;
  int32_t end = 0;
  // true: punctuation joins the word to the unit before it; its own quotes then end the word.
  bool is_joined = false;
};

class WordScanner {
 public:
  explicit WordScanner(const icu::UnicodeString& text) : text_(text) {}

  std::vector<Bytes> scan() {
    std::vector<Bytes> words;
    for (int32_t at = 0; at < text_.length();) {
      const int32_t end = std::max(end_of_word(at), end_of_undivided(at));
      if (end == at) {
        at = skip_other(at);
        continue;
      }
      if (end - at <= max_word_units) text_.tempSubStringBetween(at, end).toUTF8String(words.emplace_back());
      at = end;
    }
    return words;
  }

 private:
  using enum CharacterClass;

  Unit unit_at(int32_t at) const {
    if (at >= text_.length()) return {};
    Unit unit{character_class(text_.char32At(at)), text_.moveIndex32(at, 1)};
    while (unit.end < text_.length() && is_extension(text_.char32At(unit.end)))
      unit.end = text_.moveIndex32(unit.end, 1);
    return unit;
  }

  // A flag is skipped with the marks that extend it.
  int32_t skip_other(int32_t at) const {
    const Unit first = unit_at(at);
    if (first.of != regional || unit_at(first.end).of != regional) return text_.moveIndex32(at, 1);
    at = first.end;
    for (Unit next = unit_at(at); next.of == regional; next = unit_at(at)) at = next.end;
    return at;
  }

  int32_t skip_joiners(int32_t at) const {
    for (Unit unit = unit_at(at); unit.of == joiner; unit = unit_at(at)) at = unit.end;
    return at;
  }

  int32_t end_of_undivided(int32_t at) const {
    while (at < text_.length() && is_undivided(text_.char32At(at))) at = text_.moveIndex32(at, 1);
    return at;
  }

  // Returns the end of the word at `at`, or `at` if no word begins there.
  int32_t end_of_word(int32_t at) const {
    Unit last = unit_at(at);
    if (last.of == single) return last.end;
    last = unit_at(skip_joiners(at));
    if (!is_unit(last.of)) return at;
    while (extend_word(last)) {
    }
    return last.end;
  }

  // Adds the next unit to the word if there is no break after `last`. Returns false at the end of the word.
  bool extend_word(Unit& last) const {
    const Unit next = unit_at(last.end);
    if (next.of == joiner) {
      last.end = skip_joiners(last.end);
      const Unit after = unit_at(last.end);
      if (!is_unit(after.of)) return false;
      last = after;
      return true;
    }
    if (is_unit(next.of) && (last.of == katakana) == (next.of == katakana)) {
      last = next;
      return true;
    }
    if (last.of == hebrew_letter && next.of == single_quote && !last.is_joined) {
      last = next;
      return true;
    }
    Unit after = unit_at(next.end);
    if (!joins(last, next.of, after.of)) return false;
    after.is_joined = true;
    if (next.of == double_quote) after.of = double_quote;  // only a letter or digit may follow
    last = after;
    return true;
  }

  // True if `middle` does not end a word between `before` and the next unit.
  static bool joins(const Unit& before, CharacterClass middle, CharacterClass after) {
    const bool are_letters = is_letter(before.of) && is_letter(after);
    const bool are_numbers = before.of == numeric && after == numeric;
    switch (middle) {
      case mid_letter:
        return are_letters;
      case mid_number:
        return are_numbers;
      case mid_both:
      case single_quote:
        return are_letters || are_numbers;
      case double_quote:
        return before.of == hebrew_letter && !before.is_joined && after == hebrew_letter;
      default:
        return false;
    }
  }

  const icu::UnicodeString& text_;
};

}  // namespace

std::vector<Bytes> standard_words(BytesView text) {
  const auto unicode =
      icu::UnicodeString::fromUTF8(icu::StringPiece(text.data(), static_cast<int32_t>(text.size())));
  return WordScanner(unicode).scan();
}

std::vector<Bytes> delimited_words(BytesView text, BytesView delimiter) {
  std::vector<Bytes> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(delimiter), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + delimiter.size()));
  }
  return words;
}

}  // namespace sibyl::plan
