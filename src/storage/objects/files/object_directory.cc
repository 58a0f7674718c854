#include "storage/objects/files/object_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <future>
#include <random>
#include <set>

#include "storage/objects/files/repeat.h"

namespace sibyl::storage::objects {
namespace {

constexpr std::string_view file_prefix = "f:", trash_prefix = "t:", link_prefix = "l:";
const std::string origin = "origin";  // the reference of an entry that is not a link

std::string directory_object(const std::string& name) {
  return "directory/" + name;
}

uint64_t number_in(const std::map<std::string, Bytes>& attributes, const std::string& name) {
  const auto found = attributes.find(name);
  uint64_t value = 0;
  if (found != attributes.end())
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
  return value;
}

Bytes text_in(const std::map<std::string, Bytes>& attributes, const std::string& name) {
  const auto found = attributes.find(name);
  return found == attributes.end() ? Bytes() : found->second;
}

std::string random_name() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> found;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    found.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return found;
}

std::string reference_of(const FileRecord& record) {
  return record.reference.empty() ? origin : record.reference;
}

// A link's reference names its entry, and the version of the directory before the entry was created.
struct LinkReference {
  std::string directory, name;
  uint64_t version = 0;
};
std::optional<LinkReference> parse_reference(const std::string& text) {
  if (!text.starts_with(link_prefix)) return std::nullopt;
  const std::vector<std::string> parts = lines(text.substr(link_prefix.size()));
  LinkReference reference;
  if (parts.size() != 3) return std::nullopt;
  reference.directory = parts[1];
  reference.name = parts[2];
  std::from_chars(parts[0].data(), parts[0].data() + parts[0].size(), reference.version);
  return reference;
}

const Read whole_state{.attributes = true, .entries = Read::Entries{}};

}  // namespace

ObjectDirectory::ObjectDirectory(Options options)
    : options_(std::move(options)), clock_(options_.clock != nullptr ? options_.clock : &system_clock_) {}

// --- Opening

base::Result<std::unique_ptr<ObjectDirectory>> ObjectDirectory::open(Options options) {
  std::unique_ptr<ObjectDirectory> directory(new ObjectDirectory(std::move(options)));
  SIBYL_TRY(directory->take_over());
  return directory;
}

base::Status ObjectDirectory::take_over() {
  const std::string what = fmt::format("Cannot open the directory {}", options_.name);
  Reply reply;
  do {
    const ReadReply found =
        repeat_read(store(), directory_object(options_.name), Read::state(), options_.patience);
    if (!found.reply.is_done() && !found.reply.is_refused(Reason::missing))
      return base::fail(error_of(found.reply, what));
    if (options_.owner_epoch > 0 && number_in(found.attributes, "owner") > options_.owner_epoch)
      return base::fail(base::ErrorCode::server, what + ": a later owner has opened it");
    reply = claim(found);
  } while (reply.is_refused(Reason::mismatch) || reply.is_refused(Reason::exists));
  if (reply.is_done()) reply = load();
  if (reply.is_done() && options_.seals_incomplete_files) reply = seal_incomplete_files();
  if (!reply.is_done()) return base::fail(error_of(reply, what));
  return {};
}

// The attribute `client` lists this client and the earlier clients that may not be fenced yet. A crash loses
// none of them.
Reply ObjectDirectory::claim(const ReadReply& found) {
  const bool exists = found.reply.is_done();
  const std::string me = store().client();
  std::string clients = me;
  std::vector<std::string> previous;
  for (std::string& client : lines(text_in(found.attributes, "client")))
    if (client != me) previous.push_back(std::move(client));
  if (options_.fences_previous_owner)
    for (const std::string& client : previous) clients += "\n" + client;
  const std::string opening = random_name();
  epoch_ = number_in(found.attributes, "epoch") + 1;
  version_ = number_in(found.attributes, "version") + 1;
  Mutation mutation;
  if (exists)
    mutation.if_attribute("epoch", std::to_string(epoch_ - 1))
        .if_attribute("version", std::to_string(version_ - 1));
  else
    mutation.must_not_exist().create();
  mutation.set_attribute("epoch", std::to_string(epoch_))
      .set_attribute("version", std::to_string(version_))
      .set_attribute("client", clients)
      .set_attribute("opening", opening)
      .allow_when_full();
  if (options_.owner_epoch > 0) mutation.set_attribute("owner", std::to_string(options_.owner_epoch));
  const Reply reply = repeat(store(), directory_object(options_.name), mutation, options_.patience);
  if (reply.outcome == Outcome::refused) {
    const ReadReply now =
        repeat_read(store(), directory_object(options_.name), Read::state(), options_.patience);
    if (!now.reply.is_done() || text_in(now.attributes, "opening") != opening) return reply;
  } else if (!reply.is_done()) {
    return reply;
  }
  if (!options_.fences_previous_owner) return {};
  for (const std::string& client : previous) {
    Reply fenced = Reply::unknown(Reason::timed_out);
    while (fenced.outcome == Outcome::unknown && !fenced.is_fenced())
      fenced = Blocking(store()).fence(client);
    if (!fenced.is_done()) return fenced;
  }
  return {};
}

