#include "plan/terms/term_nodes.h"

#include <fmt/format.h>

#include "base/statement.h"
#include "plan/terms/functions.h"
#include "types/compare.h"
#include "types/elements.h"
#include "types/validate.h"

namespace sibyl::plan {

using base::invalid;
using types::Kind;

namespace {

constexpr size_t quick_value = 1024;  // the work for smaller values is not worth counting

}  // namespace

base::Result<ValueView> MarkerTerm::evaluate(const Bindings& bindings, Scratch& scratch) const {
  if (index_ >= bindings.values.size()) return invalid("Invalid amount of bind variables");
  const ValueView value = bindings.values[index_];
  if (!value.is_present()) return value;
  if (value.bytes.size() > quick_value) base::count_work(static_cast<int64_t>(value.bytes.size()));
  if (auto valid = types::validate(*type_, value.bytes); !valid) return invalid(valid.error().message());
  if (type_->kind() != Kind::set && type_->kind() != Kind::map) return value;
  // Clients may send the elements of sets and maps in any order.
  SIBYL_ASSIGN(types::Elements elements, types::split(*type_, value.bytes));
  // The time for comparing an element, or for sorting it if elements are not sorted.
  constexpr int64_t nanos_of_element = 400;
  base::count_work(static_cast<int64_t>(elements.size()) * nanos_of_element);
  const size_t step = type_->kind() == Kind::map ? 2 : 1;
  bool sorted = true;
  for (size_t i = step; i < elements.size() && sorted; i += step) {
    if (!elements[i - step] || !elements[i]) continue;
    sorted = types::compare(*type_->parameters()[0], *elements[i - step], *elements[i]) < 0;
  }
  if (sorted) return value;
  types::normalise(*type_, elements);
  return kept(scratch, types::join(*type_, elements));
}

base::Result<ValueView> CompositeTerm::part(size_t index, const Bindings& bindings, Scratch& scratch) const {
  SIBYL_ASSIGN(const ValueView value, parts_[index]->evaluate(bindings, scratch));
  switch (type_->kind()) {
    case Kind::tuple:
      if (value.is_unset())
        return invalid(fmt::format("Invalid unset value for tuple field number {}", index));
      return value;
    case Kind::udt:
      if (value.is_unset() && !type_->is_multi_cell())
        return invalid(fmt::format("Invalid unset value for field '{}' of user defined type {}",
                                   type_->field_names()[index], type_->name()));
      return value;
    case Kind::vector:
      if (!value.is_present() || value.bytes.empty()) return invalid("null is not supported inside vectors");
      return value;
    default:
      if (value.is_null() && !may_be_null(index)) return invalid("null is not supported inside collections");
      if (value.is_unset() && type_->kind() == Kind::map && index % 2 == 0)
        return invalid("unset value is not supported for map keys");
      return value;
  }
}

bool CompositeTerm::may_be_null(size_t index) const {
  const bool is_map_value = type_->kind() == Kind::map && index % 2 == 1;
  return is_selected_ && (type_->kind() == Kind::list || is_map_value);
}

base::Result<ValueView> CompositeTerm::evaluate(const Bindings& bindings, Scratch& scratch) const {
  base::count_work(static_cast<int64_t>(parts_.size()) * 20);
  types::Elements elements;
  elements.reserve(parts_.size());
  for (size_t i = 0; i < parts_.size(); ++i) {
    SIBYL_ASSIGN(const ValueView value, part(i, bindings, scratch));
    if (value.is_unset() && type_->is_collection()) return ValueView::unset();
    elements.push_back(value.is_present() ? std::optional(value.bytes) : std::nullopt);
  }
  if (type_->kind() == Kind::set || type_->kind() == Kind::map) types::normalise(*type_, elements);
  return kept(scratch, types::join(*type_, elements));
}

bool CompositeTerm::is_constant() const {
  for (const TermPtr& part : parts_)
    if (!part->is_constant()) return false;
  return true;
}

bool CompositeTerm::has_marker() const {
  for (const TermPtr& part : parts_)
    if (part->has_marker()) return true;
  return false;
}

bool CompositeTerm::has_aggregate() const {
  for (const TermPtr& part : parts_)
    if (part->has_aggregate()) return true;
  return false;
}

base::Result<TermPtr> fold(TermPtr term) {
  if (!term->is_constant()) return term;
  Scratch scratch;
  SIBYL_ASSIGN(const ValueView value, term->evaluate({}, scratch));
  if (!value.is_present()) return std::make_shared<ConstantTerm>(term->type());
  // Plans are cached and weighed by the size of their texts: a short text must not make a large plan.
  constexpr size_t max_folded = 64u << 10;
  if (value.bytes.size() > max_folded) return term;
  return std::make_shared<ConstantTerm>(term->type(), Bytes(value.bytes));
}

}  // namespace sibyl::plan
