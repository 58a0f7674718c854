#include "plan/java/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plan/java/composites.h"
#include "plan/java/conversions.h"
#include "plan/java/expressions.h"
#include "plan/java/lexer.h"
#include "plan/java/operators.h"

namespace sibyl::plan::java {
namespace {

constexpr int max_nesting = 50;
constexpr std::array<std::string_view, 6> exceptions = {
    "RuntimeException",    "IllegalArgumentException", "IllegalStateException",
    "ArithmeticException", "NullPointerException",     "UnsupportedOperationException"};

class StatementReader {
 public:
  StatementReader(ExpressionReader reader, Type returns)
      : reader_(std::move(reader)), returns_(std::move(returns)) {
    slots_ = reader_.variables().size();
  }

  base::Result<Body> run() {
    Body body;
    SIBYL_ASSIGN(body.statements, statements());
    if (reader_.peek().kind != Token::Kind::end) return reader_.unsupported();
    if (body.statements.empty() || body.statements.back().completes)
      return refused(reader_.peek().line,
                     fmt::format("This method must return a result of type {}", name_of(returns_)));
    body.slots = slots_;
    return body;
  }

 private:
  // Up to the end of a block or of the body.
  base::Result<std::vector<Statement>> statements() {
    std::vector<Statement> list;
    const size_t known = reader_.variables().size();
    while (!reader_.peek().is("}") && reader_.peek().kind != Token::Kind::end) {
      if (!list.empty() && !list.back().completes) return refused(reader_.peek().line, "Unreachable code");
      if (reader_.accept(";")) continue;
      SIBYL_ASSIGN(Statement statement, read_statement(true));
      list.push_back(std::move(statement));
    }
    reader_.variables().resize(known);
    return list;
  }

  base::Result<Statement> read_statement(bool may_declare) {
    if (nesting_ >= max_nesting)
      return refused(reader_.peek().line, "statements of this depth are not supported");
    ++nesting_;
    auto statement = statement_of_kind(may_declare);
    --nesting_;
    return statement;
  }

  base::Result<Statement> statement_of_kind(bool may_declare) {
    if (reader_.accept("{")) return block();
    if (reader_.accept("return")) return give();
    if (reader_.accept("if")) return choose();
    if (reader_.accept("throw")) return fail();
    const std::optional<Type> type = reader_.type_name();
    if (may_declare && type && reader_.peek(1).kind == Token::Kind::name) return declare(*type);
    if (const auto slot = reader_.find_variable(reader_.peek().text);
        slot && reader_.peek().kind == Token::Kind::name)
      return assign(*slot);
    return reader_.unsupported();
  }

  base::Result<Statement> block() {
    Statement statement;
    SIBYL_ASSIGN(statement.parts, statements());
    statement.completes = statement.parts.empty() || statement.parts.back().completes;
    SIBYL_TRY(reader_.expect("}"));
    return statement;
  }

  base::Result<Statement> give() {
    const int line = reader_.peek().line;
    Statement statement{.kind = Statement::Kind::give, .completes = false};
    SIBYL_ASSIGN(Node node, reader_.expression());
    if (reader_.peek().kind == Token::Kind::end)
      return refused(line, "Syntax error, insert \";\" to complete BlockStatements");
    SIBYL_TRY(reader_.expect(";"));
    SIBYL_ASSIGN(statement.node, assigned(std::move(node), returns_, line));
    return statement;
  }

  base::Result<Statement> choose() {
    const int line = reader_.peek().line;
    Statement statement{.kind = Statement::Kind::choose};
    SIBYL_TRY(reader_.expect("("));
    SIBYL_ASSIGN(Node condition, reader_.expression());
    SIBYL_TRY(reader_.expect(")"));
    SIBYL_ASSIGN(statement.node, assigned(std::move(condition), {JavaKind::boolean, nullptr}, line));
    SIBYL_ASSIGN(Statement yes, read_statement(false));
    statement.parts.push_back(std::move(yes));
    if (!reader_.accept("else")) return statement;
    SIBYL_ASSIGN(Statement no, read_statement(false));
    statement.completes = statement.parts[0].completes || no.completes;
    statement.parts.push_back(std::move(no));
    return statement;
  }

