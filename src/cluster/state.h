// The state of a cluster: its members, its leader, and who owns each shard. One object holds all of it.
//
//   attribute "format"     version of this encoding, and of the protocol between servers. Servers refuse a state with another one, so it
//                          changes whenever servers of two versions cannot work together
//   attribute "settings"   number of shards, duration of leases, and a secret; never changes
//   attribute "leader"     the MemberId of the leader; empty before the first
//   attribute "tag"        a new unique value whenever the leader, the set of members or a shard changes
//   entry "member/NAME"    Member
//   entry "shard/NUMBER"   Shard
//   entry "log/MEMBER"     MemberId of a member whose log may exist: set when it joins, erased when the log has been removed
//
// Because everything is one object, one guarded mutation can change the leader, remove a member and reassign
// its shards at once, and a guard on the tag makes it a compare-and-set of the whole state. Renewals of
// leases change only their member's entry and leave the tag as it is.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "storage/objects/object_store.h"

namespace sibyl::cluster {

// Identifies one run of one server. A server that restarts has another incarnation.
struct MemberId {
  std::string name;  // empty: no member
  uint64_t incarnation = 0;

  bool is_empty() const { return name.empty(); }
  auto operator<=>(const MemberId&) const = default;
  std::string encode() const;
  static base::Result<MemberId> decode(base::BytesView bytes);
};
// For logs and for names of objects, such as "n1-1f".
std::string to_string(const MemberId& id);

struct Member {
  uint64_t incarnation = 0;
  uint64_t renewal = 0;     // increases with each renewal of the lease
  bool is_leaving = false;  // asks to give up its shards
  // The member cannot serve requests yet. It gets shards only if no other member can have them.
  bool is_preparing = false;
  std::string address;  // HOST:PORT for clients, with a numeric host
  std::string data_center, rack;
  std::string version;  // of the program
  std::string
      peer_address;  // HOST:PORT for other servers (peers.h), with a numeric host; empty: it cannot be called
  base::Bytes
      later_fields;  // fields that a later version has added; kept unchanged, because guards compare whole
                     // entries

  bool operator==(const Member&) const = default;
  std::string encode() const;
  static base::Result<Member> decode(base::BytesView bytes);
};

// Writes of a shard that are in a member's log and perhaps nowhere else.
struct LogPart {
  MemberId log;
  uint64_t epoch = 0;  // the part has only records written at this epoch of the shard
  auto operator<=>(const LogPart&) const = default;
};

struct Shard {
  uint64_t epoch = 0;  // increases whenever the owner changes
  MemberId owner;      // empty: not assigned yet
  std::string next;    // the member to which the owner must hand the shard over; empty: none
  // The log parts that the owner must replay before it serves the shard. Empty once they are replayed.
  std::vector<LogPart> logs;

  bool operator==(const Shard&) const = default;
  std::string encode() const;
  static base::Result<Shard> decode(base::BytesView bytes);
};

struct Settings {
  uint32_t shards = 64;
  std::chrono::milliseconds lease{5'000};
  // Random bytes with which servers prove to each other that they can read this state. Must stay secret.
  base::Bytes secret;

  std::string encode() const;
  static base::Result<Settings> decode(base::BytesView bytes);
};

struct State {
  Settings settings;
  MemberId leader;
  std::string tag;
  std::map<std::string, Member> members;  // by name
  std::vector<Shard> shards;              // by number
  std::set<MemberId> logs;

  bool is_member(const MemberId& id) const;
  // Logs of former members that no shard needs. No shard will need them again.
  std::vector<MemberId> unneeded_logs() const;
};

// Names of entries.
std::string member_entry(const std::string& name);
std::string shard_entry(uint32_t shard);
std::string log_entry(const MemberId& id);

// The name of the directory that holds the files of a shard.
std::string shard_directory(uint32_t shard);

// The object that holds the state of the only cluster of a pool's namespace.
inline constexpr const char* state_object = "cluster";

// Creates the state with shards that have no owner. If `epochs` is not empty, it contains an epoch for each
// shard. Then the shards begin with higher epochs, because files of a shard may name earlier ones. Refused
// with Reason::exists if there is a state already.
storage::objects::Mutation create_state(const Settings& settings, const std::vector<uint64_t>& epochs = {});

// Reads the whole state as of one moment. The callback receives an error if there is no state, if it was
// written by another version, or if the storage did not answer.
void read_state(storage::objects::ObjectStore& store, std::function<void(base::Result<State>)> done);

}  // namespace sibyl::cluster
