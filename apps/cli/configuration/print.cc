#include "cli/configuration/print.h"

#include <fmt/format.h>

#include "cli/configuration/reader.h"
#include "cli/configuration/settings.h"

namespace sibyl::cli {
namespace {

constexpr const char* hidden = "<hidden>";

// Quotes the text if YAML would otherwise interpret it differently.
std::string yaml_text(const Setting& setting, const std::string& text) {
  if (setting.is_secret && !text.empty()) return hidden;
  const bool is_plain = setting.type != Setting::Type::text ||
                        text.find_first_of(":#'\"{}[],&*?|<>=!%@\\ ") == std::string::npos;
  if (is_plain && !text.empty()) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "''" : std::string(1, c);
  return quoted + "'";
}

// The default value, as docs/configuration.md shows it.
std::string default_text(const Setting& setting) {
  static const Configuration defaults;
  if (!setting.default_note.empty()) return setting.default_note;
  const std::string text = setting.text(defaults);
  return text.empty() ? "–" : "`" + text + "`";
}

}  // namespace

std::string origin_text(const Reader::Result& result, const Setting& setting) {
  const auto origin = result.origins.find(setting.name);
  if (origin == result.origins.end()) return "default";
  if (origin->second == Origin::derived) return "from the available memory";
  return result.places.find(setting.name)->second;
}

std::map<std::string, std::string> shown_settings(const Configuration& configuration) {
  std::map<std::string, std::string> shown;
  for (const Setting& setting : settings()) {
    if (setting.is_secret) continue;
    if (std::string text = setting.text(configuration); !text.empty()) shown[setting.name] = std::move(text);
  }
  return shown;
}

std::string print_configuration(const Reader::Result& result) {
  std::string out;
  std::string group;
  const char* section = "";
  for (const Setting& setting : settings()) {
    if (std::string_view(section) != setting.section) {
      section = setting.section;
      out += fmt::format("{}# --- {}\n", out.empty() ? "" : "\n", section);
    }
    const std::string_view name = setting.name;
    const size_t dot = name.find('.');
    const std::string_view own_group = dot == name.npos ? std::string_view() : name.substr(0, dot);
    if (own_group != group) {
      group = own_group;
      if (!group.empty()) out += fmt::format("{}:\n", group);
    }
    const auto origin = result.origins.find(setting.name);
    const bool is_given = origin != result.origins.end() && origin->second != Origin::derived;
    const std::string text = setting.text(result.configuration);
    out += fmt::format("{}{}{}: {}  # {}\n", group.empty() ? "" : "  ", is_given ? "" : "# ",
                       dot == name.npos ? name : name.substr(dot + 1),
                       text.empty() ? std::string() : yaml_text(setting, text), origin_text(result, setting));
  }
  return out;
}

std::string settings_page() {
  std::string out;
  const char* section = "";
  for (const Setting& setting : settings()) {
    if (std::string_view(section) != setting.section) {
      section = setting.section;
      out += fmt::format("{}### {}\n\n| Name | Kind | Default | Meaning |\n|---|---|---|---|\n",
                         out.empty() ? "" : "\n", section);
    }
    std::string help = setting.help;
    for (const Setting::Alias& alias : setting.aliases) help += fmt::format("; also `{}`", alias.name);
    out += fmt::format("| `{}`{} | {} | {} | {} |\n", setting.name, setting.is_ours ? " \\*" : "",
                       to_string(setting.type), default_text(setting), help);
  }
  return out;
}

}  // namespace sibyl::cli
