#include "plan/statements/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "plan/statements/masks.h"
#include "plan/statements/selection_terms.h"
#include "plan/statements/selection_text.h"
#include "plan/terms/existing_column.h"
#include "plan/terms/term_text.h"

namespace sibyl::plan {

using base::invalid;
using types::Kind;
using types::TypePtr;

int value_input(Selection& selection, const schema::Column& column) {
  for (size_t i = 0; i < selection.inputs.size(); ++i)
    if (selection.inputs[i].column == &column && selection.inputs[i].kind == Input::Kind::value)
      return static_cast<int>(i);
  Input input;
  input.column = &column;
  selection.inputs.push_back(std::move(input));
  return static_cast<int>(selection.inputs.size()) - 1;
}

namespace {

std::optional<Input::Kind> metadata_kind(const cql::FunctionCall& call) {
  if (!call.function.keyspace.empty() || call.arguments.size() != 1) return std::nullopt;
  if (call.function.name == "writetime") return Input::Kind::write_time;
  if (call.function.name == "maxwritetime") return Input::Kind::max_write_time;
  if (call.function.name == "ttl") return Input::Kind::time_to_live;
  return std::nullopt;
}

// Returns the operand of `(u)`, where the parentheses do not make a tuple.
const cql::Expression* in_parentheses(const cql::Expression& expression) {
  const auto* tuple = std::get_if<cql::TupleLiteral>(&expression.node);
  return tuple != nullptr && tuple->elements.size() == 1 ? tuple->elements[0].get() : nullptr;
}

base::Result<TermPtr> column_term(Binder& binder, Selection& selection, const schema::Column& column) {
  return apply_mask(binder, column, std::make_shared<InputTerm>(column.type, value_input(selection, column)));
}

class SelectionScope final : public RowScope {
 public:
  SelectionScope(Binder& binder, const schema::Table& table, Selection& selection)
      : binder_(binder), table_(table), selection_(selection) {
    binder_.set_scope(this);
  }
  ~SelectionScope() override { binder_.set_scope(nullptr); }

  base::Result<TypePtr> type_of(const cql::Expression& expression) override {
    if (const auto* column = std::get_if<cql::ColumnReference>(&expression.node)) {
      SIBYL_ASSIGN(const schema::Column* found, existing_column(table_, column->name));
      return found->type;
    }
    if (const auto* field = std::get_if<cql::FieldSelection>(&expression.node)) return field_type(*field);
    if (const auto* element = std::get_if<cql::ElementSelection>(&expression.node)) {
      SIBYL_ASSIGN(const TypePtr collection, collection_type(*element->of, "element", "Element"));
      return collection->parameters()[collection->kind() == Kind::map ? 1 : 0];
    }
    if (const auto* slice = std::get_if<cql::SliceSelection>(&expression.node))
      return collection_type(*slice->of, "slice", "Slice");
    if (const auto* call = std::get_if<cql::FunctionCall>(&expression.node)) {
      if (const auto kind = metadata_kind(*call)) {
        SIBYL_ASSIGN(const Input input, metadata_input(*kind, *call));
        return metadata_type(input);
      }
      return nullptr;
    }
    if (const auto* cast = std::get_if<cql::Cast>(&expression.node)) {
      // A cast to the type that the value already has is omitted.
      SIBYL_ASSIGN(const TypePtr to, binder_.type(cast->type, binder_.keyspace()));
      SIBYL_ASSIGN(const TypePtr from, binder_.exact_type(*cast->of));
      return from != nullptr && *from == *to ? to : nullptr;
    }
    return nullptr;
  }

