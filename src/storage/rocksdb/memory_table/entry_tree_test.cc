#include "storage/rocksdb/memory_table/entry_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/bytes.h"

namespace sibyl::storage::rocksdb {
namespace {

std::string internal_key(const std::string& user_key, uint64_t sequence) {
  std::string key = user_key;
  const uint64_t tag = sequence << 8 | 1;
  for (unsigned shift = 0; shift < 64; shift += 8) key += static_cast<char>(tag >> shift);
  return key;
}

// Return internal keys that are before and after all entries of the user key.
std::string first_key(const std::string& user_key) {
  return internal_key(user_key, (uint64_t{1} << 56) - 1);
}
std::string last_key(const std::string& user_key) {
  return user_key + std::string(8, '\0');
}

std::string entry_of(const std::string& key) {
  std::string entry;
  size_t size = key.size();
  for (; size >= 128; size >>= 7) entry += static_cast<char>(size | 128);
  return entry + static_cast<char>(size) + key;
}

std::string key_in(const char* entry) {
  size_t size = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = static_cast<uint8_t>(*entry++);
    size |= static_cast<size_t>(byte & 127) << shift;
    if (byte < 128) return {entry, size};
  }
}

class EntryTreeTest : public testing::Test {
 protected:
  // Sorts like the memory table: user keys in order, entries of the same user key from the newest to the
  // oldest.
  struct Before {
    bool operator()(const std::string& left, const std::string& right) const {
      const auto user = [](const std::string& key) {
        return std::string_view(key).substr(0, key.size() - 8);
      };
      if (user(left) != user(right)) return user(left) < user(right);
      return tag(left) > tag(right);
    }
    static uint64_t tag(const std::string& key) {
      uint64_t tag = 0;
      for (size_t i = 8; i > 0; --i) tag = tag << 8 | static_cast<uint8_t>(key[key.size() - 9 + i]);
      return tag;
    }
  };

  void insert(const std::string& user_key) {
    const std::string key = internal_key(user_key, ++sequence_);
    entries_.push_back(entry_of(key));
    tree_.insert(entries_.back().data());
    expected_.emplace(key, entries_.back().data());
  }

  void expect_at(const EntryTree::Cursor& cursor,
                 const std::map<std::string, const char*, Before>::iterator& at) {
    ASSERT_EQ(cursor.valid(), at != expected_.end());
    if (cursor.valid()) {
      ASSERT_EQ(cursor.entry(), at->second);
    }
  }

  void expect_everything() {
    EXPECT_EQ(tree_.size(), expected_.size());
    EntryTree::Cursor cursor(tree_);
    cursor.seek_to_first();
    for (auto at = expected_.begin(); at != expected_.end(); ++at, cursor.next()) expect_at(cursor, at);
    EXPECT_FALSE(cursor.valid());
    cursor.seek_to_last();
    for (auto at = expected_.rbegin(); at != expected_.rend(); ++at, cursor.previous()) {
      ASSERT_TRUE(cursor.valid());
      ASSERT_EQ(cursor.entry(), at->second);
    }
    EXPECT_FALSE(cursor.valid());
    for (const auto& [key, entry] : expected_) expect_found(key);
  }

  void expect_found(const std::string& key) {
    EntryTree::Cursor cursor(tree_);
    const auto after = expected_.lower_bound(key);
    cursor.seek(key);
    expect_at(cursor, after);
    auto before = expected_.upper_bound(key);
    before = before == expected_.begin() ? expected_.end() : std::prev(before);
    cursor.seek_before(key);
    expect_at(cursor, before);
  }

  void expect_found_near(const std::string& user_key) {
    expect_found(first_key(user_key));
    expect_found(last_key(user_key));
    expect_found(internal_key(user_key, sequence_ / 2));
  }

