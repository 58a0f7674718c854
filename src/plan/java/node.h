// Typed expressions that can be evaluated. Internal to src/plan/java.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "plan/java/java_type.h"

namespace sibyl::plan::java {

// A value of a type that its user knows.
struct Value {
  bool is_null = false;
  int64_t integer = 0;  // boolean, integral types and char
  double floating = 0;  // double; float, which it holds exactly
  std::u16string text;
  base::Bytes bytes;  // other: as in CQL
};

// One call.
struct Frame {
  std::vector<Value> slots;  // parameters, then local variables
  size_t text_units = 0;     // of all texts that the call has read and made
};

// The code of a node. Copies share it, so that copying a node does not copy the tree below it.
class Evaluation {
 public:
  using Function = std::function<base::Result<Value>(Frame& frame)>;

  Evaluation() = default;
  template <typename Callable>
    requires(!std::is_same_v<std::remove_cvref_t<Callable>, Evaluation>)
  Evaluation(Callable function)  // NOLINT: lambdas are assigned to it
      : function_(std::make_shared<const Function>(std::move(function))) {}
  base::Result<Value> operator()(Frame& frame) const { return (*function_)(frame); }

 private:
  std::shared_ptr<const Function> function_;
};

struct Node {
  Type type;
  Evaluation evaluate;
  std::optional<int64_t> constant;     // the value of a constant of type int or smaller
  std::optional<std::string> literal;  // a text as written, in UTF-8
  std::string described;  // how Java's messages name the source of a null; empty if it is not known
};

Value of_integer(int64_t value);
Value of_floating(double value);
Value of_text(std::u16string value);

// An exception: `java.lang.ArithmeticException: / by zero`.
std::unexpected<base::Error> thrown(const std::string& exception);
// The NullPointerException of a call on the value of a node, such as `java.lang.Integer.intValue()`.
std::unexpected<base::Error> null_pointer(const Node& node, const std::string& call);

// A constant. `constant` is set for types that Java narrows implicitly.
Node make_constant(Type type, Value value);
// A parameter or local variable.
Node make_variable(Type type, size_t slot, const std::string& described);

// Limits the texts of one call, in UTF-16 units.
inline constexpr size_t max_text_units = 8u << 20;
// Counts the value's text. Fails if the call has used too much.
base::Result<Value> charged(Frame& frame, Value value);
// A text that may be larger than a call may use.
base::Result<Value> checked_text(std::u16string value);

}  // namespace sibyl::plan::java
