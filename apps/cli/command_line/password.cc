#include "cli/command_line/password.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include <cstdlib>

namespace sibyl::cli::shell {

base::Result<std::string> ask_password(const std::string& user) {
  constexpr const char* no_terminal =
      "there is no terminal to ask for the password; set SIBYL_PASSWORD, or use -p";
  if (const char* given = std::getenv("SIBYL_PASSWORD")) return std::string(given);
  const int terminal = ::open("/dev/tty", O_RDWR | O_CLOEXEC);
  termios shown{};
  if (terminal < 0 || tcgetattr(terminal, &shown) != 0) {
    if (terminal >= 0) close(terminal);
    return base::fail(base::ErrorCode::server, no_terminal);
  }
  termios hidden = shown;
  hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  tcsetattr(terminal, TCSAFLUSH, &hidden);
  const std::string question = fmt::format("Password of {}: ", user);
  std::string password;
  if (write(terminal, question.data(), question.size()) > 0)
    for (char c = 0; read(terminal, &c, 1) == 1 && c != '\n';) password.push_back(c);
  tcsetattr(terminal, TCSAFLUSH, &shown);
  const bool ended = write(terminal, "\n", 1) == 1;
  close(terminal);
  if (!ended) return base::fail(base::ErrorCode::server, no_terminal);
  return password;
}

}  // namespace sibyl::cli::shell
