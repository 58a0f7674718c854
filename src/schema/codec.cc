#include "schema/codec.h"

#include "schema/codec_json.h"
#include "schema/codec_table.h"
#include "schema/codec_type.h"

namespace sibyl::schema {

std::string encode(const Header& header) {
  json::object out = new_record("header");
  out["host_id"] = base::to_hex(header.host_id);
  out["schema_version"] = base::to_hex(header.version);
  out["next_storage_id"] = header.next_storage_id;
  return json::serialize(out);
}

std::string encode(const Keyspace& keyspace) {
  json::object out = new_record("keyspace");
  out["name"] = keyspace.name;
  out["replication"] = encode_map(keyspace.replication);
  out["durable_writes"] = keyspace.durable_writes;
  return json::serialize(out);
}

std::string encode(const UserType& type) {
  json::object out = new_record("type");
  out["keyspace"] = type.keyspace;
  out["name"] = type.name;
  out["field_names"] = encode_names(type.field_names);
  out["field_types"] = encode_types(type.field_types);
  return json::serialize(out);
}

std::string encode(const UserFunction& function) {
  json::object out = new_record("function");
  out["keyspace"] = function.keyspace;
  out["name"] = function.name;
  out["argument_names"] = encode_names(function.argument_names);
  out["argument_types"] = encode_types(function.argument_types);
  out["return_type"] = encode_type(*function.return_type);
  out["called_on_null_input"] = function.called_on_null_input;
  out["language"] = function.language;
  out["body"] = function.body;
  return json::serialize(out);
}

std::string encode(const UserAggregate& aggregate) {
  json::object out = new_record("aggregate");
  out["keyspace"] = aggregate.keyspace;
  out["name"] = aggregate.name;
  out["argument_types"] = encode_types(aggregate.argument_types);
  out["state_function"] = aggregate.state_function;
  out["state_type"] = encode_type(*aggregate.state_type);
  out["final_function"] = aggregate.final_function;
  if (aggregate.initial_condition) out["initial_condition"] = base::to_hex(*aggregate.initial_condition);
  out["return_type"] = encode_type(*aggregate.return_type);
  return json::serialize(out);
}

base::Result<Header> decode_header(base::BytesView text) {
  SIBYL_ASSIGN(json::value value, parse_record(text));
  ObjectReader reader(value, "the header");
  reader.read_record("header");
  Header header;
  reader.read_hex("host_id", header.host_id);
  reader.read_hex("schema_version", header.version);
  reader.read("next_storage_id", header.next_storage_id);
  SIBYL_TRY(reader.finish());
  return header;
}

base::Result<Keyspace> decode_keyspace(base::BytesView text) {
  SIBYL_ASSIGN(json::value value, parse_record(text));
  ObjectReader reader(value, "a keyspace");
  reader.read_record("keyspace");
  Keyspace keyspace;
  reader.read("name", keyspace.name);
  reader.read("replication", keyspace.replication);
  reader.read("durable_writes", keyspace.durable_writes);
  SIBYL_TRY(reader.finish());
  return keyspace;
}

base::Result<UserType> decode_type(base::BytesView text) {
  SIBYL_ASSIGN(json::value value, parse_record(text));
  ObjectReader reader(value, "a type");
  reader.read_record("type");
  UserType type;
  reader.read("keyspace", type.keyspace);
  reader.read("name", type.name);
  reader.read("field_names", type.field_names);
  SIBYL_ASSIGN(type.field_types, decode_types(reader.array("field_types")));
  if (type.field_names.size() != type.field_types.size())
    reader.set_error("a user type's field names and types differ in number");
  SIBYL_TRY(reader.finish());
  return type;
}

base::Result<UserFunction> decode_function(base::BytesView text) {
  SIBYL_ASSIGN(json::value value, parse_record(text));
  ObjectReader reader(value, "a function");
  reader.read_record("function");
  UserFunction function;
  reader.read("keyspace", function.keyspace);
  reader.read("name", function.name);
  reader.read("argument_names", function.argument_names);
  SIBYL_ASSIGN(function.argument_types, decode_types(reader.array("argument_types")));
  SIBYL_TRY(read_type(reader, "return_type", function.return_type));
  reader.read("called_on_null_input", function.called_on_null_input);
  reader.read("language", function.language);
  reader.read("body", function.body);
  if (function.argument_names.size() != function.argument_types.size())
    reader.set_error("a function's argument names and types differ in number");
  SIBYL_TRY(reader.finish());
  return function;
}

base::Result<UserAggregate> decode_aggregate(base::BytesView text) {
  SIBYL_ASSIGN(json::value value, parse_record(text));
  ObjectReader reader(value, "an aggregate");
  reader.read_record("aggregate");
  UserAggregate aggregate;
  reader.read("keyspace", aggregate.keyspace);
  reader.read("name", aggregate.name);
  SIBYL_ASSIGN(aggregate.argument_types, decode_types(reader.array("argument_types")));
  reader.read("state_function", aggregate.state_function);
  SIBYL_TRY(read_type(reader, "state_type", aggregate.state_type));
  reader.read("final_function", aggregate.final_function);
  if (reader.optional_field("initial_condition") != nullptr)
    reader.read_hex("initial_condition", aggregate.initial_condition.emplace());
  SIBYL_TRY(read_type(reader, "return_type", aggregate.return_type));
  SIBYL_TRY(reader.finish());
  return aggregate;
}

}  // namespace sibyl::schema
