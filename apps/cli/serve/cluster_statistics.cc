#include "cli/serve/cluster_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "storage/objects/files/repeat.h"

namespace sibyl::cli {
namespace {

using base::Bytes;
using engine::UsageRecords;
using storage::objects::Mutation;
using storage::objects::ObjectStore;
using storage::objects::Read;
using storage::objects::ReadReply;
using storage::objects::Reason;
using storage::objects::Reply;

constexpr const char* index_object = "statistics";
constexpr std::chrono::milliseconds patience{10'000};

std::string hex(const Bytes& bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<uint8_t>(byte));
  return text;
}

std::optional<int> digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return std::nullopt;
}

// Returns nothing for text that is not hexadecimal: such a record is not read.
Bytes from_hex(const std::string& text) {
  Bytes bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    const auto high = digit_of(text[i]), low = digit_of(text[i + 1]);
    if (!high || !low) return {};
    bytes.push_back(static_cast<char>(*high * 16 + *low));
  }
  return bytes;
}

class ClusterStatistics final : public UsageRecords {
 public:
  ClusterStatistics(ObjectStore& objects, std::string server, uint64_t run)
      : objects_(objects), server_(std::move(server)), run_(std::to_string(run)) {}

  base::Result<Records> load() override {
    Mutation list, claim;
    list.set_entry(server_, "1");
    claim.set_attribute("run", run_);
    SIBYL_TRY(done_or_error(storage::objects::repeat(objects_, index_object, list, patience)));
    SIBYL_TRY(done_or_error(storage::objects::repeat(objects_, object_of(server_), claim, patience)));
    return read(object_of(server_));
  }

  // Writes are numbered, so that none is applied late, over newer ones.
  base::Status write(Records changed, std::vector<Bytes> erased) override {
    const base::MutexLock lock(mutex_);
    SIBYL_TRY(find_last_write());
    const std::string next = std::to_string(*last_write_ + 1);
    Mutation mutation;
    mutation.if_attribute("run", run_)
        .if_attribute("write", number_text(*last_write_))
        .set_attribute("write", next);
    for (auto& [key, value] : changed) mutation.set_entry(hex(key), std::move(value));
    for (const Bytes& key : erased) mutation.erase_entry(hex(key));
    const Reply reply = storage::objects::repeat(objects_, object_of(server_), mutation, patience);
    const uint64_t before = *std::exchange(last_write_, std::nullopt);
    if (reply.is_refused(Reason::mismatch)) {
      // An earlier attempt of this write may have been applied: no other program writes as this run.
      SIBYL_TRY(find_last_write());
      if (*last_write_ == before + 1) return {};
    }
    SIBYL_TRY(done_or_error(reply));
    last_write_ = before + 1;
    return {};
  }

  base::Result<std::vector<Records>> others() override {
    SIBYL_ASSIGN(const auto servers, entries_of(index_object));
    std::vector<Records> all;
    for (const auto& [server, value] : servers) {
      if (server == server_) continue;
      SIBYL_ASSIGN(Records records, read(object_of(server)));
      all.push_back(std::move(records));
    }
    return all;
  }

 private:
  static std::string object_of(const std::string& server) {
    return fmt::format("{}/{}", index_object, server);
  }
  static std::string number_text(uint64_t number) { return number == 0 ? "" : std::to_string(number); }
  static base::Status done_or_error(Reply reply) {
    if (reply.is_done()) return {};
    return base::fail(storage::objects::error_of(reply, "keeping statistics"));
  }

  base::Status find_last_write() SIBYL_REQUIRES(mutex_) {
    if (last_write_) return {};
    const ReadReply found =
        storage::objects::repeat_read(objects_, object_of(server_), Read::state(), patience);
    SIBYL_TRY(done_or_error(found.reply));
    const auto run = found.attributes.find("run");
    if (run == found.attributes.end() || run->second != run_)
      return base::fail(base::ErrorCode::server,
                        "a newer process of this server has taken over its statistics");
    const auto write = found.attributes.find("write");
    last_write_ = write == found.attributes.end() ? 0 : std::strtoull(write->second.c_str(), nullptr, 10);
    return {};
  }

  base::Result<std::map<std::string, Bytes>> entries_of(const std::string& object) const {
    std::map<std::string, Bytes> entries;
    Read page{.entries = Read::Entries{}};
    for (;;) {
      ReadReply found = storage::objects::repeat_read(objects_, object, page, patience);
      if (found.reply.is_refused(Reason::missing)) return entries;
      SIBYL_TRY(done_or_error(found.reply));
      if (found.has_more_entries) page.entries->after = found.entries.rbegin()->first;
      entries.merge(found.entries);
      if (!found.has_more_entries) return entries;
    }
  }

  base::Result<Records> read(const std::string& object) const {
    SIBYL_ASSIGN(const auto entries, entries_of(object));
    Records records;
    for (const auto& [name, value] : entries) records[from_hex(name)] = value;
    return records;
  }

  ObjectStore& objects_;
  const std::string server_, run_;
  base::Mutex mutex_;
  std::optional<uint64_t> last_write_ SIBYL_GUARDED_BY(mutex_);  // nullopt: not known
};

}  // namespace

std::shared_ptr<UsageRecords> make_cluster_statistics(ObjectStore& objects, std::string server,
                                                      uint64_t run) {
  return std::make_shared<ClusterStatistics>(objects, std::move(server), run);
}

}  // namespace sibyl::cli
