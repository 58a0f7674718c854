#include "storage/rocksdb/recovery/manifest_guard.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <set>
#include <thread>

#include "base/file.h"
#include "base/source_path.h"
#include "storage/rocksdb/faulty_disk.h"
#include "storage/rocksdb/test_store.h"

namespace sibyl::storage::rocksdb {
namespace {

namespace fs = std::filesystem;

void write_file(const std::string& path, const Bytes& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

std::set<std::string> names_in(const std::string& directory) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) names.insert(entry.path().filename().string());
  return names;
}

// A closed store with three table files.
class GuardedStore : public testing::Test {
 protected:
  void SetUp() override {
    options_.automatic_compaction = false;
    const auto store = opened(data_, options_);
    ASSERT_NE(store, nullptr);
    for (const char* key : {"a", "b", "c"}) {
      ASSERT_TRUE(put(*store, key, Bytes(100, *key)).has_value());
      ASSERT_TRUE(store->flush().has_value());
    }
  }

  std::string manifest() const {
    return records_ + "/" + manifest_name(current_manifest(records_).value_or(0));
  }
  // Returns the error of opening the store, and checks that no file has changed.
  base::Error refused() {
    const auto before = names_in(records_);
    const auto store = open_store(data_, options_);
    EXPECT_FALSE(store.has_value());
    EXPECT_EQ(names_in(records_), before);
    return store ? base::Error(base::ErrorCode::server, "opened") : store.error();
  }

  TemporaryDirectory directory_;
  const std::string data_ = directory_.path() + "/data", records_ = data_ + "/records";
  Options options_;
};

TEST_F(GuardedStore, ACutManifestIsRefusedAtEveryLength) {
  const Bytes whole = *base::read_file(manifest());
  for (size_t size = 0; size < whole.size(); ++size) {
    write_file(manifest(), whole.substr(0, size));
    const base::Error error = refused();
    ASSERT_NE(error.message().find(
                  fmt::format("has {} bytes and had {}. It must list 3 data files", size, whole.size())),
              std::string::npos)
        << error.text();
    ASSERT_NE(error.hint().find("sibyl recover --data " + data_), std::string::npos) << error.text();
  }
  write_file(manifest(), whole);
  const auto store = opened(data_, options_);
  ASSERT_NE(store, nullptr);
  for (const char* key : {"a", "b", "c"}) EXPECT_EQ(get(*store, key), Bytes(100, *key));
}

TEST_F(GuardedStore, AChangedManifestIsRefusedAtEveryByte) {
  const Bytes whole = *base::read_file(manifest());
  for (size_t at = 0; at < whole.size(); ++at) {
    Bytes changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    write_file(manifest(), changed);
    ASSERT_NE(refused().message().find("was changed"), std::string::npos) << at;
  }
}

TEST_F(GuardedStore, TheErrorNamesFilesThatWouldBeDeleted) {
  write_file(manifest(), {});
  const std::string text = refused().message();
  for (const std::string& name : names_in(records_))
    EXPECT_TRUE(!name.ends_with(".sst") || text.find(name) != std::string::npos) << text;
}

TEST_F(GuardedStore, AnOlderManifestIsRefused) {
  const std::string old = directory_.path() + "/old";
  fs::copy(records_, old);
  {
    const auto store = opened(data_, options_);
    ASSERT_NE(store, nullptr);
    ASSERT_TRUE(put(*store, "d", "later").has_value());
    ASSERT_TRUE(store->flush().has_value());
  }
  for (const std::string& name : names_in(old))
    fs::copy_file(old + "/" + name, records_ + "/" + name, fs::copy_options::overwrite_existing);
  const base::Error error = refused();
  EXPECT_NE(error.message().find("and the store last used"), std::string::npos) << error.text();
  EXPECT_NE(error.hint().find("remove " + data_ + "/SIBYL_MANIFEST"), std::string::npos) << error.text();
}

TEST_F(GuardedStore, MissingAndShortTableFilesAreNamed) {
  std::vector<std::string> tables;
  for (const std::string& name : names_in(records_))
    if (name.ends_with(".sst")) tables.push_back(name);
  ASSERT_EQ(tables.size(), 3u);
  fs::remove(records_ + "/" + tables[0]);
  fs::resize_file(records_ + "/" + tables[2], 17);
  const std::string text = refused().message();
  EXPECT_NE(text.find("2 of 3 data files"), std::string::npos) << text;
  EXPECT_NE(text.find(tables[0] + " is missing, " + tables[2] + " has 17 bytes and had"), std::string::npos)
      << text;
}

TEST_F(GuardedStore, OneIntactLineOfTheRecordSuffices) {
  const std::string record = data_ + "/SIBYL_MANIFEST";
  const Bytes whole = *base::read_file(record);
  ASSERT_EQ(whole.size(), 2 * MarkFile::line_size);
  for (const size_t line : {size_t{0}, MarkFile::line_size}) {
    Bytes changed = whole;
    changed[line + 40] = '?';
    write_file(record, changed);
    EXPECT_TRUE(ManifestGuard(data_).check().has_value()) << line;
  }
  write_file(record, whole.substr(0, 300));
  EXPECT_NE(refused().message().find("SIBYL_MANIFEST is damaged"), std::string::npos);
}

TEST_F(GuardedStore, WithoutARecordGetsOne) {
  fs::remove(data_ + "/SIBYL_MANIFEST");
  ASSERT_NE(opened(data_, options_), nullptr);
  fs::resize_file(manifest(), 10);
  EXPECT_NE(refused().message().find("has 10 bytes and had"), std::string::npos);
}

TEST_F(GuardedStore, ResumesAfterItsRecordCouldNotBeWritten) {
  FaultyDisk disk;
  options_.manifest_disk = &disk;
  auto store = opened(data_, options_);
  ASSERT_NE(store, nullptr);
  disk.fail_all = true;
  ASSERT_TRUE(put(*store, "d", "v").has_value());
  EXPECT_FALSE(store->flush().has_value());
  disk.fail_all = false;
  base::Status flushed = store->flush();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!flushed && std::chrono::steady_clock::now() < deadline) {  // RocksDB retries every 5 seconds
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    flushed = store->flush();
  }
  ASSERT_TRUE(flushed.has_value()) << flushed.error().text();
  ASSERT_TRUE(put(*store, "e", "v").has_value());
  store.reset();
  store = opened(data_, options_);
  ASSERT_NE(store, nullptr);
  for (const char* key : {"d", "e"}) EXPECT_EQ(get(*store, key), "v");
}

