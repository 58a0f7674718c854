#include "cluster/state.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "base/bytes.h"

namespace sibyl::cluster {

using base::Bytes;
using base::BytesView;
using base::ErrorCode;
using base::Reader;
using base::Result;
using storage::objects::Mutation;
using storage::objects::ObjectStore;
using storage::objects::Read;
using storage::objects::ReadReply;
using storage::objects::Reason;

namespace {

constexpr const char* format_version = "2";
constexpr uint64_t leaving_flag = 1, preparing_flag = 2;  // of a member
constexpr std::string_view member_prefix = "member/";
constexpr std::string_view shard_prefix = "shard/";
constexpr std::string_view log_prefix = "log/";
// A read of the state in pages starts again if the state changes between two pages, at most this many times.
constexpr int max_attempts = 20;

template <typename T>
Result<T> damaged(const char* what) {
  return base::fail(ErrorCode::server, fmt::format("The state of the cluster is damaged: {}", what));
}

void append_id(Bytes& out, const MemberId& id) {
  base::append_sized(out, id.name);
  base::append_varint(out, id.incarnation);
}

bool read_text(Reader& reader, std::string& text) {
  BytesView bytes;
  if (!reader.sized(bytes)) return false;
  text = bytes;
  return true;
}

bool read_id(Reader& reader, MemberId& id) {
  return read_text(reader, id.name) && reader.varint(id.incarnation);
}

}  // namespace

std::string MemberId::encode() const {
  Bytes out;
  append_id(out, *this);
  return out;
}

Result<MemberId> MemberId::decode(BytesView bytes) {
  Reader reader(bytes);
  MemberId id;
  if (!read_id(reader, id) || !reader.at_end()) return damaged<MemberId>("the name of a member");
  return id;
}

std::string to_string(const MemberId& id) {
  return fmt::format("{}-{:x}", id.name, id.incarnation);
}

std::string Member::encode() const {
  Bytes out;
  base::append_varint(out, incarnation);
  base::append_varint(out, renewal);
  base::append_varint(out, (is_leaving ? leaving_flag : 0) | (is_preparing ? preparing_flag : 0));
  for (const std::string* text : {&address, &data_center, &rack, &version, &peer_address})
    base::append_sized(out, *text);
  out += later_fields;
  return out;
}

Result<Member> Member::decode(BytesView bytes) {
  Reader reader(bytes);
  Member member;
  uint64_t flags = 0;
  if (!reader.varint(member.incarnation) || !reader.varint(member.renewal) || !reader.varint(flags) ||
      !read_text(reader, member.address) || !read_text(reader, member.data_center) ||
      !read_text(reader, member.rack) || !read_text(reader, member.version) ||
      !read_text(reader, member.peer_address) || flags > (leaving_flag | preparing_flag))
    return damaged<Member>("a member");
  member.later_fields = reader.rest();
  member.is_leaving = (flags & leaving_flag) != 0;
  member.is_preparing = (flags & preparing_flag) != 0;
  return member;
}

std::string Shard::encode() const {
  Bytes out;
  base::append_varint(out, epoch);
  append_id(out, owner);
  base::append_sized(out, next);
  base::append_varint(out, logs.size());
  for (const LogPart& part : logs) {
    append_id(out, part.log);
    base::append_varint(out, part.epoch);
  }
  return out;
}

Result<Shard> Shard::decode(BytesView bytes) {
  Reader reader(bytes);
  Shard shard;
  uint64_t logs = 0;
  bool ok = reader.varint(shard.epoch) && read_id(reader, shard.owner) && read_text(reader, shard.next) &&
            reader.varint(logs) && logs <= bytes.size();
  for (uint64_t i = 0; ok && i < logs; ++i) {
    LogPart part;
    ok = read_id(reader, part.log) && reader.varint(part.epoch);
    shard.logs.push_back(std::move(part));
  }
  if (!ok || !reader.at_end()) return damaged<Shard>("a shard");
  return shard;
}

std::string Settings::encode() const {
  Bytes out;
  base::append_varint(out, shards);
  base::append_varint(out, static_cast<uint64_t>(lease.count()));
  base::append_sized(out, secret);
  return out;
}

Result<Settings> Settings::decode(BytesView bytes) {
  Reader reader(bytes);
  uint64_t shards = 0, lease = 0;
  BytesView secret;
  if (!reader.varint(shards) || !reader.varint(lease) || !reader.sized(secret) || !reader.at_end() ||
      shards == 0 || shards > UINT32_MAX || lease == 0 || lease > INT32_MAX)
    return damaged<Settings>("its settings");
  return Settings{static_cast<uint32_t>(shards), std::chrono::milliseconds(lease), Bytes(secret)};
}

bool State::is_member(const MemberId& id) const {
  const auto found = members.find(id.name);
  return found != members.end() && found->second.incarnation == id.incarnation;
}

// A dead member stays the owner of its shards while there is no other member.
std::vector<MemberId> State::unneeded_logs() const {
  std::set<MemberId> unneeded = logs;
  for (const auto& [name, member] : members) unneeded.erase({name, member.incarnation});
  for (const Shard& shard : shards) {
    unneeded.erase(shard.owner);
    for (const LogPart& part : shard.logs) unneeded.erase(part.log);
  }
  return {unneeded.begin(), unneeded.end()};
}

std::string log_entry(const MemberId& id) {
  return std::string(log_prefix) + to_string(id);
}

std::string member_entry(const std::string& name) {
  return std::string(member_prefix) + name;
}

std::string shard_entry(uint32_t shard) {
  return fmt::format("{}{:08}", shard_prefix, shard);
}

std::string shard_directory(uint32_t shard) {
  return fmt::format("shard-{:08}", shard);
}

Mutation create_state(const Settings& settings, const std::vector<uint64_t>& epochs) {
  Mutation mutation;
  mutation.must_not_exist().create();
  mutation.set_attribute("format", format_version).set_attribute("settings", settings.encode());
  mutation.set_attribute("leader", MemberId().encode()).set_attribute("tag", "created");
  for (uint32_t shard = 0; shard < settings.shards; ++shard) {
    Shard unowned;
    if (shard < epochs.size()) unowned.epoch = epochs[shard];
    mutation.set_entry(shard_entry(shard), unowned.encode());
  }
  return mutation;
}

namespace {

base::Status decode_attributes(const std::map<std::string, Bytes>& attributes, State& state) {
  const auto value = [&](const char* name) {
    const auto found = attributes.find(name);
    return found == attributes.end() ? BytesView() : BytesView(found->second);
  };
  if (value("format") != format_version)
    return base::fail(
        base::Error(ErrorCode::server,
                    fmt::format("The state of the cluster has format '{}'; this server reads '{}'",
                                value("format"), format_version))
            .with_hint("use the version of Sibyl that the other servers of the cluster have"));
  SIBYL_ASSIGN(state.settings, Settings::decode(value("settings")));
  SIBYL_ASSIGN(state.leader, MemberId::decode(value("leader")));
  state.tag = value("tag");
  return {};
}

base::Status decode_entry(const std::string& name, BytesView value, State& state) {
  if (name.starts_with(member_prefix)) {
    SIBYL_ASSIGN(state.members[name.substr(member_prefix.size())], Member::decode(value));
  } else if (name.starts_with(log_prefix)) {
    SIBYL_ASSIGN(MemberId log, MemberId::decode(value));
    state.logs.insert(std::move(log));
  } else if (name.starts_with(shard_prefix)) {
    // Entries arrive in the order of their names, which is also the order of the shards' numbers.
    if (name != shard_entry(static_cast<uint32_t>(state.shards.size())))
      return base::fail(ErrorCode::server, "The state of the cluster is damaged: a shard is missing");
    SIBYL_ASSIGN(Shard shard, Shard::decode(value));
    state.shards.push_back(std::move(shard));
  }
  return {};
}

// Reads page after page. If the tag changes between two pages, starts again.
class StateReader : public std::enable_shared_from_this<StateReader> {
 public:
  StateReader(ObjectStore& store, std::function<void(Result<State>)> done)
      : store_(store), done_(std::move(done)) {}

