// Binds single relations (names resolved, terms bound) and merges two relations on one column.
#include "plan/restrictions/relations.h"

#include <fmt/format.h>

#include <algorithm>

#include "cql/printer.h"
#include "plan/terms/existing_column.h"
#include "plan/terms/term_text.h"
#include "types/identifier.h"

namespace sibyl::plan {

using base::invalid;
using types::Kind;
using types::TypePtr;

namespace {

std::string joined(const std::vector<cql::ExpressionPtr>& values) {
  std::string text;
  for (const cql::ExpressionPtr& value : values) text += (text.empty() ? "" : ", ") + text_of(*value);
  return fmt::format("({})", text);
}

std::string joined_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + types::quote_identifier(name);
  return fmt::format("({})", text);
}

}  // namespace

std::string text_of(const cql::Relation& relation) {
  std::string left;
  switch (relation.target) {
    case cql::Relation::Target::column:
      left = types::quote_identifier(relation.columns[0]);
      break;
    case cql::Relation::Target::element:
      left =
          fmt::format("{}[{}]", types::quote_identifier(relation.columns[0]), text_of(*relation.element_key));
      break;
    case cql::Relation::Target::columns:
      left = joined_names(relation.columns);
      break;
    case cql::Relation::Target::token:
      left = "token" + joined_names(relation.columns);
      break;
    case cql::Relation::Target::custom:
      left = fmt::format("expr({})", relation.custom_index.name);
      break;
  }
  if (relation.op == cql::Operator::is_not_null) return left + " IS NOT NULL";
  const std::string right = relation.has_value_list ? joined(relation.values)
                            : relation.value        ? text_of(*relation.value)
                                                    : std::string();
  return fmt::format("{} {} {}", left, cql::to_string(relation.op), right);
}

