// Damages every byte of every file of a data directory, one at a time, and opens the directory.
//
// Usage: damage [--all | --every N] [--cases N] [--seed N] [--only TEXT] [--jobs N] [--directory DIR
// [--keep]]
//
// Creates two directories with 1,000 rows: one of a database that was stopped, and one of a database that was
// killed with rows in its commit log. A case is a file, a byte of it, and a kind of damage: the file is cut
// before the byte, the byte is zeroed, or one of its bits is flipped. Then one of these must hold:
//
// - opening or reading is refused, and the data files are left in place;
// - every row has its values, deleted rows stay deleted, and a truncated table is empty.
//
// Most cases end after the records of the store were read: if they equal those of the original directory, so
// do the rows. Otherwise the rows are read by statements.
//
// Cases run in child processes. A process that dies by a signal is a failure. --all runs every case;
// --every N runs each Nth case, and --jobs N runs that many at once. Otherwise --cases (600) are chosen at
// random.
//
// Two kinds of bytes need no case of their own: those of a file that both directories have (it is damaged
// beside the log only), and those of a file that is never read. Such files (found with inotify) are damaged at
// a few bytes.
//
// --all runs the cases in a random order, so an interrupted run has covered all files evenly. With --keep,
// the directory keeps the original directories and the progress, and the same command resumes the run.
#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "engine/catalogue/open_store.h"
#include "engine/engine.h"
#include "engine/test_result.h"
#include "storage/rocksdb/space/disk_space.h"

namespace sibyl::damage {
namespace {

namespace fs = std::filesystem;
using engine::Engine;

constexpr int row_count = 1000;
constexpr const char* reserve = "SIBYL_RESERVE";  // reserves space; its bytes are never read or written

struct DataFile {
  std::string base;  // the original directory
  std::string name;  // path in that directory
  bool operator==(const DataFile&) const = default;
};

struct Case {
  const DataFile* file = nullptr;
  uint64_t at = 0;
  enum class Kind { cut, zero, flip } kind = Kind::cut;

