// Point reads and durable writes in one process: Sibyl's C++ API, SQLite and RocksDB, on the same keys and
// values.
//
//   embedded_benchmark [DIRECTORY] [KEYS] [READS] [WRITES]
//
// One thread. A row has a 64-bit key and 100 bytes. Reads follow after the files are settled. Writes are
// synced one by one: Sibyl with its defaults, SQLite in WAL mode with synchronous=FULL, RocksDB with
// sync=true. Prints CPU and elapsed time per operation, so that a slow device does not hide the cost of the
// program.
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <sibyl/sibyl.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

namespace {

constexpr size_t cache_bytes = 256 << 20;
constexpr uint64_t hot_keys = 10'000;
constexpr uint64_t batch_rows = 100;

[[noreturn]] void fail(const std::string& text) {
  std::fprintf(stderr, "error: %s\n", text.c_str());
  std::exit(1);
}

std::string value_of(uint64_t key) {
  std::string value(100, 'v');
  for (size_t i = 0; i + 8 <= value.size(); i += 20) {
    const uint64_t mixed = (key + i) * 0x9e3779b97f4a7c15;
    for (size_t k = 0; k < 8; ++k) value[i + k] = static_cast<char>(mixed >> (8 * k));
  }
  return value;
}

class Database {
 public:
  virtual ~Database() = default;
  virtual const char* name() const = 0;
  virtual void load(uint64_t keys) = 0;
  virtual void settle() = 0;
  virtual size_t read(uint64_t key) = 0;  // returns the size of the value
  virtual void write(uint64_t key, const std::string& value) = 0;
};

class Sibyl final : public Database {
 public:
  explicit Sibyl(const std::string& directory) : database_(open(directory)), session_(database_.session()) {
    run(
        session_.execute_script("CREATE KEYSPACE b WITH replication = {'class': 'SimpleStrategy', "
                                "'replication_factor': 1}; USE b;"
                                "CREATE TABLE points (key bigint PRIMARY KEY, value blob)"));
    insert_.emplace(take(session_.prepare("INSERT INTO b.points (key, value) VALUES (?, ?)")));
    select_.emplace(take(session_.prepare("SELECT value FROM b.points WHERE key = ?")));
  }
  const char* name() const override { return "Sibyl"; }
  void load(uint64_t keys) override {
    for (uint64_t first = 0; first < keys; first += batch_rows) {
      sibyl::Batch batch(sibyl::Batch::Kind::unlogged);
      for (uint64_t key = first; key < std::min(keys, first + batch_rows); ++key)
        batch.add(insert_->bind(static_cast<int64_t>(key), blob(value_of(key))));
      take(session_.execute(batch));
    }
  }
  void settle() override {
    run(database_.flush());
    run(database_.compact());
  }
  size_t read(uint64_t key) override {
    sibyl::Rows rows = take(session_.execute(select_->bind(static_cast<int64_t>(key))));
    for (const sibyl::Row& row : rows) return row.raw(0).value_or("").size();
    return 0;
  }
  void write(uint64_t key, const std::string& value) override {
    take(session_.execute(insert_->bind(static_cast<int64_t>(key), blob(value))));
  }

 private:
  static sibyl::Blob blob(const std::string& value) { return sibyl::Blob{value}; }
  template <typename T>
  static T take(sibyl::Result<T> result) {
    if (!result) fail(result.error().text());
    return std::move(*result);
  }
  static void run(const sibyl::Status& status) {
    if (!status) fail(status.error().text());
  }
  static sibyl::Database open(const std::string& directory) {
    sibyl::Options options;
    options.block_cache_bytes = cache_bytes;
    return take(sibyl::Database::open(directory, options));
  }

  sibyl::Database database_;
  sibyl::Session session_;
  std::optional<sibyl::Statement> insert_, select_;
};

class Sqlite final : public Database {
 public:
  explicit Sqlite(const std::string& directory) {
    std::filesystem::create_directories(directory);
    if (sqlite3_open((directory + "/points.sqlite").c_str(), &database_) != SQLITE_OK) fail("SQLite: open");
    run("PRAGMA journal_mode=WAL");
    run("PRAGMA synchronous=FULL");
    run(("PRAGMA cache_size=-" + std::to_string(cache_bytes >> 10)).c_str());
    run("CREATE TABLE points (key INTEGER PRIMARY KEY, value BLOB)");
    insert_ = prepare("INSERT OR REPLACE INTO points (key, value) VALUES (?, ?)");
    select_ = prepare("SELECT value FROM points WHERE key = ?");
  }
  ~Sqlite() override {
    sqlite3_finalize(insert_);
    sqlite3_finalize(select_);
    sqlite3_close(database_);
  }
  const char* name() const override { return "SQLite"; }
  void load(uint64_t keys) override {
    for (uint64_t first = 0; first < keys; first += batch_rows) {
      run("BEGIN");
      for (uint64_t key = first; key < std::min(keys, first + batch_rows); ++key) write(key, value_of(key));
      run("COMMIT");
    }
  }
  void settle() override { run("PRAGMA wal_checkpoint(TRUNCATE)"); }
  size_t read(uint64_t key) override {
    sqlite3_bind_int64(select_, 1, static_cast<sqlite3_int64>(key));
    size_t size = 0;
    if (sqlite3_step(select_) == SQLITE_ROW) size = static_cast<size_t>(sqlite3_column_bytes(select_, 0));
    sqlite3_reset(select_);
    return size;
  }
  void write(uint64_t key, const std::string& value) override {
    sqlite3_bind_int64(insert_, 1, static_cast<sqlite3_int64>(key));
    sqlite3_bind_blob(insert_, 2, value.data(), static_cast<int>(value.size()), SQLITE_STATIC);
    if (sqlite3_step(insert_) != SQLITE_DONE) fail(sqlite3_errmsg(database_));
    sqlite3_reset(insert_);
  }

