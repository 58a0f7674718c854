// Tests of the promises in object_store.h, for every object store. Include it in a test file and instantiate:
//
//   INSTANTIATE_TEST_SUITE_P(Memory, ObjectStoreConformance, testing::Values(Implementation{"memory", make_world}));
//
// A test may use any names of objects: each test has its own world, or at least its own prefix for names.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "storage/objects/object_store.h"

namespace sibyl::storage::objects {

// One object storage, and control over its failures.
class World {
 public:
  virtual ~World() = default;
  virtual std::unique_ptr<ObjectStore> connect() = 0;
  // A client with a short timeout.
  virtual std::unique_ptr<ObjectStore> connect_impatient() { return connect(); }
  // Lets callbacks run until the condition holds. Fails the test if that takes too long.
  virtual void run_until(const std::function<bool()>& condition) = 0;
  // Advances the clock of the storage.
  virtual void pass(std::chrono::milliseconds time) = 0;
  // From now on mutations are applied only after release(), and clients get no reply.
  virtual void hold() = 0;
  virtual void release() = 0;
  virtual void set_full(bool full) = 0;
};

struct Implementation {
  std::string name;
  std::function<std::unique_ptr<World>()> make;
};
inline std::ostream& operator<<(std::ostream& out, const Implementation& implementation) {
  return out << implementation.name;
}

class ObjectStoreConformance : public testing::TestWithParam<Implementation> {
 protected:
  ObjectStoreConformance() : world_(GetParam().make()), store_(world_->connect()) {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    prefix_ = std::string(info->name()).substr(0, std::string(info->name()).find('/'));
  }

  std::string name(const std::string& object) const { return prefix_ + "." + object; }

  template <typename Answer, typename Call>
  Answer wait_for(Call call) {
    struct Slot {
      std::mutex mutex;
      std::optional<Answer> answer;
    };
    auto slot = std::make_shared<Slot>();
    call([slot](Answer answer) {
      const std::lock_guard lock(slot->mutex);
      EXPECT_FALSE(slot->answer.has_value()) << "called twice";
      slot->answer = std::move(answer);
    });
    const auto is_answered = [&slot] {
      const std::lock_guard lock(slot->mutex);
      return slot->answer.has_value();
    };
    world_->run_until(is_answered);
    return is_answered() ? std::move(*slot->answer) : Answer{};
  }

  Reply mutate(ObjectStore& store, const std::string& object, Mutation mutation) {
    return wait_for<Reply>(
        [&](auto done) { store.mutate(name(object), std::move(mutation), std::move(done)); });
  }
  Reply mutate(const std::string& object, Mutation mutation) {
    return mutate(*store_, object, std::move(mutation));
  }
  ReadReply read(ObjectStore& store, const std::string& object, Read what) {
    return wait_for<ReadReply>(
        [&](auto done) { store.read(name(object), std::move(what), std::move(done)); });
  }
  ReadReply read(const std::string& object, Read what = Read::data(0, 1 << 20)) {
    return read(*store_, object, std::move(what));
  }
  Reply lock(ObjectStore& store, const std::string& object, const std::string& owner,
             std::chrono::milliseconds duration, bool only_renew = false) {
    Lock lock{.name = "lease", .owner = owner, .description = "of " + owner, .duration = duration};
    lock.only_renew = only_renew;
    return wait_for<Reply>([&](auto done) { store.lock(name(object), lock, std::move(done)); });
  }
  LockReply read_lock(const std::string& object) {
    return wait_for<LockReply>([&](auto done) { store_->read_lock(name(object), "lease", std::move(done)); });
  }
  Reply fence(ObjectStore& store, const std::string& client) {
    return wait_for<Reply>([&](auto done) { store.fence(client, std::move(done)); });
  }

