#include "cli/bench/process_usage.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>

namespace sibyl::cli::bench {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

uint64_t kilobytes_after(const std::string& status, const char* key) {
  const size_t at = status.find(key);
  return at == std::string::npos
             ? 0
             : std::strtoull(status.c_str() + at + std::char_traits<char>::length(key), nullptr, 10);
}

// Parses the contents of a `stat` file. Returns nullopt if it is not one.
std::optional<double> cpu_seconds_in(const std::string& stat) {
  // The name, in parentheses, may contain any characters. The fields after it are numbers; utime and stime
  // are fields 14 and 15.
  const size_t after_name = stat.rfind(')');
  if (after_name == std::string::npos) return std::nullopt;
  std::istringstream fields(stat.substr(after_name + 1));
  std::string skipped;
  for (int i = 3; i < 14; ++i) fields >> skipped;
  uint64_t user = 0, system = 0;
  fields >> user >> system;
  return static_cast<double>(user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double background_cpu_seconds(int pid) {
  double seconds = 0;
  std::error_code error;
  const std::string tasks = fmt::format("/proc/{}/task", pid);
  for (std::filesystem::directory_iterator at(tasks, error), end; !error && at != end; at.increment(error)) {
    const std::string stat = read_file(at->path() / "stat");
    if (stat.find("(rocksdb:") != std::string::npos) seconds += cpu_seconds_in(stat).value_or(0);
  }
  return seconds;
}

// Returns the inodes of sockets that listen on the port: lines of /proc/net/tcp with state 0A.
std::set<std::string> listening_inodes(uint16_t port) {
  std::set<std::string> inodes;
  const std::string suffix = fmt::format(":{:04X}", port);
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(table);
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
      std::istringstream words(line);
      std::string slot, local, remote, state, queues, timer, retransmits, uid, timeout, inode;
      words >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> uid >> timeout >> inode;
      if (state == "0A" && local.ends_with(suffix)) inodes.insert("socket:[" + inode + "]");
    }
  }
  return inodes;
}

bool has_descriptor(const std::filesystem::path& process, const std::set<std::string>& targets) {
  std::error_code error;
  for (std::filesystem::directory_iterator at(process / "fd", error), end; !error && at != end;
       at.increment(error)) {
    std::error_code unreadable;
    if (targets.contains(std::filesystem::read_symlink(at->path(), unreadable).string())) return true;
  }
  return false;
}

}  // namespace

std::optional<ProcessUsage> usage_of(int pid) {
  const std::string stat = read_file(fmt::format("/proc/{}/stat", pid));
  const std::optional<double> cpu_seconds = cpu_seconds_in(stat);
  if (!cpu_seconds) return std::nullopt;
  ProcessUsage usage;
  usage.cpu_seconds = *cpu_seconds;
  usage.background_cpu_seconds = background_cpu_seconds(pid);
  const std::string status = read_file(fmt::format("/proc/{}/status", pid));
  usage.resident_bytes = kilobytes_after(status, "VmRSS:") * 1024;
  usage.resident_peak_bytes = kilobytes_after(status, "VmHWM:") * 1024;
  return usage;
}

std::optional<int> find_listener(const std::string& host, uint16_t port) {
  if (host != "localhost" && host != "::1" && !host.starts_with("127.")) return std::nullopt;
  const auto inodes = listening_inodes(port);
  if (inodes.empty()) return std::nullopt;
  std::error_code error;
  for (std::filesystem::directory_iterator at("/proc", error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    int pid = 0;
    const auto [last, bad] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (bad != std::errc() || last != name.data() + name.size()) continue;
    if (has_descriptor(at->path(), inodes)) return pid;
  }
  return std::nullopt;
}

}  // namespace sibyl::cli::bench
