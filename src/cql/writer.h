// The writer that the printer's files share.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cql/ast.h"

namespace sibyl::cql {

// Appends CQL to a text.
class Writer {
 public:
  Writer() = default;
  // Writes shapes (shape.h): constants become `?`, and tables without a keyspace get this one, which must
  // outlive the writer.
  explicit Writer(std::string_view shape_keyspace) : shape_keyspace_(shape_keyspace), is_shape_(true) {}

  std::string take() { return std::move(out_); }

  void statement(const Statement& statement);
  void expression(const Expression& expression);
  void type(const RawType& type);
  void relations(const std::vector<Relation>& list);

 private:
  // --- Pieces (printer.cc)
  Writer& put(std::string_view text);
  void name(std::string_view name);
  void guarded_name(std::string_view name);  // in quotes even if it is an unreserved keyword
  void column_reference(std::string_view name);
  void qualified(const QualifiedName& name);
  void function_name(const QualifiedName& name);
  void user_type_name(const QualifiedName& name);
  void plain_function_name(std::string_view name);
  void string(std::string_view text);
  template <typename Items, typename Each>
  void separated(const Items& items, std::string_view separator, Each each) {
    bool first = true;
    for (const auto& item : items) {
      if (!first) put(separator);
      first = false;
      each(item);
    }
  }
  void names(const std::vector<std::string>& list);
  void expressions(const std::vector<ExpressionPtr>& list);
  void types(const std::vector<RawType>& list);

  void node(const Literal& node);
  void node(const BindMarker& node);
  void node(const ListLiteral& node);
  void node(const SetLiteral& node);
  void node(const MapLiteral& node);
  void node(const UserTypeLiteral& node);
  void node(const TupleLiteral& node);
  void node(const FunctionCall& node);
  void node(const ColumnReference& node);
  void node(const FieldSelection& node);
  void node(const ElementSelection& node);
  void node(const SliceSelection& node);
  void node(const Cast& node);
  void node(const TypeHint& node);
  void node(const Arithmetic& node);
  void node(const Negation& node);
  void operand(const Expression& expression, int binding);
  void bracketed(const Expression& expression);  // an operand before `[`

  // --- Data statements (print_data.cc)
  void node(const Select& node);
  void node(const Insert& node);
  void node(const Update& node);
  void node(const Delete& node);
  void node(const Batch& node);
  void batch_statements(const std::vector<Modification>& statements);
  void node(const Use& node);
  void node(const Truncate& node);
  void node(const Explain& node);
  void selectors(const std::vector<Selector>& list);
  void where(const std::vector<Relation>& relations);
  void relation(const Relation& relation);
  void condition(const Condition& condition);
  void conditions(bool if_exists, const std::vector<Condition>& list);
  void assignment(const Assignment& assignment);
  void attributes(const Attributes& attributes);
  template <typename Compared>
  void comparison(const Compared& compared);

  // --- Definitions (print_definition.cc)
  void node(const CreateKeyspace& node);
  void node(const AlterKeyspace& node);
  void node(const DropKeyspace& node);
  void node(const CreateTable& node);
  void node(const AlterTable& node);
  void node(const DropTable& node);
  void node(const CreateType& node);
  void node(const AlterType& node);
  void node(const DropType& node);
  void node(const CreateIndex& node);
  void node(const DropIndex& node);
  void node(const CreateView& node);
  void node(const AlterView& node);
  void node(const DropView& node);
  void node(const CreateFunction& node);
  void node(const DropFunction& node);
  void node(const CreateAggregate& node);
  void node(const DropAggregate& node);
  void node(const CreateTrigger& node);
  void node(const DropTrigger& node);
  void action(const AlterTable::Add& action);
  void action(const AlterTable::Drop& action);
  void action(const AlterTable::Rename& action);
  void action(const AlterTable::AlterType& action);
  void action(const AlterTable::Mask& action);
  void action(const AlterTable::With& action);
  void action(const AlterTable::DropCompactStorage& action);
  void action(const AlterType::Add& action);
  void action(const AlterType::Rename& action);
  void action(const AlterType::Alter& action);
  void if_exists(bool written);
  void if_not_exists(bool written);
  void properties(const Properties& properties);
  void property(const Property& property);
  void property_map(const std::vector<std::pair<std::string, std::string>>& map);
  void column(const ColumnDefinition& column);
  void mask(const ColumnMask& mask);
  void primary_key(const std::vector<std::string>& partition, const std::vector<std::string>& clustering);
  void clustering_order(const std::vector<ClusteringOrder>& order);
  void renames(const std::vector<std::pair<std::string, std::string>>& names);
  void fields(const std::vector<std::pair<std::string, RawType>>& fields);

  // --- Roles, permissions, DESCRIBE (print_role.cc)
  void node(const CreateRole& node);
  void node(const AlterRole& node);
  void node(const DropRole& node);
  void node(const GrantRole& node);
  void node(const ListRoles& node);
  void node(const GrantPermission& node);
  void node(const ListPermissions& node);
  void node(const AddIdentity& node);
  void node(const DropIdentity& node);
  void node(const Describe& node);
  void role(std::string_view name, bool user_syntax = false);
  void role_options(const RoleOptions& options);
  void user_options(const RoleOptions& options);
  void access(std::string_view from, std::string_view what, const std::vector<std::string>& list);
  void permissions(const std::vector<std::string>& list);
  void resource(const Resource& resource);

  std::string out_;
  std::string_view shape_keyspace_;
  bool is_shape_ = false;
};

}  // namespace sibyl::cql
