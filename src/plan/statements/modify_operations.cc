#include "plan/statements/modify_operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "plan/terms/functions.h"
#include "plan/terms/term_text.h"

namespace sibyl::plan {

using types::Kind;

namespace {

// The assignment as spelled in Cassandra's errors, which print a prepend with a minus sign.
std::string spell(const cql::Assignment& assignment) {
  const std::string& column = assignment.column;
  const std::string value = text_of(*assignment.value);
  if (assignment.element_key)
    return fmt::format("{}[{}] = {}", column, text_of(*assignment.element_key), value);
  if (!assignment.field.empty()) return fmt::format("{}.{} = {}", column, assignment.field, value);
  switch (assignment.kind) {
    case cql::Assignment::Kind::add:
      return fmt::format("{} = {} + {}", column, column, value);
    case cql::Assignment::Kind::subtract:
      return fmt::format("{} = {} - {}", column, column, value);
    case cql::Assignment::Kind::prepend:
      return fmt::format("{} = {} - {}", column, value, column);
    case cql::Assignment::Kind::set:
      break;
  }
  return fmt::format("{} = {}", column, value);
}

class AssignmentBinder {
 public:
  AssignmentBinder(const cql::Assignment& assignment, const schema::Table& table,
                   const schema::Column& column, Binder& binder, bool is_conditional)
      : assignment_(assignment),
        column_(column),
        type_(*column.type),
        receiver_(spec_of(table, column)),
        binder_(binder),
        is_conditional_(is_conditional) {
    operation_.column = &column;
  }

  base::Result<Operation> bind() {
    if (assignment_.element_key) return bind_element();
    if (!assignment_.field.empty()) return bind_field();
    switch (assignment_.kind) {
      case cql::Assignment::Kind::add:
        return bind_addition();
      case cql::Assignment::Kind::subtract:
        return bind_subtraction();
      case cql::Assignment::Kind::prepend:
        return bind_prepend();
      case cql::Assignment::Kind::set:
        break;
    }
    SIBYL_ASSIGN(operation_.value, binder_.term(*assignment_.value, receiver_));
    if (type_.is_counter()) {
      return refuse(fmt::format(
          "Cannot set the value of counter column {} (counters can only be incremented/decremented, not set)",
          column_.name));
    }
    return finish(Operation::Kind::set);
  }

 private:
  std::unexpected<base::Error> refuse(std::string message) const {
    return base::fail(base::Error(base::ErrorCode::invalid, std::move(message)).at(assignment_.position));
  }
  std::unexpected<base::Error> refuse_for(const char* what) const {
    return refuse(
        fmt::format("Invalid operation ({}) for {} column {}", spell(assignment_), what, column_.name));
  }
  Operation finish(Operation::Kind kind) {
    operation_.kind = kind;
    return std::move(operation_);
  }

  base::Result<Operation> bind_element() {
    if (!type_.is_collection()) return refuse_for("non collection");
    if (!type_.is_multi_cell()) return refuse_for("frozen collection");
    if (type_.kind() == Kind::set) return refuse_for("set");
    const bool is_list = type_.kind() == Kind::list;
    SIBYL_ASSIGN(operation_.element, binder_.term(*assignment_.element_key,
                                                  is_list ? index_spec(receiver_) : key_spec(receiver_)));
    SIBYL_ASSIGN(operation_.value, binder_.term(*assignment_.value, value_spec(receiver_)));
    return finish(is_list ? Operation::Kind::set_index : Operation::Kind::set_element);
  }

  base::Result<Operation> bind_field() {
    if (type_.kind() != Kind::udt) return refuse_for("non-UDT");
    if (!type_.is_multi_cell()) return refuse_for("frozen UDT");
    const int field = type_.field_index(assignment_.field);
    if (field < 0)
      return refuse(
          fmt::format("UDT column {} does not have a field named {}", column_.name, assignment_.field));
    operation_.field = static_cast<uint16_t>(field);
    SIBYL_ASSIGN(operation_.value,
                 binder_.term(*assignment_.value, field_spec(receiver_, static_cast<size_t>(field))));
    return finish(Operation::Kind::set_field);
  }

  base::Result<Operation> bind_addition() {
    if (!type_.is_collection()) {
      if (type_.kind() == Kind::tuple || type_.kind() == Kind::udt) return refuse_for("tuple");
      if (is_conditional_ && !type_.is_counter()) return bind_value_addition();
      if (!type_.is_counter()) return refuse_for("non counter");
      SIBYL_ASSIGN(operation_.value, binder_.term(*assignment_.value, receiver_));
      return finish(Operation::Kind::add_to_counter);
    }
    if (!type_.is_multi_cell()) return refuse_for("frozen collection");
    auto value = binder_.term(*assignment_.value, receiver_);
    if (!value && type_.kind() == Kind::map) {
      return refuse(fmt::format("Value for a map addition has to be a map, but was: '{}'",
                                text_of(*assignment_.value)));
    }
    SIBYL_ASSIGN(operation_.value, std::move(value));
    return finish(type_.kind() == Kind::list ? Operation::Kind::append : Operation::Kind::add_elements);
  }

