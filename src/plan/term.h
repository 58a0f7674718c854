// Terms: expressions of known type that need no row, evaluated against the bound values.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
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

// What one execution brings along.
struct Bindings {
  std::span<const ValueView> values;  // one per marker; missing ones are unset
  int64_t now_micros = 0;             // the request's time: now(), toTimestamp(now()), TTL arithmetic
  // Selections only (selection.h): what the current row holds, and the aggregates' results so far.
  std::span<const ValueView> inputs;
  std::span<const ValueView> aggregates;
  bool unmasked = true;  // shows what masked columns hold (masks.h)
};

// Keeps values alive that evaluation computed, until the request is done. One per request; not shared by
// threads.
class Scratch {
 public:
  BytesView keep(Bytes bytes) { return kept_.emplace_back(std::move(bytes)); }
  // Forgets everything kept: between two rows of a scan.
  void clear() { kept_.clear(); }

 private:
  std::deque<Bytes> kept_;
};

class Term {
 public:
  virtual ~Term() = default;
  const types::TypePtr& type() const { return type_; }
  // The view borrows from the bindings, the term or `scratch`: valid while all three are. A present value is
  // valid for type(): markers are validated here (Cassandra's "Invalid value for column..." texts).
  virtual base::Result<ValueView> evaluate(const Bindings& bindings, Scratch& scratch) const = 0;
  // The bind marker this term is, or -1.
  virtual int marker_index() const { return -1; }
  // Whether every evaluation gives the same value: a literal, or a pure function of literals.
  virtual bool is_constant() const { return false; }
  // Whether a bind marker, or an aggregate, occurs in it.
  virtual bool has_marker() const { return false; }
  virtual bool has_aggregate() const { return false; }

 protected:
  explicit Term(types::TypePtr type) : type_(std::move(type)) {}
  types::TypePtr type_;
};
using TermPtr = std::shared_ptr<const Term>;

// How well an expression fits a receiver: its very type, a type that can be read as it, or not at all.
enum class Fit { exact, weak, none };

struct Function;  // functions.h
using FunctionPtr = std::shared_ptr<const Function>;

// What expressions may mean beyond constants: set while a SELECT's selectors are bound (selection.h).
class RowScope {
 public:
  virtual ~RowScope() = default;
  // The type of a column, field or element selection, or of a call that only selections have (writetime...);
  // nullptr when the expression is none of these.
  virtual base::Result<types::TypePtr> type_of(const cql::Expression& expression) = 0;
  virtual base::Result<TermPtr> bind(const cql::Expression& expression) = 0;
  virtual base::Result<TermPtr> aggregate(FunctionPtr function, std::vector<TermPtr> arguments) = 0;
  // The statement's table, for calls without another receiver.
  virtual ColumnSpec receiver() const = 0;
  // An expression as messages about selections spell it: calls by their full names.
  virtual std::string text(const cql::Expression& expression) const = 0;
  // The name of a marker that stands for the receiver.
  virtual std::string marker_name(const ColumnSpec& receiver) const = 0;
};

// Binds names and types while a statement is prepared; gathers its markers.
class Binder {
 public:
  Binder(const schema::Snapshot& schema, std::string keyspace, uint32_t markers);

  const schema::Snapshot& schema() const { return schema_; }
  const std::string& keyspace() const { return keyspace_; }

  // The table a statement names; Cassandra's errors ("table t does not exist", "No keyspace has been
  // specified...", "Keyspace 'k' does not exist").
  base::Result<schema::TablePtr> table(const cql::QualifiedName& name) const;
  // A written type; user types are looked up in the keyspace it belongs to.
  base::Result<types::TypePtr> type(const cql::RawType& raw, const std::string& keyspace);

  // The expression as a value of receiver.type. A marker becomes receiver's; a literal or call that does not
  // fit is refused with Cassandra's text (`Invalid STRING constant (abc) for "v" of type int`).
  base::Result<TermPtr> term(const cql::Expression& expression, const ColumnSpec& receiver);

  // A call (also arithmetic) by its own type: arguments choose among the signatures; no receiver.
  base::Result<TermPtr> call(const cql::Expression& expression, const ColumnSpec& receiver,
                             bool typed_by_receiver);

  // How the expression fits the receiver, without binding anything.
  base::Result<Fit> fit(const cql::Expression& expression, const ColumnSpec& receiver);
  // The expression's type where it has one of its own (a hint, a call, a column); nullptr for literals and
  // markers.
  base::Result<types::TypePtr> exact_type(const cql::Expression& expression);
  // The same, and a preferred type for literals.
  base::Result<types::TypePtr> preferred_type(const cql::Expression& expression);

  // An expression as messages spell it.
  std::string text(const cql::Expression& expression) const;
  // The function that a call was found to mean; nullptr when it was not asked for or is none.
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
  // nullptr when there is no function of that name. Remembered: whether a call fits is asked for each of the
  // signatures of the call around it, so nested calls would else cost exponentially.
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
  std::vector<CalledFunction> calls_;
  std::vector<schema::UserTypePtr> user_types_;
  std::string function_keyspace_;  // where calls without a keyspace look: that of the statement's table
  RowScope* scope_ = nullptr;
  std::map<std::pair<const cql::Expression*, types::TypePtr>, base::Result<FunctionPtr>> resolved_;
};

// The receiver for a column's value.
ColumnSpec spec_of(const schema::Table& table, const schema::Column& column);
// Receivers inside one: `idx(l)`, `key(m)`, `value(c)`, `t[0]`, `u.field`.
ColumnSpec index_spec(const ColumnSpec& list);
ColumnSpec key_spec(const ColumnSpec& map);
ColumnSpec value_spec(const ColumnSpec& collection);  // also of sets and vectors: the elements
ColumnSpec component_spec(const ColumnSpec& tuple, size_t component);
ColumnSpec field_spec(const ColumnSpec& udt, size_t field);

// An expression as Cassandra's error texts spell it.
std::string text_of(const cql::Expression& expression);

// How a value of `type` fits a receiver of type `receiver` (bigint reads timestamps, text reads ascii, ...).
Fit fit_of(const types::Type& type, const types::Type& receiver);

}  // namespace sibyl::plan