Reply ObjectDirectory::load() {
  Read read{.entries = Read::Entries{}};
  for (;;) {
    const ReadReply part = repeat_read(store(), directory_object(options_.name), read, options_.patience);
    if (!part.reply.is_done()) return part.reply;
    for (const auto& [key, value] : part.entries) {
      std::optional<FileRecord> record = parse_file_record(value);
      if (!record) return Reply::refused(Reason::failed);
      if (key.starts_with(file_prefix))
        files_[key.substr(file_prefix.size())] = std::move(*record);
      else
        trash_[key.substr(trash_prefix.size())] = std::move(*record);
    }
    if (!part.has_more_entries) return {};
    read.entries->after = part.entries.rbegin()->first;
  }
}

// Turns incomplete files into complete ones or trash, and removes the previous owners.
Reply ObjectDirectory::seal_incomplete_files() {
  Change change;
  for (auto& [name, record] : files_) {
    if (record.is_complete) continue;
    if (record.is_kept_incomplete) {
      FileRecord sealed = record;
      if (const Reply reply = seal(sealed); !reply.is_done()) return reply;
      change.set.emplace_back(name, std::move(sealed));
    } else {
      change.erased.push_back(name);
      change.trashed.push_back(record);
    }
  }
  change.frees_space = true;
  return commit(std::move(change));
}

// Marks every block of the file as sealed, and creates a sealed block after the last one.
Reply ObjectDirectory::seal(FileRecord& record) {
  record.size = 0;
  for (uint64_t block = 0;; ++block) {
    const std::string object = block_name(record.id, block);
    Mutation mark;
    mark.must_exist().set_attribute("sealed", std::to_string(epoch_)).allow_when_full();
    Reply reply = repeat(store(), object, mark, options_.patience);
    if (reply.is_done()) {
      const ReadReply found = repeat_read(store(), object, Read{}, options_.patience);
      if (!found.reply.is_done()) return found.reply;
      record.size += found.size;
      continue;
    }
    if (!reply.is_refused(Reason::missing)) return reply;
    Mutation create;
    create.must_not_exist().create().set_attribute("sealed", std::to_string(epoch_)).allow_when_full();
    reply = repeat(store(), object, create, options_.patience);
    if (reply.is_refused(Reason::exists)) {
      --block;  // the writer was faster and created this block, so seal it
      continue;
    }
    record.blocks = block + 1;
    record.is_complete = true;
    return reply;
  }
}

Reply ObjectDirectory::release() {
  const std::lock_guard lock(mutex_);
  if (is_lost()) return Reply::refused(Reason::mismatch);
  Mutation mutation = mutation_of({});
  mutation.set_attribute("client", "").allow_when_full();
  const std::string object = directory_object(options_.name);
  Reply reply = repeat(store(), object, mutation, options_.patience);
  if (reply.is_refused(Reason::mismatch)) {
    // The mutation may have been refused because an earlier attempt was applied.
    const ReadReply found = repeat_read(store(), object, Read::state(), options_.patience);
    if (found.reply.is_done() && number_in(found.attributes, "epoch") == epoch_ &&
        text_in(found.attributes, "client").empty())
      reply = {};
  }
  if (reply.outcome != Outcome::unknown) is_lost_ = true;
  return reply;
}

void ObjectDirectory::lose(Reply why) {
  if (!is_lost_.exchange(true) && options_.on_lost) options_.on_lost(why);
}

// --- The chain of mutations

