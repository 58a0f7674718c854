// The kinds of terms that binding creates. Internal to src/plan/terms.
#pragma once

#include <utility>
#include <vector>

#include "plan/terms/term.h"

namespace sibyl::plan {

class ConstantTerm final : public Term {
 public:
  ConstantTerm(types::TypePtr type, Bytes bytes)
      : Term(std::move(type)), bytes_(std::move(bytes)), present_(true) {}
  explicit ConstantTerm(types::TypePtr type) : Term(std::move(type)) {}  // null

  base::Result<ValueView> evaluate(const Bindings&, Scratch&) const override {
    return present_ ? ValueView::of(bytes_) : ValueView::null();
  }
  bool is_constant() const override { return true; }

 private:
  Bytes bytes_;
  bool present_ = false;
};

class MarkerTerm final : public Term {
 public:
  MarkerTerm(types::TypePtr type, uint32_t index) : Term(std::move(type)), index_(index) {}
  base::Result<ValueView> evaluate(const Bindings& bindings, Scratch& scratch) const override;
  int marker_index() const override { return static_cast<int>(index_); }
  bool has_marker() const override { return true; }

 private:
  uint32_t index_;
};

// A collection, tuple, vector or user type built from its parts (for maps: key, value, key, value...). In
// selections, lists and map values may contain nulls; in written or compared values they may not.
class CompositeTerm final : public Term {
 public:
  CompositeTerm(types::TypePtr type, std::vector<TermPtr> parts, bool is_selected)
      : Term(std::move(type)), parts_(std::move(parts)), is_selected_(is_selected) {}
  base::Result<ValueView> evaluate(const Bindings& bindings, Scratch& scratch) const override;
  bool is_constant() const override;
  bool has_marker() const override;
  bool has_aggregate() const override;
  const std::vector<TermPtr>& parts() const { return parts_; }

 private:
  base::Result<ValueView> part(size_t index, const Bindings& bindings, Scratch& scratch) const;
  bool may_be_null(size_t index) const;
  std::vector<TermPtr> parts_;
  bool is_selected_;
};

// Evaluates a constant term once; returns other terms unchanged.
base::Result<TermPtr> fold(TermPtr term);

}  // namespace sibyl::plan
