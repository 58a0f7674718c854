// Converts directives into a Workload. Internal to the parser of workload files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "advisor/workload/tokens.h"
#include "advisor/workload/workload.h"

namespace sibyl::advisor {

// One `@name …` directive. The tokens do not include `@name`.
struct Directive {
  std::string name;
  Token at;
  std::vector<Token> tokens;
};

// Replaces cqlsh commands that are not CQL (SOURCE, CONSISTENCY, COPY, …) with spaces.
std::string without_shell_commands(std::string_view text);

class WorkloadReader {
 public:
  explicit WorkloadReader(std::string_view file) { workload_.file = file; }

  base::Result<Workload> read(std::string_view text);

 private:
  // workload/parse.cc: the file and the declarations
  base::Status find_directives(std::string_view text);
  base::Status read_directives(std::string_view name);
  base::Status read_directive(const Directive& directive);
  base::Status read_in_order(std::string_view text);
  base::Status read_entity(TokenReader& reader);
  base::Result<Field> read_field(TokenReader& reader, bool& key);
  base::Status read_relationship(TokenReader& reader);
  base::Result<std::pair<size_t, std::string>> read_role(TokenReader& reader);
  base::Status read_mix(TokenReader& reader);
  base::Status read_group(TokenReader& reader);
  base::Status read_annotated(TokenReader& reader, bool write);
  base::Status read_target(TokenReader& reader);
  base::Status read_statistics(TokenReader& reader, bool column);
  base::Status take_cql(CqlStatement statement);
  base::Status check_annotation_used();
  base::Status check_names();
  void find_mandatory();

  // workload/statement.cc: statements over entities
  base::Status read_statement(TokenReader& reader, Statement statement);
  base::Status read_select(TokenReader& reader, Statement& statement);
  base::Status read_where(TokenReader& reader, Statement& statement);
  base::Status read_order(TokenReader& reader, Statement& statement);
  base::Status read_insert(TokenReader& reader, Statement& statement);
  base::Status read_update(TokenReader& reader, Statement& statement);
  base::Status read_assignment(TokenReader& reader, Statement& statement);
  base::Status read_remove(TokenReader& reader, Statement& statement);
  base::Status read_key(TokenReader& reader, Statement& statement);
  base::Status set_column(TokenReader& reader, const Token& column, Operand value, Statement& statement);
  base::Result<size_t> read_entity_name(TokenReader& reader);
  base::Result<Operand> read_operand(TokenReader& reader);
  // Resolves a path from the graph's root. Sets `*all` for `x.*`; without `all`, that is an error.
  base::Result<FieldReference> resolve(TokenReader& reader, const Token& path, Graph& graph,
                                       bool* all = nullptr);
  base::Status resolve_all(TokenReader& reader, const Token& path, Graph& graph,
                           std::vector<FieldReference>& fields);

  // workload/layout.cc: tables and plans for comparison
  base::Status read_layout(TokenReader& reader);
  base::Status read_layout_key(TokenReader& reader, Layout& layout);
  base::Status read_plan(TokenReader& reader);
  base::Result<StatedRead> read_stated_read(TokenReader& reader, const std::string& schema);
  base::Result<size_t> read_layout_name(TokenReader& reader, const std::string& schema);

  // `known`: the options allowed here.
  base::Result<Options> read_options(TokenReader& reader, const std::vector<std::string>& known);
  base::Result<Option> read_option(TokenReader& reader);
  std::vector<std::string> member_names(size_t entity) const;

  Workload workload_;
  std::vector<Directive> directives_;
  std::string group_;                       // the group of the following statements
  std::optional<CqlStatement> annotation_;  // an annotation that waits for its statement
  Token annotation_at_;
};

}  // namespace sibyl::advisor