  std::string text() const {
    static const char* const names[] = {"cut before", "zeroed at", "flipped at"};
    return fmt::format("{}/{} {} byte {}", fs::path(file->base).filename().string(), file->name,
                       names[static_cast<int>(kind)], at);
  }
};

[[noreturn]] void fail(const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  std::_Exit(1);
}

// Small segments, so that few bytes of the commit log are unused.
engine::Options options_for(const std::string& data) {
  engine::Options options;
  options.data = data;
  options.commitlog_segment_bytes = 8 << 10;
  options.memtable_bytes = 3 << 20;
  options.block_cache_bytes = 1 << 20;
  options.statistics = false;
  return options;
}

base::Result<std::unique_ptr<Engine>> open(const std::string& data) {
  return Engine::open(options_for(data));
}

base::Result<std::unique_ptr<storage::Store>> open_records(const std::string& data) {
  static base::SystemClock clock;
  return engine::open_store(options_for(data), clock);
}

void must(Engine& engine, const std::string& text) {
  if (const auto result = engine::run_text(engine, text, "d"); !result)
    fail(fmt::format("{}: {}", text, result.error().text()));
}

std::string value_of(int row) {
  return fmt::format("v{}", row);
}

void insert(Engine& engine, int from, int to) {
  for (int row = from; row < to; row += 50) {
    std::string batch = "BEGIN UNLOGGED BATCH ";
    for (int i = row; i < std::min(row + 50, to); ++i)
      batch += fmt::format("INSERT INTO t (p, c, v) VALUES ({}, {}, '{}'); ", i % 40, i, value_of(i));
    must(engine, batch + "APPLY BATCH");
  }
}

// Writes rows to several levels of files and to the log, with tombstones, range deletions and a truncated
// table.
void fill(Engine& engine) {
  must(engine, "CREATE KEYSPACE d WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
  must(engine, "CREATE TABLE t (p int, c int, v text, PRIMARY KEY (p, c))");
  must(engine, "CREATE TABLE truncated (k int PRIMARY KEY)");
  for (int k = 0; k < 20; ++k) must(engine, fmt::format("INSERT INTO truncated (k) VALUES ({})", k));
  insert(engine, 0, 300);
  if (!engine.flush()) fail("flush");
  for (int c = 5000; c < 5020; ++c) must(engine, fmt::format("INSERT INTO t (p, c) VALUES (1, {})", c));
  insert(engine, 300, 600);
  if (!engine.flush()) fail("flush");
  must(engine, "DELETE FROM t WHERE p = 1 AND c >= 5000 AND c < 5010");
  for (int c = 5010; c < 5020; ++c) must(engine, fmt::format("DELETE FROM t WHERE p = 1 AND c = {}", c));
  must(engine, "TRUNCATE truncated");
  insert(engine, 600, 800);
  if (!engine.flush()) fail("flush");
  insert(engine, 800, row_count);
}

void copy_directory(const std::string& from, const std::string& to) {
  fs::create_directories(to);
  for (const auto& entry : fs::recursive_directory_iterator(from)) {
    const fs::path target = fs::path(to) / fs::relative(entry.path(), from);
    if (entry.is_directory()) fs::create_directories(target);
    // These never change, so they can be linked.
    else if (entry.path().extension() == ".sst" || entry.path().filename() == reserve)
      fs::create_hard_link(entry.path(), target);
    else if (entry.is_regular_file())
      fs::copy_file(entry.path(), target);
  }
}

void make_directories(const std::string& stopped, const std::string& killed) {
  {
    auto engine = open(stopped);
    if (!engine) fail(engine.error().text());
    fill(**engine);
    copy_directory(stopped, killed);  // copied as soon as the last write was acknowledged
  }
  // The server allocates the reserve a tenth of a second after it starts. All cases share the reserves made
  // here.
  for (const std::string& data : {stopped, killed}) storage::rocksdb::DiskSpace(data).take_reserve(0);
}

void apply(const Case& one, const std::string& data) {
  const std::string path = data + "/" + one.file->name;
  std::string bytes = *base::read_file(path);
  if (one.kind == Case::Kind::cut)
    bytes.resize(one.at);
  else if (one.kind == Case::Kind::zero)
    bytes[one.at] = 0;
  else
    bytes[one.at] = static_cast<char>(bytes[one.at] ^ (1 << (one.at * 31 % 8)));
  fs::remove(path);  // may be a link to the original
  std::ofstream(path, std::ios::binary) << bytes;
}

// Describes what is wrong with the rows. Empty if all are correct, or reading is refused.
std::string check_rows(Engine& engine) {
  const auto rows = engine::run_text(engine, "SELECT p, c, v FROM t", "d");
  if (rows) {
    std::map<int, std::vector<std::string>> found;
    for (std::vector<std::string>& cells : engine::cells_of(*rows))
      found[std::stoi(cells[1])] = std::move(cells);
    if (found.size() != row_count) return fmt::format("{} rows", found.size());
    for (int row = 0; row < row_count; ++row)
      if (!found.contains(row) || found[row][0] != std::to_string(row % 40) || found[row][2] != value_of(row))
        return fmt::format("row {} is missing or wrong", row);
  } else if (rows.error().code() == base::ErrorCode::invalid) {
    return rows.error().text();  // the table is unknown
  }
  for (int row = 7; row < row_count; row += 97) {
    const auto one =
        engine::run_text(engine, fmt::format("SELECT v FROM t WHERE p = {} AND c = {}", row % 40, row), "d");
    if (one && (one->rows.count() != 1 || engine::cells_of(*one)[0][0] != value_of(row)))
      return fmt::format("row {} is missing or wrong when it is read alone", row);
  }
  const auto truncated = engine::run_text(engine, "SELECT k FROM truncated", "d");
  if (truncated && truncated->rows.count() != 0)
    return fmt::format("{} rows of a truncated table", truncated->rows.count());
  return {};
}

std::set<std::string> data_files(const std::string& data) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(data + "/records"))
    if (entry.path().extension() == ".sst") names.insert(entry.path().filename().string());
  return names;
}

using Records = std::vector<std::pair<base::Bytes, base::Bytes>>;

// Returns the records, or nullopt if they cannot all be read.
std::optional<Records> read_records(storage::Store& store) {
  Records records;
  auto each = store.iterate({}, {});
  for (each->seek_to_first(); each->valid(); each->next()) records.emplace_back(each->key(), each->value());
  if (!each->status()) return std::nullopt;
  return records;
}

Records records_of(const std::string& base, const std::string& scratch) {
  fs::remove_all(scratch);
  copy_directory(base, scratch);
  auto store = open_records(scratch);
  if (!store) fail(store.error().text());
  auto records = read_records(**store);
  if (!records) fail("the original records cannot be read");
  return std::move(*records);
}

// Point reads use filters, which iterators do not.
bool has_records(storage::Store& store, const Records& expected) {
  if (read_records(store) != expected) return false;
  base::Bytes value;
  for (size_t i = 0; i < expected.size(); i += 7) {
    const auto found = store.get(expected[i].first, value);
    if (!found || !*found || value != expected[i].second) return false;
  }
  return true;
}

std::string run(const Case& one, const Records& expected, const std::string& scratch) {
  const auto prepare = [&] {
    fs::remove_all(scratch);
    copy_directory(one.file->base, scratch);
    apply(one, scratch);
  };
  prepare();
  auto store = open_records(scratch);
  if (store && has_records(**store, expected)) return {};
  if (store) {
    store->reset();
    prepare();
    if (auto engine = open(scratch)) return check_rows(**engine);
  }
  // A compaction may have replaced files by a new one before the damage of the log was found.
  const std::set<std::string> before = data_files(one.file->base), after = data_files(scratch);
  const bool has_new = !std::includes(before.begin(), before.end(), after.begin(), after.end());
  if (before == after || has_new) return {};
  return fmt::format("refused, but {} data files were deleted", before.size() - after.size());
}

// Watches which files of a directory are read.
class ReadWatch {
 public:
  explicit ReadWatch(const std::string& base) : file_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    if (!file_) fail("inotify");
    watch(base, "");
    for (const auto& entry : fs::recursive_directory_iterator(base))
      if (entry.is_directory()) watch(entry.path().string(), fs::relative(entry.path(), base).string() + "/");
  }

