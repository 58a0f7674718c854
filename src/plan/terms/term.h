// Terms: typed expressions that need no row, evaluated with the bound values.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cql/ast.h"
#include "plan/prepared.h"
#include "schema/schema.h"
#include "types/value.h"

namespace sibyl::plan {

using types::Bytes;
using types::BytesView;
using types::ValueView;

// The values that one execution provides.
struct Bindings {
  std::span<const ValueView> values;  // values of the markers; missing ones are unset
  int64_t now_micros = 0;             // the request's time: now(), toTimestamp(now()), TTL arithmetic
  // Selections only (selection.h): the current row's inputs, and the results of aggregates so far.
  std::span<const ValueView> inputs;
  std::span<const ValueView> aggregates;
  bool unmasked = true;  // show the values of masked columns (masks.h)
};

// Owns the values that evaluation computes, until the request ends. One per request; not thread-safe.
class Scratch {
 public:
  BytesView keep(Bytes bytes) {
    if (!kept_) kept_.emplace();
    return kept_->emplace_back(std::move(bytes));
  }
  // Releases all values; called between two rows of a scan.
  void clear() {
    if (kept_) kept_->clear();
  }

 private:
  // An empty deque allocates memory too, and most requests keep nothing. So the deque is created when it is
  // needed.
  std::optional<std::deque<Bytes>> kept_;
};

class Term {
 public:
  virtual ~Term() = default;
  const types::TypePtr& type() const { return type_; }
  // The view borrows from the bindings, the term or `scratch`, and is valid while all three are. A present
  // value is valid for type(): markers are validated here (Cassandra's "Invalid value for column..." texts).
  virtual base::Result<ValueView> evaluate(const Bindings& bindings, Scratch& scratch) const = 0;
  // The index of the bind marker if this term is one, or -1.
  virtual int marker_index() const { return -1; }
  // True if every evaluation gives the same value: a literal, or a pure function of literals.
  virtual bool is_constant() const { return false; }
  // True if the term contains a bind marker, or an aggregate.
  virtual bool has_marker() const { return false; }
  virtual bool has_aggregate() const { return false; }

 protected:
  explicit Term(types::TypePtr type) : type_(std::move(type)) {}
  types::TypePtr type_;
};
using TermPtr = std::shared_ptr<const Term>;

// How well an expression fits a receiver: exactly its type, convertible to it, or not at all.
enum class Fit { exact, weak, none };

struct Function;  // functions.h
using FunctionPtr = std::shared_ptr<const Function>;

// Resolves expressions that need a row. Set while a SELECT's selectors are bound (selection.h).
class RowScope {
 public:
  virtual ~RowScope() = default;
  // The type of a column, field or element selection, or of a call that only selections have (writetime...).
  // nullptr for other expressions.
  virtual base::Result<types::TypePtr> type_of(const cql::Expression& expression) = 0;
  virtual base::Result<TermPtr> bind(const cql::Expression& expression) = 0;
  virtual base::Result<TermPtr> aggregate(FunctionPtr function, std::vector<TermPtr> arguments) = 0;
  // The statement's table, for calls without another receiver.
  virtual ColumnSpec receiver() const = 0;
  // An expression as spelled in messages about selections: calls with their full names.
  virtual std::string text(const cql::Expression& expression) const = 0;
  // The name of a marker bound to the receiver.
  virtual std::string marker_name(const ColumnSpec& receiver) const = 0;
};

// Binds names and types while a statement is prepared, and collects its markers.
class Binder {
 public:
  Binder(const schema::Snapshot& schema, std::string keyspace, uint32_t markers);

  const schema::Snapshot& schema() const { return schema_; }
  const std::string& keyspace() const { return keyspace_; }

  // The table that a statement names. Errors are Cassandra's ("table t does not exist", "No keyspace has been
  // specified...", "Keyspace 'k' does not exist").
  base::Result<schema::TablePtr> table(const cql::QualifiedName& name) const;
  // Resolves a written type. User types are looked up in `keyspace`.
  base::Result<types::TypePtr> type(const cql::RawType& raw, const std::string& keyspace);

  // Binds the expression as a value of receiver.type. A marker takes the receiver's name and type. A literal
  // or call that does not fit is refused with Cassandra's text (`Invalid STRING constant (abc) for "v" of
  // type int`).
  base::Result<TermPtr> term(const cql::Expression& expression, const ColumnSpec& receiver);

  // Binds a call (or arithmetic) with its own type. The arguments select the signature.
  base::Result<TermPtr> call(const cql::Expression& expression, const ColumnSpec& receiver,
                             bool typed_by_receiver);