Mutation ObjectDirectory::mutation_of(const Change& change) const {
  Mutation mutation;
  mutation.if_attribute("epoch", std::to_string(epoch_))
      .if_attribute("version", std::to_string(version_))
      .set_attribute("version", std::to_string(version_ + 1));
  for (const std::string& name : change.erased) mutation.erase_entry(std::string(file_prefix) + name);
  for (const std::string& id : discarded_) mutation.erase_entry(std::string(trash_prefix) + id);
  for (const auto& [name, record] : change.set)
    mutation.set_entry(std::string(file_prefix) + name, encode(record));
  for (const FileRecord& record : change.trashed)
    mutation.set_entry(std::string(trash_prefix) + record.id, encode(record));
  if (change.frees_space) mutation.allow_when_full();
  return mutation;
}

Reply ObjectDirectory::commit(Change change) {
  const std::lock_guard lock(mutex_);
  return commit_locked(change);
}

Reply ObjectDirectory::commit_locked(const Change& change) {
  if (is_lost()) return Reply::refused(Reason::fenced);
  const std::string object = directory_object(options_.name);
  Mutation cancel;
  cancel.if_attribute("epoch", std::to_string(epoch_)).if_attribute("version", std::to_string(version_));
  cancel.set_attribute("version", std::to_string(version_ + 1)).allow_when_full();
  cancel.set_attribute("cancelled", std::to_string(version_ + 1));
  auto [reply, is_cancelled, was_in_doubt] =
      repeat_or_cancel(store(), object, mutation_of(change), cancel, options_.patience);
  (void)was_in_doubt;
  if (reply.is_refused(Reason::mismatch)) {
    // An earlier attempt of this very mutation may have been applied. Only the owner of the epoch adds versions.
    const ReadReply found = repeat_read(store(), object, Read::state(), options_.patience);
    if (found.reply.is_done() && number_in(found.attributes, "epoch") == epoch_ &&
        number_in(found.attributes, "version") == version_ + 1) {
      is_cancelled = number_in(found.attributes, "cancelled") == version_ + 1;
      reply = is_cancelled ? Reply::refused(Reason::full) : Reply{};
    }
  }
  if (is_cancelled) ++version_;
  if (reply.is_done()) {
    ++version_;
    discarded_.clear();
    apply(change);
    return reply;
  }
  if (!reply.is_refused(Reason::full) && !reply.is_refused(Reason::invalid)) {
    lose(reply);
    return Reply::refused(Reason::fenced);
  }
  return reply;
}

void ObjectDirectory::apply(const Change& change) {
  for (const std::string& name : change.erased) files_.erase(name);
  for (const auto& [name, record] : change.set) files_[name] = record;
  for (const FileRecord& record : change.trashed) trash_[record.id] = record;
}

// Adds the record under that name. If a file has the name, it becomes trash.
void ObjectDirectory::replace(const std::string& name, FileRecord record, Change& change) const {
  const auto found = files_.find(name);
  if (found != files_.end() && !found->second.id.empty()) change.trashed.push_back(found->second);
  change.set.emplace_back(name, std::move(record));
}

// --- Files

std::optional<FileRecord> ObjectDirectory::find(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(name);
  return found == files_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> ObjectDirectory::names() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, record] : files_) names.push_back(name);
  return names;
}

size_t ObjectDirectory::trash() const {
  const std::lock_guard lock(mutex_);
  return trash_.size();
}

Reply ObjectDirectory::create(const std::string& name, bool kept_incomplete, FileRecord& made) {
  Change change;
  {
    const std::lock_guard lock(mutex_);
    made = {.id = fmt::format("{}/{}-{}", options_.name, epoch_, next_file_++),
            .is_kept_incomplete = kept_incomplete,
            .modified_micros = now()};
    replace(name, made, change);
    if (const Reply reply = commit_locked(change); !reply.is_done()) return reply;
  }
  for (const FileRecord& record : change.trashed) (void)discard(record);
  return {};
}

Reply ObjectDirectory::create_inline(const std::string& name, base::Bytes content) {
  Change change;
  {
    const std::lock_guard lock(mutex_);
    FileRecord record{.is_complete = true, .size = content.size(), .modified_micros = now()};
    record.inlined = std::move(content);
    replace(name, std::move(record), change);
    if (const Reply reply = commit_locked(change); !reply.is_done()) return reply;
  }
  for (const FileRecord& record : change.trashed) (void)discard(record);
  return {};
}

