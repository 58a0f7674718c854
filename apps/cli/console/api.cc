#include "cli/console/api.h"

#include <algorithm>
#include <cstdio>

#include "cli/session/statement_error.h"

namespace sibyl::cli::console {

std::string Call::text(std::string_view name) const {
  const json::value* value = body.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::string Call::parameter(std::string_view name) const {
  std::string_view query = request.query;
  while (!query.empty()) {
    const size_t end = std::min(query.find('&'), query.size());
    const std::string_view part = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (!part.starts_with(name) || !part.substr(name.size()).starts_with('=')) continue;
    std::string value;
    for (size_t i = name.size() + 1; i < part.size(); ++i) {
      unsigned code = 0;
      if (part[i] == '%' && i + 2 < part.size() &&
          std::sscanf(std::string(part.substr(i + 1, 2)).c_str(), "%2x", &code) == 1) {
        value += static_cast<char>(code);
        i += 2;
      } else {
        value += part[i] == '+' ? ' ' : part[i];
      }
    }
    return value;
  }
  return {};
}

json::object error_json(const base::Error& error, size_t shift) {
  json::object out{{"code", static_cast<int32_t>(error.code())},
                   {"name", shell::error_name(error.code())},
                   {"message", error.message()},
                   {"hint", error.hint()},
                   {"position", nullptr}};
  if (const auto& position = error.position()) {
    const size_t offset = position->offset - std::min<size_t>(position->offset, shift);
    out["position"] = {{"line", position->line}, {"column", position->column}, {"offset", offset}};
  }
  return {{"error", std::move(out)}};
}

}  // namespace sibyl::cli::console