namespace {

using base::Result;
using base::Status;

bool is_slice(cql::Operator op) {
  return op == cql::Operator::less || op == cql::Operator::less_or_equal || op == cql::Operator::greater ||
         op == cql::Operator::greater_or_equal;
}

void set_bound(Restriction& restriction, cql::Operator op, RowTerm value) {
  const bool inclusive = op == cql::Operator::less_or_equal || op == cql::Operator::greater_or_equal;
  const bool is_start = op == cql::Operator::greater || op == cql::Operator::greater_or_equal;
  restriction.kind = Restriction::Kind::slice;
  (is_start ? restriction.start : restriction.end) = Bound{std::move(value), inclusive};
}

RowTerm single(TermPtr term) {
  return {{std::move(term)}, nullptr};
}

// --- c op x, c[key] = x

Status check_receiver(const schema::Column& column, const cql::Relation& relation) {
  const types::Type& type = *column.type;
  if (relation.op == cql::Operator::contains_key && type.kind() != Kind::map)
    return invalid(fmt::format("Cannot use CONTAINS KEY on non-map column {}", column.name));
  if (relation.op == cql::Operator::contains && !type.is_collection())
    return invalid(fmt::format("Cannot use CONTAINS on non-collection column {}", column.name));
  const bool is_entry = relation.target == cql::Relation::Target::element;
  if (is_entry) {
    if (type.kind() == Kind::list)
      return invalid(fmt::format("Indexes on list entries ({}[index] = value) are not currently supported.",
                                 column.name));
    if (type.kind() != Kind::map)
      return invalid(fmt::format("Column {} cannot be used as a map", column.name));
    if (!type.is_multi_cell())
      return invalid(fmt::format("Map-entry equality predicates on frozen map column {} are not supported",
                                 column.name));
    if (relation.op != cql::Operator::equal) return invalid("Only EQ relations are supported on map entries");
  }
  if (type.kind() == Kind::udt && type.is_multi_cell())
    return invalid(fmt::format("Non-frozen UDT column '{}' ({}) cannot be restricted by any relation",
                               column.name, type.cql_name()));
  const bool compares_elements =
      is_entry || relation.op == cql::Operator::contains || relation.op == cql::Operator::contains_key;
  if (type.is_collection() && type.is_multi_cell() && !compares_elements)
    return invalid(fmt::format("Collection column '{}' ({}) cannot be restricted by a '{}' relation",
                               column.name, type.cql_name(), cql::to_string(relation.op)));
  return {};
}

Status check_slice(const schema::Column& column) {
  const types::Type& type = *column.type;
  if (!type.references(Kind::duration)) return {};
  if (type.is_collection())
    return invalid("Slice restrictions are not supported on collections containing durations");
  if (type.kind() == Kind::tuple)
    return invalid("Slice restrictions are not supported on tuples containing durations");
  if (type.kind() == Kind::udt)
    return invalid("Slice restrictions are not supported on UDTs containing durations");
  return invalid("Slice restrictions are not supported on duration columns");
}

Status bind_contains(Binder& binder, const cql::Relation& relation, const ColumnSpec& spec,
                     Restriction& out) {
  out.kind = Restriction::Kind::contains;
  Restriction::Contained contained;
  contained.op = relation.op;
  if (relation.target == cql::Relation::Target::element) {
    SIBYL_ASSIGN(contained.key, binder.term(*relation.element_key, key_spec(spec)));
    SIBYL_ASSIGN(contained.value, binder.term(*relation.value, value_spec(spec)));
  } else {
    const bool is_key = relation.op == cql::Operator::contains_key;
    SIBYL_ASSIGN(contained.value, binder.term(*relation.value, is_key ? key_spec(spec) : value_spec(spec)));
  }
  out.contained.push_back(std::move(contained));
  return {};
}

Status bind_in(Binder& binder, const cql::Relation& relation, const ColumnSpec& spec, Restriction& out) {
  out.kind = Restriction::Kind::in;
  if (!relation.has_value_list) {
    const ColumnSpec list{spec.keyspace, spec.table, fmt::format("in({})", spec.name),
                          types::list_of(spec.type, true)};
    SIBYL_ASSIGN(out.list, binder.term(*relation.value, list));
    return {};
  }
  for (const cql::ExpressionPtr& value : relation.values) {
    SIBYL_ASSIGN(TermPtr term, binder.term(*value, spec));
    out.values.push_back(single(std::move(term)));
  }
  if (out.values.size() == 1) {
    out.kind = Restriction::Kind::equal;
    out.value = std::move(out.values[0]);
    out.values.clear();
  }
  return {};
}

Result<RestrictionPtr> bind_single(Binder& binder, const schema::Table& table,
                                   const cql::Relation& relation) {
  SIBYL_ASSIGN(const schema::Column* column, existing_column(table, relation.columns[0]));
  if (is_slice(relation.op) || relation.op == cql::Operator::between) SIBYL_TRY(check_slice(*column));
  SIBYL_TRY(check_receiver(*column, relation));
  const ColumnSpec spec = spec_of(table, *column);
  auto out = std::make_shared<Restriction>();
  out->columns = {column};
  const bool is_entry = relation.target == cql::Relation::Target::element;
  if (is_entry || relation.op == cql::Operator::contains || relation.op == cql::Operator::contains_key) {
    SIBYL_TRY(bind_contains(binder, relation, spec, *out));
  } else if (relation.op == cql::Operator::in) {
    SIBYL_TRY(bind_in(binder, relation, spec, *out));
  } else if (relation.op == cql::Operator::between) {
    SIBYL_ASSIGN(TermPtr from, binder.term(*relation.values[0], spec));
    SIBYL_ASSIGN(TermPtr to, binder.term(*relation.values[1], spec));
    set_bound(*out, cql::Operator::greater_or_equal, single(std::move(from)));
    set_bound(*out, cql::Operator::less_or_equal, single(std::move(to)));
  } else {
    SIBYL_ASSIGN(TermPtr term, binder.term(*relation.value, spec));
    if (is_slice(relation.op))
      set_bound(*out, relation.op, single(std::move(term)));
    else
      out->value = single(std::move(term));
  }
  return out;
}

// --- (a, b) op (x, y)

Status resolve_columns(const schema::Table& table, const cql::Relation& relation, Restriction& out) {
  int previous = -1;
  for (const std::string& name : relation.columns) {
    SIBYL_ASSIGN(const schema::Column* column, existing_column(table, name));
    if (!column->is_clustering())
      return invalid(fmt::format(
          "Multi-column relations can only be applied to clustering columns but was applied to: {}",
          column->name));
    if (std::find(out.columns.begin(), out.columns.end(), column) != out.columns.end())
      return invalid(
          fmt::format("Column \"{}\" appeared twice in a relation: {}", column->name, text_of(relation)));
    if (previous != -1 && column->position != previous + 1)
      return invalid(
          fmt::format("Clustering columns must appear in the PRIMARY KEY order in multi-column relations: {}",
                      text_of(relation)));
    out.columns.push_back(column);
    previous = column->position;
  }
  return {};
}

// The receiver of a marker for the whole tuple: `(c,d)` or `in(c,d)`.
ColumnSpec tuple_spec(const schema::Table& table, const Restriction& restriction, bool is_list) {
  std::string name;
  std::vector<TypePtr> components;
  for (const schema::Column* column : restriction.columns) {
    name += (name.empty() ? "" : ",") + column->name;
    components.push_back(column->type);
  }
  TypePtr type = types::tuple_of(std::move(components));
  return {table.keyspace, table.name, fmt::format("{}({})", is_list ? "in" : "", name),
          is_list ? types::list_of(type, true) : type};
}

Result<RowTerm> bind_row(Binder& binder, const schema::Table& table, const cql::Expression& value,
                         const Restriction& restriction) {
  RowTerm row;
  const auto* tuple = std::get_if<cql::TupleLiteral>(&value.node);
  if (tuple == nullptr) {
    const ColumnSpec spec = tuple_spec(table, restriction, false);
    SIBYL_ASSIGN(row.whole, binder.term(value, spec));
    row.name = spec.name;
    return row;
  }
  if (tuple->elements.size() != restriction.columns.size())
    return invalid(fmt::format("Expected {} elements in value tuple, but got {}: {}",
                               restriction.columns.size(), tuple->elements.size(), text_of(value)));
  for (size_t i = 0; i < tuple->elements.size(); ++i) {
    SIBYL_ASSIGN(TermPtr part, binder.term(*tuple->elements[i], spec_of(table, *restriction.columns[i])));
    row.parts.push_back(std::move(part));
  }
  return row;
}

Result<RestrictionPtr> bind_multi(Binder& binder, const schema::Table& table, const cql::Relation& relation) {
  auto out = std::make_shared<Restriction>();
  out->is_multi_column = true;
  SIBYL_TRY(resolve_columns(table, relation, *out));
  if (relation.op == cql::Operator::equal) {
    SIBYL_ASSIGN(out->value, bind_row(binder, table, *relation.value, *out));
  } else if (is_slice(relation.op)) {
    SIBYL_ASSIGN(RowTerm row, bind_row(binder, table, *relation.value, *out));
    set_bound(*out, relation.op, std::move(row));
  } else if (relation.op == cql::Operator::between) {
    SIBYL_ASSIGN(RowTerm from, bind_row(binder, table, *relation.values[0], *out));
    SIBYL_ASSIGN(RowTerm to, bind_row(binder, table, *relation.values[1], *out));
    set_bound(*out, cql::Operator::greater_or_equal, std::move(from));
    set_bound(*out, cql::Operator::less_or_equal, std::move(to));
  } else if (relation.op == cql::Operator::in) {
    out->kind = Restriction::Kind::in;
    if (!relation.has_value_list) {
      SIBYL_ASSIGN(out->list, binder.term(*relation.value, tuple_spec(table, *out, true)));
      return out;
    }
    for (const cql::ExpressionPtr& value : relation.values) {
      SIBYL_ASSIGN(RowTerm row, bind_row(binder, table, *value, *out));
      out->values.push_back(std::move(row));
    }
    if (out->values.size() == 1) {
      out->kind = Restriction::Kind::equal;
      out->value = std::move(out->values[0]);
      out->values.clear();
    }
  } else {
    return invalid(fmt::format("{} cannot be used for multi-column relations", cql::to_string(relation.op)));
  }
  return out;
}

// --- token(a, b) op x

Status check_token_columns(const schema::Table& table, const cql::Relation& relation) {
  std::vector<const schema::Column*> named;
  for (const std::string& name : relation.columns) {
    SIBYL_ASSIGN(const schema::Column* column, existing_column(table, name));
    named.push_back(column);
  }
  std::vector<const schema::Column*> key;
  std::string names;
  for (size_t i = 0; i < table.partition_key_count; ++i) {
    key.push_back(&table.partition_key(i));
    names += (names.empty() ? "" : ", ") + table.partition_key(i).name;
  }
  if (named == key) return {};
  const auto has = [](const std::vector<const schema::Column*>& list, const schema::Column* column) {
    return std::find(list.begin(), list.end(), column) != list.end();
  };
  if (!std::all_of(key.begin(), key.end(), [&](const schema::Column* column) { return has(named, column); }))
    return invalid("The token() function must be applied to all partition key components or none of them");
  for (size_t i = 0; i < named.size(); ++i)
    if (std::find(named.begin() + static_cast<std::ptrdiff_t>(i) + 1, named.end(), named[i]) != named.end())
      return invalid("The token() function contains duplicate partition key components");
  if (named.size() != key.size())
    return invalid("The token() function must contains only partition key components");
  return invalid(fmt::format("The token function arguments must be in the partition key order: {}", names));
}

std::string key_names(const schema::Table& table) {
  std::string names;
  for (size_t i = 0; i < table.partition_key_count; ++i)
    names += (names.empty() ? "" : ", ") + table.partition_key(i).name;
  return names;
}

Status bind_token(Binder& binder, const schema::Table& table, const cql::Relation& relation,
                  TokenRestriction& token) {
  const bool is_between = relation.op == cql::Operator::between;
  if (relation.op != cql::Operator::equal && !is_slice(relation.op) && !is_between)
    return invalid(fmt::format("{} cannot be used with the token function", cql::to_string(relation.op)));
  SIBYL_TRY(check_token_columns(table, relation));
  const ColumnSpec spec{table.keyspace, table.name, "partition key token", types::scalar(Kind::bigint)};
  const std::string names = key_names(table);
  SIBYL_ASSIGN(TermPtr first, binder.term(is_between ? *relation.values[0] : *relation.value, spec));
  TermPtr last = first;
  if (is_between) {
    SIBYL_ASSIGN(last, binder.term(*relation.values[1], spec));
  }
  if (token.equal != nullptr)
    return invalid(
        fmt::format("{} cannot be restricted by more than one relation if it includes an Equal", names));
  if (relation.op == cql::Operator::equal) {
    if (token.exists())
      return invalid(fmt::format(
          "Columns \"{}\" cannot be restricted by both an equality and an inequality relation", names));
    token.equal = std::move(first);
    return {};
  }
  const bool starts =
      is_between || relation.op == cql::Operator::greater || relation.op == cql::Operator::greater_or_equal;
  const bool ends = is_between || !starts;
  if (starts && token.start)
    return invalid(fmt::format("More than one restriction was found for the start bound on {}", names));
  if (ends && token.end)
    return invalid(fmt::format("More than one restriction was found for the end bound on {}", names));
  const bool inclusive = is_between || relation.op == cql::Operator::greater_or_equal ||
                         relation.op == cql::Operator::less_or_equal;
  if (starts) token.start = TokenRestriction::Side{std::move(first), inclusive};
  if (ends) token.end = TokenRestriction::Side{std::move(last), inclusive};
  return {};
}

// expr(index, x): no index here supports it.
std::unexpected<base::Error> refuse_expression(const schema::Table& table, const cql::Relation& relation) {
  const std::string& name = relation.custom_index.name;
  const std::string& keyspace = relation.custom_index.keyspace;
  if (!keyspace.empty() && keyspace != table.keyspace)
    return invalid(
        fmt::format("Target index {} cannot be used to query {}.{}", name, table.keyspace, table.name));
  const schema::Index* index = table.find_index(name);
  if (index == nullptr)
    return invalid(fmt::format("Invalid index expression, index {} not found for {}.{}", name, table.keyspace,
                               table.name));
  if (!index->is_custom)
    return invalid(
        fmt::format("Only CUSTOM indexes may be used in custom index expressions, {} is not valid", name));
  return invalid(fmt::format("Index {} does not support custom expressions", name));
}

}  // namespace

