#include "plan/statements/masks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cql/parser.h"
#include "cql/printer.h"
#include "plan/statements/modify.h"
#include "plan/statements/selection_terms.h"
#include "plan/terms/functions.h"
#include "plan/terms/term_nodes.h"
#include "plan/terms/term_text.h"
#include "plan/terms/user_functions.h"

namespace sibyl::plan {

using base::invalid;
using types::TypePtr;

namespace {

// Resolves the masked column, which is the first argument of the call.
class ColumnScope final : public RowScope {
 public:
  ColumnScope(Binder& binder, ColumnSpec column) : binder_(binder), column_(std::move(column)) {
    binder_.set_scope(this);
  }
  ~ColumnScope() override { binder_.set_scope(nullptr); }

  base::Result<TypePtr> type_of(const cql::Expression& expression) override {
    return std::holds_alternative<cql::ColumnReference>(expression.node) ? column_.type : nullptr;
  }
  base::Result<TermPtr> bind(const cql::Expression&) override {
    return std::make_shared<InputTerm>(column_.type, 0);
  }
  base::Result<TermPtr> aggregate(FunctionPtr, std::vector<TermPtr>) override {
    is_aggregate_ = true;
    return std::make_shared<InputTerm>(column_.type, 0);
  }
  ColumnSpec receiver() const override { return column_; }
  std::string text(const cql::Expression& expression) const override { return text_of(expression); }
  std::string marker_name(const ColumnSpec& receiver) const override { return receiver.name; }

  bool is_aggregate() const { return is_aggregate_; }

 private:
  Binder& binder_;
  ColumnSpec column_;
  bool is_aggregate_ = false;
};

// SELECT f(column, arguments...): the call that the mask means.
base::Result<std::unique_ptr<cql::Statement>> call_of(const cql::ColumnMask& mask,
                                                      const std::string& column) {
  std::string text = "SELECT ";
  if (!mask.function.keyspace.empty()) text += cql::print_name(mask.function.keyspace) + ".";
  text += cql::print_name(mask.function.name) + "(" + cql::print_name(column);
  for (const cql::ExpressionPtr& argument : mask.arguments) text += ", " + cql::print(*argument);
  return cql::parse_statement(text + ") FROM t");
}

class MaskBinder {
 public:
  MaskBinder(const cql::ColumnMask& mask, const schema::Snapshot& schema, ColumnSpec column)
      : mask_(mask), column_(std::move(column)), binder_(schema, column_.keyspace, 0) {}

  base::Result<schema::ColumnMaskPtr> bind() {
    SIBYL_ASSIGN(const FunctionPtr function, find());
    SIBYL_TRY(check(*function));
    auto bound = std::make_shared<schema::ColumnMask>();
    bound->keyspace = function->keyspace;
    bound->function = function->name;
    Scratch scratch;
    for (size_t i = 0; i < mask_.arguments.size(); ++i) {
      const TypePtr& type = function->arguments[i + 1];
      SIBYL_ASSIGN(const TermPtr term,
                   binder_.term(*mask_.arguments[i], {column_.keyspace, column_.table, column_.name, type}));
      SIBYL_ASSIGN(const ValueView value, term->evaluate({}, scratch));
      bound->argument_types.push_back(type);
      bound->arguments.push_back(value.is_present() ? std::optional<Bytes>(value.bytes) : std::nullopt);
    }
    return bound;
  }

 private:
  std::string text() const {
    const cql::QualifiedName& name = mask_.function;
    std::vector<std::string> arguments;
    for (const cql::ExpressionPtr& argument : mask_.arguments) arguments.push_back(text_of(*argument));
    return fmt::format("{}{}({})", name.keyspace.empty() ? "" : name.keyspace + ".", name.name,
                       fmt::join(arguments, ", "));
  }

  bool has_function() const {
    const cql::QualifiedName& name = mask_.function;
    const bool may_be_native = name.keyspace.empty() || name.keyspace == "system";
    if (may_be_native && FunctionRegistry::instance().find(name.name) != nullptr) return true;
    const std::string& home = name.keyspace.empty() ? column_.keyspace : name.keyspace;
    return !overloads_of(binder_.schema(), home, name.name).empty();
  }

  base::Result<FunctionPtr> find() {
    if (!has_function())
      return invalid(
          fmt::format("Unable to find masking function for {}, no declared function matches the signature {}",
                      column_.name, text()));
    SIBYL_ASSIGN(const auto select, call_of(mask_, column_.name));
    const cql::Expression& call = *std::get<cql::Select>(select->node).selectors.front().expression;
    ColumnScope scope(binder_, column_);
    SIBYL_TRY(binder_.call(call, column_, false));
    if (scope.is_aggregate())
      return invalid(fmt::format("Aggregate function {} cannot be used for masking table columns", text()));
    return binder_.resolved(call);
  }

