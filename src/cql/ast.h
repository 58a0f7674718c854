// The syntax tree: the content of a CQL text before any schema is known.
//
// Names are already folded: unquoted ones are in lower case. Every node that an error may point at has its
// position. Trees own their children. The parser limits nesting, so destroying a tree cannot exhaust the
// stack.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace sibyl::cql {

using base::Position;

// --- Names and types

struct QualifiedName {
  std::string keyspace;  // empty: the session's keyspace
  std::string name;
  Position position;
};

// A type as written: `int`, `frozen<list<text>>`, `ks.address`, `vector<float, 3>`, `'org.apache...Type'`.
struct RawType {
  std::string keyspace;  // keyspace of a user type, if written
  std::string name;      // int, list, set, map, tuple, vector, or a user type's name; lower case if unquoted
  std::vector<RawType> parameters;  // parameters of a list, set, map, tuple or vector
  uint32_t dimension = 0;           // of vector
  bool frozen = false;              // frozen<...> around it
  bool custom = false;              // a quoted class name
  Position position;
};

// --- Expressions: the same nodes for terms and selectors

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

struct Literal {
  enum class Kind { integer, floating, string, uuid, boolean, blob, duration, null };
  Kind kind;
  std::string text;  // as written, without quotes (string) and with 0x (blob); NaN and Infinity are floating
};
struct BindMarker {
  std::string name;    // empty for `?`
  uint32_t index = 0;  // 0 for the first in the statement; counts every marker
};
struct ListLiteral {  // also a vector
  std::vector<ExpressionPtr> elements;
};
struct SetLiteral {  // `{}` is an empty set; binding may turn it into an empty map or user type
  std::vector<ExpressionPtr> elements;
};
struct MapLiteral {
  std::vector<std::pair<ExpressionPtr, ExpressionPtr>> entries;
};
struct UserTypeLiteral {  // `{a: 1}`; in a selector, binding may turn it into a map keyed by columns
  std::vector<std::pair<std::string, ExpressionPtr>> fields;
};
// One element in parentheses is a tuple only where a tuple is expected. Elsewhere, as in `(a + b) * 2`, the
// parentheses only group.
struct TupleLiteral {
  std::vector<ExpressionPtr> elements;
};
struct FunctionCall {  // also token(...), writetime(c), maxwritetime(c), ttl(c), count(*)
  QualifiedName function;
  std::vector<ExpressionPtr> arguments;
  bool star = false;  // count(*)
};
struct ColumnReference {
  std::string name;
};
struct FieldSelection {  // udt.field
  ExpressionPtr of;
  std::string field;
};
struct ElementSelection {  // collection[key]
  ExpressionPtr of;
  ExpressionPtr key;
};
struct SliceSelection {  // collection[from..to]; either side may be absent
  ExpressionPtr of;
  ExpressionPtr from, to;
};
struct Cast {  // CAST(x AS type)
  ExpressionPtr of;
  RawType type;
};
struct TypeHint {  // (type) x
  RawType type;
  ExpressionPtr of;
};
enum class ArithmeticOperator { add, subtract, multiply, divide, modulo };
struct Arithmetic {
  ArithmeticOperator op;
  ExpressionPtr left, right;
};
struct Negation {
  ExpressionPtr of;
};

struct Expression {
  Position position;
  std::variant<Literal, BindMarker, ListLiteral, SetLiteral, MapLiteral, UserTypeLiteral, TupleLiteral,
               FunctionCall, ColumnReference, FieldSelection, ElementSelection, SliceSelection, Cast,
               TypeHint, Arithmetic, Negation>
      node;
};

// --- WHERE and IF

enum class Operator {
  equal,
  not_equal,
  less,
  less_or_equal,
  greater,
  greater_or_equal,
  in,
  not_in,
  contains,
  contains_key,
  not_contains,
  not_contains_key,
  like,
  between,
  is_not_null,
};

