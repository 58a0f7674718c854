// The recursive-descent parser behind parser.h: one function per rule of the grammar.
//
// A rule that cannot continue throws SyntaxFailure. parse_statement() and parse_type() catch it, so it never
// leaves src/cql. The texts follow Cassandra's generated parser, which says "mismatched input" where only one
// token could follow and "no viable alternative" where it had to choose.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "cql/ast.h"
#include "cql/lexer.h"

namespace sibyl::cql {

// Deeper expressions, types and parentheses are refused. Statements written by people do not come close.
inline constexpr uint32_t max_nesting = 250;
inline constexpr uint32_t max_bind_markers = 65535;
// A token takes some hundred bytes in the tree and the plan, however short it is.
inline constexpr uint32_t max_tokens = 500'000;

class Parser {
 public:
  // REQUIRES: `text` is valid UTF-8 and outlives the parser.
  explicit Parser(std::string_view text);

  std::unique_ptr<Statement> whole_statement();
  RawType whole_type();

 private:
  // Terms are values in a statement. Selectors are what SELECT can compute, so they may name columns.
  enum class Context : uint8_t { term, selector };

  // --- Tokens (parser.cc)
  TokenKind kind() const { return token_.kind; }
  const Token& ahead(size_t distance);  // 1: the token after the current one; at most 3
  bool is(TokenKind kind) const { return token_.kind == kind; }
  bool is_ahead(size_t distance, TokenKind kind) { return ahead(distance).kind == kind; }
  void advance();
  bool accept(TokenKind kind);
  Token expect(TokenKind kind);
  std::string expect_string();
  std::string text_of(const Token& token) const;  // strings and quoted names without their quotes
  std::string folded(const Token& token) const;   // a name in lower case unless quoted
  base::Position position() const { return token_.position(); }

  // --- Errors (parser.cc)
  // Records that Cassandra has read one more token here: an error at this token shows it.
  void note_lookahead() { lookahead_at_ = token_.offset; }
  [[noreturn]] void no_viable_alternative();  // reports the error at the current token
  [[noreturn]] void no_viable_alternative(const Token& at, const Token& shown);
  [[noreturn]] void mismatched(std::string_view expecting);
  [[noreturn]] void refuse(const Token& at, const Token& shown, std::string_view what);
  [[noreturn]] void refuse_character();                             // reports the lexer's error
  [[noreturn]] void reject(std::string message);                    // an error text without a position
  std::string hint_for(const Token& at, const Token& shown) const;  // defined in hint.cc, like the next two
  std::string hint_for(const LexicalError& error) const;
  bool looks_like_name(const Token& word) const;

  class Nesting {
   public:
    explicit Nesting(Parser& parser) : parser_(parser) { parser.check_nesting(++parser.depth_); }
    ~Nesting() { --parser_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    Parser& parser_;
  };
  void check_nesting(uint32_t depth);
  [[noreturn]] void refuse_length();

  // --- Names (parse_name.cc)
  std::string name();         // a column, alias, property
  std::string column_name();  // may be ""
  std::string keyspace_name();
  QualifiedName table_name();
  QualifiedName index_name();
  QualifiedName function_name();
  std::string plain_function_name();
  QualifiedName user_type_name();
  std::string role_name();
  std::string name_or_refuse_marker(std::string_view of_what);
  bool accept_if_exists();
  bool accept_if_not_exists();

  // --- Statements (parse_statement.cc)
  std::unique_ptr<Statement> statement();
  bool data_statement(Statement& result);  // false if it is not a data statement
  void other_statement(Statement& result);
  void create(Statement& result);
  void alter(Statement& result);
  void drop(Statement& result);
  Use use();
  Truncate truncate();

  // --- Expressions (parse_expression.cc)
  ExpressionPtr make(base::Position at, decltype(Expression::node) node) const;
  ExpressionPtr term() { return sum(Context::term); }
  ExpressionPtr selector_expression() { return sum(Context::selector); }
  ExpressionPtr sum(Context context);
  ExpressionPtr product(Context context);
  ExpressionPtr signed_operand(Context context);
  ExpressionPtr operand(Context context);
  ExpressionPtr with_modifiers(ExpressionPtr of, const Token& first);
  ExpressionPtr sub_selection(ExpressionPtr of);
  ExpressionPtr primary(Context context);
  ExpressionPtr primary_name(Context context);
  ExpressionPtr cast(Context context);
  ExpressionPtr function_call(Context context);
  ExpressionPtr cell_property();  // writetime, maxwritetime, ttl
  std::vector<ExpressionPtr> expressions_until(Context context, TokenKind close);           // at least one
  std::vector<ExpressionPtr> optional_expressions_until(Context context, TokenKind close);  // may be empty
  bool at_expression() const;
  bool at_negative_number() const;
  bool at_function_call();
  bool split_negative_number();
  void check_after_term();
  void check_after_column(const Token& column);

  // --- Literals and markers (parse_literal.cc)
  ExpressionPtr literal();
  ExpressionPtr marker();
  ExpressionPtr integer_or_marker();
  ExpressionPtr list(Context context);
  ExpressionPtr braces(Context context);
  ExpressionPtr user_type_or_map(Context context, base::Position at);
  ExpressionPtr parentheses(Context context);
  bool at_literal() const;
  bool at_type_hint(Context context);
  bool at_operand_of_hint(Context context);
  void check_inside(Context context, const Token& open);

