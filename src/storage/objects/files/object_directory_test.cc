#include "storage/objects/files/object_directory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "storage/objects/files/block_writer.h"
#include "storage/objects/memory/memory_objects.h"

namespace sibyl::storage::objects {
namespace {

constexpr std::chrono::milliseconds patience(5'000);
constexpr Reply done_reply{};

struct Owner {
  std::unique_ptr<ObjectStore> client;
  std::unique_ptr<ObjectDirectory> directory;
  int times_lost = 0;
};

class Directories : public testing::Test {
 protected:
  std::unique_ptr<Owner> open(const std::string& name = "d", std::chrono::milliseconds patience_ = patience,
                              bool fences = true, bool seals = true) {
    auto owner = std::make_unique<Owner>();
    owner->client = objects_.connect();
    ObjectDirectory::Options options;
    options.store = owner->client.get();
    options.name = name;
    options.clock = &clock_;
    options.patience = patience_;
    options.fences_previous_owner = fences;
    options.seals_incomplete_files = seals;
    options.on_lost = [counter = &owner->times_lost](Reply) { ++*counter; };
    auto opened = ObjectDirectory::open(std::move(options));
    EXPECT_TRUE(opened.has_value()) << opened.error().text();
    if (opened) owner->directory = std::move(*opened);
    return owner;
  }
  static Reply write(ObjectDirectory& directory, const std::string& name, const Bytes& content) {
    FileRecord record;
    if (const Reply reply = directory.create(name, false, record); !reply.is_done()) return reply;
    BlockWriter writer(directory, record.id);
    if (const Reply reply = writer.append(content); !reply.is_done()) return reply;
    if (const Reply reply = writer.sync(); !reply.is_done()) return reply;
    return directory.complete(name, record.id, writer.size());
  }
  static Bytes content_of(ObjectDirectory& directory, const std::string& name) {
    const auto record = directory.find(name);
    if (!record) return "none";
    Bytes content;
    const Reply reply =
        BlockRead(directory.store(), *record, 0, record->size).finish(std::chrono::milliseconds(0), content);
    return reply.is_done() ? content : "error: " + to_string(reply);
  }
  // Returns the names of objects that are not directories.
  std::vector<std::string> blocks() const {
    std::vector<std::string> names = objects_.names();
    std::erase_if(names, [](const std::string& name) { return name.starts_with("directory/"); });
    return names;
  }

  base::ManualClock clock_{1'700'000'000'000'000};
  MemoryObjects objects_{{}};
};

Bytes large(char first) {
  Bytes content(2 * block_bytes + 1000, first);
  for (size_t i = 0; i < content.size(); i += 4096) content[i] = static_cast<char>('a' + i / 4096 % 26);
  return content;
}

TEST_F(Directories, KeepFilesAcrossOpens) {
  auto one = open();
  EXPECT_EQ(write(*one->directory, "small", "content"), done_reply);
  EXPECT_EQ(write(*one->directory, "large", large('x')), done_reply);
  EXPECT_EQ(write(*one->directory, "empty", ""), done_reply);
  EXPECT_EQ(one->directory->create_inline("inline", "in the entry\n with a space"), done_reply);
  EXPECT_EQ(one->directory->rename("small", "renamed"), done_reply);
  EXPECT_EQ(one->directory->release(), done_reply);
  const auto two = open();
  EXPECT_EQ(two->directory->names(), (std::vector<std::string>{"empty", "inline", "large", "renamed"}));
  EXPECT_EQ(content_of(*two->directory, "renamed"), "content");
  EXPECT_TRUE(content_of(*two->directory, "large") == large('x'));
  EXPECT_EQ(content_of(*two->directory, "empty"), "");
  EXPECT_EQ(content_of(*two->directory, "inline"), "in the entry\n with a space");
  EXPECT_EQ(two->directory->find("large")->modified_micros, clock_.now_micros());
  Bytes part;
  BlockRead middle(*two->client, *two->directory->find("large"), block_bytes - 10, 20);
  EXPECT_EQ(middle.finish(patience, part), done_reply);
  EXPECT_EQ(part, large('x').substr(block_bytes - 10, 20));
}

TEST_F(Directories, RemoveAndReplaceLeaveNoObjects) {
  const auto owner = open();
  ASSERT_EQ(write(*owner->directory, "a", large('x')), done_reply);
  ASSERT_EQ(write(*owner->directory, "b", "short"), done_reply);
  EXPECT_EQ(blocks().size(), 4U);
  ASSERT_EQ(owner->directory->rename("b", "a"), done_reply);
  EXPECT_EQ(content_of(*owner->directory, "a"), "short");
  EXPECT_EQ(blocks().size(), 1U);
  EXPECT_EQ(owner->directory->remove("a"), done_reply);
  EXPECT_EQ(owner->directory->remove("a"), Reply::refused(Reason::missing));
  EXPECT_TRUE(blocks().empty());
  EXPECT_EQ(owner->directory->trash(), 0U);
  EXPECT_EQ(owner->directory->collect(), done_reply);
  EXPECT_EQ(open()->directory->trash(), 0U);
}

// Every operation of a directory checks the epoch, so it notices another owner.
TEST_F(Directories, AreLostWhenAnotherOwnerOpensThem) {
  const auto old_owner = open("d", patience, false);
  ASSERT_EQ(write(*old_owner->directory, "a", "1"), done_reply);
  // Without sealing, the new owner's first version is the version that the old owner's next mutation would
  // have.
  const auto new_owner = open("d", patience, false, false);
  EXPECT_EQ(new_owner->directory->epoch(), old_owner->directory->epoch() + 1);
  EXPECT_EQ(old_owner->directory->remove("a"), Reply::refused(Reason::fenced));
  EXPECT_TRUE(old_owner->directory->is_lost());
  EXPECT_EQ(old_owner->times_lost, 1);
  EXPECT_EQ(old_owner->directory->rename("a", "b"), Reply::refused(Reason::fenced));
  EXPECT_EQ(write(*old_owner->directory, "c", "1"), Reply::refused(Reason::fenced));
  EXPECT_EQ(old_owner->times_lost, 1);
  EXPECT_EQ(new_owner->directory->names(), std::vector<std::string>{"a"});
  EXPECT_EQ(new_owner->directory->remove("a"), done_reply);
}

TEST_F(Directories, FenceTheOwnerThatDidNotReleaseThem) {
  const auto dead = open();
  const auto next = open();
  EXPECT_TRUE(Blocking(*dead->client).mutate("o", Mutation().append("x")).is_fenced());
  ASSERT_EQ(next->directory->release(), done_reply);
  const auto last = open();
  EXPECT_TRUE(Blocking(*next->client).mutate("o", Mutation().append("x")).is_done());
}

// Otherwise a mutation that arrives late would bring back an entry whose file is gone.
TEST_F(Directories, LateMutationsAreNotAppliedOverNewerOnes) {
  for (int round = 0; round < 20; ++round) {  // the late mutation arrives at a random time
    const std::string name = "d" + std::to_string(round);
    const auto owner = open(name);
    bool delays = true;
    objects_.set_fault_choice([&delays](const OperationInfo& operation) {
      const bool chosen = operation.kind == OperationInfo::Kind::mutate && std::exchange(delays, false);
      return std::optional(chosen ? Fault::late : Fault::none);
    });
    ASSERT_EQ(owner->directory->create_inline("a", "content"), done_reply);
    ASSERT_EQ(owner->directory->remove("a"), done_reply);
    objects_.apply_late();
    EXPECT_TRUE(open(name)->directory->names().empty()) << round;
  }
}

// A MANIFEST must not grow after its reader has reached the end.
TEST_F(Directories, SealIncompleteFilesThatAreKept) {
  const auto old_owner = open("d", patience, false);
  FileRecord record;
  ASSERT_EQ(old_owner->directory->create("MANIFEST", true, record), done_reply);
  BlockWriter writer(*old_owner->directory, record.id);
  ASSERT_EQ(writer.append("synced"), done_reply);
  ASSERT_EQ(writer.sync(), done_reply);
  const auto new_owner = open("d", patience, false);
  EXPECT_EQ(content_of(*new_owner->directory, "MANIFEST"), "synced");
  ASSERT_EQ(writer.append(", and more"), done_reply);
  EXPECT_EQ(writer.sync(), Reply::refused(Reason::fenced));
  EXPECT_EQ(old_owner->times_lost, 1);
  EXPECT_EQ(content_of(*open("d", patience, false)->directory, "MANIFEST"), "synced");
}

TEST_F(Directories, SealBlocksThatDoNotExistYet) {
  const auto old_owner = open("d", patience, false);
  FileRecord record;
  ASSERT_EQ(old_owner->directory->create("MANIFEST", true, record), done_reply);
  BlockWriter writer(*old_owner->directory, record.id);
  ASSERT_EQ(writer.append(Bytes(block_bytes, 'x')), done_reply);
  ASSERT_EQ(writer.sync(), done_reply);
  const auto new_owner = open("d", patience, false);
  ASSERT_EQ(writer.append("in the next block"), done_reply);
  EXPECT_EQ(writer.sync(), Reply::refused(Reason::fenced));
  EXPECT_EQ(content_of(*new_owner->directory, "MANIFEST").size(), block_bytes);
  ASSERT_EQ(new_owner->directory->remove("MANIFEST"), done_reply);
  EXPECT_TRUE(blocks().empty());
}

TEST_F(Directories, DropOtherIncompleteFiles) {
  auto dead = open();
  FileRecord record;
  ASSERT_EQ(dead->directory->create("table", false, record), done_reply);
  {
    BlockWriter writer(*dead->directory, record.id);
    ASSERT_EQ(writer.append(large('x')), done_reply);
    ASSERT_EQ(writer.sync(), done_reply);
  }
  const auto next = open();
  EXPECT_TRUE(next->directory->names().empty());
  EXPECT_EQ(next->directory->trash(), 1U);
  EXPECT_EQ(next->directory->collect(), done_reply);
  EXPECT_TRUE(blocks().empty());
}

TEST_F(Directories, LinksShareBlocksUntilTheLastIsRemoved) {
  const auto owner = open("d"), other = open("other");
  for (const Bytes& content : {Bytes("short"), large('x')}) {
    ASSERT_EQ(write(*owner->directory, "a", content), done_reply);
    const size_t count = blocks().size();
    ASSERT_EQ(owner->directory->link("a", *other->directory, "copy"), done_reply);
    EXPECT_EQ(owner->directory->link("a", *other->directory, "copy"), Reply::refused(Reason::exists));
    ASSERT_EQ(other->directory->link("copy", *other->directory, "second"), done_reply);
    EXPECT_EQ(blocks().size(), count);
    ASSERT_EQ(owner->directory->remove("a"), done_reply);
    ASSERT_EQ(other->directory->remove("copy"), done_reply);
    EXPECT_TRUE(content_of(*other->directory, "second") == content);
    ASSERT_EQ(owner->directory->collect(), done_reply);
    EXPECT_TRUE(content_of(*other->directory, "second") == content);
    ASSERT_EQ(other->directory->remove("second"), done_reply);
    EXPECT_TRUE(blocks().empty());
    ASSERT_EQ(owner->directory->collect(), done_reply);
    EXPECT_EQ(owner->directory->trash(), 0U);
  }
}

// The owner crashes after a varying number of operations. Every file that has a name is whole. After
// collect() no object is left over.
TEST_F(Directories, CrashesLoseNothingAndLeakNothing) {
  for (int crash_after = 0; crash_after < 60; ++crash_after) {
    objects_.set_fault_choice({});
    auto source = open("s", std::chrono::milliseconds(0)), target = open("t", std::chrono::milliseconds(0));
    int left = crash_after;
    objects_.set_fault_choice([&left](const OperationInfo&) {
      return std::optional(left-- > 0 ? Fault::none : Fault::lost_request);
    });
    (void)write(*source->directory, "a", large('x'));
    (void)write(*source->directory, "b", "short");
    (void)source->directory->link("a", *target->directory, "a");
    (void)source->directory->link("b", *target->directory, "b");
    (void)source->directory->remove("a");
    (void)target->directory->remove("a");
    (void)target->directory->remove("b");
    source.reset();
    target.reset();
    objects_.set_fault_choice({});
    source = open("s");
    target = open("t");
    for (Owner* owner : {source.get(), target.get()})
      for (const std::string& name : owner->directory->names())
        EXPECT_TRUE(content_of(*owner->directory, name) == (name == "a" ? large('x') : "short"))
            << name << " after " << crash_after;
    for (Owner* owner : {source.get(), target.get()}) {
      for (const std::string& name : owner->directory->names())
        EXPECT_EQ(owner->directory->remove(name), done_reply);
      (void)owner->directory->collect();
    }
    (void)source->directory->collect();
    EXPECT_EQ(blocks(), std::vector<std::string>()) << "after " << crash_after;
  }
}

TEST_F(Directories, FullStorageRefusesFilesButNotTheirRemoval) {
  const auto owner = open();
  ASSERT_EQ(write(*owner->directory, "a", "content"), done_reply);
  objects_.set_full(true);
  EXPECT_EQ(write(*owner->directory, "b", "content"), Reply::refused(Reason::full));
  EXPECT_EQ(owner->directory->remove("a"), done_reply);
  EXPECT_TRUE(blocks().empty());
  EXPECT_FALSE(owner->directory->is_lost());
  objects_.set_full(false);
  EXPECT_EQ(write(*owner->directory, "b", "content"), done_reply);
}

// The mutation timed out and was then refused. A late copy of it may arrive when there is space again.
TEST_F(Directories, AMutationInDoubtIsCancelledWhenTheStorageIsFull) {
  for (int round = 0; round < 20; ++round) {  // the late mutation arrives at a random time
    const std::string name = "d" + std::to_string(round);
    const auto owner = open(name);
    int attempts = 0;
    objects_.set_fault_choice([&](const OperationInfo& operation) {
      const bool is_late = operation.kind == OperationInfo::Kind::mutate && attempts++ == 0;
      if (is_late) objects_.set_full(true);
      return std::optional(is_late ? Fault::late : Fault::none);
    });
    EXPECT_EQ(owner->directory->create_inline("refused", "content"), Reply::refused(Reason::full));
    objects_.set_fault_choice({});
    objects_.set_full(false);
    objects_.apply_late();
    EXPECT_EQ(owner->directory->create_inline("after", "content"), done_reply);
    EXPECT_FALSE(owner->directory->is_lost());
    EXPECT_EQ(open(name)->directory->names(), std::vector<std::string>{"after"}) << round;
  }
}

// The slow owner was paused for a long time before it opened the directory.
TEST_F(Directories, ASlowOwnerDoesNotTakeThemBack) {
  const auto slow = objects_.connect(), newer = objects_.connect();
  const auto current = ObjectDirectory::open({.store = newer.get(), .name = "d", .owner_epoch = 7});
  ASSERT_TRUE(current.has_value());
  EXPECT_FALSE(ObjectDirectory::open({.store = slow.get(), .name = "d", .owner_epoch = 6}).has_value());
  EXPECT_EQ((*current)->create_inline("a", "content"), done_reply);
  EXPECT_TRUE(Blocking(*newer).mutate("o", Mutation().append("x")).is_done());  // the client was not fenced
}

// Compares random operations with a map, while mutations are lost, applied without a reply, late or twice.
TEST_F(Directories, MatchAModelUnderFaults) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    objects_.set_faults({.lost_request = 0.1, .lost_reply = 0.1, .late = 0.1, .duplicated = 0.05});
    const std::string name = "model" + std::to_string(seed);
    std::mt19937_64 random(seed);
    std::map<std::string, Bytes> model;
    auto owner = open(name);
    for (int i = 0; i < 60; ++i) {
      const std::string one = std::to_string(random() % 6), two = std::to_string(random() % 6);
      switch (random() % 5) {
        case 0:
        case 1: {
          const Bytes content = std::to_string(i) + (random() % 4 == 0 ? Bytes(block_bytes, 'y') : "");
          ASSERT_EQ(write(*owner->directory, one, content), done_reply);
          model[one] = content;
          break;
        }
        case 2:
          EXPECT_EQ(owner->directory->remove(one).is_done(), model.erase(one) > 0);
          break;
        case 3:
          EXPECT_EQ(owner->directory->rename(one, two).is_done(), model.contains(one));
          if (const auto found = model.find(one); found != model.end() && one != two) {
            model[two] = found->second;
            model.erase(one);
          }
          break;
        case 4:
          if (random() % 4 == 0) owner = open(name);
          break;
      }
    }
    objects_.set_faults({});
    objects_.apply_late();
    owner = open(name);
    ASSERT_EQ(owner->directory->names().size(), model.size()) << "seed " << seed;
    for (const auto& [file, content] : model)
      EXPECT_TRUE(content_of(*owner->directory, file) == content) << "seed " << seed << ", file " << file;
  }
}

}  // namespace
}  // namespace sibyl::storage::objects