struct Relation {
  enum class Target {
    column,   // c op x
    element,  // c[key] op x
    columns,  // relation on several columns: (a, b) op (x, y)
    token,    // relation on the token: token(a, b) op x
    custom,   // expr(index, x)
  };
  Target target = Target::column;
  std::vector<std::string> columns;
  ExpressionPtr element_key;   // element
  QualifiedName custom_index;  // custom
  Operator op = Operator::equal;
  ExpressionPtr value;                // one value, or the marker of `IN ?`; else null
  std::vector<ExpressionPtr> values;  // IN (x, y), NOT IN (x, y), BETWEEN x AND y
  bool has_value_list = false;        // true if `values` was written, even if empty: IN ()
  Position position;
};

struct Condition {  // IF c = 1 AND c[2] > 3 AND u.f IN (1, 2)
  std::string column;
  ExpressionPtr element_key;
  std::string field;
  Operator op = Operator::equal;
  ExpressionPtr value;
  std::vector<ExpressionPtr> values;
  bool has_value_list = false;
  Position position;
};

// --- Data statements

struct Selector {
  ExpressionPtr expression;
  std::string alias;  // empty: none
};

struct Ordering {
  std::string column;
  bool descending = false;
  ExpressionPtr ann_of;  // ORDER BY v ANN OF x
  Position position;
};

struct Select {
  bool json = false;
  bool distinct = false;
  std::vector<Selector> selectors;  // empty: *
  QualifiedName table;
  std::vector<Relation> where;
  std::vector<ExpressionPtr> group_by;
  std::vector<Ordering> order_by;
  ExpressionPtr per_partition_limit, limit;
  bool allow_filtering = false;
};

struct Attributes {  // USING TIMESTAMP x AND TTL y
  ExpressionPtr timestamp, time_to_live;
};

struct Insert {
  QualifiedName table;
  std::vector<std::string> columns;
  std::vector<ExpressionPtr> values;
  ExpressionPtr json;  // INSERT INTO t JSON x
  bool default_unset = false;
  bool if_not_exists = false;
  Attributes attributes;
};

struct Assignment {
  enum class Kind {
    set,       // c = x, c[i] = x, c.f = x
    add,       // c = c + x, c += x
    subtract,  // c = c - x, c -= x
    prepend,   // the assignment c = x + c
  };
  std::string column;
  ExpressionPtr element_key;
  std::string field;
  Kind kind = Kind::set;
  ExpressionPtr value;
  Position position;
};

struct Update {
  QualifiedName table;
  Attributes attributes;
  std::vector<Assignment> assignments;
  std::vector<Relation> where;
  std::vector<Condition> conditions;
  bool if_exists = false;
};

struct DeleteTarget {  // c, c[key], c.field
  std::string column;
  ExpressionPtr element_key;
  std::string field;
  Position position;
};

struct Delete {
  std::vector<DeleteTarget> targets;  // empty: whole rows
  QualifiedName table;
  Attributes attributes;  // TIMESTAMP only
  std::vector<Relation> where;
  std::vector<Condition> conditions;
  bool if_exists = false;
};

using Modification = std::variant<Insert, Update, Delete>;

struct Batch {
  enum class Kind { logged, unlogged, counter };
  Kind kind = Kind::logged;
  Attributes attributes;
  std::vector<Modification> statements;
};

struct Use {
  std::string keyspace;
};
struct Truncate {
  QualifiedName table;
};

// --- Definitions

// WITH name = value. The value is a literal (its text; booleans in lower case) or a map of literals.
struct Property {
  std::string name;
  std::variant<std::string, std::vector<std::pair<std::string, std::string>>> value;
  bool quoted = false;  // the literal was a string
  Position position;
};
using Properties = std::vector<Property>;

struct CreateKeyspace {
  std::string name;
  bool if_not_exists = false;
  Properties properties;
};
struct AlterKeyspace {
  std::string name;
  bool if_exists = false;
  Properties properties;
};
struct DropKeyspace {
  std::string name;
  bool if_exists = false;
};