Reply ObjectDirectory::complete(const std::string& name, const std::string& id, uint64_t size) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(name);
  if (found == files_.end() || found->second.id != id) return Reply::refused(Reason::missing);
  FileRecord record = found->second;
  record.is_complete = true;
  record.size = size;
  record.blocks = (size + block_bytes - 1) / block_bytes;
  record.modified_micros = now();
  Change change;
  change.set.emplace_back(name, std::move(record));
  return commit_locked(change);
}

Reply ObjectDirectory::rename(const std::string& from, const std::string& to) {
  Change change;
  {
    const std::lock_guard lock(mutex_);
    const auto found = files_.find(from);
    if (found == files_.end()) return Reply::refused(Reason::missing);
    if (from == to) return {};
    replace(to, found->second, change);
    change.erased.push_back(from);
    if (const Reply reply = commit_locked(change); !reply.is_done()) return reply;
  }
  for (const FileRecord& record : change.trashed) (void)discard(record);
  return {};
}

Reply ObjectDirectory::remove(const std::string& name) {
  Change change;
  {
    const std::lock_guard lock(mutex_);
    const auto found = files_.find(name);
    if (found == files_.end()) return Reply::refused(Reason::missing);
    change.erased.push_back(name);
    if (!found->second.id.empty()) change.trashed.push_back(found->second);
    change.frees_space = true;
    if (const Reply reply = commit_locked(change); !reply.is_done()) return reply;
  }
  for (const FileRecord& record : change.trashed) (void)discard(record);
  return {};
}

// --- Links

Reply ObjectDirectory::link(const std::string& name, ObjectDirectory& target,
                            const std::string& target_name) {
  std::optional<FileRecord> record = find(name);
  if (!record || !record->is_complete) return Reply::refused(Reason::missing);
  if (record->id.empty()) return target.create_inline(target_name, record->inlined);
  return target.commit_link(target_name, std::move(*record));
}

// Holds the mutex all the time, so that the reference has the version at which the entry is created.
Reply ObjectDirectory::commit_link(const std::string& name, FileRecord record) {
  const std::lock_guard lock(mutex_);
  if (files_.contains(name)) return Reply::refused(Reason::exists);
  const std::string object = block_name(record.id, 0);
  const std::string source = reference_of(record);
  record.reference = fmt::format("{}{}\n{}\n{}", link_prefix, version_, options_.name, name);
  for (;;) {
    const ReadReply found = repeat_read(store(), object, whole_state, options_.patience);
    if (!found.reply.is_done()) return found.reply;
    if (found.entries.contains(record.reference)) break;
    // The source has been removed in the meantime.
    if (found.attributes.contains("dying") || (!found.entries.empty() && !found.entries.contains(source)))
      return Reply::refused(Reason::missing);
    const uint64_t references = number_in(found.attributes, "references");
    Mutation add;
    add.if_attribute("references", text_in(found.attributes, "references"))
        .if_attribute("dying", "")
        .set_attribute("references", std::to_string(references + 1))
        .set_entry(source, "1")
        .set_entry(record.reference, "1");
    const Reply reply = repeat(store(), object, add, options_.patience);
    if (reply.is_done()) break;
    if (!reply.is_refused(Reason::mismatch)) return reply;
  }
  Change change;
  change.set.emplace_back(name, std::move(record));
  return commit_locked(change);
}

// --- Trash

// Removes a file's blocks if nothing else refers to them. On failure they stay in the trash until collect().
Reply ObjectDirectory::discard(const FileRecord& record) {
  if (record.is_complete && record.blocks <= 1 && record.reference.empty()) {
    Mutation remove;
    remove.if_attribute("references", "").remove().allow_when_full();
    const Reply reply = repeat(store(), block_name(record.id, 0), remove, options_.patience);
    if (reply.is_done() || reply.is_refused(Reason::missing)) {
      forget_trash(record.id);
      return {};
    }
    if (!reply.is_refused(Reason::mismatch)) return reply;
  }
  bool was_last = false;
  if (const Reply reply = drop_reference(record, was_last); !reply.is_done()) return reply;
  if (!was_last) return {};
  if (const Reply reply = remove_blocks(record); !reply.is_done()) return reply;
  forget_trash(record.id);
  return {};
}