  std::deque<std::unique_ptr<char[]>> memory_;
  EntryTree tree_{[this](size_t bytes) { return memory_.emplace_back(new char[bytes + 1]).get() + 1; }};
  std::deque<std::string> entries_;
  std::map<std::string, const char*, Before> expected_;
  uint64_t sequence_ = 0;
};

TEST_F(EntryTreeTest, IsEmptyAtFirst) {
  EntryTree::Cursor cursor(tree_);
  cursor.seek_to_first();
  EXPECT_FALSE(cursor.valid());
  cursor.seek_to_last();
  EXPECT_FALSE(cursor.valid());
  expect_found_near("key");
  EXPECT_EQ(tree_.rank_of(first_key("key")), 0);
}

TEST_F(EntryTreeTest, SortsRandomKeys) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) insert(std::to_string(random()));
  expect_everything();
  for (int i = 0; i < 1000; ++i) expect_found_near(std::to_string(random()));
}

// The keys have long common beginnings, begin with other keys, contain zero bytes, or have many versions.
TEST_F(EntryTreeTest, SortsSimilarKeys) {
  std::mt19937_64 random(2);
  const auto similar = [&] {
    std::string key(random() % 30, random() % 2 == 0 ? '\0' : 'a');
    for (size_t more = random() % 4; more > 0; --more) key += static_cast<char>(random() % 3);
    return key + std::string(random() % 2 == 0 ? 0 : random() % 200, 'z');
  };
  for (int i = 0; i < 20'000; ++i) insert(similar());
  expect_everything();
  for (int i = 0; i < 2000; ++i) expect_found_near(similar());
}

TEST_F(EntryTreeTest, SortsAscendingAndDescendingKeys) {
  const auto number = [](int i) { return "table and token" + std::to_string(1'000'000 + i); };
  for (int i = 0; i < 5000; ++i) insert(number(2 * i));
  for (int i = 20'000; i > 10'000; --i) insert(number(i));
  for (int i = 0; i < 5000; ++i) insert(number(2 * i + 1));
  expect_everything();
}

TEST_F(EntryTreeTest, FillsLeavesWithAscendingKeys) {
  size_t bytes = 0;
  EntryTree tree([&](size_t size) {
    bytes += size;
    return memory_.emplace_back(new char[size]).get();
  });
  constexpr int count = 10'000;
  for (int i = 0; i < count; ++i)
    tree.insert(entries_.emplace_back(entry_of(internal_key(std::to_string(100'000 + i), 1))).data());
  EXPECT_LT(bytes / count, 25u);
}

TEST_F(EntryTreeTest, EstimatesRanks) {
  for (int i = 0; i < 10'000; ++i) insert(std::to_string(100'000 + (i * 7919) % 10'000));
  EXPECT_NEAR(tree_.rank_of(first_key("105000")), 5000, 500);
  EXPECT_NEAR(tree_.rank_of(first_key("101000")), 1000, 500);
  EXPECT_LE(tree_.rank_of(first_key("0")), 1);
}

TEST_F(EntryTreeTest, StaysAsItWasIfThereIsNoMemory) {
  bool has_memory = true;
  EntryTree tree([&](size_t size) {
    if (!has_memory) throw std::bad_alloc();
    return memory_.emplace_back(new char[size]).get();
  });
  std::mt19937_64 random(3);
  std::vector<std::string> inserted;
  for (int i = 0; i < 5000; ++i) {
    const std::string key = internal_key(std::to_string(random()), 1);
    const char* const entry = entries_.emplace_back(entry_of(key)).data();
    has_memory = random() % 2 == 0;
    try {
      tree.insert(entry);
    } catch (const std::bad_alloc&) {
      has_memory = true;
      tree.insert(entry);
    }
    inserted.push_back(key);
  }
  std::sort(inserted.begin(), inserted.end(), Before());
  EntryTree::Cursor cursor(tree);
  cursor.seek_to_first();
  for (const std::string& key : inserted) {
    ASSERT_TRUE(cursor.valid());
    ASSERT_EQ(key_in(cursor.entry()), key);
    cursor.next();
  }
}

// Readers see every entry that was inserted before they began, in order, in both directions, while the tree
// grows.
class EntryTreeThreadsTest : public EntryTreeTest {
 protected:
  static constexpr size_t count = 30'000;

  void write(const std::vector<std::string>& keys) {
    for (const std::string& key : keys) entries_.push_back(entry_of(key));
    for (size_t i = 0; i < keys.size(); ++i) {
      tree_.insert(entries_[i].data());
      inserted_.store(i + 1, std::memory_order_release);
    }
  }

  // Entries that were inserted must be found. The newest ones are next to nodes that are being split.
  void read_points(const std::vector<std::string>& keys, unsigned seed) {
    std::mt19937 random(seed);
    EntryTree::Cursor cursor(tree_);
    for (size_t known = 0; known < keys.size();) {
      known = inserted_.load(std::memory_order_acquire);
      if (known == 0) continue;
      const size_t newest = std::min<size_t>(known, 20);
      const size_t i = random() % 2 == 0 ? random() % known : known - 1 - random() % newest;
      cursor.seek(keys[i]);
      if (!cursor.valid() || key_in(cursor.entry()) != keys[i]) ++failures_;
      cursor.seek_before(keys[i]);
      if (!cursor.valid() || key_in(cursor.entry()) != keys[i]) ++failures_;
    }
  }

  template <typename Begin, typename Step, typename InOrder>
  void walk(const std::vector<std::string>& keys, const Begin& begin, const Step& step,
            const InOrder& in_order) {
    std::vector<std::string> known;
    for (size_t before = 0; before < keys.size();) {
      before = inserted_.load(std::memory_order_acquire);
      known.assign(keys.begin(), keys.begin() + static_cast<ptrdiff_t>(before));
      std::sort(known.begin(), known.end(), in_order);
      EntryTree::Cursor cursor(tree_);
      begin(cursor);
      std::string last;
      auto next = known.begin();
      for (; cursor.valid(); step(cursor)) {
        const std::string key = key_in(cursor.entry());
        if (!last.empty() && !in_order(last, key)) ++failures_;
        if (next != known.end() && *next == key) ++next;
        last = key;
      }
      if (next != known.end()) ++failures_;
    }
  }

  void run(const std::vector<std::string>& keys) {
    std::vector<std::thread> readers;
    readers.emplace_back([&] { read_points(keys, 1); });
    readers.emplace_back([&] { read_points(keys, 2); });
    readers.emplace_back([&] {
      walk(keys, [](auto& cursor) { cursor.seek_to_first(); }, [](auto& cursor) { cursor.next(); }, Before());
    });
    readers.emplace_back([&] {
      walk(
          keys, [](auto& cursor) { cursor.seek_to_last(); }, [](auto& cursor) { cursor.previous(); },
          [](const auto& left, const auto& right) { return Before()(right, left); });
    });
    write(keys);
    for (std::thread& reader : readers) reader.join();
    EXPECT_EQ(failures_, 0);
  }

  std::atomic<size_t> inserted_ = 0;
  std::atomic<int> failures_ = 0;
};

TEST_F(EntryTreeThreadsTest, ReadersSeeRandomKeys) {
  std::mt19937_64 random(4);
  std::vector<std::string> keys;
  for (size_t i = 0; i < count; ++i) keys.push_back(internal_key(std::to_string(random()), i + 1));
  run(keys);
}

TEST_F(EntryTreeThreadsTest, ReadersSeeVersionsOfFewKeys) {
  std::mt19937_64 random(5);
  std::vector<std::string> keys;
  for (size_t i = 0; i < count; ++i)
    keys.push_back(internal_key("partition" + std::to_string(random() % 100), i + 1));
  run(keys);
}

TEST_F(EntryTreeThreadsTest, ReadersSeeAscendingKeys) {
  std::vector<std::string> keys;
  for (size_t i = 0; i < count; ++i) keys.push_back(internal_key(std::to_string(1'000'000 + i), 1));
  run(keys);
}

}  // namespace
}  // namespace sibyl::storage::rocksdb