  base::Result<TermPtr> bind(const cql::Expression& expression) override {
    if (const auto* column = std::get_if<cql::ColumnReference>(&expression.node)) {
      SIBYL_ASSIGN(const schema::Column* found, existing_column(table_, column->name));
      return column_term(binder_, selection_, *found);
    }
    if (const auto* field = std::get_if<cql::FieldSelection>(&expression.node)) {
      SIBYL_ASSIGN(const TypePtr type, field_type(*field));
      const cql::Expression* bare = in_parentheses(*field->of);
      SIBYL_ASSIGN(TermPtr of, inner(bare == nullptr ? *field->of : *bare));
      const int index = of->type()->field_index(field->field);
      return std::make_shared<FieldTerm>(type, std::move(of), static_cast<size_t>(index));
    }
    if (const auto* element = std::get_if<cql::ElementSelection>(&expression.node)) {
      SIBYL_ASSIGN(TypePtr type, type_of(expression));
      SIBYL_ASSIGN(TermPtr of, inner(*element->of));
      SIBYL_ASSIGN(TermPtr key, key(*element->key, element_spec(*element->of, of->type())));
      return std::make_shared<ElementTerm>(std::move(type), std::move(of), std::move(key),
                                           text_of(*element->of));
    }
    if (const auto* slice = std::get_if<cql::SliceSelection>(&expression.node)) {
      SIBYL_ASSIGN(TermPtr of, inner(*slice->of));
      const ColumnSpec spec = element_spec(*slice->of, of->type());
      TermPtr from, to;
      if (slice->from) {
        SIBYL_ASSIGN(from, key(*slice->from, spec));
      }
      if (slice->to) {
        SIBYL_ASSIGN(to, key(*slice->to, spec));
      }
      return std::make_shared<SliceTerm>(std::move(of), std::move(from), std::move(to), text_of(*slice->of));
    }
    if (const auto* cast = std::get_if<cql::Cast>(&expression.node)) return inner(*cast->of);
    const auto& call = std::get<cql::FunctionCall>(expression.node);
    SIBYL_ASSIGN(Input input, metadata_input(*metadata_kind(call), call));
    TypePtr type = metadata_type(input);
    selection_.inputs.push_back(std::move(input));
    return std::make_shared<InputTerm>(std::move(type), static_cast<int>(selection_.inputs.size()) - 1);
  }

  base::Result<TermPtr> aggregate(FunctionPtr function, std::vector<TermPtr> arguments) override {
    for (const TermPtr& argument : arguments)
      if (argument->has_aggregate())
        return invalid("aggregate functions cannot be used as arguments of aggregate functions");
    TypePtr type = function->returns;
    selection_.aggregates.push_back({std::move(function), std::move(arguments)});
    return std::make_shared<AggregateTerm>(std::move(type), selection_.aggregates.size() - 1);
  }

  ColumnSpec receiver() const override { return spec("[selection]", nullptr); }
  std::string text(const cql::Expression& expression) const override {
    return selector_text(expression, table_, binder_);
  }
  std::string marker_name(const ColumnSpec& receiver) const override {
    return binds_key_ ? receiver.name : "[selection]";
  }

  // True if binding failed for another reason than an unknown name.
  bool is_late() const { return is_late_; }

  // A whole selector.
  base::Result<TermPtr> selector(const cql::Expression& expression) {
    if (const auto* hint = std::get_if<cql::TypeHint>(&expression.node)) return hinted(expression, *hint);
    SIBYL_ASSIGN(const TypePtr own, type_of(expression));
    if (own != nullptr) return bind(expression);
    const bool is_call = std::holds_alternative<cql::FunctionCall>(expression.node) ||
                         std::holds_alternative<cql::Arithmetic>(expression.node) ||
                         std::holds_alternative<cql::Negation>(expression.node) ||
                         std::holds_alternative<cql::Cast>(expression.node);
    if (is_call) {
      auto bound = binder_.call(expression, spec(text_of(expression), nullptr), false);
      if (!bound && std::holds_alternative<cql::Cast>(expression.node)) is_late_ = true;
      return bound;
    }
    SIBYL_ASSIGN(const TypePtr type, binder_.exact_type(expression));
    // Without a type, a map of columns cannot be distinguished from a user type's value.
    if (type == nullptr || std::holds_alternative<cql::MapLiteral>(expression.node))
      return cannot_infer(expression);
    return binder_.term(expression, spec(text_of(expression), type));
  }

 private:
  std::unexpected<base::Error> late(std::string message) {
    is_late_ = true;
    return invalid(std::move(message));
  }

