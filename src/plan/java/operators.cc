#include "plan/java/operators.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "plan/java/conversions.h"
#include "plan/java/lexer.h"

namespace sibyl::plan::java {
namespace {

std::unexpected<base::Error> undefined(std::string_view op, const Node& left, const Node& right, int line) {
  return refused(line, fmt::format("The operator {} is undefined for the argument type(s) {}, {}", op,
                                   name_of(left.type), name_of(right.type)));
}

bool is_number(const Node& node) {
  return is_numeric(unboxed(node.type.kind));
}
bool is_truth(const Node& node) {
  return unboxed(node.type.kind) == JavaKind::boolean;
}

// --- Operators of two primitives of the same type. Integers wrap.

using Operate = base::Result<Value> (*)(const Value& left, const Value& right);

int64_t wrapped(uint64_t value, JavaKind kind) {
  return kind == JavaKind::int_ ? static_cast<int32_t>(value) : static_cast<int64_t>(value);
}

base::Result<int64_t> calculate(char op, int64_t left, int64_t right, JavaKind kind) {
  const auto a = static_cast<uint64_t>(left);
  const auto b = static_cast<uint64_t>(right);
  switch (op) {
    case '+':
      return wrapped(a + b, kind);
    case '-':
      return wrapped(a - b, kind);
    case '*':
      return wrapped(a * b, kind);
    case '&':
      return left & right;
    case '|':
      return left | right;
    case '^':
      return left ^ right;
    default:
      break;
  }
  if (right == 0) return thrown("java.lang.ArithmeticException: / by zero");
  if (right == -1) return op == '/' ? wrapped(0 - a, kind) : 0;  // the smallest number divided by -1 wraps
  return op == '/' ? left / right : left % right;
}

double calculate(char op, double left, double right) {
  switch (op) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return left / right;
    default:
      return std::fmod(left, right);
  }
}

// Evaluates both operands, the left one first, and combines their values.
template <typename Combine>
Node combined(Type type, Node left, Node right, Combine combine) {
  Node out;
  out.type = std::move(type);
  out.evaluate = [left = std::move(left), right = std::move(right),
                  combine](Frame& frame) -> base::Result<Value> {
    SIBYL_ASSIGN(const Value first, left.evaluate(frame));
    SIBYL_ASSIGN(const Value second, right.evaluate(frame));
    SIBYL_ASSIGN(Value result, combine(first, second));
    return charged(frame, std::move(result));
  };
  return out;
}

Node arithmetic(char op, Node left, Node right) {
  const JavaKind kind = promoted(unboxed(left.type.kind), unboxed(right.type.kind));
  left = cast_number(as_primitive(std::move(left)), kind);
  right = cast_number(as_primitive(std::move(right)), kind);
  std::optional<int64_t> constant;
  if (left.constant && right.constant && kind == JavaKind::int_)
    if (const auto known = calculate(op, *left.constant, *right.constant, kind)) constant = *known;
  Node out;
  if (kind == JavaKind::float_ || kind == JavaKind::double_) {
    // A float operation in double, rounded once more, has the float result.
    out = combined({kind, nullptr}, std::move(left), std::move(right),
                   [op, kind](const Value& a, const Value& b) -> base::Result<Value> {
                     const double result = calculate(op, a.floating, b.floating);
                     return of_floating(kind == JavaKind::float_ ? static_cast<float>(result) : result);
                   });
  } else {
    out = combined({kind, nullptr}, std::move(left), std::move(right),
                   [op, kind](const Value& a, const Value& b) -> base::Result<Value> {
                     SIBYL_ASSIGN(const int64_t result, calculate(op, a.integer, b.integer, kind));
                     return of_integer(result);
                   });
  }
  out.constant = constant;
  return out;
}

Node shift(std::string_view op, Node left, Node right) {
  const JavaKind kind = promoted(unboxed(left.type.kind), JavaKind::int_);
  left = cast_number(as_primitive(std::move(left)), kind);
  right = cast_number(as_primitive(std::move(right)), promoted(unboxed(right.type.kind), JavaKind::int_));
  const bool is_left = op == "<<";
  const bool is_unsigned = op == ">>>";
  return combined({kind, nullptr}, std::move(left), std::move(right),
                  [=](const Value& a, const Value& b) -> base::Result<Value> {
                    const bool is_int = kind == JavaKind::int_;
                    const auto by = static_cast<unsigned>(b.integer & (is_int ? 31 : 63));
                    const auto bits = static_cast<uint64_t>(a.integer);
                    if (is_left) return of_integer(wrapped(bits << by, kind));
                    if (!is_unsigned) return of_integer(a.integer >> by);
                    return of_integer(wrapped(is_int ? static_cast<uint32_t>(bits) >> by : bits >> by, kind));
                  });
}

Node concatenation(Node left, Node right) {
  const Type left_type = left.type;
  const Type right_type = right.type;
  return combined({JavaKind::string, nullptr}, std::move(left), std::move(right),
                  [=](const Value& a, const Value& b) -> base::Result<Value> {
                    SIBYL_ASSIGN(std::u16string text, text_of(left_type, a));
                    SIBYL_ASSIGN(const std::u16string more, text_of(right_type, b));
                    return checked_text(text + more);
                  });
}

// --- Comparisons

template <typename Number>
bool compare(std::string_view op, Number left, Number right) {
  if (op == "<") return left < right;
  if (op == "<=") return left <= right;
  if (op == ">") return left > right;
  if (op == ">=") return left >= right;
  return op == "==" ? left == right : left != right;
}

Node number_comparison(std::string_view op, Node left, Node right) {
  const JavaKind kind = promoted(unboxed(left.type.kind), unboxed(right.type.kind));
  left = cast_number(as_primitive(std::move(left)), kind);
  right = cast_number(as_primitive(std::move(right)), kind);
  const bool is_floating = kind == JavaKind::float_ || kind == JavaKind::double_;
  return combined({JavaKind::boolean, nullptr}, std::move(left), std::move(right),
                  [op = std::string(op), is_floating](const Value& a, const Value& b) -> base::Result<Value> {
                    return of_integer(is_floating ? compare(op, a.floating, b.floating)
                                                  : compare(op, a.integer, b.integer));
                  });
}

// `==` and `!=`. Of two references only comparisons with null are supported: others depend on which objects are the same.
base::Result<Node> equality(std::string_view op, Node left, Node right, int line) {
  const bool one_is_primitive = is_primitive(left.type.kind) || is_primitive(right.type.kind);
  if (one_is_primitive && is_number(left) && is_number(right))
    return number_comparison(op, std::move(left), std::move(right));
  const bool wanted = op == "==";
  if (one_is_primitive && is_truth(left) && is_truth(right))
    return combined({JavaKind::boolean, nullptr}, as_primitive(std::move(left)),
                    as_primitive(std::move(right)),
                    [wanted](const Value& a, const Value& b) -> base::Result<Value> {
                      return of_integer((a.integer == b.integer) == wanted);
                    });
  if (one_is_primitive) return undefined(op, left, right, line);
  if (left.type.kind != JavaKind::null && right.type.kind != JavaKind::null)
    return refused(
        line, fmt::format("'{}' of two objects is not supported: it compares references. Use equals()", op));
  return combined({JavaKind::boolean, nullptr}, std::move(left), std::move(right),
                  [wanted](const Value& a, const Value& b) -> base::Result<Value> {
                    return of_integer((a.is_null && b.is_null) == wanted);
                  });
}

// --- Booleans

Node logic(std::string_view op, Node left, Node right) {
  const bool is_and = op[0] == '&';
  const bool is_short = op.size() == 2;
  Node out;
  out.type = {JavaKind::boolean, nullptr};
  out.evaluate = [left = as_primitive(std::move(left)), right = as_primitive(std::move(right)), is_and,
                  is_short, is_xor = op == "^"](Frame& frame) -> base::Result<Value> {
    SIBYL_ASSIGN(const Value first, left.evaluate(frame));
    if (is_short && (first.integer != 0) != is_and) return first;
    SIBYL_ASSIGN(const Value second, right.evaluate(frame));
    if (is_xor) return of_integer(first.integer ^ second.integer);
    return of_integer(is_and ? first.integer & second.integer : first.integer | second.integer);
  };
  return out;
}

}  // namespace

