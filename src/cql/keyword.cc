#include "cql/keyword.h"

#include <algorithm>
#include <array>
#include <vector>

namespace sibyl::cql {
namespace {

struct Word {
  std::string_view text;  // upper case
  TokenKind kind;
  KeywordClass use;
};

// Sorted by text, including aliases and booleans.
constexpr auto words = [] {
  std::array list = {
#define SIBYL_CQL_WORD(name, word, use) Word{word, TokenKind::kw_##name, KeywordClass::use},
      SIBYL_CQL_KEYWORDS(SIBYL_CQL_WORD)
#undef SIBYL_CQL_WORD
          Word{"TABLE", TokenKind::kw_columnfamily, KeywordClass::reserved},
      Word{"COLUMNFAMILIES", TokenKind::kw_tables, KeywordClass::basic},
      Word{"TRUE", TokenKind::boolean, KeywordClass::reserved},
      Word{"FALSE", TokenKind::boolean, KeywordClass::reserved},
  };
  std::sort(list.begin(), list.end(), [](const Word& a, const Word& b) { return a.text < b.text; });
  return list;
}();

constexpr size_t longest_word = 14;
constexpr size_t slot_count = 1024;

constexpr char upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
}

// The length and three letters distinguish nearly all keywords; probing resolves the rest.
constexpr size_t slot_of(std::string_view word) {
  const auto at = [word](size_t i) {
    return static_cast<size_t>(static_cast<unsigned char>(upper(word[i])));
  };
  return (word.size() * 61 + at(0) * 7 + at(1) * 31 + at(word.size() - 1) * 131 + at(word.size() / 2) * 17) %
         slot_count;
}

constexpr auto slots = [] {
  std::array<uint8_t, slot_count> table{};  // index + 1 into words; 0: free
  for (size_t i = 0; i < words.size(); ++i) {
    size_t slot = slot_of(words[i].text);
    while (table[slot] != 0) slot = (slot + 1) % slot_count;
    table[slot] = static_cast<uint8_t>(i + 1);
  }
  return table;
}();
static_assert(words.size() < 255);

const Word* find_word(std::string_view text) {
  if (text.size() < 2 || text.size() > longest_word) return nullptr;
  for (size_t slot = slot_of(text); slots[slot] != 0; slot = (slot + 1) % slot_count) {
    const Word& word = words[slots[slot] - 1];
    if (word.text.size() == text.size() && std::equal(text.begin(), text.end(), word.text.begin(),
                                                      [](char a, char b) { return upper(a) == b; })) {
      return &word;
    }
  }
  return nullptr;
}

constexpr size_t kind_count = 256;
constexpr uint8_t name_use = 1, function_use = 2, type_use = 4, native_use = 8, keyword_use = 16;

constexpr auto uses = [] {
  std::array<uint8_t, kind_count> table{};
  const auto at = [&table](TokenKind kind) -> uint8_t& { return table[static_cast<size_t>(kind)]; };
  for (const Word& word : words) {
    switch (word.use) {
      case KeywordClass::reserved:
        break;
      case KeywordClass::basic:
        at(word.kind) = name_use | function_use | type_use | keyword_use;
        break;
      case KeywordClass::native:
        at(word.kind) = name_use | function_use | native_use | keyword_use;
        break;
      case KeywordClass::special:
        at(word.kind) = name_use | keyword_use;
        break;
    }
  }
  at(TokenKind::kw_key) |= type_use;
  at(TokenKind::kw_token) |= function_use;
  at(TokenKind::kw_count) |= function_use;
  at(TokenKind::identifier) = at(TokenKind::quoted_name) = name_use | function_use | type_use;
  return table;
}();

bool has_use(TokenKind kind, uint8_t use) {
  return (uses[static_cast<size_t>(kind)] & use) != 0;
}

struct PlainName {
  TokenKind kind;
  const char* name;
};
constexpr PlainName plain_names[] = {
    {TokenKind::end, "EOF"},
    {TokenKind::identifier, "IDENT"},
    {TokenKind::quoted_name, "QUOTED_NAME"},
    {TokenKind::empty_quoted_name, "EMPTY_QUOTED_NAME"},
    {TokenKind::string, "STRING_LITERAL"},
    {TokenKind::integer, "INTEGER"},
    {TokenKind::floating, "FLOAT"},
    {TokenKind::boolean, "BOOLEAN"},
    {TokenKind::duration, "DURATION"},
    {TokenKind::uuid, "UUID"},
    {TokenKind::blob, "HEXNUMBER"},
    {TokenKind::question_mark, "QMARK"},
    {TokenKind::colon, "':'"},
    {TokenKind::semicolon, "';'"},
    {TokenKind::comma, "','"},
    {TokenKind::dot, "'.'"},
    {TokenKind::range, "RANGE"},
    {TokenKind::left_parenthesis, "'('"},
    {TokenKind::right_parenthesis, "')'"},
    {TokenKind::left_bracket, "'['"},
    {TokenKind::right_bracket, "']'"},
    {TokenKind::left_brace, "'{'"},
    {TokenKind::right_brace, "'}'"},
    {TokenKind::equal, "'='"},
    {TokenKind::not_equal, "'!='"},
    {TokenKind::less, "'<'"},
    {TokenKind::less_or_equal, "'<='"},
    {TokenKind::greater, "'>'"},
    {TokenKind::greater_or_equal, "'>='"},
    {TokenKind::plus, "'+'"},
    {TokenKind::plus_equal, "'+='"},
    {TokenKind::minus, "'-'"},
    {TokenKind::minus_equal, "'-='"},
    {TokenKind::star, "'*'"},
    {TokenKind::slash, "'/'"},
    {TokenKind::percent, "'%'"},
};

const char* plain_name(TokenKind kind) {
  for (const PlainName& entry : plain_names) {
    if (entry.kind == kind) return entry.name;
  }
  return nullptr;
}

}  // namespace

