// The shell's own commands. Their names and texts are cqlsh's, so that habits and scripts carry over.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "base/consistency.h"
#include "base/file.h"
#include "cli/command_line/password.h"
#include "cli/shell/copy_statement.h"
#include "cli/shell/help.h"
#include "cli/shell/shell.h"
#include "types/literals/literal.h"

namespace sibyl::cli::shell {
namespace {

constexpr size_t deepest_source = 16;

std::string expand_home(const std::string& path) {
  const char* home = std::getenv("HOME");
  if (home == nullptr || (path != "~" && !path.starts_with("~/"))) return path;
  return home + path.substr(1);
}

}  // namespace

struct Shell::Invocation {
  const Command& command;
  const Statement& statement;
  const Origin& origin;

  size_t count() const { return command.arguments.size(); }
  const std::string& argument(size_t i) const { return command.arguments[i]; }
};

bool Shell::refuse(const Invocation& invocation, std::string_view message, std::string_view hint) {
  failed_ = true;
  std::fflush(out_);
  const Origin& origin = invocation.origin;
  const std::string place = origin.name.empty() ? "" : fmt::format("{}:{}: ", origin.name, origin.line);
  std::string text = palette_.paint(Colour::red, place + escape_controls(message)) + '\n';
  if (!hint.empty()) text += fmt::format("{} {}\n", palette_.paint(Colour::cyan, "Hint:"), hint);
  std::fwrite(text.data(), 1, text.size(), errors_);
  std::fflush(errors_);
  return false;
}

bool Shell::run_command(const Command& command, const Statement& statement, const Origin& origin) {
  const Invocation invocation{command, statement, origin};
  switch (command.kind) {
    case Command::Kind::capture:
      return capture(invocation);
    case Command::Kind::clear:
      if (options_.interactive) std::fputs("\033[H\033[2J", out_);
      return true;
    case Command::Kind::consistency:
      return consistency(invocation);
    case Command::Kind::copy:
      return copy(invocation);
    case Command::Kind::describe:
      return describe(invocation);
    case Command::Kind::exit:
      exiting_ = true;
      return true;
    case Command::Kind::expand:
      return on_off(invocation, expand_);
    case Command::Kind::help:
      return help(invocation);
    case Command::Kind::login:
      return login(invocation);
    case Command::Kind::paging:
      return paging(invocation);
    case Command::Kind::serial:
      return serial_consistency(invocation);
    case Command::Kind::show:
      return show(invocation);
    case Command::Kind::source:
      return source(invocation);
    case Command::Kind::tracing:
      return tracing(invocation);
  }
  return true;
}

bool Shell::copy(const Invocation& invocation) {
  auto parsed = parse_copy(invocation.statement.text, session_.keyspace());
  if (!parsed) return refuse(invocation, parsed.error().message(), parsed.error().hint());
  if (!options_.run_program)
    return refuse(invocation, "COPY needs a server.",
                  "Start one with `sibyl serve --data DIR`, and connect the shell to it.");
  for (const std::string& name : parsed->ignored) say(fmt::format("{} has no effect here.", name));
  flush();
  if (options_.run_program({std::move(parsed->arguments), user_, password_}) == 0) return true;
  failed_ = true;
  return false;
}

bool Shell::describe(const Invocation& invocation) {
  StatementOptions options;
  options.consistency = Consistency::local_one;
  base::Result<StatementResult> result = ask(invocation.statement.text, options);
  if (!result) return report(result.error(), invocation.statement.text, invocation.origin);
  if (options_.format == Format::csv || options_.format == Format::json)
    return print_pages(std::move(*result), invocation.statement, options, invocation.origin);
  const std::string what = invocation.count() == 0 ? "" : invocation.argument(0);
  print(render_description(*result, what, !session_.keyspace().empty(), terminal_width()));
  print(render_warnings(result->warnings));
  return true;
}

bool Shell::source(const Invocation& invocation) {
  if (invocation.count() != 1)
    return refuse(invocation, "SOURCE takes the name of a file in quotes.", "SOURCE 'file'");
  if (source_depth_ == deepest_source)
    return refuse(invocation, "SOURCE is nested too deeply: does a file run itself?");
  ++source_depth_;
  const bool succeeded = source_file(expand_home(invocation.argument(0)), invocation);
  --source_depth_;
  return succeeded;
}

bool Shell::source_file(const std::string& path, const Invocation& invocation) {
  const auto file = base::open_to_read(path);
  if (!file) return refuse(invocation, fmt::format("Could not open '{}': {}", path, file.error().message()));
  const bool succeeded = run_stream(*file, path);
  close(*file);
  return succeeded;
}

bool Shell::capture(const Invocation& invocation) {
  if (invocation.count() == 0) {
    say(capture_ == nullptr ? "Currently not capturing query output."
                            : fmt::format("Currently capturing query output to '{}'.", capture_name_));
    return true;
  }
  if (base::equal_ignoring_case(invocation.argument(0), "OFF")) {
    if (capture_ == nullptr) return refuse(invocation, "Not currently capturing output.");
    const bool written = std::fclose(std::exchange(capture_, nullptr)) == 0;
    palette_ = Palette(options_.colour);
    return written ||
           refuse(invocation, fmt::format("Could not write '{}': {}", capture_name_, std::strerror(errno)));
  }
  if (capture_ != nullptr)
    return refuse(invocation, fmt::format("Already capturing output to '{}'. Use CAPTURE OFF to disable.",
                                          capture_name_));
  capture_name_ = expand_home(invocation.argument(0));
  capture_ = std::fopen(capture_name_.c_str(), "ae");
  if (capture_ == nullptr)
    return refuse(invocation,
                  fmt::format("Could not open '{}' for append: {}", capture_name_, std::strerror(errno)));
  palette_ = Palette(false);
  say(fmt::format("Now capturing query output to '{}'.", capture_name_));
  return true;
}

bool Shell::consistency(const Invocation& invocation) {
  if (invocation.count() == 0) {
    say(fmt::format("Current consistency level is {}.", base::consistency_name(consistency_)));
    return true;
  }
  const std::optional<Consistency> level = base::consistency_named(base::ascii_upper(invocation.argument(0)));
  if (!level || invocation.count() > 1)
    return refuse(invocation, fmt::format("'{}' is not a consistency level.", invocation.argument(0)),
                  "HELP CONSISTENCY lists them.");
  consistency_ = *level;
  say(fmt::format("Consistency level set to {}.", base::consistency_name(*level)));
  return true;
}

bool Shell::serial_consistency(const Invocation& invocation) {
  const bool named =
      invocation.count() > 0 && base::equal_ignoring_case(invocation.argument(0), "CONSISTENCY");
  if (!named || invocation.count() > 2)
    return refuse(invocation, "Improper SERIAL command.", "SERIAL CONSISTENCY [SERIAL | LOCAL_SERIAL]");
  if (invocation.count() == 1) {
    say(fmt::format("Current serial consistency level is {}.", base::consistency_name(serial_consistency_)));
    return true;
  }
  const std::optional<Consistency> level = base::consistency_named(base::ascii_upper(invocation.argument(1)));
  if (level != Consistency::serial && level != Consistency::local_serial)
    return refuse(invocation, fmt::format("'{}' is not a serial consistency level.", invocation.argument(1)),
                  "It is SERIAL or LOCAL_SERIAL.");
  serial_consistency_ = *level;
  say(fmt::format("Serial consistency level set to {}.", base::consistency_name(*level)));
  return true;
}

bool Shell::on_off(const Invocation& invocation, bool& value) {
  const std::string& name = invocation.command.name;
  if (invocation.count() == 0) {
    say(fmt::format("{} is {}", name, value ? "ON" : "OFF"));
    return true;
  }
  const bool on = base::equal_ignoring_case(invocation.argument(0), "ON");
  if (invocation.count() > 1 || (!on && !base::equal_ignoring_case(invocation.argument(0), "OFF")))
    return refuse(invocation, fmt::format("Improper {} command.", name), fmt::format("{} [ON | OFF]", name));
  say(fmt::format("{} {} {}", name, value == on ? "is already" : "set to", on ? "ON" : "OFF"));
  value = on;
  return true;
}

bool Shell::tracing(const Invocation& invocation) {
  return on_off(invocation, tracing_);
}

bool Shell::paging(const Invocation& invocation) {
  if (invocation.count() == 1) {
    const std::string& text = invocation.argument(0);
    int32_t rows = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rows);
    if (end != text.data() && end == text.data() + text.size()) {
      if (error != std::errc() || rows <= 0)
        return refuse(invocation, "The page size must be at least one row.");
      paging_ = true;
      page_size_ = rows;
      say(fmt::format("Page size: {}", page_size_));
      return true;
    }
  }
  if (!on_off(invocation, paging_)) return false;
  if (paging_) say(fmt::format("Page size: {}", page_size_));
  return true;
}