  ColumnSpec spec(std::string name, TypePtr type) const {
    return {table_.keyspace, table_.name, std::move(name), std::move(type)};
  }

  std::unexpected<base::Error> cannot_infer(const cql::Expression& expression) {
    return late(
        fmt::format("Cannot infer type for term {} in selection clause (try using a cast to force a type)",
                    text(expression)));
  }

  base::Result<TermPtr> hinted(const cql::Expression& expression, const cql::TypeHint& hint) {
    SIBYL_ASSIGN(const TypePtr type, binder_.type(hint.type, table_.keyspace));
    const ColumnSpec receiver = spec(text_of(expression), type);
    SIBYL_ASSIGN(const Fit fits, binder_.fit(*hint.of, receiver));
    if (fits == Fit::none)
      return late(fmt::format("Cannot assign value {0} to {0} of type {1}", text(expression),
                              types::freeze(type)->cql_name()));
    return binder_.term(*hint.of, receiver);
  }

  base::Result<TermPtr> inner(const cql::Expression& expression) { return selector(expression); }

  // Returns a key in brackets.
  base::Result<TermPtr> key(const cql::Expression& expression, const ColumnSpec& receiver) {
    const bool outer = std::exchange(binds_key_, true);
    auto bound = binder_.term(expression, receiver);
    if (!bound) is_late_ = true;
    binds_key_ = outer;
    return bound;
  }

  base::Result<TypePtr> field_type(const cql::FieldSelection& field) {
    const cql::Expression* bare = in_parentheses(*field.of);
    SIBYL_ASSIGN(const TypePtr of, binder_.exact_type(bare == nullptr ? *field.of : *bare));
    if (of == nullptr && bare != nullptr) return cannot_infer(*field.of);
    const std::string name = text(*field.of);
    if (of == nullptr || of->kind() != Kind::udt)
      return late(fmt::format("Invalid field selection: {} of type {} is not a user type", name,
                              of == nullptr ? "unknown" : of->cql_name()));
    const int index = of->field_index(field.field);
    if (index < 0)
      return late(fmt::format("{} of type {} has no field {}", name, of->cql_name(), field.field));
    return of->parameters()[static_cast<size_t>(index)];
  }

  base::Result<TypePtr> collection_type(const cql::Expression& of, const char* what, const char* title) {
    SIBYL_ASSIGN(TypePtr type, binder_.exact_type(of));
    if (type == nullptr && in_parentheses(of) != nullptr) return cannot_infer(of);
    if (type == nullptr || !type->is_collection())
      return late(fmt::format("Invalid {} selection: {} {} {} is not a collection", what, text_of(of),
                              std::string_view(what) == "element" ? "is of type" : "of type",
                              type == nullptr ? "unknown" : type->cql_name()));
    if (type->kind() == Kind::list)
      return late(
          fmt::format("{} selection is only allowed on sets and maps, but {} is a list", title, text_of(of)));
    return type;
  }

  ColumnSpec element_spec(const cql::Expression& of, const TypePtr& collection) const {
    const ColumnSpec outer = spec(text_of(of), collection);
    return collection->kind() == Kind::map ? key_spec(outer) : value_spec(outer);
  }

  // --- writetime, maxwritetime, ttl

  base::Result<Input> metadata_input(Input::Kind kind, const cql::FunctionCall& call) {
    const cql::Expression* of = call.arguments[0].get();
    Input input;
    input.kind = kind;
    const cql::Expression* part = nullptr;
    if (const auto* element = std::get_if<cql::ElementSelection>(&of->node)) part = element->of.get();
    if (const auto* slice = std::get_if<cql::SliceSelection>(&of->node)) part = slice->of.get();
    if (const auto* field = std::get_if<cql::FieldSelection>(&of->node)) part = field->of.get();
    const auto* column = std::get_if<cql::ColumnReference>(part == nullptr ? &of->node : &part->node);
    if (column == nullptr)
      return invalid(
          fmt::format("Invalid call to function {}: {} is not a column", call.function.name, text_of(*of)));
    SIBYL_ASSIGN(input.column, existing_column(table_, column->name));
    if (input.column->is_primary_key())
      return late(fmt::format("Cannot use selection function {} on PRIMARY KEY part {}", call.function.name,
                              input.column->name));
    if (part != nullptr) SIBYL_TRY(bind_part(*of, *part, input));
    return input;
  }

