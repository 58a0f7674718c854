#include <algorithm>
#include <set>

#include "cql/printer.h"
#include "cql/shape.h"
#include "cql/writer.h"

namespace sibyl::cql {

void Writer::statement(const Statement& statement) {
  std::visit([this](const auto& inner) { node(inner); }, statement.node);
}

void Writer::node(const Explain& node) {
  put("EXPLAIN ");
  statement(*node.statement);
}

void Writer::node(const Use& node) {
  put("USE ");
  name(node.keyspace);
}

void Writer::node(const Truncate& node) {
  put("TRUNCATE TABLE ");
  qualified(node.table);
}

// --- SELECT

void Writer::node(const Select& node) {
  put("SELECT ");
  if (node.json) put("JSON ");
  if (node.distinct) put("DISTINCT ");
  selectors(node.selectors);
  put(" FROM ");
  qualified(node.table);
  where(node.where);
  if (!node.group_by.empty()) {
    put(" GROUP BY ");
    expressions(node.group_by);
  }
  if (!node.order_by.empty()) {
    put(" ORDER BY ");
    separated(node.order_by, ", ", [this](const Ordering& ordering) {
      name(ordering.column);
      if (ordering.ann_of) {
        put(" ANN OF ");
        expression(*ordering.ann_of);
      }
      if (ordering.descending) put(" DESC");
    });
  }
  if (node.per_partition_limit) {
    put(" PER PARTITION LIMIT ");
    expression(*node.per_partition_limit);
  }
  if (node.limit) {
    put(" LIMIT ");
    expression(*node.limit);
  }
  if (node.allow_filtering) put(" ALLOW FILTERING");
}

void Writer::selectors(const std::vector<Selector>& list) {
  if (list.empty()) put("*");
  separated(list, ", ", [this](const Selector& selector) {
    expression(*selector.expression);
    if (!selector.alias.empty()) {
      put(" AS ");
      name(selector.alias);
    }
  });
}

void Writer::where(const std::vector<Relation>& relations) {
  if (relations.empty()) return;
  put(" WHERE ");
  this->relations(relations);
}

void Writer::relations(const std::vector<Relation>& list) {
  separated(list, " AND ", [this](const Relation& item) { relation(item); });
}

// Prints the operator and its right side.
template <typename Compared>
void Writer::comparison(const Compared& compared) {
  put(" ").put(to_string(compared.op));
  if (compared.op == Operator::is_not_null) return;
  put(" ");
  if (!compared.has_value_list) {
    expression(*compared.value);
  } else if (compared.op == Operator::between) {
    expression(*compared.values[0]);
    put(" AND ");
    expression(*compared.values[1]);
  } else if (is_shape_ && std::all_of(compared.values.begin(), compared.values.end(),
                                      [](const ExpressionPtr& value) { return is_constant(*value); })) {
    put("?");  // one `?` stands for any number of values
  } else {
    put("(");
    expressions(compared.values);
    put(")");
  }
}

void Writer::relation(const Relation& relation) {
  switch (relation.target) {
    case Relation::Target::custom:
      put("expr(");
      name(relation.custom_index.name);
      put(", ");
      expression(*relation.value);
      put(")");
      return;
    case Relation::Target::token:
      put("token(");
      names(relation.columns);
      put(")");
      break;
    case Relation::Target::columns:
      put("(");
      names(relation.columns);
      put(")");
      break;
    case Relation::Target::element:
      name(relation.columns[0]);
      put("[");
      expression(*relation.element_key);
      put("]");
      break;
    case Relation::Target::column:
      name(relation.columns[0]);
      break;
  }
  comparison(relation);
}

void Writer::condition(const Condition& condition) {
  name(condition.column);
  if (condition.element_key) {
    put("[");
    expression(*condition.element_key);
    put("]");
  } else if (!condition.field.empty()) {
    put(".");
    name(condition.field);
  }
  comparison(condition);
}

void Writer::conditions(bool if_exists, const std::vector<Condition>& list) {
  if (if_exists) {
    put(" IF EXISTS");
  } else if (!list.empty()) {
    put(" IF ");
    separated(list, " AND ", [this](const Condition& item) { condition(item); });
  }
}

// --- INSERT, UPDATE, DELETE, BATCH

void Writer::attributes(const Attributes& attributes) {
  const Expression* timestamp = attributes.timestamp.get();
  const Expression* time_to_live = attributes.time_to_live.get();
  if (timestamp == nullptr && time_to_live == nullptr) return;
  const auto put_timestamp = [&](const char* glue) {
    put(glue).put("TIMESTAMP ");
    expression(*timestamp);
  };
  const auto put_time_to_live = [&](const char* glue) {
    put(glue).put("TTL ");
    expression(*time_to_live);
  };
  // Keeps the order in which they were written, so that bind markers keep their order.
  const bool swapped =
      timestamp && time_to_live && time_to_live->position.offset < timestamp->position.offset;
  const char* glue = " USING ";
  if (timestamp && !swapped) {
    put_timestamp(glue);
    glue = " AND ";
  }
  if (time_to_live) {
    put_time_to_live(glue);
    glue = " AND ";
  }
  if (swapped) put_timestamp(glue);
}

void Writer::node(const Insert& node) {
  put("INSERT INTO ");
  qualified(node.table);
  if (node.json) {
    put(" JSON ");
    expression(*node.json);
    if (node.default_unset) put(" DEFAULT UNSET");
  } else {
    put(" (");
    names(node.columns);
    put(") VALUES (");
    expressions(node.values);
    put(")");
  }
  if (node.if_not_exists) put(" IF NOT EXISTS");
  attributes(node.attributes);
}

void Writer::assignment(const Assignment& assignment) {
  name(assignment.column);
  if (assignment.element_key) {
    put("[");
    expression(*assignment.element_key);
    put("]");
  } else if (!assignment.field.empty()) {
    put(".");
    name(assignment.field);
  }
  put(" = ");
  switch (assignment.kind) {
    case Assignment::Kind::set:
      expression(*assignment.value);
      return;
    case Assignment::Kind::add:
    case Assignment::Kind::subtract:
      name(assignment.column);
      put(assignment.kind == Assignment::Kind::add ? " + " : " - ");
      expression(*assignment.value);
      return;
    case Assignment::Kind::prepend:
      expression(*assignment.value);
      put(" + ");
      name(assignment.column);
      return;
  }
}

void Writer::node(const Update& node) {
  put("UPDATE ");
  qualified(node.table);
  attributes(node.attributes);
  put(" SET ");
  separated(node.assignments, ", ", [this](const Assignment& item) { assignment(item); });
  where(node.where);
  conditions(node.if_exists, node.conditions);
}

void Writer::node(const Delete& node) {
  put("DELETE ");
  separated(node.targets, ", ", [this](const DeleteTarget& target) {
    name(target.column);
    if (target.element_key) {
      put("[");
      expression(*target.element_key);
      put("]");
    } else if (!target.field.empty()) {
      put(".");
      name(target.field);
    }
  });
  put(node.targets.empty() ? "FROM " : " FROM ");
  qualified(node.table);
  attributes(node.attributes);
  where(node.where);
  conditions(node.if_exists, node.conditions);
}

void Writer::node(const Batch& node) {
  put("BEGIN ");
  if (node.kind == Batch::Kind::unlogged) put("UNLOGGED ");
  if (node.kind == Batch::Kind::counter) put("COUNTER ");
  put("BATCH");
  attributes(node.attributes);
  batch_statements(node.statements);
  put(" APPLY BATCH");
}

// A shape has each distinct statement once, sorted by its text.
void Writer::batch_statements(const std::vector<Modification>& statements) {
  std::set<std::string> kinds;
  for (const Modification& modification : statements) {
    const size_t before = out_.size();
    put(" ");
    std::visit([this](const auto& inner) { this->node(inner); }, modification);
    put(";");
    if (!is_shape_) continue;
    kinds.insert(out_.substr(before));
    out_.resize(before);
  }
  for (const std::string& kind : kinds) out_ += kind;
}

}  // namespace sibyl::cql