  // --- Types (parse_type.cc)
  RawType type();
  RawType parameterised_type();
  RawType frozen_type();
  RawType native_type();
  bool at_type() const;
  void check_after_type(const Token& name);
  uint32_t vector_dimension();
  std::vector<RawType> type_list_in_parentheses();

  // --- SELECT and WHERE (parse_select.cc)
  Select select();
  void select_clause(Select& result);
  std::vector<Selector> selectors();
  bool at_modifier_keyword(TokenKind keyword);
  Ordering ordering();
  std::vector<Relation> where_clause();
  Relation relation();
  Relation relation_in_parentheses();
  void column_relation(Relation& result);
  void token_relation(Relation& result);
  void tuple_relation(Relation& result);
  void custom_index_relation(Relation& result);
  void between_terms(Relation& result);
  bool at_custom_index_expression();
  std::optional<Operator> accept_comparison();
  template <typename Target>
  void in_values(Target& result);
  void tuple_in_values(Relation& result);
  bool at_tuple_or_marker() const;
  ExpressionPtr tuple_or_marker();
  std::vector<std::string> columns_in_parentheses();

  // --- INSERT, UPDATE, DELETE, BATCH (parse_modification.cc)
  Insert insert();
  void insert_values(Insert& result);
  void insert_json(Insert& result);
  Update update();
  Assignment assignment();
  void assigned_value(Assignment& result);
  struct Assigned {
    bool is_set = false;  // the column is assigned as a whole
    std::unordered_set<std::string> fields;
  };
  using AssignedColumns = std::unordered_map<std::string, Assigned>;  // columns assigned so far
  void check_assignment(const Assignment& last, AssignedColumns& assigned);
  Delete delete_();
  DeleteTarget delete_target();
  Batch batch();
  void using_clause(Attributes& result);
  void if_clause(bool& if_exists, std::vector<Condition>& conditions);
  Condition condition();

  // --- Definitions (parse_definition.cc)
  using Names = std::unordered_set<std::string>;  // names of the properties so far; each may occur once
  CreateKeyspace create_keyspace();
  AlterKeyspace alter_keyspace();
  CreateTable create_table();
  void table_column(CreateTable& result);
  void table_property(CreateTable& result, Names& names);
  std::vector<std::string> partition_key();
  std::vector<ClusteringOrder> clustering_order();
  AlterTable alter_table();
  decltype(AlterTable::action) alter_table_action();
  decltype(AlterTable::action) alter_column();
  decltype(AlterTable::action) add_columns();
  decltype(AlterTable::action) drop_columns();
  ColumnDefinition added_column();
  std::unique_ptr<ColumnMask> column_mask();
  CreateType create_type();
  AlterType alter_type();
  std::vector<std::pair<std::string, std::string>> renames();
  CreateIndex create_index();
  IndexTarget index_target();
  CreateView create_view();
  AlterView alter_view();
  Properties properties();
  void property(Properties& result, Names& names);
  std::string property_value(bool& quoted);
  std::vector<std::pair<std::string, std::string>> property_map();

  // --- Functions, aggregates, triggers (parse_function.cc)
  CreateFunction create_function(bool or_replace);
  CreateAggregate create_aggregate(bool or_replace);
  DropFunction drop_function();
  DropAggregate drop_aggregate();
  CreateTrigger create_trigger();
  DropTrigger drop_trigger();

  // --- Roles and permissions (parse_role.cc)
  CreateRole create_role();
  AlterRole alter_role();
  DropRole drop_role();
  CreateRole create_user();
  AlterRole alter_user();
  DropRole drop_user();
  std::string user_name(std::string_view complaint);
  void user_options(RoleOptions& options);
  void role_options(RoleOptions& options);
  void role_option(RoleOptions& options);
  void access_option(RoleOptions& options);
  void check_passwords(const RoleOptions& options);
  void grant_or_revoke(Statement& result, bool revoke);
  void list(Statement& result);
  bool at_permissions();
  std::vector<std::string> permissions();
  Resource resource();
  Resource resource_of_all();
  AddIdentity add_identity();
  DropIdentity drop_identity();

  // --- DESCRIBE (parse_describe.cc)
  Describe describe();
  bool describe_all(Describe& result);
  bool describe_one(Describe& result);
  bool describe_keyspaces(Describe& result);
  void describe_anything(Describe& result);

  Lexer lexer_;
  Token token_;
  Token ahead_[3];
  uint8_t ahead_count_ = 0;
  uint32_t seen_ = 0;  // offset of the last token read
  uint32_t lookahead_at_ = 0;
  uint32_t depth_ = 0;
  uint32_t markers_ = 0;
  uint32_t tokens_ = 0;
  bool expects_value_ = false;       // the current token is a name, but a value is required
  bool expects_column_ = false;      // between the columns of CREATE TABLE and CREATE TYPE
  bool stop_before_column_ = false;  // in `c = x + c`: the sum ends before `+ c`
};

}  // namespace sibyl::cql