  const std::unique_ptr<World> world_;
  std::unique_ptr<ObjectStore> store_;
  std::string prefix_;
};

constexpr Reply done_reply{};
constexpr auto long_lock = std::chrono::milliseconds(60'000);
inline Mutation some() {
  return Mutation().append("x");
}

// --- Mutations and reads

TEST_P(ObjectStoreConformance, CreatesExclusively) {
  EXPECT_EQ(mutate("o", Mutation().must_not_exist().create().append("first")), done_reply);
  EXPECT_EQ(mutate("o", Mutation().must_not_exist().create().append("second")),
            Reply::refused(Reason::exists));
  EXPECT_EQ(read("o").data, "first");
}

TEST_P(ObjectStoreConformance, ReadsRanges) {
  EXPECT_EQ(read("o").reply, Reply::refused(Reason::missing));
  ASSERT_EQ(mutate("o", Mutation().append("0123456789")), done_reply);
  EXPECT_EQ(read("o", Read::data(2, 3)).data, "234");
  EXPECT_EQ(read("o", Read::data(8, 100)).data, "89");
  EXPECT_EQ(read("o", Read::data(10, 5)).data, "");
  EXPECT_EQ(read("o", Read::data(10, 5)).reply, done_reply);
  EXPECT_EQ(read("o", Read::state()).size, 10U);
}

TEST_P(ObjectStoreConformance, WritesReplacesAndAppends) {
  ASSERT_EQ(mutate("o", Mutation().write(3, "abc")), done_reply);
  EXPECT_EQ(read("o").data, Bytes("\0\0\0abc", 6));
  ASSERT_EQ(mutate("o", Mutation().write(4, "XYZ").append("!")), done_reply);
  EXPECT_EQ(read("o").data, Bytes("\0\0\0aXYZ!", 8));
  ASSERT_EQ(mutate("o", Mutation().replace("new").set_attribute("a", "1")), done_reply);
  EXPECT_EQ(read("o").data, "new");
  ASSERT_EQ(mutate("o", Mutation().replace("")), done_reply);
  EXPECT_EQ(read("o", Read::state()).size, 0U);
  EXPECT_EQ(read("o", Read::state()).attributes.at("a"), "1");
}

TEST_P(ObjectStoreConformance, RemovesEverything) {
  ASSERT_EQ(mutate("o", Mutation().append("x").set_attribute("a", "1").set_entry("e", "2")), done_reply);
  ASSERT_EQ(mutate("o", Mutation().remove()), done_reply);
  EXPECT_EQ(read("o").reply, Reply::refused(Reason::missing));
  EXPECT_EQ(mutate("o", Mutation().remove()), Reply::refused(Reason::missing));
  ASSERT_EQ(mutate("o", Mutation().create()), done_reply);
  const ReadReply found = read("o", {.attributes = true, .entries = Read::Entries{}});
  EXPECT_TRUE(found.attributes.empty());
  EXPECT_TRUE(found.entries.empty());
}

TEST_P(ObjectStoreConformance, GuardsComeBeforeAllActions) {
  ASSERT_EQ(mutate("o", Mutation().append("a").set_attribute("epoch", "1")), done_reply);
  const auto advance = [](const Bytes& from, const Bytes& to) {
    return Mutation().if_attribute("epoch", from).append("b").set_attribute("epoch", to).set_entry("e", to);
  };
  EXPECT_EQ(mutate("o", advance("2", "3")), Reply::refused(Reason::mismatch));
  EXPECT_EQ(read("o").data, "a");
  EXPECT_TRUE(read("o", {.entries = Read::Entries{}}).entries.empty());
  EXPECT_EQ(mutate("o", advance("1", "2")), done_reply);
  EXPECT_EQ(mutate("o", advance("1", "2")), Reply::refused(Reason::mismatch));
  EXPECT_EQ(read("o").data, "ab");
  EXPECT_EQ(read("o", Read::state()).attributes.at("epoch"), "2");
}

TEST_P(ObjectStoreConformance, ComparesAndSetsEntries) {
  ASSERT_EQ(mutate("o", Mutation().create()), done_reply);
  // A missing entry is equal to an empty value.
  EXPECT_EQ(mutate("o", Mutation().if_entry("e", "").set_entry("e", "1")), done_reply);
  EXPECT_EQ(mutate("o", Mutation().if_entry("e", "").set_entry("e", "1")), Reply::refused(Reason::mismatch));
  EXPECT_EQ(mutate("o", Mutation().if_entry("e", "1").if_entry("f", "").set_entry("f", "2").erase_entry("e")),
            done_reply);
  EXPECT_EQ(mutate("o", Mutation().erase_entry("never there")), done_reply);
  EXPECT_EQ(read("o", {.entries = Read::Entries{}}).entries, (std::map<std::string, Bytes>{{"f", "2"}}));
}

TEST_P(ObjectStoreConformance, GuardsNeedTheObject) {
  EXPECT_EQ(mutate("o", Mutation().if_attribute("a", "").append("x")), Reply::refused(Reason::missing));
  EXPECT_EQ(mutate("o", Mutation().if_entry("a", "").append("x")), Reply::refused(Reason::missing));
  EXPECT_EQ(mutate("o", Mutation().must_exist().append("x")), Reply::refused(Reason::missing));
  EXPECT_EQ(mutate("o", Mutation().erase_entry("e")), Reply::refused(Reason::missing));
  EXPECT_EQ(read("o").reply, Reply::refused(Reason::missing));
}

TEST_P(ObjectStoreConformance, ReadsEntriesInOrderAndInParts) {
  Mutation mutation;
  for (int i = 0; i < 2500; ++i) mutation.set_entry(std::to_string(100'000 + i), std::to_string(i));
  ASSERT_EQ(mutate("o", std::move(mutation)), done_reply);
  std::map<std::string, Bytes> all;
  std::string after;
  for (int parts = 1;; ++parts) {
    const ReadReply part = read("o", {.entries = Read::Entries{after, 1000}});
    ASSERT_EQ(part.reply, done_reply);
    ASSERT_FALSE(part.entries.empty());
    EXPECT_GT(part.entries.begin()->first, after);
    all.insert(part.entries.begin(), part.entries.end());
    after = part.entries.rbegin()->first;
    if (!part.has_more_entries) {
      EXPECT_EQ(parts, 3);
      break;
    }
  }
  EXPECT_EQ(all.size(), 2500U);
  EXPECT_EQ(all.at("102499"), "2499");
  const ReadReply named = read("o", {.named_entries = {"100007", "nothing"}});
  EXPECT_EQ(named.entries, (std::map<std::string, Bytes>{{"100007", "7"}}));
}

TEST_P(ObjectStoreConformance, RefusesWhatBreaksItsLimits) {
  EXPECT_EQ(mutate("o", Mutation().append(Bytes(max_mutation + 1, 'x'))), Reply::refused(Reason::invalid));
  EXPECT_EQ(mutate("o", Mutation().remove().append("x")), Reply::refused(Reason::invalid));
  EXPECT_EQ(mutate("o", Mutation().set_entry(std::string("a\0b", 3), "x")), Reply::refused(Reason::invalid));
  EXPECT_EQ(mutate("o", Mutation().set_attribute("lock.x", "x")), Reply::refused(Reason::invalid));
  EXPECT_EQ(read("o").reply, Reply::refused(Reason::missing));
  EXPECT_EQ(mutate("o", Mutation().append(Bytes(max_mutation, 'x'))), done_reply);
  EXPECT_EQ(read("o", Read::data(max_mutation - 2, 10)).data, "xx");
}

TEST_P(ObjectStoreConformance, KeepsTheOrderOfOneClient) {
  ASSERT_EQ(mutate("log", Mutation().create().set_attribute("n", "0")), done_reply);
  constexpr int count = 50;
  auto answered = std::make_shared<std::atomic<int>>(0);
  for (int i = 0; i < count; ++i) {
    store_->mutate(name("log"),
                   Mutation()
                       .if_attribute("n", std::to_string(i))
                       .append(std::to_string(i % 10))
                       .set_attribute("n", std::to_string(i + 1)),
                   [answered, i](Reply reply) {
                     EXPECT_EQ(reply, done_reply) << i;
                     ++*answered;
                   });
  }
  world_->run_until([answered] { return *answered == count; });
  EXPECT_EQ(read("log").data.size(), static_cast<size_t>(count));
  EXPECT_EQ(read("log").data.substr(0, 12), "012345678901");
}

TEST_P(ObjectStoreConformance, SeesWhatOtherClientsWrote) {
  const auto other = world_->connect();
  EXPECT_NE(other->client(), store_->client());
  ASSERT_EQ(mutate("o", Mutation().append("from one")), done_reply);
  EXPECT_EQ(read(*other, "o", Read::data(0, 100)).data, "from one");
}

// --- Outcomes

TEST_P(ObjectStoreConformance, AnUnknownMutationMayArriveLater) {
  const auto impatient = world_->connect_impatient();
  ASSERT_EQ(mutate("log", Mutation().create().set_attribute("n", "0")), done_reply);
  world_->hold();
  EXPECT_EQ(
      mutate(*impatient, "log", Mutation().if_attribute("n", "0").append("late").set_attribute("n", "1")),
      Reply::unknown(Reason::timed_out));
  world_->release();
  world_->run_until([&] { return read("log", Read::state()).attributes["n"] == "1"; });
  EXPECT_EQ(read("log").data, "late");
}

// A writer of a log follows this rule: repeat the same guarded mutation until it is done or refused.
TEST_P(ObjectStoreConformance, RepeatingAGuardedMutationAppliesItOnce) {
  const auto impatient = world_->connect_impatient();
  ASSERT_EQ(mutate("log", Mutation().create().set_attribute("n", "0")), done_reply);
  const Mutation append = Mutation().if_attribute("n", "0").append("once").set_attribute("n", "1");
  world_->hold();
  EXPECT_EQ(mutate(*impatient, "log", append), Reply::unknown(Reason::timed_out));
  world_->release();
  Reply last = Reply::unknown(Reason::timed_out);
  while (last.outcome == Outcome::unknown) last = mutate(*impatient, "log", append);
  EXPECT_TRUE(last.is_done() || last == Reply::refused(Reason::mismatch)) << to_string(last);
  world_->run_until([&] { return read("log", Read::state()).attributes["n"] == "1"; });
  EXPECT_EQ(read("log").data, "once");
}

TEST_P(ObjectStoreConformance, AGuardEndsTheDoubt) {
  const auto impatient = world_->connect_impatient();
  ASSERT_EQ(mutate("log", Mutation().create().set_attribute("epoch", "1")), done_reply);
  world_->hold();
  EXPECT_EQ(mutate(*impatient, "log", Mutation().if_attribute("epoch", "1").append("stale")),
            Reply::unknown(Reason::timed_out));
  world_->release();
  EXPECT_EQ(mutate("log", Mutation().if_attribute("epoch", "1").set_attribute("epoch", "2")), done_reply);
  // The late append was applied before the seal or never will be, so the data no longer changes.
  const Bytes at_seal = read("log").data;
  world_->pass(std::chrono::milliseconds(200));
  EXPECT_EQ(read("log").data, at_seal);
  EXPECT_EQ(mutate(*impatient, "log", Mutation().if_attribute("epoch", "1").append("stale")),
            Reply::refused(Reason::mismatch));
}

TEST_P(ObjectStoreConformance, FencedClientsChangeNothing) {
  auto dead = world_->connect();
  ASSERT_EQ(mutate(*dead, "o", some()), done_reply);
  ASSERT_EQ(fence(*store_, dead->client()), done_reply);
  ASSERT_EQ(mutate("o", Mutation().append("y")), done_reply);
  const Reply reply = mutate(*dead, "o", some());
  EXPECT_TRUE(reply.is_fenced()) << to_string(reply);
  EXPECT_EQ(reply.outcome, Outcome::unknown);
  EXPECT_TRUE(read(*dead, "o", Read::state()).reply.is_fenced());
  EXPECT_EQ(read("o").data, "xy");
  EXPECT_EQ(mutate(*world_->connect(), "o", some()), done_reply);
}

TEST_P(ObjectStoreConformance, FullStorageRefuses) {
  ASSERT_EQ(mutate("o", Mutation().append("x")), done_reply);
  ASSERT_EQ(mutate("gone", Mutation().append("x")), done_reply);
  world_->set_full(true);
  EXPECT_EQ(mutate("o", Mutation().append("y")), Reply::refused(Reason::full));
  EXPECT_EQ(mutate("new", Mutation().must_not_exist().create()), Reply::refused(Reason::full));
  EXPECT_EQ(read("o").data, "x");
  EXPECT_EQ(mutate("o", Mutation().append("z").allow_when_full()), done_reply);
  EXPECT_EQ(lock(*store_, "o", "me", long_lock), done_reply);
  EXPECT_EQ(lock(*store_, "o", "me", long_lock, true), done_reply);
  EXPECT_EQ(mutate("gone", Mutation().remove().allow_when_full()), done_reply);
  world_->set_full(false);
  EXPECT_EQ(mutate("o", Mutation().append("!")), done_reply);
  EXPECT_EQ(read("o").data, "xz!");
}

// --- Locks

TEST_P(ObjectStoreConformance, LocksExclude) {
  const auto other = world_->connect();
  EXPECT_EQ(lock(*store_, "l", "a", long_lock), done_reply);
  EXPECT_EQ(lock(*other, "l", "a", long_lock), Reply::refused(Reason::locked));
  EXPECT_EQ(lock(*store_, "l", "b", long_lock), Reply::refused(Reason::locked));
  EXPECT_EQ(lock(*store_, "l", "a", long_lock), done_reply);  // extends
  const LockReply found = read_lock("l");
  ASSERT_TRUE(found.holder.has_value());
  EXPECT_EQ(found.holder->client, store_->client());
  EXPECT_EQ(found.holder->owner, "a");
  EXPECT_EQ(found.holder->description, "of a");
  EXPECT_EQ(wait_for<Reply>([&](auto done) { other->unlock(name("l"), "lease", "a", std::move(done)); }),
            Reply::refused(Reason::missing));
  EXPECT_EQ(wait_for<Reply>([&](auto done) { store_->unlock(name("l"), "lease", "a", std::move(done)); }),
            done_reply);
  EXPECT_FALSE(read_lock("l").holder.has_value());
  EXPECT_EQ(lock(*other, "l", "a", long_lock), done_reply);
}

TEST_P(ObjectStoreConformance, LocksExpireAndAreNotRenewedThen) {
  const auto other = world_->connect();
  ASSERT_EQ(lock(*store_, "l", "a", std::chrono::milliseconds(1000)), done_reply);
  EXPECT_EQ(lock(*store_, "l", "a", std::chrono::milliseconds(1000), true), done_reply);
  world_->pass(std::chrono::milliseconds(2500));
  EXPECT_EQ(lock(*store_, "l", "a", long_lock, true), Reply::refused(Reason::missing));
  EXPECT_FALSE(read_lock("l").holder.has_value());
  EXPECT_EQ(lock(*other, "l", "b", long_lock), done_reply);
  EXPECT_EQ(lock(*store_, "l", "a", long_lock), Reply::refused(Reason::locked));
}

TEST_P(ObjectStoreConformance, LocksOfOthersCanBeBroken) {
  const auto other = world_->connect();
  ASSERT_EQ(lock(*other, "l", "a", long_lock), done_reply);
  const auto break_it = [&](LockHolder holder) {
    return wait_for<Reply>(
        [&](auto done) { store_->break_lock(name("l"), "lease", holder, std::move(done)); });
  };
  const LockReply found = read_lock("l");
  ASSERT_TRUE(found.holder.has_value());
  LockHolder wrong = *found.holder;
  wrong.owner = "somebody else";
  EXPECT_EQ(break_it(wrong), Reply::refused(Reason::missing));
  EXPECT_EQ(break_it(*found.holder), done_reply);
  EXPECT_EQ(lock(*store_, "l", "b", long_lock), done_reply);
  EXPECT_EQ(lock(*other, "l", "a", long_lock, true), Reply::refused(Reason::missing));
}

// A successor knows only the address of the dead server that holds the lock.
TEST_P(ObjectStoreConformance, TheHolderOfALockCanBeFenced) {
  auto dead = world_->connect();
  ASSERT_EQ(lock(*dead, "l", "a", long_lock), done_reply);
  const LockReply found = read_lock("l");
  ASSERT_TRUE(found.holder.has_value());
  ASSERT_EQ(fence(*store_, found.holder->client), done_reply);
  ASSERT_EQ(mutate("o", some()), done_reply);
  EXPECT_TRUE(mutate(*dead, "o", some()).is_fenced());
}

// --- Watches

TEST_P(ObjectStoreConformance, WatchersHearNotifications) {
  const auto other = world_->connect();
  EXPECT_EQ(wait_for<Reply>([&](auto done) { store_->notify(name("w"), "x", std::move(done)); }),
            Reply::refused(Reason::missing));
  ASSERT_EQ(mutate("w", Mutation().create()), done_reply);
  std::mutex mutex;
  std::vector<Bytes> heard;
  Reply watched = Reply::refused(Reason::invalid);
  std::unique_ptr<Watch> watch;
  std::atomic<bool> is_watching = false;
  other->watch(name("w"),
               {[&](const Bytes& message) {
                  const std::lock_guard lock(mutex);
                  heard.push_back(message);
                },
                {}},
               [&](Reply reply, std::unique_ptr<Watch> made) {
                 watched = reply;
                 watch = std::move(made);
                 is_watching = true;
               });
  world_->run_until([&] { return is_watching.load(); });
  ASSERT_EQ(watched, done_reply);
  EXPECT_EQ(wait_for<Reply>([&](auto done) { store_->notify(name("w"), "hello", std::move(done)); }),
            done_reply);
  world_->run_until([&] {
    const std::lock_guard lock(mutex);
    return !heard.empty();
  });
  EXPECT_EQ(heard, std::vector<Bytes>{"hello"});
  watch.reset();
  EXPECT_EQ(wait_for<Reply>([&](auto done) { store_->notify(name("w"), "unheard", std::move(done)); }),
            done_reply);
  world_->pass(std::chrono::milliseconds(50));
  EXPECT_EQ(heard.size(), 1U);
}

TEST_P(ObjectStoreConformance, ReportsSpace) {
  ASSERT_EQ(mutate("o", Mutation().append(Bytes(1000, 'x'))), done_reply);
  const Space space = wait_for<Space>([&](auto done) { store_->space(std::move(done)); });
  ASSERT_EQ(space.reply, done_reply);
  EXPECT_GE(space.total, space.used);
}

}  // namespace sibyl::storage::objects
