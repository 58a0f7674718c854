// Terms: expressions of known type that need no row, evaluated against the bound values.
#pragma once

#include <cstdint>
#include <deque>
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
};

// Keeps values alive that evaluation computed, until the request is done. One per request; not shared by threads.
class Scratch {
 public:
  BytesView keep(Bytes bytes) { return kept_.emplace_back(std::move(bytes)); }

 private:
  std::deque<Bytes> kept_;
};

class Term {
 public:
  virtual ~Term() = default;
  const types::TypePtr& type() const { return type_; }
  // The view borrows from the bindings, the term or `scratch`: valid while all three are. A present value is valid
  // for type(): markers are validated here (Cassandra's "Invalid value for column..." texts).
  virtual base::Result<ValueView> evaluate(const Bindings& bindings, Scratch& scratch) const = 0;
  // The bind marker this term is, or -1.
  virtual int marker_index() const { return -1; }

 protected:
  explicit Term(types::TypePtr type) : type_(std::move(type)) {}
  types::TypePtr type_;
};
using TermPtr = std::shared_ptr<const Term>;

// Binds names and types while a statement is prepared; gathers its markers.
class Binder {
 public:
  Binder(const schema::Snapshot& schema, std::string keyspace, uint32_t markers);

  const schema::Snapshot& schema() const { return schema_; }
  const std::string& keyspace() const { return keyspace_; }

  // The table a statement names; Cassandra's errors ("table t does not exist", "No keyspace has been specified...",
  // "Keyspace 'k' does not exist").
  base::Result<schema::TablePtr> table(const cql::QualifiedName& name) const;
  // A written type; user types are looked up in the keyspace it belongs to.
  base::Result<types::TypePtr> type(const cql::RawType& raw, const std::string& keyspace) const;

  // The expression as a value of receiver.type. A marker becomes receiver's; a literal or call that does not fit is
  // refused with Cassandra's text (`Invalid STRING constant (abc) for "v" of type int`).
  base::Result<TermPtr> term(const cql::Expression& expression, const ColumnSpec& receiver);

  std::vector<ColumnSpec> take_markers() { return std::move(markers_); }
  const std::vector<ColumnSpec>& markers() const { return markers_; }
  void set_marker(uint32_t index, ColumnSpec spec);
  void warn(std::string text) { warnings_.push_back(std::move(text)); }
  std::vector<std::string> take_warnings() { return std::move(warnings_); }

 private:
  const schema::Snapshot& schema_;
  std::string keyspace_;
  std::vector<ColumnSpec> markers_;
  std::vector<std::string> warnings_;
};

// The receiver for a column's value.
ColumnSpec spec_of(const schema::Table& table, const schema::Column& column);

}  // namespace sibyl::plan
