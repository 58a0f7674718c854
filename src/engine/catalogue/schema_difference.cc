#include "engine/catalogue/schema_difference.h"

#include <utility>

#include "schema/codec.h"
#include "schema/codec_table.h"
#include "schema/compare.h"

namespace sibyl::engine {
namespace {

using schema::Change;
using schema::Keyspace;

class Differences {
 public:
  void add(const Keyspace& old, const Keyspace& next) {
    keyspace_ = next.name.empty() ? old.name : next.name;
    if (old.name.empty()) {
      add_change(Change::Kind::created, Change::Target::keyspace, {});
    } else if (!next.name.empty() &&
               (old.replication != next.replication || old.durable_writes != next.durable_writes)) {
      add_change(Change::Kind::updated, Change::Target::keyspace, {});
    }
    add_named(Change::Target::type, old.types, next.types);
    add_named(Change::Target::table, old.tables, next.tables);
    add_named(Change::Target::table, old.views, next.views);
    add_functions(Change::Target::function, old.functions, next.functions);
    add_functions(Change::Target::aggregate, old.aggregates, next.aggregates);
    if (next.name.empty()) add_change(Change::Kind::dropped, Change::Target::keyspace, {});
  }
  std::vector<Change> take() { return std::move(changes_); }

 private:
  static Change::Kind kind_of(bool was, bool is) {
    if (!was) return Change::Kind::created;
    return is ? Change::Kind::updated : Change::Kind::dropped;
  }
  Change& add_change(Change::Kind kind, Change::Target target, const std::string& name) {
    return changes_.emplace_back(Change{kind, target, keyspace_, name, {}});
  }
  template <typename Map>
  void add_named(Change::Target target, const Map& before, const Map& after) {
    schema::compare(before, after, [&](const std::string& name, const auto& old, const auto& next) {
      // A table is replaced when one of its views changes.
      if (old && next && schema::encode(*old) == schema::encode(*next)) return;
      add_change(kind_of(old != nullptr, next != nullptr), target, name);
    });
  }
  template <typename Map>
  void add_functions(Change::Target target, const Map& before, const Map& after) {
    schema::compare(before, after, [&](const std::string&, const auto& old, const auto& next) {
      const auto& any = next ? next : old;
      Change& change = add_change(kind_of(old != nullptr, next != nullptr), target, any->name);
      for (const types::TypePtr& type : any->argument_types)
        change.argument_types.push_back(type->cql_name());
    });
  }

  std::string keyspace_;
  std::vector<Change> changes_;
};

}  // namespace

std::vector<Change> changes_between(const schema::Snapshot& before, const schema::Snapshot& after) {
  Differences differences;
  schema::compare_keyspaces(before, after, [&](const Keyspace& old, const Keyspace& next) {
    if (!old.is_system && !next.is_system) differences.add(old, next);
  });
  return differences.take();
}

}  // namespace sibyl::engine
