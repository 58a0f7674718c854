#include "cql/shape.h"

#include <algorithm>

#include "cql/writer.h"

namespace sibyl::cql {
namespace {

struct IsConstant {
  bool operator()(const Literal&) const { return true; }
  bool operator()(const BindMarker&) const { return true; }
  bool operator()(const ListLiteral& list) const { return all(list.elements); }
  bool operator()(const SetLiteral& set) const { return all(set.elements); }
  bool operator()(const TupleLiteral& tuple) const { return all(tuple.elements); }
  bool operator()(const MapLiteral& map) const {
    return std::all_of(map.entries.begin(), map.entries.end(), [](const auto& entry) {
      return is_constant(*entry.first) && is_constant(*entry.second);
    });
  }
  bool operator()(const UserTypeLiteral& value) const {
    return std::all_of(value.fields.begin(), value.fields.end(),
                       [](const auto& field) { return is_constant(*field.second); });
  }
  bool operator()(const Negation& negation) const { return is_constant(*negation.of); }
  template <typename Other>
  bool operator()(const Other&) const {
    return false;
  }

 private:
  static bool all(const std::vector<ExpressionPtr>& elements) {
    return std::all_of(elements.begin(), elements.end(),
                       [](const ExpressionPtr& element) { return is_constant(*element); });
  }
};

}  // namespace

bool is_constant(const Expression& expression) {
  return std::visit(IsConstant{}, expression.node);
}

std::string print_shape(const Statement& statement, std::string_view keyspace) {
  Writer writer(keyspace);
  writer.statement(statement);
  return writer.take();
}

}  // namespace sibyl::cql