  std::set<std::string> names() const {
    std::set<std::string> names;
    alignas(inotify_event) char buffer[16 << 10];
    for (ssize_t size = 0; (size = ::read(file_.number(), buffer, sizeof buffer)) > 0;) {
      for (const char* at = buffer; at < buffer + size;) {
        const auto& event = *reinterpret_cast<const inotify_event*>(at);
        if ((event.mask & IN_Q_OVERFLOW) != 0) fail("too many inotify events");
        if (event.len > 0) names.insert(folders_.at(event.wd) + event.name);
        at += sizeof event + event.len;
      }
    }
    return names;
  }

 private:
  void watch(const std::string& path, const std::string& name) {
    const int watch = ::inotify_add_watch(file_.number(), path.c_str(), IN_ACCESS);
    if (watch < 0) fail("inotify_add_watch");
    folders_[watch] = name;
  }

  const base::File file_;
  std::map<int, std::string> folders_;
};

// Opens a copy of an undamaged directory and reads it as each case does. Returns the files that were read.
std::set<std::string> files_read(const std::string& base, const std::string& scratch) {
  fs::remove_all(scratch);
  copy_directory(base, scratch);
  const ReadWatch watch(scratch);
  {
    auto engine = open(scratch);
    if (!engine) fail(engine.error().text());
    if (const std::string wrong = check_rows(**engine); !wrong.empty()) fail("undamaged: " + wrong);
  }
  return watch.names();
}

void add_cases(const DataFile& file, bool is_read, std::vector<Case>& cases) {
  constexpr uint64_t parts_if_unread = 4;
  const std::string bytes = *base::read_file(file.base + "/" + file.name);
  const uint64_t step = is_read ? 1 : std::max<uint64_t>(bytes.size() / parts_if_unread, 1);
  for (uint64_t at = 0; at < bytes.size(); at += step) {
    cases.push_back({&file, at, Case::Kind::cut});
    if (bytes[at] != 0) cases.push_back({&file, at, Case::Kind::zero});
    cases.push_back({&file, at, Case::Kind::flip});
  }
}

// Returns the files whose bytes are damaged, in order of their names.
std::vector<DataFile> files_of(const std::string& base) {
  std::vector<DataFile> files;
  for (const auto& entry : fs::recursive_directory_iterator(base))
    if (entry.is_regular_file() && entry.path().filename() != reserve)
      files.push_back({base, fs::relative(entry.path(), base).string()});
  std::ranges::sort(files, {}, &DataFile::name);
  return files;
}

