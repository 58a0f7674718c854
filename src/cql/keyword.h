// The keywords of CQL in one table, used by the lexer, naming rules, error texts and completion.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sibyl::cql {

// How a keyword may be used where a name is expected.
enum class KeywordClass : uint8_t {
  reserved,  // never without quotes
  basic,     // any name: column, table, type, function
  native,    // the name of a built-in type; allowed for columns and functions, not for user types
  special,   // allowed for columns, not for functions: ttl, count, writetime, ...
};

// X(enumerator, word, class). The enumerator is the token's name in error texts, after "K_".
#define SIBYL_CQL_KEYWORDS(X)                \
  X(access, "ACCESS", basic)                 \
  X(add, "ADD", reserved)                    \
  X(aggregate, "AGGREGATE", basic)           \
  X(aggregates, "AGGREGATES", basic)         \
  X(all, "ALL", basic)                       \
  X(allow, "ALLOW", reserved)                \
  X(alter, "ALTER", reserved)                \
  X(and_, "AND", reserved)                   \
  X(ann, "ANN", basic)                       \
  X(apply, "APPLY", reserved)                \
  X(as, "AS", basic)                         \
  X(asc, "ASC", reserved)                    \
  X(ascii, "ASCII", native)                  \
  X(authorize, "AUTHORIZE", reserved)        \
  X(batch, "BATCH", reserved)                \
  X(begin, "BEGIN", reserved)                \
  X(between, "BETWEEN", basic)               \
  X(bigint, "BIGINT", native)                \
  X(blob, "BLOB", native)                    \
  X(boolean_, "BOOLEAN", native)             \
  X(by, "BY", reserved)                      \
  X(called, "CALLED", basic)                 \
  X(cast, "CAST", special)                   \
  X(cidrs, "CIDRS", basic)                   \
  X(cluster, "CLUSTER", basic)               \
  X(clustering, "CLUSTERING", basic)         \
  X(columnfamily, "COLUMNFAMILY", reserved)  \
  X(compact, "COMPACT", basic)               \
  X(contains, "CONTAINS", basic)             \
  X(count, "COUNT", special)                 \
  X(counter, "COUNTER", native)              \
  X(create, "CREATE", reserved)              \
  X(custom, "CUSTOM", basic)                 \
  X(datacenters, "DATACENTERS", basic)       \
  X(date, "DATE", native)                    \
  X(decimal, "DECIMAL", native)              \
  X(default_, "DEFAULT", basic)              \
  X(delete_, "DELETE", reserved)             \
  X(desc, "DESC", reserved)                  \
  X(describe, "DESCRIBE", reserved)          \
  X(distinct, "DISTINCT", special)           \
  X(double_, "DOUBLE", native)               \
  X(drop, "DROP", reserved)                  \
  X(duration_, "DURATION", native)           \
  X(entries, "ENTRIES", reserved)            \
  X(execute, "EXECUTE", reserved)            \
  X(exists, "EXISTS", basic)                 \
  X(explain, "EXPLAIN", basic)               \
  X(filtering, "FILTERING", basic)           \
  X(finalfunc, "FINALFUNC", basic)           \
  X(float_, "FLOAT", native)                 \
  X(from, "FROM", reserved)                  \
  X(frozen, "FROZEN", basic)                 \
  X(full, "FULL", reserved)                  \
  X(function, "FUNCTION", basic)             \
  X(functions, "FUNCTIONS", basic)           \
  X(generated, "GENERATED", basic)           \
  X(grant, "GRANT", reserved)                \
  X(group, "GROUP", basic)                   \
  X(hashed, "HASHED", basic)                 \
  X(identity, "IDENTITY", basic)             \
  X(if_, "IF", reserved)                     \
  X(in, "IN", reserved)                      \
  X(index, "INDEX", reserved)                \
  X(inet, "INET", native)                    \
  X(initcond, "INITCOND", basic)             \
  X(input, "INPUT", basic)                   \
  X(insert, "INSERT", reserved)              \
  X(int_, "INT", native)                     \
  X(internals, "INTERNALS", basic)           \
  X(into, "INTO", reserved)                  \
  X(is, "IS", reserved)                      \
  X(json, "JSON", special)                   \
  X(key, "KEY", special)                     \
  X(keys, "KEYS", basic)                     \
  X(keyspace, "KEYSPACE", reserved)          \
  X(keyspaces, "KEYSPACES", basic)           \
  X(language, "LANGUAGE", basic)             \
  X(like, "LIKE", basic)                     \
  X(limit, "LIMIT", reserved)                \
  X(list, "LIST", basic)                     \
  X(login, "LOGIN", basic)                   \
  X(map, "MAP", basic)                       \
  X(masked, "MASKED", basic)                 \
  X(materialized, "MATERIALIZED", reserved)  \
  X(maxwritetime, "MAXWRITETIME", special)   \
  X(mbean, "MBEAN", basic)                   \
  X(mbeans, "MBEANS", basic)                 \
  X(modify, "MODIFY", reserved)              \
  X(nologin, "NOLOGIN", basic)               \
  X(norecursive, "NORECURSIVE", reserved)    \
  X(nosuperuser, "NOSUPERUSER", basic)       \
  X(not_, "NOT", reserved)                   \
  X(null, "NULL", reserved)                  \
  X(of, "OF", reserved)                      \
  X(on, "ON", reserved)                      \
  X(only, "ONLY", basic)                     \
  X(options, "OPTIONS", basic)               \
  X(or_, "OR", reserved)                     \
  X(order, "ORDER", reserved)                \
  X(partition, "PARTITION", basic)           \
  X(password, "PASSWORD", basic)             \
  X(per, "PER", basic)                       \
  X(permission, "PERMISSION", basic)         \
  X(permissions, "PERMISSIONS", basic)       \
  X(positive_infinity, "INFINITY", reserved) \
  X(positive_nan, "NAN", reserved)           \
  X(primary, "PRIMARY", reserved)            \
  X(rename, "RENAME", reserved)              \
  X(replace, "REPLACE", basic)               \
  X(returns, "RETURNS", basic)               \
  X(revoke, "REVOKE", reserved)              \
  X(role, "ROLE", basic)                     \
  X(roles, "ROLES", basic)                   \
  X(schema, "SCHEMA", reserved)              \
  X(select, "SELECT", reserved)              \
  X(select_masked, "SELECT_MASKED", basic)   \
  X(set, "SET", reserved)                    \
  X(sfunc, "SFUNC", basic)                   \
  X(smallint, "SMALLINT", native)            \
  X(static_, "STATIC", basic)                \
  X(storage, "STORAGE", basic)               \
  X(stype, "STYPE", basic)                   \
  X(superuser, "SUPERUSER", basic)           \
  X(superusers, "SUPERUSERS", basic)         \
  X(tables, "TABLES", basic)                 \
  X(text, "TEXT", native)                    \
  X(time, "TIME", native)                    \
  X(timestamp, "TIMESTAMP", native)          \
  X(timeuuid, "TIMEUUID", native)            \
  X(tinyint, "TINYINT", native)              \
  X(to, "TO", reserved)                      \
  X(token, "TOKEN", reserved)                \
  X(trigger, "TRIGGER", basic)               \
  X(truncate, "TRUNCATE", reserved)          \
  X(ttl, "TTL", special)                     \
  X(tuple, "TUPLE", basic)                   \
  X(type, "TYPE", basic)                     \
  X(types, "TYPES", basic)                   \
  X(unlogged, "UNLOGGED", reserved)          \
  X(unmask, "UNMASK", basic)                 \
  X(unset, "UNSET", basic)                   \
  X(update, "UPDATE", reserved)              \
  X(use, "USE", reserved)                    \
  X(user, "USER", basic)                     \
  X(users, "USERS", basic)                   \
  X(using_, "USING", reserved)               \
  X(uuid_, "UUID", native)                   \
  X(values, "VALUES", basic)                 \
  X(varchar, "VARCHAR", native)              \
  X(varint, "VARINT", native)                \
  X(vector, "VECTOR", basic)                 \
  X(view, "VIEW", reserved)                  \
  X(where, "WHERE", reserved)                \
  X(with, "WITH", reserved)                  \
  X(writetime, "WRITETIME", special)