base::Result<RestrictionPtr> bind_relation(Binder& binder, const schema::Table& table,
                                           const cql::Relation& relation, TokenRestriction& token) {
  if (relation.target == cql::Relation::Target::custom) return refuse_expression(table, relation);
  switch (relation.op) {
    case cql::Operator::not_equal:
    case cql::Operator::not_in:
    case cql::Operator::not_contains:
    case cql::Operator::not_contains_key:
      return invalid(
          fmt::format("Unsupported \"{}\" relation: {}", cql::to_string(relation.op), text_of(relation)));
    case cql::Operator::is_not_null:
      return invalid(fmt::format("Unsupported restriction: {}", text_of(relation)));
    case cql::Operator::like: {
      SIBYL_ASSIGN(const schema::Column* column, existing_column(table, relation.columns[0]));
      SIBYL_TRY(check_receiver(*column, relation));
      SIBYL_ASSIGN(TermPtr term, binder.term(*relation.value, spec_of(table, *column)));
      auto like = std::make_shared<Restriction>();
      like->kind = Restriction::Kind::like;
      like->columns = {column};
      like->value = single(std::move(term));
      return like;
    }
    default:
      break;
  }
  if (relation.target == cql::Relation::Target::token) {
    SIBYL_TRY(bind_token(binder, table, relation, token));
    return nullptr;
  }
  return relation.target == cql::Relation::Target::columns ? bind_multi(binder, table, relation)
                                                           : bind_single(binder, table, relation);
}

