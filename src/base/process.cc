#include "base/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

namespace sibyl::base {

namespace {

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The number after `key` in the text of /proc/PID/status.
uint64_t number_after(const std::string& status, std::string_view key) {
  const size_t at = status.find(key);
  return at == std::string::npos ? 0 : std::strtoull(status.c_str() + at + key.size(), nullptr, 10);
}

uint64_t count_entries(const std::string& folder) {
  uint64_t count = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    ++count;
  return count;
}

// User and system time in the text of a `stat` file; nullopt if it is not one. The name, in parentheses, may
// contain any characters. The fields after it are numbers; utime and stime are fields 14 and 15.
std::optional<double> cpu_seconds_in(const std::string& stat) {
  const size_t after_name = stat.rfind(')');
  if (after_name == std::string::npos) return std::nullopt;
  std::istringstream fields(stat.substr(after_name + 1));
  std::string skipped;
  for (int i = 3; i < 14; ++i) fields >> skipped;
  uint64_t user = 0, system = 0;
  fields >> user >> system;
  return static_cast<double>(user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
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
  const std::string folder = fmt::format("/proc/{}", pid);
  const std::optional<double> cpu_seconds = cpu_seconds_in(read_text(folder + "/stat"));
  if (!cpu_seconds) return std::nullopt;
  const std::string status = read_text(folder + "/status");
  ProcessUsage usage;
  usage.cpu_seconds = *cpu_seconds;
  usage.resident_bytes = number_after(status, "VmRSS:") * 1024;
  usage.resident_peak_bytes = number_after(status, "VmHWM:") * 1024;
  usage.virtual_bytes = number_after(status, "VmSize:") * 1024;
  usage.threads = number_after(status, "Threads:");
  usage.open_descriptors = count_entries(folder + "/fd");
  struct stat self{};
  if (::stat(folder.c_str(), &self) == 0) usage.started_seconds = self.st_ctime;
  return usage;
}

double thread_cpu_seconds(int pid, std::string_view prefix) {
  double seconds = 0;
  std::error_code error;
  const std::string name = fmt::format("({}", prefix);
  const std::string tasks = fmt::format("/proc/{}/task", pid);
  for (std::filesystem::directory_iterator at(tasks, error), end; !error && at != end; at.increment(error)) {
    const std::string stat = read_text(at->path() / "stat");
    if (stat.find(name) != std::string::npos) seconds += cpu_seconds_in(stat).value_or(0);
  }
  return seconds;
}

ProcessUsage own_usage() {
  ProcessUsage usage = usage_of(::getpid()).value_or(ProcessUsage());
  usage.open_descriptors -= std::min<uint64_t>(usage.open_descriptors, 1);  // excludes the descriptor that
                                                                            // lists the directory
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) usage.max_descriptors = limit.rlim_cur;
  rusage times{};
  if (::getrusage(RUSAGE_SELF, &times) == 0) {
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    usage.cpu_seconds = seconds(times.ru_utime) + seconds(times.ru_stime);
  }
  return usage;
}

int64_t own_resident_bytes() {
  static const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  char text[128];
  const ssize_t size = file < 0 ? 0 : ::pread(file, text, sizeof text, 0);
  const std::string_view fields(text, static_cast<size_t>(std::max<ssize_t>(size, 0)));
  const size_t resident = fields.find(' ');
  int64_t pages = 0;
  if (resident != std::string_view::npos)
    std::from_chars(fields.data() + resident + 1, fields.data() + fields.size(), pages);
  return pages * ::sysconf(_SC_PAGESIZE);
}

std::optional<int> find_listener(uint16_t port) {
  const std::set<std::string> inodes = listening_inodes(port);
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

namespace {

// The number after `name` in lines such as "MemTotal:  1024 kB" or "inactive_file 4096".
std::optional<uint64_t> number_in(const std::string& path, std::string_view name) {
  std::ifstream file(path);
  for (std::string word; file >> word; file.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    uint64_t number = 0;
    if (word == name && file >> number) return number;
  }
  return std::nullopt;
}

std::optional<uint64_t> number_in(const std::string& path) {
  uint64_t number = 0;
  if (std::ifstream file(path); file >> number) return number;
  return std::nullopt;
}

struct GroupFiles {
  const char *root, *max, *current, *unused_files;
};
constexpr GroupFiles groups_v2 = {"/sys/fs/cgroup", "/memory.max", "/memory.current", "inactive_file"};
constexpr GroupFiles groups_v1 = {"/sys/fs/cgroup/memory", "/memory.limit_in_bytes", "/memory.usage_in_bytes",
                                  "total_inactive_file"};

// Pages of files that were not used recently count towards the group, but are freed before anything fails.
std::optional<MachineMemory> memory_of_group(const std::string& directory, const GroupFiles& names) {
  const auto max = number_in(directory + names.max), current = number_in(directory + names.current);
  if (!max || !current) return std::nullopt;
  const uint64_t files = number_in(directory + "/memory.stat", names.unused_files).value_or(0);
  const uint64_t used = *current - std::min(*current, files);
  return MachineMemory{*max, *max - std::min(*max, used)};
}

// Lowers `memory` to what the group at `path`, or a group that contains it, has available, if that is less.
void lower_to_groups(const std::string& root, const GroupFiles& names, std::string path,
                     MachineMemory& memory) {
  for (; !path.empty(); path.erase(path.rfind('/')))
    if (const auto group = memory_of_group(root + names.root + path, names);
        group && group->available_bytes < memory.available_bytes)
      memory = {std::min(group->total_bytes, memory.total_bytes), group->available_bytes};
}

}  // namespace

std::optional<MachineMemory> machine_memory(const std::string& root) {
  constexpr uint64_t kibibyte = 1024;
  const std::string info = root + "/proc/meminfo";
  const auto total = number_in(info, "MemTotal:"), available = number_in(info, "MemAvailable:");
  if (!total || !available) return std::nullopt;
  MachineMemory memory{*total * kibibyte, *available * kibibyte};
  std::ifstream groups(root + "/proc/self/cgroup");
  constexpr std::string_view controller = ":memory:";
  for (std::string line; std::getline(groups, line);) {
    if (line.starts_with("0::/")) lower_to_groups(root, groups_v2, line.substr(3), memory);
    if (const size_t at = line.find(controller); at != std::string::npos)
      lower_to_groups(root, groups_v1, line.substr(at + controller.size()), memory);
  }
  return memory;
}

std::string boot_and_network() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  std::error_code ignored;
  return boot + std::filesystem::read_symlink("/proc/self/ns/net", ignored).string();
}

uint64_t usable_memory(const std::string& root) {
  uint64_t usable =
      static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const auto lower_to = [&](const GroupFiles& names, const std::string& path) {
    const uint64_t limit = number_in(root + names.root + path + names.max).value_or(0);
    if (limit > 0) usable = std::min(usable, limit);
  };
  lower_to(groups_v2, "");
  lower_to(groups_v1, "");
  // Outside a container this file names the process's group, such as "0::/system.slice/sibyl.service".
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);)
    if (line.starts_with("0::/"))
      for (std::string path = line.substr(3); path.size() > 1; path.erase(path.rfind('/')))
        lower_to(groups_v2, path);
  return usable;
}

}  // namespace sibyl::base