struct ColumnMask {  // MASKED WITH f(args) or MASKED WITH DEFAULT
  QualifiedName function;
  std::vector<ExpressionPtr> arguments;
};
struct ColumnDefinition {
  std::string name;
  RawType type;
  bool is_static = false;
  bool is_primary_key = false;  // inline PRIMARY KEY
  std::unique_ptr<ColumnMask> mask;
  Position position;
};
struct ClusteringOrder {
  std::string column;
  bool descending = false;
};
struct CreateTable {
  QualifiedName table;
  bool if_not_exists = false;
  std::vector<ColumnDefinition> columns;
  std::vector<std::vector<std::string>> partition_keys;  // one entry per PRIMARY KEY (...) clause, normally
                                                         // one; none for `c int PRIMARY KEY`, which is stored
                                                         // in the column
  std::vector<std::string> clustering_columns;
  std::vector<ClusteringOrder> clustering_order;
  bool compact_storage = false;
  Properties properties;  // including `id`
};
struct AlterTableAdd {
  std::vector<ColumnDefinition> columns;
  bool if_not_exists = false;
};
struct AlterTableDrop {
  std::vector<std::string> columns;
  bool if_exists = false;
  std::optional<int64_t> timestamp;
};
struct AlterTableRename {
  std::vector<std::pair<std::string, std::string>> names;
  bool if_exists = false;
};
struct AlterTableAlterType {
  std::string column;
  RawType type;
};
struct AlterTableMask {
  std::string column;
  bool if_exists = false;
  std::unique_ptr<ColumnMask> mask;  // absent: DROP MASKED
};
struct AlterTableWith {
  Properties properties;
};
struct AlterTableDropCompactStorage {};
struct AlterTable {
  using Add = AlterTableAdd;
  using Drop = AlterTableDrop;
  using Rename = AlterTableRename;
  using AlterType = AlterTableAlterType;
  using Mask = AlterTableMask;
  using With = AlterTableWith;
  using DropCompactStorage = AlterTableDropCompactStorage;
  QualifiedName table;
  bool if_exists = false;
  std::variant<Add, Drop, Rename, AlterType, Mask, With, DropCompactStorage> action;
};
struct DropTable {
  QualifiedName table;
  bool if_exists = false;
};

struct CreateType {
  QualifiedName type;
  bool if_not_exists = false;
  std::vector<std::pair<std::string, RawType>> fields;
};
struct AlterTypeAdd {
  std::string field;
  RawType type;
  bool if_not_exists = false;
};
struct AlterTypeRename {
  std::vector<std::pair<std::string, std::string>> names;
  bool if_exists = false;
};
struct AlterTypeAlter {
  std::string field;
  RawType type;
};
struct AlterType {
  using Add = AlterTypeAdd;
  using Rename = AlterTypeRename;
  using Alter = AlterTypeAlter;
  QualifiedName type;
  bool if_exists = false;
  std::variant<Add, Rename, Alter> action;
};
struct DropType {
  QualifiedName type;
  bool if_exists = false;
};

struct IndexTarget {
  enum class Kind { simple, keys, values, entries, full };
  Kind kind = Kind::simple;
  std::string column;
};
struct CreateIndex {
  bool custom = false;
  bool if_not_exists = false;
  std::string name;  // empty: generated
  QualifiedName table;
  std::vector<IndexTarget> targets;
  std::string using_class;  // empty: the default
  Properties properties;    // options
};
struct DropIndex {
  QualifiedName index;
  bool if_exists = false;
};

struct CreateView {
  QualifiedName view;
  bool if_not_exists = false;
  std::unique_ptr<Select> select;
  std::vector<std::string> partition_key, clustering_columns;
  std::vector<ClusteringOrder> clustering_order;
  Properties properties;
};
struct AlterView {
  QualifiedName view;
  bool if_exists = false;
  Properties properties;
};
struct DropView {
  QualifiedName view;
  bool if_exists = false;
};