bool are_equal(const std::string& left, const std::string& right) {
  return fs::exists(right) && *base::read_file(left) == *base::read_file(right);
}

// The two original directories.
class Directories {
 public:
  explicit Directories(const std::string& parent)
      : stopped_(parent + "/stopped"),
        killed_(parent + "/killed"),
        scratch_(parent + "/case0"),
        made_(parent + "/made") {}

  // Creates them, unless an earlier run has. The engine runs in a process of its own, because processes with
  // threads must not be forked.
  void make() const {
    if (fs::exists(made_)) return;
    const pid_t child = ::fork();
    if (child == 0) {
      spdlog::set_level(spdlog::level::warn);
      make_directories(stopped_, killed_);
      std::ofstream made(made_ + ".new");
      for (const std::string& base : {stopped_, killed_})
        for (const std::string& name : files_read(base, scratch_)) made << base << '/' << name << '\n';
      made.close();
      fs::rename(made_ + ".new", made_);
      std::_Exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (status != 0) fail("cannot create the directories");
  }

  std::vector<DataFile> files_to_damage() const {
    std::vector<DataFile> files = files_of(stopped_);
    std::erase_if(files, [&](const DataFile& file) {
      return are_equal(stopped_ + "/" + file.name, killed_ + "/" + file.name);
    });
    std::ranges::copy(files_of(killed_), std::back_inserter(files));
    return files;
  }

  // The cases point to the files.
  std::vector<Case> cases_of(const std::vector<DataFile>& files) const {
    std::set<std::string> read;
    std::ifstream made(made_);
    for (std::string path; std::getline(made, path);) read.insert(path);
    std::vector<Case> cases;
    for (const DataFile& file : files) add_cases(file, read.contains(file.base + "/" + file.name), cases);
    return cases;
  }

 private:
  // made_ exists once both directories are complete, and names the files that were read.
  const std::string stopped_, killed_, scratch_, made_;
};

// Chooses cases so that every file, however small, has some.
std::vector<Case> sample(const std::vector<Case>& cases, size_t count, uint64_t seed) {
  std::map<const DataFile*, std::vector<Case>> by_file;
  for (const Case& one : cases) by_file[one.file].push_back(one);
  std::mt19937_64 random(seed);
  std::vector<Case> drawn;
  for (const auto& [file, its] : by_file)
    std::sample(its.begin(), its.end(), std::back_inserter(drawn), count / by_file.size() + 1, random);
  return drawn;
}

std::vector<Case> each_nth(const std::vector<Case>& cases, size_t every, uint64_t seed) {
  std::vector<Case> drawn;
  for (size_t i = seed % every; i < cases.size(); i += every) drawn.push_back(cases[i]);
  return drawn;
}

constexpr size_t max_jobs = 64;

// Shared by the processes. With --keep it is a file.
struct Progress {
  std::atomic<size_t> next, failures;
  std::atomic<size_t> total;              // 0 before the first run
  std::atomic<size_t> running[max_jobs];  // the case that each job runs, plus one; 0 if none

  // Continues the run that wrote this. Cases that were interrupted run again.
  void resume(size_t cases) {
    if (total != 0 && total != cases) fail("the directory belongs to a run with other options");
    total = cases;
    for (std::atomic<size_t>& one : running)
      if (const size_t interrupted = one.exchange(0); interrupted != 0)
        next = std::min(next.load(), interrupted - 1);
  }
};

Progress& map_progress(const std::string& path) {
  int file = -1;
  if (!path.empty()) {
    file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ::ftruncate(file, sizeof(Progress)) != 0) fail("cannot open " + path);
  }
  void* shared = ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
                        MAP_SHARED | (file < 0 ? MAP_ANONYMOUS : 0), file, 0);
  if (shared == MAP_FAILED) fail("cannot map the progress");
  return *static_cast<Progress*>(shared);  // zeros are a valid object
}

void report_progress(const std::vector<Case>& cases, size_t at) {
  constexpr size_t interval = 10'000;
  if (at == 0 || at % interval != 0) return;
  fmt::print("{} of {} cases begun, at {}\n", at, cases.size(), cases[at].text());
  std::fflush(stdout);
}

