// Parses the file as a whole and its declarations.
#include <fmt/format.h>

#include <algorithm>

#include "advisor/workload/reader.h"
#include "advisor/workload/spread.h"
#include "cql/lexer.h"
#include "cql/parser.h"
#include "cql/script.h"
#include "types/type.h"

namespace sibyl::advisor {
namespace {

const std::vector<std::string> directive_names = {"entity", "rel",    "mix",  "group", "query",  "write",
                                                  "target", "layout", "plan", "table", "column", "end"};
const std::vector<std::string> statement_options = {"rate",    "rows",       "skew",  "slo_p50",
                                                    "slo_p99", "partitions", "times", "span"};
const std::vector<std::string> target_options = {"partition", "partition_rate", "space",  "nodes",
                                                 "rf",        "horizon",        "vnodes", "latency"};
const std::vector<std::string> table_options = {"rows", "partitions", "fanout", "growth", "retention",
                                                "skew", "reads",      "writes", "row",    "p50",
                                                "p99",  "max",        "arrival"};
const std::vector<std::string> column_options = {"distinct", "size", "skew",   "fanout", "p50",
                                                 "p99",      "max",  "growth", "time"};

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// The text after the dashes, if the line is a comment.
std::optional<CommentLine> comment_of(std::string_view line, uint32_t number) {
  const size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return std::nullopt;
  const std::string_view mark = line.substr(first, 2);
  if (mark != "--" && mark != "//") return std::nullopt;
  return CommentLine{line.substr(first + 2), number, static_cast<uint32_t>(first + 3)};
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  size_t from = 0;
  while (from <= text.size()) {
    const size_t end = std::min(text.find('\n', from), text.size());
    lines.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return lines;
}

double default_bytes(std::string_view type) {
  const types::TypePtr scalar = types::scalar_by_name(type);
  if (scalar == nullptr) return 64;
  if (scalar->fixed_size() >= 0) return static_cast<double>(scalar->fixed_size());
  return scalar->kind() == types::Kind::text || scalar->kind() == types::Kind::ascii ? 16 : 8;
}

}  // namespace

base::Result<Workload> parse_workload(std::string_view text, std::string_view file) {
  return WorkloadReader(file).read(text);
}

base::Result<Workload> WorkloadReader::read(std::string_view text) {
  if (cql::find_invalid_utf8(text) != std::string_view::npos)
    return base::fail(base::ErrorCode::syntax, fmt::format("{}: not valid UTF-8", workload_.file));
  SIBYL_TRY(find_directives(text));
  SIBYL_TRY(read_directives("entity"));
  SIBYL_TRY(read_directives("rel"));
  SIBYL_TRY(read_directives("layout"));
  SIBYL_TRY(read_in_order(without_shell_commands(text)));
  SIBYL_TRY(read_directives("plan"));
  SIBYL_TRY(check_names());
  find_mandatory();
  return std::move(workload_);
}

base::Status WorkloadReader::find_directives(std::string_view text) {
  const std::vector<std::string_view> lines = split_lines(text);
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto first = comment_of(lines[i], static_cast<uint32_t>(i + 1));
    if (!first || !trim(first->text).starts_with('@')) continue;
    const size_t sign = first->text.find('@');
    std::vector<CommentLine> parts = {
        {first->text.substr(sign + 1), first->line, first->column + static_cast<uint32_t>(sign) + 1}};
    while (i + 1 < lines.size()) {
      const auto more = comment_of(lines[i + 1], static_cast<uint32_t>(i + 2));
      if (!more || trim(more->text).empty() || trim(more->text).starts_with('@')) break;
      parts.push_back(*more);
      ++i;
    }
    Directive directive;
    directive.tokens = tokenize(parts);
    TokenReader reader(workload_.file, directive.tokens);
    SIBYL_ASSIGN(directive.at, reader.expect_word("the name of a directive after '@'"));
    directive.name = directive.at.text;
    if (std::find(directive_names.begin(), directive_names.end(), directive.name) == directive_names.end())
      return reader.unknown(directive.at, "directive", directive.name, directive_names);
    directive.tokens.erase(directive.tokens.begin());
    directives_.push_back(std::move(directive));
  }
  return {};
}

base::Status WorkloadReader::read_directives(std::string_view name) {
  for (const Directive& directive : directives_) {
    if (directive.name == name) SIBYL_TRY(read_directive(directive));
  }
  return {};
}

base::Status WorkloadReader::read_directive(const Directive& directive) {
  TokenReader reader(workload_.file, directive.tokens);
  const std::string& name = directive.name;
  annotation_at_ = directive.at;
  if (name == "entity") return read_entity(reader);
  if (name == "rel") return read_relationship(reader);
  if (name == "mix") return read_mix(reader);
  if (name == "group") return read_group(reader);
  if (name == "end") {
    group_.clear();
    return reader.expect_end();
  }
  if (name == "query" || name == "write") return read_annotated(reader, name == "write");
  if (name == "target") return read_target(reader);
  if (name == "layout") return read_layout(reader);
  if (name == "plan") return read_plan(reader);
  return read_statistics(reader, name == "column");
}

namespace {

// A dot separates the names of a path, so a name must not contain one.
base::Status refuse_dot(const TokenReader& reader, const Token& at, std::string_view name) {
  if (name.find('.') == std::string_view::npos) return {};
  return reader.fail(at, fmt::format("expected a name without a dot, found '{}'", name));
}

// The statement from its first word to its last, with line breaks preserved. Comments are removed; directives
// in them are parsed separately.
std::string without_comments(std::string_view text) {
  std::string result;
  cql::Lexer lexer(text);
  size_t end = 0;
  for (cql::Token token = lexer.next(); token.kind != cql::TokenKind::end; token = lexer.next()) {
    const std::string_view gap = text.substr(end, token.offset - end);
    if (!result.empty()) {
      const auto lines = static_cast<size_t>(std::count(gap.begin(), gap.end(), '\n'));
      const bool is_blank = gap.find_first_not_of(" \t\r\n") == std::string_view::npos;
      result += is_blank ? std::string(gap) : lines > 0 ? std::string(lines, '\n') : " ";
    }
    result += text.substr(token.offset, token.length);
    end = token.offset + token.length;
  }
  return result;
}

}  // namespace

// Reads everything that depends on its position in the file: groups and annotations.
base::Status WorkloadReader::read_in_order(std::string_view text) {
  size_t next = 0;
  const auto read_until = [&](uint32_t line) -> base::Status {
    for (; next < directives_.size() && directives_[next].at.line < line; ++next) {
      const std::string& name = directives_[next].name;
      if (name == "entity" || name == "rel" || name == "layout" || name == "plan") continue;
      if (name == "query" || name == "write" || name == "group" || name == "end")
        SIBYL_TRY(check_annotation_used());
      SIBYL_TRY(read_directive(directives_[next]));
    }
    return {};
  };
  for (cql::ScriptPiece& piece : cql::split_script(text)) {
    cql::Lexer lexer(piece.text);
    const cql::Token first = lexer.next();
    if (first.kind == cql::TokenKind::end) continue;
    const auto before = std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(piece.offset), '\n');
    CqlStatement statement;
    statement.line = static_cast<uint32_t>(before) + first.line;
    statement.text = without_comments(piece.text);
    SIBYL_TRY(read_until(statement.line));
    SIBYL_TRY(take_cql(std::move(statement)));
  }
  SIBYL_TRY(read_until(UINT32_MAX));
  return check_annotation_used();
}