  void read_page() {
    Read page = Read::state();
    page.entries = Read::Entries{.after = last_};
    store_.read(state_object, std::move(page),
                [self = shared_from_this()](ReadReply found) { self->receive(std::move(found)); });
  }

 private:
  void receive(ReadReply found) {
    if (found.reply.is_refused(Reason::missing))
      return done_(base::fail(ErrorCode::server, "There is no cluster in this pool"));
    if (!found.reply.is_done())
      return done_(base::fail(error_of(found.reply, "reading the state of the cluster")));
    State attributes;
    if (auto status = decode_attributes(found.attributes, attributes); !status)
      return done_(base::fail(status.error()));
    if (!last_.empty() && attributes.tag != state_.tag) return start_again();
    if (last_.empty()) state_ = std::move(attributes);
    for (const auto& [name, value] : found.entries) {
      if (auto status = decode_entry(name, value, state_); !status) return done_(base::fail(status.error()));
      last_ = name;
    }
    if (found.has_more_entries) return read_page();
    if (state_.shards.size() != state_.settings.shards) return done_(damaged<State>("a shard is missing"));
    done_(std::move(state_));
  }

  void start_again() {
    if (++attempts_ == max_attempts)
      return done_(base::fail(ErrorCode::server, "The state of the cluster changes too fast to be read"));
    state_ = {};
    last_.clear();
    read_page();
  }

  ObjectStore& store_;
  std::function<void(Result<State>)> done_;
  State state_;
  std::string last_;
  int attempts_ = 0;
};

}  // namespace

void read_state(ObjectStore& store, std::function<void(Result<State>)> done) {
  std::make_shared<StateReader>(store, std::move(done))->read_page();
}

}  // namespace sibyl::cluster
