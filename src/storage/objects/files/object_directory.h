// A directory of files on an object store, with one owner at a time.
//
// A directory is one object. Its attributes and entries:
//
//   epoch      raised by every open. Every mutation requires it, so mutations of an earlier owner fail.
//   version    of the directory. Every mutation compares it and adds one: a chain. A mutation whose outcome was unknown
//              can therefore not be applied late, over newer ones.
//   cancelled  the last version that was added to cancel a mutation whose outcome was unknown when the storage became full
//   client     the owner's client, while it is open
//   owner      Options::owner_epoch of the newest owner that has one
//   f:NAME     the record of a file (file_record.h)
//   t:ID       trash: a file without a name, whose objects are still to be removed
//
// A file is a run of blocks of 4 MiB, "file/ID/NUMBER". Small files that never grow are in their entries. The
// rules:
//
//  1. A file is recorded before its first block is written, with an id that is never used again. So its
//     blocks can always be found from a directory.
//  2. Opening takes the directory over: it raises the epoch, fences the client that had it open, and then
//     seals the files that are kept although they are incomplete. Sealing marks each block, and creates a
//     sealed block after the last one. Writers require that a block is not sealed, so from then on no file
//     that has a name changes.
//  3. Only the owner changes a directory, so it holds the entries in memory and reads nothing after opening.
//  4. A link first adds its reference to the first block of the file, then its entry. Removing a file works
//     in reverse: it turns the entry into trash, removes the reference, and removes the blocks if no
//     reference is left, the first one last. A crash in between leaves objects that are not needed, but never
//     removes needed ones; collect() removes the excess.
//  5. The objects of the pool are never listed.
//
// Code that assigns owners numbers them (owner_epoch). An open with a lower number than the directory has
// seen is refused, and changes and fences nothing, so that a slow former owner cannot take the directory
// back.
//
// Once a mutation is refused because of the epoch, the directory is lost: every later operation fails, and
// `on_lost` is called. The owner must stop at once. The same holds if the outcome of a mutation is unknown
// for longer than `patience`.
//
// All functions may block. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "storage/objects/files/file_record.h"
#include "storage/objects/object_store.h"

namespace sibyl::storage::objects {

class ObjectDirectory {
 public:
  struct Options {
    ObjectStore* store = nullptr;  // must outlive the directory
    std::string name;
    base::Clock* clock = nullptr;  // for modification times; nullptr: the system's
    std::chrono::milliseconds patience{300'000};
    uint64_t owner_epoch = 0;  // larger for every owner; 0: any owner may open the directory
    // Called once, on any thread, when the directory is lost. Must not block.
    std::function<void(Reply)> on_lost;
    // Tests turn these rules off to show why they are needed.
    bool fences_previous_owner = true;
    bool seals_incomplete_files = true;
  };

  // Creates the directory if it does not exist, otherwise takes it over.
  static base::Result<std::unique_ptr<ObjectDirectory>> open(Options options);
  ObjectDirectory(const ObjectDirectory&) = delete;
  ObjectDirectory& operator=(const ObjectDirectory&) = delete;

  // Gives the directory up, so that a later owner does not need to fence this client. No other call may
  // follow, except a repetition if the outcome was unknown.
  Reply release();

  uint64_t epoch() const { return epoch_; }
  const std::string& name() const { return options_.name; }
  ObjectStore& store() const { return *options_.store; }
  std::chrono::milliseconds patience() const { return options_.patience; }
  bool is_lost() const { return is_lost_.load(std::memory_order_relaxed); }
  // Ends the use of the directory, for example because a file turned out to be sealed.
  void lose(Reply why);

  std::optional<FileRecord> find(const std::string& name) const;
  std::vector<std::string> names() const;

  // Records a new file, which replaces any file of the same name. `made` is valid if the reply is done.
  Reply create(const std::string& name, bool kept_incomplete, FileRecord& made);
  Reply create_inline(const std::string& name, base::Bytes content);
  // Records that all blocks of the file have been written. Refused as missing if the file was removed.
  Reply complete(const std::string& name, const std::string& id, uint64_t size);
  Reply rename(const std::string& from, const std::string& to);
  Reply remove(const std::string& name);
  // Gives a complete file another name, perhaps in another directory.
  Reply link(const std::string& name, ObjectDirectory& target, const std::string& target_name);

  // Removes the blocks of files without a name that earlier owners or failed removals left. Links in other
  // directories are looked up there.
  Reply collect();
  size_t trash() const;

 private:
  struct Change {
    std::vector<std::string> erased;  // names of entries, without their prefix
    std::vector<std::pair<std::string, FileRecord>> set;
    std::vector<FileRecord> trashed;
    bool frees_space = false;
  };
  explicit ObjectDirectory(Options options);

  base::Status take_over();
  Reply claim(const ReadReply& found);
  Reply load();
  Reply seal_incomplete_files();
  Reply seal(FileRecord& record);
  Reply commit(Change change);
  Reply commit_locked(const Change& change);
  Mutation mutation_of(const Change& change) const;
  void apply(const Change& change);
  void replace(const std::string& name, FileRecord record, Change& change) const;
  Reply commit_link(const std::string& name, FileRecord record);
  int64_t now() const { return clock_->now_micros(); }

  Reply discard(const FileRecord& record);
  Reply drop_reference(const FileRecord& record, bool& was_last);
  Reply remove_blocks(const FileRecord& record);
  void forget_trash(const std::string& id);
  Reply drop_orphans(const FileRecord& record);

  const Options options_;
  base::SystemClock system_clock_;
  base::Clock* clock_ = nullptr;
  uint64_t epoch_ = 0;
  std::atomic<bool> is_lost_ = false;

  mutable std::mutex mutex_;  // guards all members below; held during mutations, which follow each other
  uint64_t version_ = 0;
  uint64_t next_file_ = 1;
  std::map<std::string, FileRecord> files_;
  std::map<std::string, FileRecord> trash_;  // by id
  std::vector<std::string> discarded_;       // trash that no longer exists; erased with the next mutation
};

}  // namespace sibyl::storage::objects