  base::Status bind_part(const cql::Expression& of, const cql::Expression& column, Input& input) {
    SIBYL_ASSIGN(const TypePtr type, type_of(of));
    if (const auto* field = std::get_if<cql::FieldSelection>(&of.node)) {
      input.part = Input::Part::field;
      input.field = static_cast<uint16_t>(input.column->type->field_index(field->field));
      return {};
    }
    const ColumnSpec receiver = element_spec(column, input.column->type);
    if (const auto* element = std::get_if<cql::ElementSelection>(&of.node)) {
      input.part = Input::Part::element;
      SIBYL_ASSIGN(input.from, key(*element->key, receiver));
      return {};
    }
    const auto& slice = std::get<cql::SliceSelection>(of.node);
    input.part = Input::Part::slice;
    if (slice.from) {
      SIBYL_ASSIGN(input.from, key(*slice.from, receiver));
    }
    if (slice.to) {
      SIBYL_ASSIGN(input.to, key(*slice.to, receiver));
    }
    return {};
  }

  static TypePtr metadata_type(const Input& input) {
    const TypePtr& one = types::scalar(input.kind == Input::Kind::time_to_live ? Kind::int_ : Kind::bigint);
    const bool is_many = input.column->type->is_multi_cell() && input.kind != Input::Kind::max_write_time &&
                         (input.part == Input::Part::whole || input.part == Input::Part::slice);
    return is_many ? types::list_of(one, false) : one;
  }

  Binder& binder_;
  const schema::Table& table_;
  Selection& selection_;
  bool binds_key_ = false;
  bool is_late_ = false;
};

void add_output(Selection& selection, TermPtr term) {
  Output output;
  if (const auto* input = dynamic_cast<const InputTerm*>(term.get())) output.input = input->index();
  output.term = std::move(term);
  selection.outputs.push_back(std::move(output));
}

}  // namespace

base::Result<TermPtr> bind_over_row(Binder& binder, const schema::Table& table,
                                    const cql::Expression& expression, Selection& selection) {
  SelectionScope scope(binder, table, selection);
  return scope.selector(expression);
}

base::Status check_names(Binder& binder, const schema::Table& table, const cql::Expression& expression) {
  Selection alone;
  SelectionScope scope(binder, table, alone);
  const auto bound = scope.selector(expression);
  if (bound || scope.is_late()) return {};
  return base::fail(bound.error().position() ? bound.error() : bound.error().at(expression.position));
}

base::Result<Selection> bind_selection(Binder& binder, const schema::Table& table, const cql::Select& select,
                                       const std::vector<const schema::Column*>& extra) {
  Selection selection;
  selection.json = select.json;
  selection.is_wildcard = select.selectors.empty();
  auto names = std::make_shared<ResultMetadata>();
  if (selection.is_wildcard) {
    for (const schema::Column& column : table.columns) {
      if (column.is_hidden) continue;
      SIBYL_ASSIGN(TermPtr term, column_term(binder, selection, column));
      add_output(selection, std::move(term));
      names->columns.push_back(spec_of(table, column));
    }
  } else {
    SelectionScope scope(binder, table, selection);
    for (const cql::Selector& selector : select.selectors) {
      auto term = scope.selector(*selector.expression);
      if (!term)
        return base::fail(term.error().position() ? term.error()
                                                  : term.error().at(selector.expression->position));
      std::string name =
          selector.alias.empty() ? result_name(*selector.expression, table, binder) : selector.alias;
      names->columns.push_back({table.keyspace, table.name, std::move(name), (*term)->type()});
      add_output(selection, std::move(*term));
    }
  }
  for (const schema::Column* column : extra) value_input(selection, *column);
  selection.names = std::move(names);
  return selection;
}

}  // namespace sibyl::plan