// Calls back before and after every file operation of RocksDB.
class WatchedFiles final : public ::rocksdb::FileSystemWrapper {
 public:
  explicit WatchedFiles(std::function<void()> moment)
      : FileSystemWrapper(::rocksdb::FileSystem::Default()), moment_(std::move(moment)) {}
  const char* Name() const override { return "WatchedFiles"; }

  ::rocksdb::IOStatus NewWritableFile(const std::string& name, const ::rocksdb::FileOptions& options,
                                      std::unique_ptr<::rocksdb::FSWritableFile>* result,
                                      ::rocksdb::IODebugContext* context) override {
    auto status = target()->NewWritableFile(name, options, result, context);
    if (status.ok()) *result = std::make_unique<File>(std::move(*result), moment_);
    moment_();
    return status;
  }
  ::rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                                 const ::rocksdb::IOOptions& options,
                                 ::rocksdb::IODebugContext* context) override {
    moment_();
    auto status = target()->RenameFile(from, to, options, context);
    moment_();
    return status;
  }
  ::rocksdb::IOStatus DeleteFile(const std::string& name, const ::rocksdb::IOOptions& options,
                                 ::rocksdb::IODebugContext* context) override {
    auto status = target()->DeleteFile(name, options, context);
    moment_();
    return status;
  }

 private:
  class File final : public ::rocksdb::FSWritableFileOwnerWrapper {
   public:
    File(std::unique_ptr<::rocksdb::FSWritableFile> file, const std::function<void()>& moment)
        : FSWritableFileOwnerWrapper(std::move(file)), moment_(moment) {}
    ::rocksdb::IOStatus Append(const ::rocksdb::Slice& data, const ::rocksdb::IOOptions& options,
                               ::rocksdb::IODebugContext* context) override {
      const ::rocksdb::Slice half(data.data(), data.size() / 2);
      auto status = FSWritableFileOwnerWrapper::Append(half, options, context);
      moment_();
      if (!status.ok()) return status;
      status = FSWritableFileOwnerWrapper::Append({data.data() + half.size(), data.size() - half.size()},
                                                  options, context);
      moment_();
      return status;
    }
    ::rocksdb::IOStatus Append(const ::rocksdb::Slice& data, const ::rocksdb::IOOptions& options,
                               const ::rocksdb::DataVerificationInfo&,
                               ::rocksdb::IODebugContext* context) override {
      return Append(data, options, context);
    }
    ::rocksdb::IOStatus Sync(const ::rocksdb::IOOptions& options,
                             ::rocksdb::IODebugContext* context) override {
      auto status = FSWritableFileOwnerWrapper::Sync(options, context);
      moment_();
      return status;
    }

   private:
    const std::function<void()>& moment_;
  };
  const std::function<void()> moment_;
};

// Also calls back during torn writes of the record itself.
class WatchedDisk final : public Disk {
 public:
  explicit WatchedDisk(std::function<void()> moment) : moment_(std::move(moment)) {}
  int write(int file, base::BytesView first, base::BytesView second, uint64_t offset) override {
    Disk::write(file, first.substr(0, first.size() / 8), {}, offset);
    moment_();
    const int error = Disk::write(file, first, second, offset);
    moment_();
    return error;
  }
  int sync_names(int directory) override {
    moment_();
    return Disk::sync_names(directory);
  }

