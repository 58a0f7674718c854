// Chooses the rule for a statement. Also parses the statements that are little more than a name.
#include "cql/statement_parser.h"
#include "cql/syntax_error.h"

namespace sibyl::cql {

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
  if (!data_statement(*result)) other_statement(*result);
  result->bind_markers = markers_;
  return result;
}

bool Parser::data_statement(Statement& result) {
  switch (kind()) {
    case TokenKind::kw_select:
      result.node = select();
      return true;
    case TokenKind::kw_insert:
      result.node = insert();
      return true;
    case TokenKind::kw_update:
      result.node = update();
      return true;
    case TokenKind::kw_delete_:
      result.node = delete_();
      return true;
    case TokenKind::kw_begin:
      result.node = batch();
      return true;
    case TokenKind::kw_truncate:
      result.node = truncate();
      return true;
    default:
      return false;
  }
}

void Parser::other_statement(Statement& result) {
  switch (kind()) {
    case TokenKind::kw_use:
      result.node = use();
      return;
    case TokenKind::kw_create:
      return create(result);
    case TokenKind::kw_alter:
      return alter(result);
    case TokenKind::kw_drop:
      return drop(result);
    case TokenKind::kw_grant:
      return grant_or_revoke(result, false);
    case TokenKind::kw_revoke:
      return grant_or_revoke(result, true);
    case TokenKind::kw_list:
      return list(result);
    case TokenKind::kw_add:
      result.node = add_identity();
      return;
    case TokenKind::kw_describe:
    case TokenKind::kw_desc:
      result.node = describe();
      return;
    case TokenKind::kw_explain: {
      const Nesting nesting(*this);
      advance();
      result.node = Explain{statement()};
      return;
    }
    default:
      no_viable_alternative();
  }
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

}  // namespace sibyl::cql