  // How well the expression fits the receiver, without binding it.
  base::Result<Fit> fit(const cql::Expression& expression, const ColumnSpec& receiver);
  // The expression's own type if it has one (a hint, a call, a column); nullptr for literals and markers.
  base::Result<types::TypePtr> exact_type(const cql::Expression& expression);
  // Like exact_type(), but with a default type for literals.
  base::Result<types::TypePtr> preferred_type(const cql::Expression& expression);

  // An expression as spelled in messages.
  std::string text(const cql::Expression& expression) const;
  // The function that a call was resolved to; nullptr if it has not been resolved or there is none.
  FunctionPtr resolved(const cql::Expression& call) const;

  void set_scope(RowScope* scope) { scope_ = scope; }
  RowScope* scope() const { return scope_; }

  std::vector<ColumnSpec> take_markers() { return std::move(markers_); }
  const std::vector<ColumnSpec>& markers() const { return markers_; }
  void set_marker(uint32_t index, ColumnSpec spec);
  void warn(std::string text) { warnings_.push_back(std::move(text)); }
  std::vector<std::string> take_warnings() { return std::move(warnings_); }
  void add_use(FunctionUse use) { uses_.push_back(std::move(use)); }
  std::vector<FunctionUse> take_uses() { return std::move(uses_); }
  // True once a call with a varint or decimal was bound: calculating with such numbers may take long.
  bool is_compute_heavy() const { return is_compute_heavy_; }
  std::vector<CalledFunction> take_calls() { return std::move(calls_); }
  // The user types that the statement names.
  std::vector<schema::UserTypePtr> take_user_types() { return std::move(user_types_); }

 private:
  base::Result<TermPtr> literal(const cql::Literal& literal, const ColumnSpec& receiver);
  base::Result<TermPtr> marker(const cql::BindMarker& marker, const ColumnSpec& receiver);
  base::Result<TermPtr> list_or_vector(const cql::ListLiteral& literal, const ColumnSpec& receiver);
  base::Result<TermPtr> set(const cql::SetLiteral& literal, const ColumnSpec& receiver);
  base::Result<TermPtr> map(const cql::MapLiteral& literal, const ColumnSpec& receiver);
  base::Result<TermPtr> tuple(const cql::TupleLiteral& literal, const ColumnSpec& receiver);
  base::Result<TermPtr> user_type(const cql::UserTypeLiteral& literal, const ColumnSpec& receiver);
  base::Result<TermPtr> hinted(const cql::Expression& expression, const ColumnSpec& receiver);
  base::Result<Fit> fit_all(const std::vector<cql::ExpressionPtr>& elements, const ColumnSpec& receiver);
  base::Result<Fit> fit_literal(const cql::Expression& expression, const ColumnSpec& receiver);
  base::Result<Fit> fit_call(const cql::Expression& expression, const ColumnSpec& receiver);
  // Returns nullptr if there is no function with that name. Results are cached: a call is tested against each
  // signature of the call around it, so nested calls would otherwise take exponential time.
  base::Result<FunctionPtr> resolve(const cql::Expression& call, const ColumnSpec& receiver,
                                    bool typed_by_receiver);
  void add_call(const Function& function);
  void add_user_types(const types::Type& type);
  base::Result<FunctionPtr> find_function(const cql::Expression& call, const ColumnSpec& receiver);

  const schema::Snapshot& schema_;
  std::string keyspace_;
  std::vector<ColumnSpec> markers_;
  std::vector<std::string> warnings_;
  std::vector<FunctionUse> uses_;
  bool is_compute_heavy_ = false;
  std::vector<CalledFunction> calls_;
  std::vector<schema::UserTypePtr> user_types_;
  // For calls without a keyspace: the keyspace in which functions are looked up, which is that of the
  // statement's table.
  std::string function_keyspace_;
  RowScope* scope_ = nullptr;
  std::map<std::pair<const cql::Expression*, types::TypePtr>, base::Result<FunctionPtr>> resolved_;
};

// The receiver of a column's value.
ColumnSpec spec_of(const schema::Table& table, const schema::Column& column);
// Receivers inside a receiver: `idx(l)`, `key(m)`, `value(c)`, `t[0]`, `u.field`.
ColumnSpec index_spec(const ColumnSpec& list);
ColumnSpec key_spec(const ColumnSpec& map);
// The receiver of values; for sets and vectors, of elements.
ColumnSpec value_spec(const ColumnSpec& collection);
ColumnSpec component_spec(const ColumnSpec& tuple, size_t component);
ColumnSpec field_spec(const ColumnSpec& udt, size_t field);

}  // namespace sibyl::plan
