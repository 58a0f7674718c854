#include "plan/java/java.h"

#include <fmt/format.h>

#include "plan/java/java_type.h"
#include "plan/java/lexer.h"
#include "plan/java/parser.h"
#include "plan/java/text.h"
#include "plan/java/values.h"

namespace sibyl::plan {

using java::Frame;
using java::Statement;
using java::Value;

struct JavaFunction::Impl {
  Definition definition;
  java::Type returns;
  java::Body body;
};

namespace {

// What running statements led to: a result, or nothing if control reached their end.
using Outcome = base::Result<std::optional<Value>>;

Outcome run(const std::vector<Statement>& statements, Frame& frame);

Outcome run(const Statement& statement, Frame& frame) {
  switch (statement.kind) {
    case Statement::Kind::block:
      return run(statement.parts, frame);
    case Statement::Kind::give: {
      SIBYL_ASSIGN(Value value, statement.node.evaluate(frame));
      return std::optional(std::move(value));
    }
    case Statement::Kind::fail: {
      if (!statement.has_message) return java::thrown(statement.thrown);
      SIBYL_ASSIGN(const Value message, statement.node.evaluate(frame));
      if (message.is_null) return java::thrown(statement.thrown);
      return java::thrown(fmt::format("{}: {}", statement.thrown, java::to_utf8(message.text)));
    }
    case Statement::Kind::choose: {
      SIBYL_ASSIGN(const Value chosen, statement.node.evaluate(frame));
      if (chosen.integer != 0) return run(statement.parts[0], frame);
      return statement.parts.size() == 2 ? run(statement.parts[1], frame) : Outcome(std::nullopt);
    }
    case Statement::Kind::set: {
      SIBYL_ASSIGN(frame.slots[statement.slot], statement.node.evaluate(frame));
      return std::nullopt;
    }
  }
  return std::nullopt;
}

Outcome run(const std::vector<Statement>& statements, Frame& frame) {
  for (const Statement& statement : statements) {
    SIBYL_ASSIGN(std::optional<Value> result, run(statement, frame));
    if (result) return result;
  }
  return std::nullopt;
}

base::Status check_name(const std::string& name) {
  const auto tokens = java::tokenize(name);
  if (tokens && tokens->size() == 2 && tokens->front().kind == java::Token::Kind::name &&
      tokens->front().text == name)
    return {};
  return java::refused(1, fmt::format("'{}' cannot be the name of a variable in Java", name));
}

}  // namespace

JavaFunction::JavaFunction(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JavaFunction::~JavaFunction() = default;

base::Result<std::shared_ptr<const JavaFunction>> JavaFunction::compile(Definition definition) {
  const bool is_primitive = !definition.called_on_null_input;
  std::vector<java::Variable> parameters;
  for (size_t i = 0; i < definition.argument_names.size(); ++i) {
    SIBYL_TRY(check_name(definition.argument_names[i]));
    parameters.push_back({definition.argument_names[i],
                          java::java_type(definition.argument_types[i], is_primitive),
                          fmt::format("<parameter{}>", i + 1)});
  }
  auto impl = std::make_unique<Impl>();
  impl->returns = java::java_type(definition.returns, is_primitive);
  SIBYL_ASSIGN(impl->body, java::parse(definition.body, std::move(parameters), impl->returns));
  impl->definition = std::move(definition);
  return std::shared_ptr<const JavaFunction>(new JavaFunction(std::move(impl)));
}

base::Result<std::optional<base::Bytes>> JavaFunction::call(
    std::span<const types::ValueView> arguments) const {
  const bool is_primitive = !impl_->definition.called_on_null_input;
  Frame frame{.slots = std::vector<Value>(impl_->body.slots)};
  for (size_t i = 0; i < arguments.size(); ++i) {
    const types::TypePtr& cql = impl_->definition.argument_types[i];
    frame.slots[i] = java::read_value(java::java_type(cql, is_primitive), *cql, arguments[i]);
  }
  SIBYL_ASSIGN(const std::optional<Value> result, run(impl_->body.statements, frame));
  if (!result || result->is_null) return std::nullopt;
  return java::write_value(impl_->returns, *impl_->definition.returns, *result);
}

}  // namespace sibyl::plan