base::Status WorkloadReader::take_cql(CqlStatement statement) {
  if (const auto tree = cql::parse_statement(statement.text); !tree) {
    const uint32_t line = statement.line + tree.error().position().value_or(base::Position{}).line - 1;
    return base::fail(base::Error(base::ErrorCode::syntax,
                                  fmt::format("{}:{}: {}", workload_.file, line, tree.error().message()))
                          .with_hint(tree.error().hint()));
  }
  if (annotation_) {
    statement.name = annotation_->name;
    statement.group = annotation_->group;
    statement.write = annotation_->write;
    statement.options = annotation_->options;
    annotation_.reset();
  }
  workload_.cql.push_back(std::move(statement));
  return {};
}

base::Status WorkloadReader::check_annotation_used() {
  if (!annotation_) return {};
  return TokenReader(workload_.file, {Token{}})
      .fail(annotation_at_, fmt::format("no statement follows @{} {}", annotation_->write ? "write" : "query",
                                        annotation_->name));
}

base::Status WorkloadReader::check_names() {
  for (size_t i = 0; i < workload_.statements.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (workload_.statements[i].name == workload_.statements[j].name)
        return base::fail(base::ErrorCode::syntax,
                          fmt::format("{}:{}: statement '{}' is already defined in line {}", workload_.file,
                                      workload_.statements[i].line, workload_.statements[i].name,
                                      workload_.statements[j].line));
    }
  }
  return {};
}