base::Result<Node> unary(std::string_view op, Node operand, int line) {
  const auto undefined_for = [&] {
    return refused(line, fmt::format("The operator {} is undefined for the argument type(s) {}", op,
                                     name_of(operand.type)));
  };
  if (op == "!") {
    if (!is_truth(operand)) return undefined_for();
    return logic("^", std::move(operand), make_constant({JavaKind::boolean, nullptr}, of_integer(1)));
  }
  if (!is_number(operand)) return undefined_for();
  const JavaKind kind = promoted(unboxed(operand.type.kind), JavaKind::int_);
  if (op == "~") {
    if (!is_integral(kind)) return undefined_for();
    return arithmetic('^', std::move(operand), make_constant({JavaKind::int_, nullptr}, of_integer(-1)));
  }
  operand = cast_number(as_primitive(std::move(operand)), kind);
  if (op == "+") return operand;
  if (is_integral(kind))
    return arithmetic('-', make_constant({JavaKind::int_, nullptr}, of_integer(0)), std::move(operand));
  Node out;
  out.type = operand.type;
  out.evaluate = [operand = std::move(operand)](Frame& frame) -> base::Result<Value> {
    SIBYL_ASSIGN(const Value value, operand.evaluate(frame));
    return of_floating(-value.floating);
  };
  return out;
}

