#include "cql/parser.h"

#include <algorithm>
#include <limits>

#include "cql/statement_parser.h"

namespace sibyl::cql {

// --- Tokens

Parser::Parser(std::string_view text) : lexer_(text) {
  advance();
}

void Parser::advance() {
  if (++words_ > max_words) refuse_length();
  if (ahead_count_ > 0) {
    token_ = ahead_[0];
    std::copy(ahead_ + 1, ahead_ + ahead_count_, ahead_);
    --ahead_count_;
    return;
  }
  token_ = lexer_.next();
  if (token_.kind == TokenKind::error) refuse_character();
  seen_ = std::max(seen_, token_.offset);
}

const Token& Parser::ahead(size_t distance) {
  while (ahead_count_ < distance) {
    Token& slot = ahead_[ahead_count_];
    slot = lexer_.next();
    if (slot.kind == TokenKind::error) refuse_character();
    ++ahead_count_;
  }
  seen_ = std::max(seen_, ahead_[distance - 1].offset);
  return ahead_[distance - 1];
}

bool Parser::accept(TokenKind kind) {
  if (token_.kind != kind) return false;
  advance();
  return true;
}

Token Parser::expect(TokenKind kind) {
  if (token_.kind != kind) mismatched(token_name(kind));
  const Token token = token_;
  advance();
  return token;
}

std::string Parser::expect_string() {
  return text_of(expect(TokenKind::string));
}

std::string Parser::text_of(const Token& token) const {
  return token_text(lexer_.text(), token);
}

std::string Parser::folded(const Token& token) const {
  std::string result = text_of(token);
  if (token.kind == TokenKind::quoted_name || token.kind == TokenKind::empty_quoted_name) return result;
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return result;
}

// --- Errors

void Parser::refuse_character() {
  const LexicalError problem = lexer_.error();
  const std::string line =
      std::to_string(problem.position.line) + ":" + std::to_string(problem.position.column);
  const base::Error error(base::ErrorCode::syntax, "line " + line + " " + problem.message);
  throw SyntaxFailure{error.at(problem.position).with_hint(hint_for(problem))};
}

void Parser::refuse(const Token& at, const Token& shown, std::string_view what) {
  uint32_t seen = std::max({seen_, at.offset, shown.offset});
  if (at.offset == glance_ && glance_ != 0) {
    Lexer behind = lexer_;
    seen = std::max(seen, ahead_count_ > 0 ? ahead_[0].offset : behind.next().offset);
  }
  base::Error error = make_syntax_error(lexer_.text(), {at, shown, seen}, what);
  std::string hint = hint_for(at, shown);
  throw SyntaxFailure{hint.empty() ? std::move(error) : error.with_hint(std::move(hint))};
}

void Parser::no_viable_alternative() {
  no_viable_alternative(token_, token_);
}

void Parser::no_viable_alternative(const Token& at, const Token& shown) {
  refuse(at, shown, "no viable alternative at input " + shown_token(lexer_.text(), at));
}

void Parser::mismatched(std::string_view expecting) {
  refuse(token_, token_,
         "mismatched input " + shown_token(lexer_.text(), token_) + " expecting " + std::string(expecting));
}

void Parser::reject(std::string message) {
  throw SyntaxFailure{base::Error(base::ErrorCode::syntax, bounded(std::move(message))).at(position())};
}

void Parser::check_nesting(uint32_t depth) {
  if (depth <= max_nesting) return;
  refuse(token_, token_,
         "statement is nested too deeply: more than " + std::to_string(max_nesting) + " levels");
}

void Parser::refuse_length() {
  words_ = 0;
  refuse(token_, token_, "statement is too long: more than " + std::to_string(max_words) + " words");
}

// --- Names

std::string Parser::name() {
  if (!is_name(kind())) no_viable_alternative();
  std::string result = folded(token_);
  advance();
  return result;
}

std::string Parser::column_name() {
  if (accept(TokenKind::empty_quoted_name)) return "";
  return name();
}

std::string Parser::name_or_refuse_marker(std::string_view of_what) {
  if (is(TokenKind::question_mark))
    reject("Bind variables cannot be used for " + std::string(of_what) + " names");
  return name();
}

std::string Parser::keyspace_name() {
  return name_or_refuse_marker("keyspace");
}

// Whether anything in the grammar may follow a table's name; else the error shows the name, not what follows
// it.
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

QualifiedName Parser::table_name() {
  QualifiedName result;
  result.position = position();
  const Token first = token_;
  if (!is_name(kind()) && !is(TokenKind::question_mark)) no_viable_alternative();
  result.name = name_or_refuse_marker(is_ahead(1, TokenKind::dot) ? "keyspace" : "table");
  if (!is(TokenKind::dot)) {
    if (!follows_table_name(kind())) no_viable_alternative(token_, first);
    glance();
    return result;
  }
  advance();
  result.keyspace = std::move(result.name);
  result.name = name_or_refuse_marker("table");
  return result;
}

QualifiedName Parser::index_name() {
  QualifiedName result;
  result.position = position();
  const Token first = token_;
  if (!is_name(kind()) && !is(TokenKind::question_mark)) no_viable_alternative();
  result.name = name_or_refuse_marker(is_ahead(1, TokenKind::dot) ? "keyspace" : "index");
  if (accept(TokenKind::dot)) {
    result.keyspace = std::move(result.name);
    result.name = name_or_refuse_marker("index");
  } else if (!is(TokenKind::end) && !is(TokenKind::semicolon)) {
    no_viable_alternative(token_, first);
  }
  return result;
}

std::string Parser::plain_function_name() {
  if (!is_function_name(kind())) no_viable_alternative();
  std::string result = folded(token_);
  advance();
  return result;
}

QualifiedName Parser::function_name() {
  QualifiedName result;
  result.position = position();
  const Token first = token_;
  if (!is_name(kind()) && !is_function_name(kind())) no_viable_alternative();
  if (is_ahead(1, TokenKind::dot)) {
    result.keyspace = keyspace_name();
    advance();
    result.name = plain_function_name();
    return result;
  }
  if (!is_function_name(kind()) && is_ahead(1, TokenKind::left_parenthesis)) {
    advance();  // a keyspace may have this name, a function not
    expect(TokenKind::dot);
  }
  result.name = plain_function_name();
  const bool follows = is(TokenKind::left_parenthesis) || is(TokenKind::end) || is(TokenKind::semicolon) ||
                       is(TokenKind::kw_with);
  if (!follows) no_viable_alternative(token_, first);
  return result;
}

QualifiedName Parser::user_type_name() {
  QualifiedName result;
  result.position = position();
  if (is_name(kind()) && is_ahead(1, TokenKind::dot)) {
    result.keyspace = name();
    advance();
  }
  if (!is_type_name(kind())) {
    // A keyword that names no type may still name its keyspace.
    if (!is_name(kind()) || !result.keyspace.empty()) no_viable_alternative();
    advance();
    mismatched("'.'");
  }
  if (is(TokenKind::identifier)) {
    const std::string text = text_of(token_);
    if (is_reserved_type_name(text)) reject("Invalid (reserved) user type name " + text);
  }
  result.name = folded(token_);
  advance();
  return result;
}

std::string Parser::role_name() {
  if (is(TokenKind::string)) return expect_string();
  return name_or_refuse_marker("role");
}

bool Parser::accept_if_exists() {
  if (!accept(TokenKind::kw_if_)) return false;
  expect(TokenKind::kw_exists);
  return true;
}

bool Parser::accept_if_not_exists() {
  if (!accept(TokenKind::kw_if_)) return false;
  expect(TokenKind::kw_not_);
  expect(TokenKind::kw_exists);
  return true;
}

// --- Statements

std::unique_ptr<Statement> Parser::whole_statement() {
  std::unique_ptr<Statement> result = statement();
  while (accept(TokenKind::semicolon)) {
  }
  if (!is(TokenKind::end)) mismatched("EOF");
  if (markers_ > max_bind_markers) {
    throw SyntaxFailure{base::Error(base::ErrorCode::invalid, "Too many markers(?). " +
                                                                  std::to_string(markers_) +
                                                                  " markers exceed the allowed maximum of " +
                                                                  std::to_string(max_bind_markers))};
  }
  return result;
}

std::unique_ptr<Statement> Parser::statement() {
  auto result = std::make_unique<Statement>();
  result->position = position();
  switch (kind()) {
    case TokenKind::kw_select:
      result->node = select();
      break;
    case TokenKind::kw_insert:
      result->node = insert();
      break;
    case TokenKind::kw_update:
      result->node = update();
      break;
    case TokenKind::kw_delete_:
      result->node = delete_();
      break;
    case TokenKind::kw_begin:
      result->node = batch();
      break;
    case TokenKind::kw_use:
      result->node = use();
      break;
    case TokenKind::kw_truncate:
      result->node = truncate();
      break;
    case TokenKind::kw_create:
      create(*result);
      break;
    case TokenKind::kw_alter:
      alter(*result);
      break;
    case TokenKind::kw_drop:
      drop(*result);
      break;
    case TokenKind::kw_grant:
      grant_or_revoke(*result, false);
      break;
    case TokenKind::kw_revoke:
      grant_or_revoke(*result, true);
      break;
    case TokenKind::kw_list:
      list(*result);
      break;
    case TokenKind::kw_add:
      result->node = add_identity();
      break;
    case TokenKind::kw_describe:
    case TokenKind::kw_desc:
      result->node = describe();
      break;
    case TokenKind::kw_explain: {
      const Nesting nesting(*this);
      advance();
      result->node = Explain{statement()};
      break;
    }
    default:
      no_viable_alternative();
  }
  result->bind_markers = markers_;
  return result;
}

void Parser::create(Statement& result) {
  const Token first = token_;
  advance();
  bool or_replace = false;
  if (is(TokenKind::kw_or_)) {
    if (!is_ahead(1, TokenKind::kw_replace)) no_viable_alternative(ahead(1), first);
    advance();
    advance();
    or_replace = true;
  }
  switch (kind()) {
    case TokenKind::kw_function:
      result.node = create_function(or_replace);
      return;
    case TokenKind::kw_aggregate:
      result.node = create_aggregate(or_replace);
      return;
    default:
      break;
  }
  if (or_replace) no_viable_alternative(token_, first);
  switch (kind()) {
    case TokenKind::kw_keyspace:
    case TokenKind::kw_schema:
      result.node = create_keyspace();
      return;
    case TokenKind::kw_columnfamily:
      result.node = create_table();
      return;
    case TokenKind::kw_type:
      result.node = create_type();
      return;
    case TokenKind::kw_custom:
    case TokenKind::kw_index:
      result.node = create_index();
      return;
    case TokenKind::kw_materialized:
      result.node = create_view();
      return;
    case TokenKind::kw_trigger:
      result.node = create_trigger();
      return;
    case TokenKind::kw_role:
      result.node = create_role();
      return;
    case TokenKind::kw_user:
      result.node = create_user();
      return;
    default:
      no_viable_alternative(token_, first);
  }
}

void Parser::alter(Statement& result) {
  const Token first = token_;
  advance();
  switch (kind()) {
    case TokenKind::kw_keyspace:
    case TokenKind::kw_schema:
      result.node = alter_keyspace();
      return;
    case TokenKind::kw_columnfamily:
      result.node = alter_table();
      return;
    case TokenKind::kw_type:
      result.node = alter_type();
      return;
    case TokenKind::kw_materialized:
      result.node = alter_view();
      return;
    case TokenKind::kw_role:
      result.node = alter_role();
      return;
    case TokenKind::kw_user:
      result.node = alter_user();
      return;
    default:
      no_viable_alternative(token_, first);
  }
}

void Parser::drop(Statement& result) {
  const Token first = token_;
  advance();
  const TokenKind what = kind();
  const auto skip = [this] {
    advance();
    return accept_if_exists();
  };
  switch (what) {
    case TokenKind::kw_keyspace:
    case TokenKind::kw_schema: {
      const bool if_exists = skip();
      result.node = DropKeyspace{keyspace_name(), if_exists};
      return;
    }
    case TokenKind::kw_columnfamily: {
      const bool if_exists = skip();
      result.node = DropTable{table_name(), if_exists};
      return;
    }
    case TokenKind::kw_type: {
      const bool if_exists = skip();
      result.node = DropType{user_type_name(), if_exists};
      return;
    }
    case TokenKind::kw_index: {
      const bool if_exists = skip();
      result.node = DropIndex{index_name(), if_exists};
      return;
    }
    case TokenKind::kw_materialized: {
      advance();
      if (!is(TokenKind::kw_view)) mismatched("K_VIEW");
      const bool if_exists = skip();
      result.node = DropView{table_name(), if_exists};
      return;
    }
    case TokenKind::kw_function:
      result.node = drop_function();
      return;
    case TokenKind::kw_aggregate:
      result.node = drop_aggregate();
      return;
    case TokenKind::kw_trigger:
      result.node = drop_trigger();
      return;
    case TokenKind::kw_role:
      result.node = drop_role();
      return;
    case TokenKind::kw_user:
      result.node = drop_user();
      return;
    case TokenKind::kw_identity:
      result.node = drop_identity();
      return;
    default:
      no_viable_alternative(token_, first);
  }
}

Use Parser::use() {
  advance();
  return {keyspace_name()};
}

Truncate Parser::truncate() {
  advance();
  accept(TokenKind::kw_columnfamily);
  return {table_name()};
}

RawType Parser::whole_type() {
  RawType result = type();
  if (!is(TokenKind::end)) mismatched("EOF");
  return result;
}

// --- The room's door

namespace {

// What no lexer can read: text that is not UTF-8, or too long for 32-bit offsets.
base::Status check_text(std::string_view text) {
  if (text.size() >= std::numeric_limits<uint32_t>::max()) {
    return base::fail(base::ErrorCode::syntax, "line 1:0 statement is too long");
  }
  const size_t bad = find_invalid_utf8(text);
  if (bad == std::string_view::npos) return {};
  const std::string_view before = text.substr(0, bad);
  const auto line = static_cast<uint32_t>(1 + std::count(before.begin(), before.end(), '\n'));
  const size_t start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  uint32_t column = 0;
  for (const char c : before.substr(start)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 || byte >= 0xC0) column += byte >= 0xF0 ? 2 : 1;
  }
  base::Error error(base::ErrorCode::syntax, "line " + std::to_string(line) + ":" + std::to_string(column) +
                                                 " the statement is not valid UTF-8");
  return base::fail(error.at({line, column, static_cast<uint32_t>(bad)}));
}

}  // namespace

base::Result<std::unique_ptr<Statement>> parse_statement(std::string_view text) {
  SIBYL_TRY(check_text(text));
  try {
    return Parser(text).whole_statement();
  } catch (const SyntaxFailure& failure) {
    return base::fail(failure.error);
  }
}

base::Result<RawType> parse_type(std::string_view text) {
  SIBYL_TRY(check_text(text));
  try {
    return Parser(text).whole_type();
  } catch (const SyntaxFailure& failure) {
    return base::fail(failure.error);
  }
}

}  // namespace sibyl::cql
