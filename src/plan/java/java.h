// User-defined functions in Java, as far as they are supported: compiled once, called by any thread.
//
// docs/functions.md lists the supported part of Java. Everything else is refused by name. There are no loops, so a call ends soon.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "types/value.h"

namespace sibyl::plan {

class JavaFunction {
 public:
  struct Definition {
    std::vector<std::string> argument_names;
    std::vector<types::TypePtr> argument_types;
    types::TypePtr returns;
    bool called_on_null_input = false;
    std::string body;
  };

  // Errors are `Line 1: …`: what Java's compiler says about the body, or what is not supported.
  static base::Result<std::shared_ptr<const JavaFunction>> compile(Definition definition);
  ~JavaFunction();

  // Returns nullopt for null. Thread-safe. Errors are function failures with the exception:
  // `java.lang.ArithmeticException: / by zero`.
  base::Result<std::optional<base::Bytes>> call(std::span<const types::ValueView> arguments) const;

 private:
  struct Impl;
  explicit JavaFunction(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sibyl::plan