TokenKind keyword_kind(std::string_view word) {
  const Word* found = find_word(word);
  return found == nullptr ? TokenKind::identifier : found->kind;
}

bool is_name(TokenKind kind) {
  return has_use(kind, name_use);
}
bool is_function_name(TokenKind kind) {
  return has_use(kind, function_use);
}
bool is_type_name(TokenKind kind) {
  return has_use(kind, type_use);
}
bool is_native_type(TokenKind kind) {
  return has_use(kind, native_use);
}
bool is_unreserved_keyword(TokenKind kind) {
  return has_use(kind, keyword_use);
}

bool is_reserved_type_name(std::string_view name) {
  static constexpr std::string_view reserved[] = {"byte",     "complex", "enum",
                                                  "interval", "macaddr", "bitstring"};
  return std::find(std::begin(reserved), std::end(reserved), name) != std::end(reserved);
}

std::string token_name(TokenKind kind) {
  if (const char* name = plain_name(kind)) return name;
  switch (kind) {
#define SIBYL_CQL_NAME(name, word, use) \
  case TokenKind::kw_##name:            \
    return "K_" word;
    SIBYL_CQL_KEYWORDS(SIBYL_CQL_NAME)
#undef SIBYL_CQL_NAME
    default:
      return "token";
  }
}

bool follows_table_name(TokenKind kind) {
  switch (kind) {
    case TokenKind::end:
    case TokenKind::semicolon:
    case TokenKind::left_parenthesis:
    case TokenKind::kw_add:
    case TokenKind::kw_allow:
    case TokenKind::kw_alter:
    case TokenKind::kw_as:
    case TokenKind::kw_drop:
    case TokenKind::kw_from:
    case TokenKind::kw_group:
    case TokenKind::kw_json:
    case TokenKind::kw_limit:
    case TokenKind::kw_norecursive:
    case TokenKind::kw_of:
    case TokenKind::kw_order:
    case TokenKind::kw_per:
    case TokenKind::kw_primary:
    case TokenKind::kw_rename:
    case TokenKind::kw_set:
    case TokenKind::kw_to:
    case TokenKind::kw_using_:
    case TokenKind::kw_where:
    case TokenKind::kw_with:
      return true;
    default:
      return false;
  }
}

const std::vector<std::string_view>& keywords() {
  static const std::vector<std::string_view> list = [] {
    std::vector<std::string_view> result;
    for (const Word& word : words) result.push_back(word.text);
    return result;
  }();
  return list;
}

bool is_reserved(std::string_view lower_case_word) {
  const Word* word = find_word(lower_case_word);
  return word != nullptr && word->use == KeywordClass::reserved;
}

}  // namespace sibyl::cql
