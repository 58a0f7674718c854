#include "plan/statements/selection_terms.h"

#include <fmt/format.h>

#include "plan/statements/selection_text.h"
#include "plan/terms/functions.h"
#include "plan/terms/term_text.h"
#include "types/compare.h"
#include "types/elements.h"

namespace sibyl::plan {

using base::invalid;
using types::Kind;

base::Result<ValueView> FieldTerm::evaluate(const Bindings& bindings, Scratch& scratch) const {
  SIBYL_ASSIGN(const ValueView value, of_->evaluate(bindings, scratch));
  if (!value.is_present()) return ValueView::null();
  SIBYL_ASSIGN(const types::Elements fields, types::split(*of_->type(), value.bytes));
  return field_ < fields.size() && fields[field_] ? ValueView::of(*fields[field_]) : ValueView::null();
}

base::Result<ValueView> ElementTerm::evaluate(const Bindings& bindings, Scratch& scratch) const {
  SIBYL_ASSIGN(const ValueView key, key_->evaluate(bindings, scratch));
  if (key.is_null()) return invalid(fmt::format("Invalid null value for element selection on {}", name_));
  if (key.is_unset()) return invalid(fmt::format("Invalid unset value for element selection on {}", name_));
  SIBYL_ASSIGN(const ValueView value, of_->evaluate(bindings, scratch));
  if (!value.is_present()) return ValueView::null();
  const types::Type& type = *of_->type();
  SIBYL_ASSIGN(const types::Elements elements, types::split(type, value.bytes));
  const size_t step = type.kind() == Kind::map ? 2 : 1;
  for (size_t i = 0; i < elements.size(); i += step) {
    if (!elements[i] || types::compare(*type.parameters()[0], *elements[i], key.bytes) != 0) continue;
    const auto& found = elements[i + step - 1];
    return found ? ValueView::of(*found) : ValueView::null();
  }
  return ValueView::null();
}

base::Result<ValueView> SliceTerm::evaluate(const Bindings& bindings, Scratch& scratch) const {
  const auto bound = [&](const TermPtr& term) -> base::Result<ValueView> {
    if (term == nullptr) return ValueView::unset();
    SIBYL_ASSIGN(const ValueView value, term->evaluate(bindings, scratch));
    if (value.is_null()) return invalid(fmt::format("Invalid null value for slice selection on {}", name_));
    return value;
  };
  SIBYL_ASSIGN(const ValueView from, bound(from_));
  SIBYL_ASSIGN(const ValueView to, bound(to_));
  SIBYL_ASSIGN(const ValueView value, of_->evaluate(bindings, scratch));
  if (!value.is_present()) return ValueView::null();
  SIBYL_ASSIGN(const types::Elements elements, types::split(*type_, value.bytes));
  const size_t step = type_->kind() == Kind::map ? 2 : 1;
  const types::Type& key_type = *type_->parameters()[0];
  types::Elements kept_elements;
  for (size_t i = 0; i < elements.size(); i += step) {
    if (!elements[i]) continue;
    if (from.is_present() && types::compare(key_type, *elements[i], from.bytes) < 0) continue;
    if (to.is_present() && types::compare(key_type, *elements[i], to.bytes) > 0) continue;
    for (size_t j = 0; j < step; ++j) kept_elements.push_back(elements[i + j]);
  }
  if (kept_elements.empty() && type_->is_multi_cell()) return ValueView::null();
  return kept(scratch, types::join(*type_, kept_elements));
}

}  // namespace sibyl::plan