// Marks a relationship as mandatory if the declared counts give every entity a link, and no statement inserts
// an entity without one.
void WorkloadReader::find_mandatory() {
  Model& model = workload_.model;
  for (size_t i = 0; i < model.relationships.size(); ++i) {
    Relationship& relationship = model.relationships[i];
    relationship.mandatory = relationship.multiplicity != Multiplicity::many_many &&
                             relationship.links >= model.entities[relationship.from].count;
    for (const Statement& statement : workload_.statements) {
      if (statement.kind != StatementKind::insert || statement.entity() != relationship.from) continue;
      const bool connects =
          std::any_of(statement.connections.begin(), statement.connections.end(),
                      [&](const Connection& connection) { return connection.step == Step{i, true}; });
      relationship.mandatory = relationship.mandatory && connects;
    }
  }
}

base::Status WorkloadReader::read_entity(TokenReader& reader) {
  Entity entity;
  entity.line = reader.peek().line;
  const Token at = reader.peek();
  SIBYL_ASSIGN(const Token name, reader.expect_word("the entity's name"));
  SIBYL_TRY(refuse_dot(reader, name, name.text));
  entity.name = name.text;
  if (workload_.model.find_entity(entity.name))
    return reader.fail(at, fmt::format("entity '{}' is already defined", entity.name));
  SIBYL_ASSIGN(const Options options, read_options(reader, {"count", "growth", "retention"}));
  for (const Option& option : options) {
    if (option.name == "count") entity.count = std::max(1.0, read_number(option.value).value_or(0));
    if (option.name == "growth") entity.growth = read_rate(option.value);
    if (option.name == "retention") entity.retention = read_seconds(option.value);
  }
  SIBYL_TRY(reader.expect_sign("("));
  bool has_key = false;
  do {
    bool key = false;
    const Token field_at = reader.peek();
    SIBYL_ASSIGN(Field field, read_field(reader, key));
    if (entity.find_field(field.name))
      return reader.fail(field_at, fmt::format("'{}' already has a field '{}'", entity.name, field.name));
    if (key && has_key) return reader.fail(field_at, fmt::format("'{}' already has a key", entity.name));
    if (key) entity.key = entity.fields.size();
    has_key = has_key || key;
    entity.fields.push_back(std::move(field));
  } while (reader.take_sign(","));
  SIBYL_TRY(reader.expect_sign(")"));
  SIBYL_TRY(reader.expect_end());
  if (!has_key)
    return reader.fail(at, fmt::format("'{}' has no key: write 'key' after its field", entity.name));
  workload_.model.entities.push_back(std::move(entity));
  return {};
}

base::Result<Field> WorkloadReader::read_field(TokenReader& reader, bool& key) {
  Field field;
  SIBYL_ASSIGN(const Token name, reader.expect_word("the name of a field"));
  SIBYL_TRY(refuse_dot(reader, name, name.text));
  field.name = name.text;
  const Token type_at = reader.peek();
  SIBYL_ASSIGN(const Token type, reader.expect_word("the field's type"));
  field.type = type.text;
  if (reader.take_sign("<")) {
    field.type += "<";
    size_t depth = 1;
    while (depth > 0) {
      if (reader.at_end()) return reader.expected("'>'");
      const std::string part = reader.next().text;
      depth += part == "<" ? 1 : 0;
      depth -= part == ">" ? 1 : 0;
      field.type += part == "," ? ", " : part;
    }
  }
  if (!cql::parse_type(field.type))
    return reader.fail(type_at, fmt::format("'{}' is not a CQL type", field.type));
  field.bytes = default_bytes(field.type);
  while (reader.peek().kind == Token::Kind::word) {
    if (!reader.is_sign("=", 1) && reader.take_word("key")) {
      key = true;
      continue;
    }
    if (!reader.is_sign("=", 1)) return reader.expected("'key', an option, ',' or ')'");
    SIBYL_ASSIGN(const Options options, read_options(reader, {"size", "distinct", "skew"}));
    for (const Option& option : options) {
      if (option.name == "size") field.bytes = read_bytes(option.value).value_or(0);
      if (option.name == "distinct") field.distinct = std::max(1.0, read_number(option.value).value_or(0));
      if (option.name == "skew") field.zipf = read_zipf(option.value).value_or(0);
    }
  }
  return field;
}