// If LOGIN fails, a script must not continue as the previous user, even with --keep-going.
bool Shell::login(const Invocation& invocation) {
  const auto failed = [&](std::string_view message, std::string_view hint) {
    exiting_ = exiting_ || !options_.interactive;
    return refuse(invocation, message, hint);
  };
  if (invocation.count() < 1 || invocation.count() > 2)
    return failed("Improper LOGIN command.", "LOGIN user [password]");
  const std::string& user = invocation.argument(0);
  if (invocation.count() == 1 && !options_.interactive)
    return failed("Cannot ask for the password without a terminal.", "LOGIN user 'password'");
  const base::Result<std::string> password =
      invocation.count() == 2 ? base::Result<std::string>(invocation.argument(1)) : ask_password(user);
  if (!password) return failed(password.error().message(), password.error().hint());
  const base::Status status = session_.log_in(user, *password);
  if (!status) return failed(status.error().message(), status.error().hint());
  user_ = user;
  password_ = *password;
  return true;
}

bool Shell::show_session(const Invocation& invocation) {
  Bytes id;
  if (!types::parse_uuid(invocation.argument(1), id))
    return refuse(invocation, fmt::format("'{}' is not a tracing session.", invocation.argument(1)),
                  "SHOW SESSION id, with the id that TRACING prints");
  return print_trace(id) ||
         refuse(invocation, fmt::format("Session {} wasn't found.", invocation.argument(1)));
}