Reply ObjectDirectory::drop_reference(const FileRecord& record, bool& was_last) {
  const std::string object = block_name(record.id, 0);
  const std::string mine = reference_of(record);
  for (;;) {
    const ReadReply found = repeat_read(store(), object, whole_state, options_.patience);
    was_last = found.reply.is_refused(Reason::missing) || found.attributes.contains("dying");
    if (was_last) return {};
    if (!found.reply.is_done()) return found.reply;
    const bool others =
        std::ranges::any_of(found.entries, [&](const auto& entry) { return entry.first != mine; });
    if (others && !found.entries.contains(mine)) return {};
    const Bytes references = text_in(found.attributes, "references");
    Mutation drop;
    drop.if_attribute("references", references).allow_when_full();
    if (others)
      drop.erase_entry(mine).set_attribute("references",
                                           std::to_string(number_in(found.attributes, "references") + 1));
    else
      drop.set_attribute("dying", "1");
    const Reply reply = repeat(store(), object, drop, options_.patience);
    if (!reply.is_done() && !reply.is_refused(Reason::mismatch) && !reply.is_refused(Reason::missing))
      return reply;
  }
}

// Removes the first block last: while it exists, other blocks may exist.
Reply ObjectDirectory::remove_blocks(const FileRecord& record) {
  uint64_t missing_in_a_row = 0;
  const auto is_last = [&](uint64_t block) {
    if (record.is_complete) return block >= record.blocks;
    return missing_in_a_row > max_blocks_in_flight;
  };
  Mutation remove;
  remove.remove().allow_when_full();
  for (uint64_t block = 1; !is_last(block);) {
    std::vector<std::future<Reply>> replies;
    for (uint64_t i = 0; i <= max_blocks_in_flight; ++i, ++block) {
      auto promise = std::make_shared<std::promise<Reply>>();
      replies.push_back(promise->get_future());
      store().mutate(block_name(record.id, block), remove,
                     [promise](Reply reply) { promise->set_value(reply); });
    }
    for (std::future<Reply>& future : replies) {
      const Reply reply = future.get();
      const bool missing = reply.is_refused(Reason::missing);
      if (!reply.is_done() && !missing) return reply;
      missing_in_a_row = missing ? missing_in_a_row + 1 : 0;
    }
  }
  const Reply reply = repeat(store(), block_name(record.id, 0), remove, options_.patience);
  return reply.is_refused(Reason::missing) ? Reply{} : reply;
}

void ObjectDirectory::forget_trash(const std::string& id) {
  const std::lock_guard lock(mutex_);
  if (trash_.erase(id) > 0) discarded_.push_back(id);
}

Reply ObjectDirectory::collect() {
  std::vector<FileRecord> records;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, record] : trash_) records.push_back(record);
  }
  for (const FileRecord& record : records) {
    if (const Reply reply = drop_orphans(record); !reply.is_done()) return reply;
    if (const Reply reply = discard(record); !reply.is_done()) return reply;
  }
  Change change;
  change.frees_space = true;
  {
    const std::lock_guard lock(mutex_);
    if (discarded_.empty()) return {};
  }
  return commit(std::move(change));
}

// Drops the references of links that were never completed. The directory of such a link has passed the
// version at which the entry would have been created, and has no such entry.
Reply ObjectDirectory::drop_orphans(const FileRecord& record) {
  const ReadReply block = repeat_read(store(), block_name(record.id, 0), whole_state, options_.patience);
  if (block.reply.is_refused(Reason::missing)) return {};
  if (!block.reply.is_done()) return block.reply;
  for (const auto& [text, value] : block.entries) {
    const std::optional<LinkReference> reference = parse_reference(text);
    if (!reference) continue;
    const std::string key = std::string(file_prefix) + reference->name;
    const ReadReply found = repeat_read(store(), directory_object(reference->directory),
                                        Read{.attributes = true, .named_entries = {key}}, options_.patience);
    if (!found.reply.is_done() && !found.reply.is_refused(Reason::missing)) return found.reply;
    if (found.reply.is_done() && number_in(found.attributes, "version") <= reference->version) continue;
    const auto entry = found.entries.find(key);
    const auto linked = entry == found.entries.end() ? std::nullopt : parse_file_record(entry->second);
    if (linked && linked->reference == text) continue;
    FileRecord orphan = record;
    orphan.reference = text;
    bool was_last = false;
    if (const Reply reply = drop_reference(orphan, was_last); !reply.is_done()) return reply;
  }
  return {};
}

}  // namespace sibyl::storage::objects