base::Result<std::pair<size_t, std::string>> WorkloadReader::read_role(TokenReader& reader) {
  SIBYL_ASSIGN(const Token word, reader.expect_word("ENTITY.ROLE"));
  const size_t dot = word.text.find('.');
  if (dot == std::string::npos || dot == 0 || dot + 1 == word.text.size())
    return reader.fail(word, fmt::format("expected ENTITY.ROLE, found '{}'", word.text));
  const std::string entity = word.text.substr(0, dot), role = word.text.substr(dot + 1);
  SIBYL_TRY(refuse_dot(reader, word, role));
  const auto found = workload_.model.find_entity(entity);
  std::vector<std::string> names;
  for (const Entity& candidate : workload_.model.entities) names.push_back(candidate.name);
  if (!found) return reader.unknown(word, "entity", entity, names);
  if (workload_.model.entities[*found].find_field(role) || find_role(workload_.model, *found, role))
    return reader.fail(word, fmt::format("'{}' already has a '{}'", entity, role));
  if (role.empty() || role.find('.') != std::string::npos)
    return reader.fail(word, fmt::format("expected ENTITY.ROLE, found '{}'", word.text));
  return std::pair(*found, role);
}

namespace {

// Reads the number of links and their skew. Returns an error message if they are impossible.
std::string take_fanout(const Options& options, const Model& model, Relationship& relationship) {
  const auto number = [&](const char* name) {
    const Option* option = find_option(options, name);
    return option != nullptr ? read_number(option->value) : std::nullopt;
  };
  const double ends = std::max(1.0, model.entities[relationship.to].count);
  const std::optional<double> links = number("links"), fanout = number("fanout");
  if (links && fanout) return "links and fanout both give the number of connections: remove one of them";
  if (links) relationship.links = std::max(1.0, *links);
  if (fanout) relationship.links = std::max(1.0, *fanout * ends);
  const double most = model.entities[relationship.from].count;
  if (relationship.multiplicity == Multiplicity::many_one && fanout && relationship.links > most * (1 + 1e-9))
    return fmt::format("fanout={} for each of {} exceeds the total of {}", *fanout, ends, most);
  const Option* skew = find_option(options, "skew");
  if (skew != nullptr) relationship.zipf = read_zipf(skew->value).value_or(0);
  const Quantiles quantiles{number("p50"), number("p99"), number("max")};
  if (!quantiles.any()) return {};
  if (skew != nullptr) return "skew and p50, p99 or max both give the distribution: use only one of them";
  relationship.zipf = zipf_of_quantiles(relationship.links, ends, quantiles);
  return {};
}

}  // namespace

base::Status WorkloadReader::read_relationship(TokenReader& reader) {
  Relationship relationship;
  relationship.line = reader.peek().line;
  using Role = std::pair<size_t, std::string>;
  SIBYL_ASSIGN(const Role from, read_role(reader));
  SIBYL_TRY(reader.expect_sign("->"));
  SIBYL_ASSIGN(const Role to, read_role(reader));
  if (from == to) return reader.fail(reader.peek(), "both directions have the same name");
  relationship.from = from.first;
  relationship.role = from.second;
  relationship.to = to.first;
  relationship.reverse_role = to.second;
  if (reader.take_word("many-many")) relationship.multiplicity = Multiplicity::many_many;
  if (reader.take_word("one-one")) relationship.multiplicity = Multiplicity::one_one;
  reader.take_word("many-one");
  relationship.links = workload_.model.entities[relationship.from].count;
  const Token at = reader.peek();
  SIBYL_ASSIGN(const Options options, read_options(reader, {"links", "skew", "fanout", "p50", "p99", "max"}));
  if (const std::string why = take_fanout(options, workload_.model, relationship); !why.empty())
    return reader.fail(at, why);
  SIBYL_TRY(reader.expect_end());
  workload_.model.relationships.push_back(std::move(relationship));
  return {};
}