enum class TokenKind : uint8_t {
  end,
  error,       // the lexer found no token; Lexer::error() has the reason
  whitespace,  // only from next_raw()
  comment,     // only from next_raw()
  identifier,
  quoted_name,
  empty_quoted_name,
  string,
  integer,
  floating,  // including -NaN and -Infinity
  boolean,
  duration,
  uuid,
  blob,
  question_mark,
  colon,
  semicolon,
  comma,
  dot,
  range,
  left_parenthesis,
  right_parenthesis,
  left_bracket,
  right_bracket,
  left_brace,
  right_brace,
  equal,
  not_equal,
  less,
  less_or_equal,
  greater,
  greater_or_equal,
  plus,
  plus_equal,
  minus,
  minus_equal,
  star,
  slash,
  percent,
#define SIBYL_CQL_ENUMERATOR(name, word, use) kw_##name,
  SIBYL_CQL_KEYWORDS(SIBYL_CQL_ENUMERATOR)
#undef SIBYL_CQL_ENUMERATOR
};

// The keyword that `word` spells in any case, or `identifier`.
TokenKind keyword_kind(std::string_view word);

// True if a token of this kind may name a column, table or keyspace.
bool is_name(TokenKind kind);
// True if a token of this kind may name a function.
bool is_function_name(TokenKind kind);
// True if a token of this kind may name a user type.
bool is_type_name(TokenKind kind);
// True for a keyword that names a built-in type.
bool is_native_type(TokenKind kind);
// True for a keyword that may be a name.
bool is_unreserved_keyword(TokenKind kind);

// True if some rule of the grammar allows a token of this kind after a table's name. If not, an error shows
// the name instead of this token.
bool follows_table_name(TokenKind kind);

// True for constants that are written without quotes.
constexpr bool is_bare_constant(TokenKind kind) {
  switch (kind) {
    case TokenKind::integer:
    case TokenKind::floating:
    case TokenKind::boolean:
    case TokenKind::duration:
    case TokenKind::uuid:
    case TokenKind::blob:
    case TokenKind::kw_positive_nan:
    case TokenKind::kw_positive_infinity:
      return true;
    default:
      return false;
  }
}

// True for names that are not keywords but that a user type may only have in quotes: byte, enum, ...
bool is_reserved_type_name(std::string_view name);

// The token's name in error texts: K_FROM, ')', IDENT, EOF.
std::string token_name(TokenKind kind);

// All keywords, upper case and sorted, for completion.
const std::vector<std::string_view>& keywords();
// True for a keyword that cannot be a name without quotes.
bool is_reserved(std::string_view lower_case_word);

}  // namespace sibyl::cql
