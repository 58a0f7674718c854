// Terms that read a row. Internal to src/plan/statements.
#pragma once

#include <string>
#include <utility>

#include "plan/terms/term.h"

namespace sibyl::plan {

// One of the selection's inputs.
class InputTerm final : public Term {
 public:
  InputTerm(types::TypePtr type, int index) : Term(std::move(type)), index_(index) {}
  base::Result<ValueView> evaluate(const Bindings& bindings, Scratch&) const override {
    return bindings.inputs[static_cast<size_t>(index_)];
  }
  int index() const { return index_; }

 private:
  int index_;
};

// The result of one of the selection's aggregates.
class AggregateTerm final : public Term {
 public:
  AggregateTerm(types::TypePtr type, size_t index) : Term(std::move(type)), index_(index) {}
  base::Result<ValueView> evaluate(const Bindings& bindings, Scratch&) const override {
    return bindings.aggregates[index_];
  }
  bool has_aggregate() const override { return true; }

 private:
  size_t index_;
};

// u.field
class FieldTerm final : public Term {
 public:
  FieldTerm(types::TypePtr type, TermPtr of, size_t field)
      : Term(std::move(type)), of_(std::move(of)), field_(field) {}
  base::Result<ValueView> evaluate(const Bindings& bindings, Scratch& scratch) const override;
  bool has_marker() const override { return of_->has_marker(); }
  bool has_aggregate() const override { return of_->has_aggregate(); }

 private:
  TermPtr of_;
  size_t field_;
};

// m[key], s[element]
class ElementTerm final : public Term {
 public:
  ElementTerm(types::TypePtr type, TermPtr of, TermPtr key, std::string name)
      : Term(std::move(type)), of_(std::move(of)), key_(std::move(key)), name_(std::move(name)) {}
  base::Result<ValueView> evaluate(const Bindings& bindings, Scratch& scratch) const override;
  bool has_marker() const override { return of_->has_marker() || key_->has_marker(); }
  bool has_aggregate() const override { return of_->has_aggregate(); }

 private:
  TermPtr of_, key_;
  std::string name_;
};

// m[from..to], s[from..to]; either side may be absent
class SliceTerm final : public Term {
 public:
  SliceTerm(TermPtr of, TermPtr from, TermPtr to, std::string name)
      : Term(of->type()),
        of_(std::move(of)),
        from_(std::move(from)),
        to_(std::move(to)),
        name_(std::move(name)) {}
  base::Result<ValueView> evaluate(const Bindings& bindings, Scratch& scratch) const override;
  bool has_marker() const override {
    return of_->has_marker() || (from_ && from_->has_marker()) || (to_ && to_->has_marker());
  }
  bool has_aggregate() const override { return of_->has_aggregate(); }

 private:
  TermPtr of_, from_, to_;
  std::string name_;
};

}  // namespace sibyl::plan
