// Marshal classes that have no CQL name: LexicalUUIDType, CompositeType(...) and DynamicCompositeType(...).
//
// Columns of these types come from applications of Cassandra's old Thrift interface. Clients see the class
// name. A composite is a sequence of values, each of its own type, that is stored and compared as one:
//
//   [0xffff]                 only if the composite is static
//   for each component:
//     [16-bit header, name]  only if dynamic: 0x8000 | alias, or the size of the class name and the name
//     16-bit size, value
//     end of component       0; in bounds of slices -1 or 1, which sort before and after longer composites
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "types/type.h"

namespace sibyl::types {

// The type of one component: CompositeType(Int32Type,ReversedType(UTF8Type)) has two components.
struct ComponentType {
  TypePtr type;
  bool is_reversed = false;  // in descending order
};

struct CustomClass {
  enum class Form { lexical_uuid, composite, dynamic_composite };
  Form form = Form::lexical_uuid;
  std::vector<ComponentType> components;  // composite
  std::vector<std::pair<char, ComponentType>>
      aliases;  // types of a dynamic_composite by their aliases, in the order of Cassandra's names

  // Returns nullptr if there is none.
  const ComponentType* find_alias(char alias) const;
};

// One component of a composite value. The views point into the value.
struct CompositePart {
  ComponentType type;
  base::BytesView header;  // dynamic composites only
  base::BytesView value;
  char end = 0;
};
struct CompositeParts {
  bool is_static = false;
  std::vector<CompositePart> parts;
};

// Returns the class of a custom type. Returns nullptr if it is not one of the classes above; values of such
// types are compared as bytes.
std::shared_ptr<const CustomClass> find_custom_class(const Type& type);

// Returns the complete name of one of the above classes, with the packages of its parameters. An empty text
// if the name is malformed or has an unknown parameter. REQUIRES: the name is not nested deeper than
// max_type_depth.
std::string complete_custom_name(std::string_view name);
// True if the name, with or without package and parameters, is one of the above classes.
bool is_custom_class_name(std::string_view name);

// Splits a composite value. Errors are Cassandra's.
base::Result<CompositeParts> split_composite(const CustomClass& custom, base::BytesView value);

// For values of custom types, like the functions of value.h.
base::Status validate_custom(const Type& type, base::BytesView value);
int compare_custom(const Type& type, base::BytesView left, base::BytesView right);

// Dynamic composites order components of different types by their classes. This is a text with that order,
// which begins with the class's name without package.
std::string sortable_class_name(const ComponentType& component);
// Returns the component that a class name denotes, such as the last line of a sortable name. Its type is null
// if the name is malformed or unknown.
ComponentType component_of_class(const std::string& name);

}  // namespace sibyl::types