  base::Result<Operation> bind_value_addition() {
    const FunctionEntry* entry =
        FunctionRegistry::instance().find(operation_name(cql::ArithmeticOperator::add));
    const auto adds = [&](const FunctionPtr& one) {
      return *one->arguments[0] == type_ && *one->arguments[1] == type_ && *one->returns == type_;
    };
    const auto found = std::find_if(entry->functions.begin(), entry->functions.end(), adds);
    if (found == entry->functions.end()) {
      return refuse(fmt::format("Invalid operation ({}) for non-numeric and non-text type {}",
                                spell(assignment_), column_.name));
    }
    operation_.sum = *found;
    SIBYL_ASSIGN(operation_.value, binder_.term(*assignment_.value, receiver_));
    return finish(Operation::Kind::add_value);
  }

  base::Result<Operation> bind_subtraction() {
    if (!type_.is_collection()) {
      if (!type_.is_counter()) return refuse_for("non counter");
      SIBYL_ASSIGN(operation_.value, binder_.term(*assignment_.value, receiver_));
      return finish(Operation::Kind::subtract_counter);
    }
    if (!type_.is_multi_cell()) return refuse_for("frozen collection");
    if (type_.kind() == Kind::map) return bind_map_subtraction();
    SIBYL_ASSIGN(operation_.value, binder_.term(*assignment_.value, receiver_));
    return finish(type_.kind() == Kind::list ? Operation::Kind::remove_values
                                             : Operation::Kind::remove_elements);
  }

  // The value subtracted from a map is a set of keys.
  base::Result<Operation> bind_map_subtraction() {
    ColumnSpec keys = receiver_;
    keys.type = types::set_of(type_.map_key(), false);
    auto value = binder_.term(*assignment_.value, keys);
    if (!value) {
      return refuse(fmt::format("Value for a map substraction has to be a set, but was: '{}'",
                                text_of(*assignment_.value)));
    }
    operation_.value = std::move(*value);
    return finish(Operation::Kind::remove_elements);
  }

  base::Result<Operation> bind_prepend() {
    SIBYL_ASSIGN(operation_.value, binder_.term(*assignment_.value, receiver_));
    if (type_.kind() != Kind::list) return refuse_for("non list");
    if (!type_.is_multi_cell()) return refuse_for("frozen list");
    return finish(Operation::Kind::prepend);
  }

  const cql::Assignment& assignment_;
  const schema::Column& column_;
  const types::Type& type_;
  const ColumnSpec receiver_;
  Binder& binder_;
  const bool is_conditional_;
  Operation operation_;
};

}  // namespace

base::Result<Operation> bind_assignment(const cql::Assignment& assignment, const schema::Table& table,
                                        const schema::Column& column, Binder& binder, bool is_conditional) {
  return AssignmentBinder(assignment, table, column, binder, is_conditional).bind();
}

base::Result<Operation> bind_set(const cql::Expression& value, const schema::Table& table,
                                 const schema::Column& column, Binder& binder) {
  Operation operation;
  operation.column = &column;
  SIBYL_ASSIGN(operation.value, binder.term(value, spec_of(table, column)));
  return operation;
}

base::Result<Operation> bind_removal(const cql::DeleteTarget& target, const schema::Table& table,
                                     const schema::Column& column, Binder& binder) {
  const auto refuse = [&](std::string message) {
    return base::fail(base::Error(base::ErrorCode::invalid, std::move(message)).at(target.position));
  };
  const types::Type& type = *column.type;
  const ColumnSpec receiver = spec_of(table, column);
  Operation operation;
  operation.column = &column;
  operation.kind = Operation::Kind::remove;
  if (target.element_key) {
    if (!type.is_collection())
      return refuse("Invalid deletion operation for non collection column " + column.name);
    if (!type.is_multi_cell())
      return refuse("Invalid deletion operation for frozen collection column " + column.name);
    const bool is_list = type.kind() == Kind::list;
    operation.kind = is_list ? Operation::Kind::remove_index : Operation::Kind::remove_element;
    const ColumnSpec element = is_list                    ? index_spec(receiver)
                               : type.kind() == Kind::map ? key_spec(receiver)
                                                          : value_spec(receiver);
    SIBYL_ASSIGN(operation.element, binder.term(*target.element_key, element));
  } else if (!target.field.empty()) {
    if (type.kind() != Kind::udt)
      return refuse("Invalid field deletion operation for non-UDT column " + column.name);
    if (!type.is_multi_cell())
      return refuse(fmt::format("Frozen UDT column {} does not support field deletions", column.name));
    const int field = type.field_index(target.field);
    if (field < 0)
      return refuse(fmt::format("UDT column {} does not have a field named {}", column.name, target.field));
    operation.kind = Operation::Kind::remove_field;
    operation.field = static_cast<uint16_t>(field);
  }
  return operation;
}

base::Status check_compatible(const std::vector<cql::Assignment>& assignments) {
  struct Seen {
    bool is_whole = false;
    std::unordered_set<std::string_view> fields;
  };
  std::unordered_map<std::string_view, Seen> columns;
  for (const cql::Assignment& assignment : assignments) {
    const bool is_whole =
        assignment.kind == cql::Assignment::Kind::set && !assignment.element_key && assignment.field.empty();
    auto [found, is_first] = columns.try_emplace(assignment.column);
    Seen& seen = found->second;
    const bool is_field_again = !assignment.field.empty() && !seen.fields.insert(assignment.field).second;
    if ((!is_first && (is_whole || seen.is_whole)) || is_field_again) {
      return base::fail(base::ErrorCode::syntax,
                        fmt::format("Multiple incompatible setting of column {}", assignment.column));
    }
    seen.is_whole = is_whole;
  }
  return {};
}

}  // namespace sibyl::plan