bool Shell::show(const Invocation& invocation) {
  const std::string what = invocation.count() > 0 ? base::ascii_upper(invocation.argument(0)) : "";
  if (what == "SESSION" && invocation.count() == 2) return show_session(invocation);
  if (invocation.count() != 1 || (what != "VERSION" && what != "HOST"))
    return refuse(invocation, "Improper SHOW command.",
                  what == "TABLES" ? "DESCRIBE TABLES lists tables"
                  : what == "DATABASES" || what == "KEYSPACES" || what == "SCHEMAS"
                      ? "DESCRIBE KEYSPACES lists keyspaces"
                      : "SHOW VERSION, SHOW HOST or SHOW SESSION id");
  const ServerVersions versions = session_.versions();
  if (what == "HOST") {
    say(fmt::format("Connected to {} {}", versions.cluster_name, session_.place()));
  } else {
    say(fmt::format("[Cassandra {} | CQL spec {} | Native protocol v{}]", versions.release, versions.cql,
                    versions.protocol));
  }
  return true;
}

bool Shell::help(const Invocation& invocation) {
  std::string topic;
  for (const std::string& word : invocation.command.arguments) topic += (topic.empty() ? "" : " ") + word;
  const std::string text = topic.empty() ? help_overview() : help_topic(topic);
  if (text.empty()) return refuse(invocation, fmt::format("No help on {}.", topic), "HELP lists the topics.");
  say(text);
  return true;
}

}  // namespace sibyl::cli::shell