struct CreateFunction {
  QualifiedName function;
  bool or_replace = false;
  bool if_not_exists = false;
  std::vector<std::pair<std::string, RawType>> arguments;
  bool called_on_null_input = false;
  RawType return_type;
  std::string language;
  std::string body;
};
struct DropFunction {
  QualifiedName function;
  bool if_exists = false;
  std::optional<std::vector<RawType>> argument_types;
};
struct CreateAggregate {
  QualifiedName aggregate;
  bool or_replace = false;
  bool if_not_exists = false;
  std::vector<RawType> argument_types;
  std::string state_function;
  RawType state_type;
  std::string final_function;       // empty: none
  ExpressionPtr initial_condition;  // null: none
};
struct DropAggregate {
  QualifiedName aggregate;
  bool if_exists = false;
  std::optional<std::vector<RawType>> argument_types;
};
struct CreateTrigger {
  std::string name;
  QualifiedName table;
  bool if_not_exists = false;
  std::string class_name;
};
struct DropTrigger {
  std::string name;
  QualifiedName table;
  bool if_exists = false;
};

// --- Roles and permissions

struct RoleOptions {
  std::optional<std::string> password, hashed_password;
  bool generated_password = false;
  std::optional<bool> superuser, login;
  std::vector<std::pair<std::string, std::string>> options;
  bool has_options = false;
  std::optional<std::vector<std::string>> datacenters;  // empty list: ALL
  std::optional<std::vector<std::string>> cidr_groups;  // empty list: ALL
};
struct CreateRole {
  std::string name;
  bool if_not_exists = false;
  bool is_user_syntax = false;  // CREATE USER
  RoleOptions options;
};
struct AlterRole {
  std::string name;
  bool if_exists = false;
  bool is_user_syntax = false;
  RoleOptions options;
};
struct DropRole {
  std::string name;
  bool if_exists = false;
  bool is_user_syntax = false;
};
struct GrantRole {  // also REVOKE
  bool revoke = false;
  std::string role, grantee;
};
struct ListRoles {  // also LIST USERS, LIST SUPERUSERS
  std::string of;   // empty: all
  bool recursive = true;
  bool users = false;
  bool superusers = false;
};
struct Resource {
  enum class Kind {
    all_keyspaces,
    keyspace,
    all_tables,  // ALL TABLES IN KEYSPACE
    table,
    all_roles,
    role,
    all_functions,
    all_functions_in_keyspace,
    function,
    all_mbeans,
    mbeans,
    mbean,
  };
  Kind kind = Kind::table;
  QualifiedName name;
  std::vector<RawType> argument_types;  // function
};
struct GrantPermission {  // also REVOKE
  bool revoke = false;
  std::vector<std::string> permissions;  // upper case; empty: ALL
  Resource resource;
  std::string grantee;
};
struct ListPermissions {
  std::vector<std::string> permissions;  // empty: ALL
  std::optional<Resource> resource;
  std::string of;
  bool recursive = true;
};
struct AddIdentity {
  std::string identity, role;
  bool if_not_exists = false;
};
struct DropIdentity {
  std::string identity;
  bool if_exists = false;
};

// --- DESCRIBE and EXPLAIN

struct Describe {
  enum class Kind {
    cluster,
    schema,
    keyspaces,
    keyspace,
    tables,
    table,
    types,
    type,
    functions,
    function,
    aggregates,
    aggregate,
    index,
    view,
    anything,  // a name alone
  };
  Kind kind = Kind::anything;
  bool full = false;  // FULL SCHEMA
  bool only = false;  // ONLY KEYSPACE
  QualifiedName name;
  bool with_internals = false;
};

struct Statement;
struct Explain {
  std::unique_ptr<Statement> statement;
};

struct Statement {
  Position position;
  uint32_t bind_markers = 0;  // number of markers in the whole statement
  std::variant<Select, Insert, Update, Delete, Batch, Use, Truncate, CreateKeyspace, AlterKeyspace,
               DropKeyspace, CreateTable, AlterTable, DropTable, CreateType, AlterType, DropType, CreateIndex,
               DropIndex, CreateView, AlterView, DropView, CreateFunction, DropFunction, CreateAggregate,
               DropAggregate, CreateTrigger, DropTrigger, CreateRole, AlterRole, DropRole, GrantRole,
               ListRoles, GrantPermission, ListPermissions, AddIdentity, DropIdentity, Describe, Explain>
      node;
};

}  // namespace sibyl::cql