 private:
  const std::function<void()> moment_;
};

// Copies the directory whenever a file changes, as a crash at that moment would leave it. Every copy must
// open with everything that had been acknowledged.
TEST(ManifestGuard, OpensAfterACrashAtAnyMoment) {
  TemporaryDirectory directory;
  const std::string data = directory.path() + "/data";
  std::vector<int> acknowledged;  // by copy
  std::atomic<int> written = 0;
  std::mutex mutex;  // RocksDB deletes files on a background thread
  const auto moment = [&] {
    const std::lock_guard lock(mutex);
    const int before = written;
    fs::copy(data, fmt::format("{}/copy{}", directory.path(), acknowledged.size()),
             fs::copy_options::recursive);
    acknowledged.push_back(before);
  };
  WatchedDisk disk(moment);
  const auto environment = ::rocksdb::NewCompositeEnv(std::make_shared<WatchedFiles>(moment));
  Options options;
  options.automatic_compaction = false;
  options.environment = environment.get();
  options.manifest_disk = &disk;
  options.log_segment_bytes = 4096;
  for (int opening = 0; opening < 3; ++opening) {
    const auto store = opened(data, options);
    ASSERT_NE(store, nullptr);
    for (int flush = 0; flush < 2; ++flush) {
      for (int i = 0; i < 3; ++i) {
        // RocksDB may still delete files. During a write, the copy would have files of the log as of
        // different moments.
        const std::lock_guard lock(mutex);
        ASSERT_TRUE(put(*store, std::to_string(written.load()), "v").has_value());
        ++written;
      }
      ASSERT_TRUE(store->flush().has_value());
    }
    if (opening == 1) {
      ASSERT_TRUE(store->compact({}, {}).has_value());
    }
  }
  EXPECT_GT(acknowledged.size(), 150u);
  for (size_t copy = 0; copy < acknowledged.size(); ++copy) {
    const auto store = opened(fmt::format("{}/copy{}", directory.path(), copy));
    ASSERT_NE(store, nullptr) << copy << " of " << acknowledged.size();
    for (int i = 0; i < acknowledged[copy]; ++i) ASSERT_EQ(get(*store, std::to_string(i)), "v") << copy;
  }
}

// tests/data has a sample of every version.
TEST(ManifestGuard, ReadsSamples) {
  TemporaryDirectory directory;
  fs::create_directory(directory.path() + "/records");
  fs::copy_file(base::source_path("tests/data/sibyl_manifest_v1.txt"), directory.path() + "/SIBYL_MANIFEST");
  ManifestGuard guard(directory.path());
  EXPECT_FALSE(guard.check().has_value());
  ASSERT_EQ(guard.entries().size(), 1u);
  const ManifestEntry& entry = guard.entries().front();
  EXPECT_EQ(entry.number, 12u);
  EXPECT_EQ(entry.size, 325u);
  EXPECT_EQ(entry.crc, 0xc856e729u);
  EXPECT_EQ(entry.files, 2u);
  EXPECT_EQ(entry.files_crc, 0x26f41c8au);
  EXPECT_EQ(entry.last_sequence, 12u);
}

TEST(ManifestReader, ListsTheSameFilesAsRocksdb) {
  TemporaryDirectory directory;
  const auto store = opened(directory.path());
  ASSERT_NE(store, nullptr);
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 10; ++i)
      ASSERT_TRUE(put(*store, fmt::format("key {}", i), Bytes(50, 'v')).has_value());
    ASSERT_TRUE(store->flush().has_value());
    if (round == 3) {
      ASSERT_TRUE(store->compact({}, {}).has_value());
    }
    const std::string records = directory.path() + "/records";
    const Bytes bytes = *base::read_file(records + "/" + manifest_name(*current_manifest(records)));
    for (const size_t step : {bytes.size(), size_t{1}, size_t{7}}) {
      ManifestReader reader;
      for (size_t at = 0; at < bytes.size(); at += step) reader.add(base::BytesView(bytes).substr(at, step));
      EXPECT_TRUE(reader.is_whole());
      EXPECT_EQ(reader.end(), bytes.size());
      std::map<uint64_t, uint64_t> expected;
      for (const StoreFile& file : store->files()) expected[table_file_number(file.name)] = file.bytes;
      ASSERT_EQ(reader.files().size(), expected.size());
      EXPECT_EQ(reader.files_crc(), files_crc(expected));
      EXPECT_EQ(reader.files().begin()->second.first_key, "key 0");
      EXPECT_EQ(reader.files().begin()->second.last_key, "key 9");
    }
  }
}

}  // namespace
}  // namespace sibyl::storage::rocksdb