// --- Two relations on one column

namespace {

std::string common_columns(const Restriction& left, const Restriction& right) {
  std::string names;
  for (const schema::Column* column : left.columns)
    if (std::find(right.columns.begin(), right.columns.end(), column) != right.columns.end())
      names += (names.empty() ? "" : " ,") + column->name;
  return names;
}

Result<RestrictionPtr> merged_slices(const Restriction& left, const Restriction& right,
                                     const std::string& names) {
  if (&left.first() != &right.first()) {
    const schema::Column& later =
        left.first().position > right.first().position ? left.first() : right.first();
    return invalid(fmt::format(
        "Column \"{}\" cannot be restricted by two inequalities not starting with the same column",
        later.name));
  }
  if (left.start && right.start)
    return invalid(fmt::format("More than one restriction was found for the start bound on {}", names));
  if (left.end && right.end)
    return invalid(fmt::format("More than one restriction was found for the end bound on {}", names));
  auto both = std::make_shared<Restriction>(left.columns.size() >= right.columns.size() ? left : right);
  both->is_multi_column = left.is_multi_column || right.is_multi_column;
  both->start = left.start ? left.start : right.start;
  both->end = left.end ? left.end : right.end;
  return both;
}

}  // namespace

base::Result<RestrictionPtr> merged(const RestrictionPtr& left, const RestrictionPtr& right) {
  const std::string names = common_columns(*left, *right);
  switch (left->kind) {
    case Restriction::Kind::equal:
      return invalid(
          fmt::format("{} cannot be restricted by more than one relation if it includes an Equal", names));
    case Restriction::Kind::in:
      return invalid(
          fmt::format("{} cannot be restricted by more than one relation if it includes a IN", names));
    case Restriction::Kind::like:
      return invalid(
          fmt::format("{} cannot be restricted by more than one relation if it includes a LIKE", names));
    case Restriction::Kind::slice:
      if (!right->is_slice())
        return invalid(fmt::format(
            "Column \"{}\" cannot be restricted by both an equality and an inequality relation", names));
      return merged_slices(*left, *right, names);
    case Restriction::Kind::contains: {
      if (right->kind != Restriction::Kind::contains)
        return invalid(fmt::format(
            "Collection column {} can only be restricted by CONTAINS, CONTAINS KEY, or map-entry equality",
            names));
      auto both = std::make_shared<Restriction>(*left);
      both->contained.insert(both->contained.end(), right->contained.begin(), right->contained.end());
      return both;
    }
  }
  return left;
}

}  // namespace sibyl::plan
