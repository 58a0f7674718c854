// Reads a body into typed statements. Internal to src/plan/java.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/java/node.h"

namespace sibyl::plan::java {

struct Variable {
  std::string name;
  Type type;
  std::string described;  // of a parameter, in Java's messages: <parameter1>
};

struct Statement {
  enum class Kind { give, fail, choose, block, set };
  Kind kind = Kind::block;
  Node node;           // give: the result; fail: the message; choose: the condition; set: the new value
  std::string thrown;  // fail: the exception's class
  bool has_message = false;
  size_t slot = 0;               // set
  std::vector<Statement> parts;  // choose: one or two; block: any number
  bool completes = true;         // false if control never reaches the statement after it
};

struct Body {
  std::vector<Statement> statements;
  size_t slots = 0;  // parameters and local variables
};

// Errors are `Line 1: …`, with the text of Java's compiler or the name of what is not supported.
base::Result<Body> parse(std::string_view body, std::vector<Variable> parameters, const Type& returns);

}  // namespace sibyl::plan::java