 private:
  void run(const char* statement) {
    if (sqlite3_exec(database_, statement, nullptr, nullptr, nullptr) != SQLITE_OK)
      fail(sqlite3_errmsg(database_));
  }
  sqlite3_stmt* prepare(const char* text) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database_, text, -1, &statement, nullptr) != SQLITE_OK)
      fail(sqlite3_errmsg(database_));
    return statement;
  }

  sqlite3* database_ = nullptr;
  sqlite3_stmt *insert_ = nullptr, *select_ = nullptr;
};

class Raw final : public Database {
 public:
  explicit Raw(const std::string& directory) {
    rocksdb::BlockBasedTableOptions table;
    table.block_cache = rocksdb::NewLRUCache(cache_bytes);
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    rocksdb::Options options;
    options.create_if_missing = true;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    rocksdb::DB* opened = nullptr;
    check(rocksdb::DB::Open(options, directory, &opened));
    database_.reset(opened);
    write_.sync = true;
  }
  const char* name() const override { return "RocksDB"; }
  void load(uint64_t keys) override {
    for (uint64_t first = 0; first < keys; first += batch_rows) {
      rocksdb::WriteBatch batch;
      for (uint64_t key = first; key < std::min(keys, first + batch_rows); ++key)
        check(batch.Put(bytes_of(key), value_of(key)));
      check(database_->Write(write_, &batch));
    }
  }
  void settle() override {
    check(database_->Flush({}));
    check(database_->CompactRange({}, nullptr, nullptr));
  }
  size_t read(uint64_t key) override {
    value_.Reset();
    const auto status = database_->Get({}, database_->DefaultColumnFamily(), bytes_of(key), &value_);
    return status.ok() ? value_.size() : 0;
  }
  void write(uint64_t key, const std::string& value) override {
    check(database_->Put(write_, bytes_of(key), value));
  }

 private:
  static std::string bytes_of(uint64_t key) {
    std::string bytes(8, '\0');
    for (size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(key >> (56 - 8 * i));
    return bytes;
  }
  static void check(const rocksdb::Status& status) {
    if (!status.ok()) fail(status.ToString());
  }

  std::unique_ptr<rocksdb::DB> database_;
  rocksdb::WriteOptions write_;
  rocksdb::PinnableSlice value_;
};

double cpu_micros() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto micros = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
  };
  return micros(usage.ru_utime) + micros(usage.ru_stime);
}

struct Cost {
  double cpu_micros = 0, elapsed_micros = 0;
};

template <typename Operation>
Cost measure(uint64_t count, const Operation& operation) {
  const double cpu = cpu_micros();
  const auto begin = std::chrono::steady_clock::now();
  for (uint64_t i = 0; i < count; ++i) operation(i);
  const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - begin;
  const auto operations = static_cast<double>(count);
  return {(cpu_micros() - cpu) / operations, elapsed.count() / operations};
}

uint64_t random_key(uint64_t i, uint64_t keys) {
  uint64_t mixed = (i + 1) * 0x9e3779b97f4a7c15;
  mixed ^= mixed >> 29;
  return mixed * 0xbf58476d1ce4e5b9 % keys;
}

void run(Database& database, uint64_t keys, uint64_t reads, uint64_t writes) {
  database.load(keys);
  database.settle();
  const auto read_among = [&](uint64_t among) {
    const auto read = [&](uint64_t i) {
      if (database.read(random_key(i, among)) != 100) fail("a row is missing");
    };
    measure(reads / 4, read);  // fills caches
    return measure(reads, read);
  };
  const Cost uniform = read_among(keys), hot = read_among(std::min(keys, hot_keys));
  const Cost write =
      measure(writes, [&](uint64_t i) { database.write(random_key(i, keys), value_of(i + keys)); });
  std::printf("| %s | %.2f µs | %.2f µs | %.1f µs | %.0f µs |\n", database.name(), uniform.cpu_micros,
              hot.cpu_micros, write.cpu_micros, write.elapsed_micros);
  std::fflush(stdout);
}

template <typename Kind>
void run(const std::string& directory, uint64_t keys, uint64_t reads, uint64_t writes) {
  std::filesystem::remove_all(directory);
  {
    Kind database(directory);
    run(database, keys, reads, writes);
  }
  std::filesystem::remove_all(directory);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string directory = count > 1 ? arguments[1] : "/tmp/sibyl-embedded-benchmark";
  const auto number = [&](int at, uint64_t otherwise) {
    return count > at ? std::strtoull(arguments[at], nullptr, 10) : otherwise;
  };
  const uint64_t keys = number(2, 1'000'000), reads = number(3, 1'000'000), writes = number(4, 5'000);
  std::printf("%llu keys, %llu reads, %llu writes, CPU per operation\n\n",
              static_cast<unsigned long long>(keys), static_cast<unsigned long long>(reads),
              static_cast<unsigned long long>(writes));
  std::printf(
      "| database | point read | hot point read | durable write | the write's duration "
      "|\n|---|---|---|---|---|\n");
  std::filesystem::create_directories(directory);
  run<Sibyl>(directory + "/sibyl", keys, reads, writes);
  run<Raw>(directory + "/rocksdb", keys, reads, writes);
  run<Sqlite>(directory + "/sqlite", keys, reads, writes);
  std::filesystem::remove_all(directory);
  return 0;
}