base::Result<Node> binary(std::string_view op, Node left, Node right, int line) {
  const bool are_numbers = is_number(left) && is_number(right);
  const bool are_integral =
      are_numbers && is_integral(unboxed(left.type.kind)) && is_integral(unboxed(right.type.kind));
  if (op == "+" && (left.type.kind == JavaKind::string || right.type.kind == JavaKind::string)) {
    for (const Node* node : {&left, &right})
      if (!has_text(node->type))
        return refused(line,
                       fmt::format("the text of a value of type {} is not supported", name_of(node->type)));
    return concatenation(std::move(left), std::move(right));
  }
  if (op == "==" || op == "!=") return equality(op, std::move(left), std::move(right), line);
  if (op == "&&" || op == "||") {
    if (!is_truth(left) || !is_truth(right)) return undefined(op, left, right, line);
    return logic(op, std::move(left), std::move(right));
  }
  if (op == "&" || op == "|" || op == "^") {
    if (is_truth(left) && is_truth(right)) return logic(op, std::move(left), std::move(right));
    if (!are_integral) return undefined(op, left, right, line);
    return arithmetic(op[0], std::move(left), std::move(right));
  }
  if (op == "<<" || op == ">>" || op == ">>>") {
    if (!are_integral) return undefined(op, left, right, line);
    return shift(op, std::move(left), std::move(right));
  }
  if (!are_numbers) return undefined(op, left, right, line);
  if (op[0] == '<' || op[0] == '>') return number_comparison(op, std::move(left), std::move(right));
  return arithmetic(op[0], std::move(left), std::move(right));
}

namespace {

// The type of `c ? yes : no`, by Java's table. JavaKind::other: it is not supported.
base::Result<Type> conditional_type(const Node& yes, const Node& no, int line) {
  if (yes.type == no.type) return yes.type;
  const JavaKind left = yes.type.kind;
  const JavaKind right = no.type.kind;
  if (left == JavaKind::null) return Type{boxed(right), no.type.cql};
  if (right == JavaKind::null) return Type{boxed(left), yes.type.cql};
  const JavaKind a = unboxed(left);
  const JavaKind b = unboxed(right);
  if (a == b && is_primitive(a)) return Type{a, nullptr};
  if (is_numeric(a) && is_numeric(b)) {
    const auto fits_in = [](const Node& constant, JavaKind kind) {
      return constant.type.kind == JavaKind::int_ && constant.constant && kind < JavaKind::int_ &&
             cast_number(constant, kind).constant == constant.constant;
    };
    if (fits_in(no, a)) return Type{a, nullptr};
    if (fits_in(yes, b)) return Type{b, nullptr};
    const bool are_small =
        (a == JavaKind::byte_ && b == JavaKind::short_) || (a == JavaKind::short_ && b == JavaKind::byte_);
    return Type{are_small ? JavaKind::short_ : promoted(a, b), nullptr};
  }
  return refused(line,
                 fmt::format("'?:' of {} and {} is not supported", name_of(yes.type), name_of(no.type)));
}

}  // namespace

base::Result<Node> conditional(Node condition, Node yes, Node no, int line) {
  if (!is_truth(condition))
    return refused(line,
                   fmt::format("Type mismatch: cannot convert from {} to boolean", name_of(condition.type)));
  SIBYL_ASSIGN(Type type, conditional_type(yes, no, line));
  SIBYL_ASSIGN(yes, assigned(std::move(yes), type, line));
  SIBYL_ASSIGN(no, assigned(std::move(no), type, line));
  Node out;
  out.type = std::move(type);
  out.evaluate = [condition = as_primitive(std::move(condition)), yes = std::move(yes),
                  no = std::move(no)](Frame& frame) -> base::Result<Value> {
    SIBYL_ASSIGN(const Value chosen, condition.evaluate(frame));
    return (chosen.integer != 0 ? yes : no).evaluate(frame);
  };
  return out;
}

}  // namespace sibyl::plan::java