base::Status WorkloadReader::read_mix(TokenReader& reader) {
  Mix mix;
  mix.line = reader.peek().line;
  SIBYL_ASSIGN(const Token name, reader.expect_word("the mix's name"));
  mix.name = name.text;
  SIBYL_ASSIGN(const Options options, read_options(reader, {"of", "write"}));
  for (const Option& option : options) {
    if (option.name == "of") mix.of = option.value;
    if (option.name == "write") mix.write = read_number(option.value).value_or(0);
  }
  SIBYL_TRY(reader.expect_end());
  workload_.mixes.push_back(std::move(mix));
  return {};
}

base::Status WorkloadReader::read_group(TokenReader& reader) {
  Group group;
  group.line = reader.peek().line;
  const Token at = reader.peek();
  SIBYL_ASSIGN(const Token name, reader.expect_word("the group's name"));
  group.name = name.text;
  for (const Group& other : workload_.groups) {
    if (other.name == group.name)
      return reader.fail(at, fmt::format("group '{}' is already defined", group.name));
  }
  group.write = !reader.is_sign("=", 1) && reader.take_word("write");
  while (!reader.at_end()) {
    SIBYL_ASSIGN(const Option option, read_option(reader));
    const auto weight = read_rate(option.value);
    if (!weight) return reader.fail(at, fmt::format("'{}' is not a weight", option.value));
    group.weights.emplace_back(option.name, *weight);
    reader.take_sign(",");
  }
  group_ = group.name;
  workload_.groups.push_back(std::move(group));
  return {};
}

base::Status WorkloadReader::read_annotated(TokenReader& reader, bool write) {
  const Token at = reader.peek();
  SIBYL_ASSIGN(const Token name, reader.expect_word("the statement's name"));
  SIBYL_ASSIGN(Options options, read_options(reader, statement_options));
  if (reader.at_end()) {
    annotation_ = CqlStatement{"", at.line, name.text, group_, write, std::move(options)};
    return {};
  }
  Statement statement;
  statement.name = name.text;
  statement.group = group_;
  statement.line = at.line;
  statement.options = std::move(options);
  const Token start = reader.peek();
  const size_t before = workload_.statements.size();
  SIBYL_TRY(read_statement(reader, std::move(statement)));
  if (workload_.statements[before].is_query() == write)
    return reader.fail(start, write ? "@write expects INSERT, UPDATE or DELETE" : "@query expects SELECT");
  return {};
}

base::Status WorkloadReader::read_target(TokenReader& reader) {
  Target& target = workload_.target;
  SIBYL_ASSIGN(const Options options, read_options(reader, target_options));
  SIBYL_TRY(reader.expect_end());
  for (const Option& option : options) {
    if (option.name == "partition") target.partition_bytes = read_bytes(option.value);
    if (option.name == "partition_rate") target.partition_rate = read_rate(option.value);
    if (option.name == "space") target.space_bytes = read_bytes(option.value);
    target.options.push_back(option);
  }
  return {};
}

base::Status WorkloadReader::read_statistics(TokenReader& reader, bool column) {
  TableStatistics statistics;
  statistics.line = reader.peek().line;
  SIBYL_ASSIGN(const Token name, reader.expect_word(column ? "TABLE.COLUMN" : "the table's name"));
  std::vector<std::string> parts = name_parts(name.text);
  if (column) {
    if (parts.size() < 2 || parts.back().empty() || parts[parts.size() - 2].empty())
      return reader.fail(name, fmt::format("expected TABLE.COLUMN, found '{}'", name.text));
    statistics.column = std::move(parts.back());
    parts.pop_back();
  }
  statistics.table = fmt::format("{}", fmt::join(parts, "."));
  SIBYL_ASSIGN(statistics.options, read_options(reader, column ? column_options : table_options));
  SIBYL_TRY(reader.expect_end());
  workload_.statistics.push_back(std::move(statistics));
  return {};
}

}  // namespace sibyl::advisor