  base::Status check(const Function& function) const {
    const bool is_native = function.lua == nullptr;
    if (is_native && !function.name.starts_with("mask_"))
      return invalid(fmt::format("Not-masking function {} cannot be used for masking table columns", text()));
    if (!is_native && function.keyspace != column_.keyspace)
      return invalid(fmt::format("Masking function {} doesn't belong to the same keyspace as the table {}.{}",
                                 text(), column_.keyspace, column_.table));
    if (!(*function.returns == *column_.type))
      return invalid(
          fmt::format("Masking function {} return type is {}. This is different to the type of the masked "
                      "column {} of type {}. Masking functions can only be attached to table columns if they "
                      "return the same data type as the masked column.",
                      text(), function.returns->cql_name(), column_.name, column_.type->cql_name()));
    return {};
  }

  const cql::ColumnMask& mask_;
  const ColumnSpec column_;
  Binder binder_;
};

bool is_same(const std::vector<TypePtr>& left, const std::vector<TypePtr>& right) {
  return std::equal(
      left.begin(), left.end(), right.begin(), right.end(),
      [](const TypePtr& a, const TypePtr& b) { return *types::freeze(a) == *types::freeze(b); });
}

base::Result<FunctionPtr> function_of(Binder& binder, const schema::ColumnMask& mask, const TypePtr& type) {
  std::vector<TypePtr> types = {type};
  types.insert(types.end(), mask.argument_types.begin(), mask.argument_types.end());
  if (mask.keyspace == "system") {
    FactoryCall call{mask.function, types, {}, {}, type, nullptr};
    call.argument_texts.resize(types.size());
    call.array_sizes.resize(types.size());
    return FunctionRegistry::instance().find(mask.function)->factory(call);
  }
  std::vector<FunctionUse> uses;
  SIBYL_ASSIGN(const std::vector<FunctionPtr> overloads,
               user_functions(binder.schema(), mask.keyspace, mask.function, uses));
  for (FunctionUse& use : uses) binder.add_use(std::move(use));
  const auto found = std::find_if(overloads.begin(), overloads.end(), [&](const FunctionPtr& function) {
    return !function->is_aggregate() && is_same(function->arguments, types);
  });
  // A function cannot be dropped while it masks a column.
  if (found == overloads.end())
    return base::fail(base::ErrorCode::server, "The masking function " + mask.text() + " does not exist");
  return *found;
}

class MaskedTerm final : public Term {
 public:
  MaskedTerm(TermPtr value, TermPtr mask)
      : Term(value->type()), value_(std::move(value)), mask_(std::move(mask)) {}
  base::Result<ValueView> evaluate(const Bindings& bindings, Scratch& scratch) const override {
    return (bindings.unmasked ? value_ : mask_)->evaluate(bindings, scratch);
  }

 private:
  TermPtr value_, mask_;
};

}  // namespace

base::Result<schema::ColumnMaskPtr> bind_mask(const cql::ColumnMask& mask, const schema::Snapshot& schema,
                                              const schema::Table& table, const std::string& column,
                                              const types::TypePtr& type) {
  return MaskBinder(mask, schema, {table.keyspace, table.name, column, type}).bind();
}

base::Result<TermPtr> apply_mask(Binder& binder, const schema::Column& column, TermPtr value) {
  if (column.mask == nullptr) return value;
  const schema::ColumnMask& mask = *column.mask;
  SIBYL_ASSIGN(FunctionPtr function, function_of(binder, mask, column.type));
  std::vector<TermPtr> arguments = {value};
  for (size_t i = 0; i < mask.arguments.size(); ++i)
    arguments.push_back(mask.arguments[i]
                            ? std::make_shared<ConstantTerm>(mask.argument_types[i], *mask.arguments[i])
                            : std::make_shared<ConstantTerm>(mask.argument_types[i]));
  TermPtr masked = make_call(std::move(function), std::move(arguments));
  return std::make_shared<MaskedTerm>(std::move(value), std::move(masked));
}

std::vector<const schema::Column*> revealed_masks(const Modification& statement) {
  std::set<const schema::Column*> asked;
  for (const auto* operations : {&statement.static_operations, &statement.row_operations})
    for (const Operation& operation : *operations)
      if (operation.may_fail_by_stored_value()) asked.insert(operation.column);
  if (statement.conditions)
    for (const auto* conditions : {&statement.conditions->regular, &statement.conditions->statics})
      for (const Condition& condition : *conditions) asked.insert(condition.column);
  if (asked.empty() && !statement.conditions) return {};
  std::vector<const schema::Column*> masked;
  for (const schema::Column& column : statement.table->columns) {
    // The outcome also reveals whether a row with this key exists.
    const bool is_named = column.is_partition_key() || (column.is_clustering() && statement.updates_rows());
    if (column.mask && (is_named || asked.contains(&column))) masked.push_back(&column);
  }
  return masked;
}

}  // namespace sibyl::plan
