// Compares two trees, ignoring positions. For tests.
#pragma once

#include <boost/pfr.hpp>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "cql/ast.h"

namespace sibyl::cql {

inline bool same_tree(const Position&, const Position&) {
  return true;
}

template <typename T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, std::string>)
bool same_tree(const T& a, const T& b) {
  return a == b;
}

template <typename T>
bool same_tree(const std::unique_ptr<T>& a, const std::unique_ptr<T>& b);
template <typename T>
bool same_tree(const std::optional<T>& a, const std::optional<T>& b);
template <typename T>
bool same_tree(const std::vector<T>& a, const std::vector<T>& b);
template <typename A, typename B>
bool same_tree(const std::pair<A, B>& a, const std::pair<A, B>& b);
template <typename... T>
bool same_tree(const std::variant<T...>& a, const std::variant<T...>& b);

template <typename T>
  requires(std::is_aggregate_v<T>)
bool same_tree(const T& a, const T& b) {
  bool equal = true;
  boost::pfr::for_each_field(a, [&](const auto& field, auto index) {
    equal = equal && same_tree(field, boost::pfr::get<decltype(index)::value>(b));
  });
  return equal;
}

template <typename T>
bool same_tree(const std::unique_ptr<T>& a, const std::unique_ptr<T>& b) {
  return a && b ? same_tree(*a, *b) : !a == !b;
}
template <typename T>
bool same_tree(const std::optional<T>& a, const std::optional<T>& b) {
  return a && b ? same_tree(*a, *b) : !a == !b;
}
template <typename T>
bool same_tree(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!same_tree(a[i], b[i])) return false;
  }
  return true;
}
template <typename A, typename B>
bool same_tree(const std::pair<A, B>& a, const std::pair<A, B>& b) {
  return same_tree(a.first, b.first) && same_tree(a.second, b.second);
}
template <typename... T>
bool same_tree(const std::variant<T...>& a, const std::variant<T...>& b) {
  const auto same = [&](const auto& x) { return same_tree(x, std::get<std::decay_t<decltype(x)>>(b)); };
  return a.index() == b.index() && std::visit(same, a);
}

}  // namespace sibyl::cql