  // `throw new RuntimeException("text");`
  base::Result<Statement> fail() {
    SIBYL_TRY(reader_.expect("new"));
    const Token name = reader_.next();
    if (std::find(exceptions.begin(), exceptions.end(), name.text) == exceptions.end())
      return refused(name.line, fmt::format("the exception {} is not supported", name.text));
    Statement statement{
        .kind = Statement::Kind::fail, .thrown = "java.lang." + name.text, .completes = false};
    SIBYL_TRY(reader_.expect("("));
    if (!reader_.peek().is(")")) {
      SIBYL_ASSIGN(Node message, reader_.expression());
      if (message.type.kind != JavaKind::string)
        return refused(name.line, "a message that is not a String is not supported");
      statement.node = std::move(message);
      statement.has_message = true;
    }
    SIBYL_TRY(reader_.expect(")"));
    SIBYL_TRY(reader_.expect(";"));
    return statement;
  }

  // `int a = 1;` A declaration without a value is refused, because Java then checks every path for an assignment.
  base::Result<Statement> declare(const Type& type) {
    reader_.next();
    const Token name = reader_.next();
    if (reader_.find_variable(name.text))
      return refused(name.line, fmt::format("Duplicate local variable {}", name.text));
    SIBYL_TRY(reader_.expect("="));
    SIBYL_ASSIGN(Node node, reader_.expression());
    SIBYL_TRY(reader_.expect(";"));
    Statement statement{.kind = Statement::Kind::set, .slot = reader_.variables().size()};
    SIBYL_ASSIGN(statement.node, assigned(std::move(node), type, name.line));
    reader_.variables().push_back({name.text, type, ""});
    slots_ = std::max(slots_, reader_.variables().size());
    return statement;
  }

  // `t.setInt(0, 1);`
  base::Result<Statement> set_part(size_t slot) {
    const Variable variable = reader_.variables()[slot];
    reader_.next();
    reader_.next();
    const Token method = reader_.next();
    Statement statement{.kind = Statement::Kind::set, .slot = slot};
    SIBYL_ASSIGN(std::vector<Node> given, reader_.arguments());
    SIBYL_TRY(reader_.expect(";"));
    SIBYL_ASSIGN(statement.node, set_component(make_variable(variable.type, slot, variable.described),
                                               method.text, std::move(given), method.line));
    return statement;
  }

  // `a = 1;` and `a += 1;`
  base::Result<Statement> assign(size_t slot) {
    if (reader_.peek(1).is(".") && is_composite(reader_.variables()[slot].type)) return set_part(slot);
    if (reader_.peek(1).is("."))
      return refused(reader_.peek().line, fmt::format("the statement {}.{}() is not supported",
                                                      reader_.peek().text, reader_.peek(2).text));
    static constexpr std::array<std::string_view, 11> compound = {
        "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", ">>>="};
    const Token name = reader_.next();
    const Type type = reader_.variables()[slot].type;
    Statement statement{.kind = Statement::Kind::set, .slot = slot};
    const Token op = reader_.next();
    const bool is_compound = std::find(compound.begin(), compound.end(), op.text) != compound.end();
    if (op.kind != Token::Kind::symbol || (op.text != "=" && !is_compound))
      return refused(op.line, fmt::format("'{}' is not supported here", op.text));
    SIBYL_ASSIGN(Node node, reader_.expression());
    SIBYL_TRY(reader_.expect(";"));
    if (is_compound) {
      SIBYL_ASSIGN(node, binary(op.text.substr(0, op.text.size() - 1),
                                make_variable(type, slot, reader_.variables()[slot].described),
                                std::move(node), op.line));
      // The result is cast to the variable's type.
      if (is_numeric(type.kind) && is_numeric(node.type.kind)) node = cast_number(std::move(node), type.kind);
    }
    SIBYL_ASSIGN(statement.node, assigned(std::move(node), type, op.line));
    return statement;
  }

  ExpressionReader reader_;
  Type returns_;
  size_t slots_ = 0;
  int nesting_ = 0;
};

}  // namespace

base::Result<Body> parse(std::string_view body, std::vector<Variable> parameters, const Type& returns) {
  SIBYL_ASSIGN(std::vector<Token> tokens, tokenize(body));
  return StatementReader(ExpressionReader(std::move(tokens), std::move(parameters)), returns).run();
}

}  // namespace sibyl::plan::java