// Runs cases until all are done, or one kills the process.
void work(const std::vector<Case>& cases, Progress& progress, size_t job, const std::string& scratch) {
  spdlog::set_level(spdlog::level::off);
  std::map<std::string, Records> expected;
  for (const Case& one : cases)
    if (!expected.contains(one.file->base)) expected[one.file->base] = records_of(one.file->base, scratch);
  for (size_t done = 0; done < 20'000; ++done) {  // limits the memory that cases leak
    const size_t at = progress.next++;
    if (at >= cases.size()) break;
    progress.running[job] = at + 1;
    report_progress(cases, at);
    if (const std::string wrong = run(cases[at], expected[cases[at].file->base], scratch); !wrong.empty()) {
      fmt::print("{}: {}\n", cases[at].text(), wrong);
      std::fflush(stdout);
      ++progress.failures;
    }
  }
  progress.running[job] = 0;
}

void report_end(const Case& one, int status) {
  fmt::print("{}: the process ended by {} {}\n", one.text(), WIFSIGNALED(status) ? "signal" : "status",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  std::fflush(stdout);
}

pid_t start_job(const std::vector<Case>& cases, Progress& progress, size_t job,
                const std::string& directory) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  work(cases, progress, job, fmt::format("{}/case{}", directory, job));
  std::_Exit(0);
}

size_t run_all(const std::vector<Case>& cases, Progress& progress, const std::string& directory,
               size_t jobs) {
  std::map<pid_t, size_t> running;
  for (size_t job = 0; job < jobs; ++job) running[start_job(cases, progress, job, directory)] = job;
  while (!running.empty()) {
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, 0);
    const size_t job = running[ended];
    running.erase(ended);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      report_end(cases[progress.running[job].exchange(0) - 1], status);
      ++progress.failures;
    }
    if (progress.next < cases.size()) running[start_job(cases, progress, job, directory)] = job;
  }
  return progress.failures;
}

}  // namespace
}  // namespace sibyl::damage

int main(int argc, char** argv) {
  using namespace sibyl::damage;
  CLI::App app("Damages every byte of a data directory and opens it");
  bool all = false;
  size_t count = 600;
  size_t every = 0;
  size_t jobs = 1;
  uint64_t seed = 1;
  std::string directory;
  std::string only;
  app.add_flag("--all", all, "Every case");
  app.add_option("--every", every, "Run each Nth case; --seed chooses the first");
  app.add_option("--jobs", jobs, "How many cases run at once")->check(CLI::Range(size_t{1}, max_jobs));
  app.add_option("--cases", count, "How many random cases to run");
  app.add_option("--seed", seed, "Seed of the random choice");
  app.add_option("--only", only, "Only files whose path contains this");
  bool keep = false;
  auto* given = app.add_option("--directory", directory, "Working directory (TMPDIR)");
  app.add_flag("--keep", keep, "Resume the run in --directory, and do not remove it")->needs(given);
  CLI11_PARSE(app, argc, argv);
  if (directory.empty()) {
    directory = (fs::temp_directory_path() / "sibyl-damage-XXXXXX").string();
    if (::mkdtemp(directory.data()) == nullptr) fail("mkdtemp");
  }
  const Directories directories(directory);
  directories.make();
  const std::vector<DataFile> files = directories.files_to_damage();
  std::vector<Case> cases = directories.cases_of(files);
  std::erase_if(cases, [&](const Case& one) { return one.file->name.find(only) == std::string::npos; });
  const size_t total = cases.size();
  if (every > 0)
    cases = each_nth(cases, every, seed);
  else if (!all)
    cases = sample(cases, count, seed);
  if (all) std::shuffle(cases.begin(), cases.end(), std::mt19937_64(seed));
  const auto begin = std::chrono::steady_clock::now();
  Progress& progress = map_progress(keep ? directory + "/progress" : std::string());
  progress.resume(cases.size());
  const size_t failures = run_all(cases, progress, directory, jobs);
  fmt::print("{} of {} cases (seed {}) in {} s: {} failed\n", cases.size(), total, seed,
             (std::chrono::steady_clock::now() - begin) / std::chrono::seconds(1), failures);
  if (!keep) fs::remove_all(directory);
  return failures == 0 ? 0 : 1;
}
