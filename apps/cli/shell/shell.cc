#include "cli/shell/shell.h"

#include <fmt/format.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "cli/session/statement_error.h"
#include "cli/shell/interrupt.h"
#include "types/print.h"

namespace sibyl::cli::shell {
namespace {

constexpr int32_t page_rows_for_people = 100;  // as in cqlsh
constexpr int32_t page_rows_for_programs = 5000;
constexpr size_t read_size = 1u << 16;

size_t count_lines(std::string_view text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

// Cassandra requires a line end after a final line comment.
bool may_end_in_comment(std::string_view text) {
  const std::string_view line = text.substr(text.rfind('\n') + 1);
  return line.find("--") != std::string_view::npos || line.find("//") != std::string_view::npos;
}

// Reads one key from the terminal without waiting for Enter; 0 if there is none.
char read_key() {
  termios before{};
  if (tcgetattr(STDIN_FILENO, &before) != 0) return 0;
  termios raw = before;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
  char key = 0;
  const ssize_t count = ::read(STDIN_FILENO, &key, 1);
  if (count == 1 && key == '\033') {  // arrow and function keys send several bytes
    std::array<char, 16> rest;
    pollfd waiting{STDIN_FILENO, POLLIN, 0};
    if (poll(&waiting, 1, 0) > 0 && ::read(STDIN_FILENO, rest.data(), rest.size()) < 0) key = 0;
  }
  tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
  return count == 1 ? key : '\0';
}

}  // namespace

Shell::Shell(Session& session, const ShellOptions& options, std::FILE* out, std::FILE* errors)
    : session_(session),
      options_(options),
      palette_(options.colour),
      out_(out),
      errors_(errors),
      page_size_(options.interactive ? page_rows_for_people : page_rows_for_programs),
      expand_(options.format == Format::expanded) {}

Shell::~Shell() {
  if (capture_ != nullptr) std::fclose(capture_);
}

void Shell::write(std::string_view text, std::FILE* target) {
  if (std::fwrite(text.data(), 1, text.size(), target) < text.size() && write_error_ == 0)
    write_error_ = errno;
}

void Shell::print(std::string_view text) {
  write(text, capture_ != nullptr ? capture_ : out_);
}

void Shell::say(std::string_view text) {
  write(text, out_);
  write("\n", out_);
}

bool Shell::flush() {
  std::FILE* target = capture_ != nullptr ? capture_ : out_;
  if (std::fflush(target) != 0 && write_error_ == 0) write_error_ = errno;
  const int why = std::exchange(write_error_, 0);
  if (why == 0) return true;
  std::clearerr(target);
  // Without this, the output of all further statements would be lost.
  exiting_ = exiting_ || !options_.interactive;
  if (why == EPIPE) return false;  // the reader of the pipe has closed the pipe
  failed_ = true;
  const std::string name = capture_ != nullptr ? "'" + capture_name_ + "'" : "the output";
  std::fputs(fmt::format("Could not write {}: {}\n", name, std::strerror(why)).c_str(), errors_);
  return false;
}

bool Shell::report(const base::Error& error, std::string_view statement, const Origin& origin) {
  failed_ = true;
  std::fflush(out_);
  std::string place;
  if (!origin.name.empty()) {
    const size_t inside = error.position() && error.position()->line > 1 ? error.position()->line - 1 : 0;
    place = fmt::format("{}:{}: ", origin.name, origin.line + inside);
  }
  const std::string text = render_error(error, statement, place, palette_);
  std::fwrite(text.data(), 1, text.size(), errors_);
  std::fflush(errors_);
  return false;
}

StatementOptions Shell::statement_options() const {
  StatementOptions options;
  options.page_size = paging_ ? page_size_ : 0;
  options.consistency = consistency_;
  options.serial_consistency = serial_consistency_;
  options.trace = tracing_;
  return options;
}

bool Shell::run_text(std::string_view text, const std::string& name) {
  size_t consumed = 0;
  return run_pieces(text, name, 1, true, consumed);
}

bool Shell::run_stream(int input, const std::string& name) {
  std::string pending;
  size_t line = 1;
  bool at_end = false;
  std::array<char, read_size> buffer;
  while (!at_end && !exiting_) {
    const ssize_t count = ::read(input, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const std::string message = fmt::format("Could not read: {}", std::strerror(errno));
      return report(base::Error(base::ErrorCode::server, message), {}, {name, line});
    }
    at_end = count == 0;
    pending.append(buffer.data(), static_cast<size_t>(count));
    // A command runs only when its line is complete.
    const size_t ready = at_end ? pending.size() : pending.rfind('\n') + 1;
    size_t consumed = 0;
    if (!run_pieces(std::string_view(pending).substr(0, ready), name, line, at_end, consumed)) return false;
    line += count_lines(std::string_view(pending).substr(0, consumed));
    pending.erase(0, consumed);
  }
  return true;
}

bool Shell::run_pieces(std::string_view text, const std::string& name, size_t line, bool at_end,
                       size_t& consumed) {
  size_t counted = 0;
  for (Statement& statement : split_statements(text)) {
    if (!statement.complete && !at_end) break;
    if (exiting_) return true;
    if (!statement.complete && may_end_in_comment(statement.text)) statement.text += '\n';
    line += count_lines(text.substr(counted, statement.offset - counted));
    counted = statement.offset;
    consumed = statement.end;
    const bool succeeded = run(statement, {name, line});
    if (exiting_) return true;
    if (interrupts() != 0 || (!succeeded && !options_.keep_going && !options_.interactive)) return false;
  }
  return true;
}

bool Shell::run(const Statement& statement, const Origin& origin) {
  const std::optional<Command> command = parse_command(statement.text);
  const bool succeeded = command ? run_command(*command, statement, origin) : run_cql(statement, origin);
  return flush() && succeeded;
}

base::Result<StatementResult> Shell::ask(std::string_view text, const StatementOptions& options) {
  const WaitingForResponse waiting;
  return session_.execute(text, options);
}

bool Shell::run_cql(const Statement& statement, const Origin& origin) {
  const StatementOptions options = statement_options();
  base::Result<StatementResult> result = ask(statement.text, options);
  if (!result) return report(result.error(), statement.text, origin);
  const std::vector<std::string> warnings = result->warnings;
  const Bytes trace_id = result->trace_id;
  if (result->kind == StatementResult::Kind::rows &&
      !print_pages(std::move(*result), statement, options, origin))
    return false;
  print(render_warnings(warnings));
  if (!trace_id.empty() && !print_trace(trace_id))
    print(fmt::format("\nThe server has no trace with id {}.\n", types::format_uuid(trace_id)));
  return true;
}

bool Shell::print_pages(StatementResult result, const Statement& statement, const StatementOptions& options,
                        const Origin& origin) {
  static const SchemaNames no_names;
  const bool tabular = options_.format == Format::table || options_.format == Format::expanded;
  const Format format = !tabular ? options_.format : expand_ ? Format::expanded : Format::table;
  ResultPrinter printer(format, palette_, palette_.enabled() ? session_.names() : no_names);
  const bool waits = options_.interactive && options_.pager && capture_ == nullptr;
  StatementOptions next = options;
  for (bool first = true; true; first = false) {
    print(printer.page(result, first || waits));
    if (!result.paging_state) break;
    if (write_error_ != 0 || interrupts() != 0 || (waits && !wait_for_more())) return true;
    next.paging_state = std::move(result.paging_state);
    base::Result<StatementResult> page = ask(statement.text, next);
    if (!page) return report(page.error(), statement.text, origin);
    result = std::move(*page);
  }
  print(printer.end());
  return true;
}

bool Shell::wait_for_more() {
  constexpr std::string_view question = "\n---MORE---";
  constexpr std::string_view wipe = "\r          \r";
  std::fwrite(question.data(), 1, question.size(), out_);
  std::fflush(out_);
  const char key = read_key();
  std::fwrite(wipe.data(), 1, wipe.size(), out_);
  return interrupts() == 0 && key != 0 && key != 'q' && key != 'Q' && key != 4;
}

}  // namespace sibyl::cli::shell
