// Reads expressions. Internal to src/plan/java.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/java/lexer.h"
#include "plan/java/node.h"
#include "plan/java/parser.h"

namespace sibyl::plan::java {

class ExpressionReader {
 public:
  ExpressionReader(std::vector<Token> tokens, std::vector<Variable> variables)
      : tokens_(std::move(tokens)), variables_(std::move(variables)) {}

  base::Result<Node> expression();
  // `(a, b)`
  base::Result<std::vector<Node>> arguments();

  const Token& peek(size_t distance = 0) const;
  const Token& next();
  bool accept(std::string_view symbol);
  base::Status expect(std::string_view symbol);
  // The error for the next token.
  std::unexpected<base::Error> unsupported() const;
  // The type that begins at the next token, if one does: `int`, `Integer`. Does not consume it.
  std::optional<Type> type_name() const;

  std::vector<Variable>& variables() { return variables_; }
  // Returns nullopt if there is no such variable.
  std::optional<size_t> find_variable(std::string_view name) const;

 private:
  base::Result<Node> conditional_expression();
  base::Result<Node> binary_expression(size_t level);
  base::Result<Node> unary_expression();
  base::Result<Node> negated(int line);
  base::Result<Node> postfix_expression();
  base::Result<Node> primary_expression();
  base::Result<Node> literal();
  base::Result<Node> named();
  base::Result<Node> static_member();

  // Counts one operator or call of an expression. Each may nest the tree by one, and evaluation recurses over it.
  base::Status count_operation();

  std::vector<Token> tokens_;
  std::vector<Variable> variables_;
  size_t at_ = 0;
  int depth_ = 0;
  int operations_ = 0;
};

}  // namespace sibyl::plan::java
