#include "cluster/simulation/node_shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"

namespace sibyl::cluster::simulation {

using storage::objects::Mutation;
using storage::objects::Outcome;
using storage::objects::Read;
using storage::objects::ReadReply;
using storage::objects::Reason;
using storage::objects::Reply;

namespace {

constexpr int64_t retry_micros = 50'000;

std::string shard_object(uint32_t shard) {
  return fmt::format("shard/{}", shard);
}

std::string text_of(uint64_t value) {
  return value == 0 ? std::string() : std::to_string(value);  // A missing attribute means 0.
}

uint64_t number_of(const ReadReply& found, const char* attribute) {
  const auto value = found.attributes.find(attribute);
  return value == found.attributes.end() || value->second.empty() ? 0 : std::stoull(value->second);
}

base::Status not_answered(const char* what) {
  return base::fail(base::ErrorCode::server, what);
}

}  // namespace

struct NodeShards::Opening {
  uint32_t number = 0;
  std::shared_ptr<Shard> shard;
  std::vector<LogPart> logs;
  size_t replayed = 0;
  Done done;
};

struct NodeShards::Flush {
  uint32_t number = 0;
  std::shared_ptr<Shard> shard;
  Mutation mutation;
  Done done;
};

// Returns a function that runs only while this opening of the shard lasts.
template <typename Function>
auto NodeShards::guarded(uint32_t shard, const std::shared_ptr<Shard>& opened, Function function) {
  return [this, shard, opened, function = std::move(function)](auto&&... values) mutable {
    const auto found = shards_.find(shard);
    if (found != shards_.end() && found->second == opened)
      function(std::forward<decltype(values)>(values)...);
  };
}

// The write with the highest timestamp wins, in whatever order writes are added. The end of an intent has the
// timestamp of its beginning, and replaces only the beginning.
void NodeShards::add(Shard& shard, const Record& record) {
  Cell& cell = shard.cells[record.key];
  const bool ends = record.timestamp == cell.timestamp && record.key >= first_intent && record.value == 0;
  if (record.timestamp > cell.timestamp || ends) cell = {record.timestamp, record.value};
  shard.highest = std::max(shard.highest, record.timestamp);
}

// The result is never below the highest timestamp of the shard, because clocks of servers differ and jump.
int64_t NodeShards::next_timestamp(Shard& shard) const {
  const int64_t now = wall_clock_();
  if (weakness_ == Weakness::trust_clock) return now;
  return shard.highest = std::max(now, shard.highest + 1);
}

void NodeShards::open(uint32_t shard, uint64_t epoch, const std::vector<LogPart>& logs, Done done) {
  auto opened = std::make_shared<Shard>();
  opened->epoch = epoch;
  shards_[shard] = opened;
  fence(std::make_shared<Opening>(Opening{shard, opened, logs, 0, std::move(done)}));
}

// --- Opening: raise the epoch, load the flushed data, replay the logs, flush

void NodeShards::fence(std::shared_ptr<Opening> opening) {
  store_.read(shard_object(opening->number), Read::state(),
              guarded(opening->number, opening->shard, [this, opening](const ReadReply& found) {
                if (!found.reply.is_done() && !found.reply.is_refused(Reason::missing))
                  return opening->done(not_answered("reading a shard"));
                raise_epoch(opening, found);
              }));
}

void NodeShards::raise_epoch(std::shared_ptr<Opening> opening, const ReadReply& found) {
  const uint64_t epoch = number_of(found, "epoch");
  if (epoch > opening->shard->epoch)
    return opening->done(not_answered("another member has opened the shard"));
  Mutation raise;
  raise.if_attribute("epoch", text_of(epoch)).set_attribute("epoch", text_of(opening->shard->epoch));
  if (!found.reply.is_done()) {
    raise = Mutation().must_not_exist();
    raise.set_attribute("epoch", text_of(opening->shard->epoch));
  }
  store_.mutate(shard_object(opening->number), std::move(raise),
                guarded(opening->number, opening->shard, [this, opening](Reply reply) {
                  if (!reply.is_done()) return opening->done(not_answered("raising the epoch of a shard"));
                  load(opening);
                }));
}

void NodeShards::load(std::shared_ptr<Opening> opening) {
  Read all = Read::data(0, 64 << 20);
  all.attributes = true;
  store_.read(shard_object(opening->number), std::move(all),
              guarded(opening->number, opening->shard, [this, opening](const ReadReply& found) {
                if (!found.reply.is_done()) return opening->done(not_answered("loading a shard"));
                Shard& shard = *opening->shard;
                shard.flushes = number_of(found, "flushes");
                for (const Record& record : decode_records(found.data)) add(shard, record);
                replay(opening);
              }));
}

void NodeShards::replay(std::shared_ptr<Opening> opening) {
  if (weakness_ == Weakness::no_replay || opening->replayed == opening->logs.size()) {
    if (opening->logs.empty()) return opening->done({});
    return write_cells(opening->number, opening->shard, std::move(opening->done));
  }
  const LogPart part = opening->logs[opening->replayed++];
  seal_and_read(
      store_, executor_, part.log, weakness_,
      guarded(opening->number, opening->shard, [this, opening, part](const std::vector<Record>& records) {
        for (const Record& record : records) {
          if (record.shard == opening->number && record.epoch == part.epoch) add(*opening->shard, record);
        }
        replay(opening);
      }));
}

// --- Flushing and closing

// The mutation is guarded by the epoch and by the number of flushes. So a late copy cannot undo a newer one.
void NodeShards::write_cells(uint32_t number, const std::shared_ptr<Shard>& shard, Done done) {
  base::Bytes data;
  for (const auto& [key, cell] : shard->cells)
    append_record(data, {number, shard->epoch, cell.timestamp, key, cell.value});
  Mutation write;
  if (weakness_ != Weakness::no_fencing) write.if_attribute("epoch", text_of(shard->epoch));
  write.if_attribute("flushes", text_of(shard->flushes))
      .set_attribute("flushes", text_of(shard->flushes + 1));
  write.replace(std::move(data));
  auto attempt = std::make_shared<Flush>(Flush{number, shard, std::move(write), std::move(done)});
  send_flush(std::move(attempt));
}

// Repeats until it is done or refused: a copy that is still on its way must not be applied after a newer
// flush.
void NodeShards::send_flush(std::shared_ptr<Flush> flush) {
  store_.mutate(shard_object(flush->number), flush->mutation,
                guarded(flush->number, flush->shard, [this, flush](Reply reply) {
                  if (reply.is_done()) {
                    ++flush->shard->flushes;
                    return flush->done({});
                  }
                  if (reply.is_refused(Reason::mismatch)) return check_flush(flush);
                  executor_.run_after(retry_micros, guarded(flush->number, flush->shard,
                                                            [this, flush] { send_flush(flush); }));
                }));
}

// Refused: an earlier copy was applied, or another member has opened the shard.
void NodeShards::check_flush(std::shared_ptr<Flush> flush) {
  store_.read(shard_object(flush->number), Read::state(),
              guarded(flush->number, flush->shard, [this, flush](const ReadReply& found) {
                if (!found.reply.is_done()) return send_flush(flush);
                const bool applied = number_of(found, "epoch") == flush->shard->epoch &&
                                     number_of(found, "flushes") == flush->shard->flushes + 1;
                if (applied) ++flush->shard->flushes;
                flush->done(applied ? base::Status() : not_answered("flushing a shard"));
              }));
}

void NodeShards::flush(uint32_t shard, Done done) {
  write_cells(shard, shards_.at(shard), std::move(done));
}

void NodeShards::close(uint32_t shard, Done done) {
  const auto opened = shards_.at(shard);
  opened->closing = std::move(done);
  close_if_idle(shard, opened);
}

void NodeShards::close_if_idle(uint32_t number, const std::shared_ptr<Shard>& shard) {
  if (!shard->closing || !shard->queues.empty()) return;
  if (weakness_ == Weakness::hand_over_unflushed) return std::exchange(shard->closing, nullptr)({});
  write_cells(number, shard, std::exchange(shard->closing, nullptr));
}

// --- Requests

void NodeShards::execute(uint32_t shard, Request request, Respond respond) {
  const auto opened = shards_.at(shard);
  const Key key = request.key;
  auto& queue = opened->queues[key];
  queue.push_back({std::move(request), std::move(respond)});
  if (queue.size() == 1) run(shard, opened, key);
}

void NodeShards::run(uint32_t number, const std::shared_ptr<Shard>& shard, Key key) {
  const Request request = shard->queues[key].front().request;
  const auto cell = shard->cells.find(key);
  Response response;
  if (cell != shard->cells.end()) response.seen = cell->second.value;
  response.applied = applies(*shard, request, response.seen);
  if (!response.applied) return finish(number, shard, key, response);

  const int64_t value =
      request.kind == Request::Kind::add ? response.seen.value_or(0) + request.value : request.value;
  response.timestamp = next_timestamp(*shard);
  std::vector<Record> records{{number, shard->epoch, response.timestamp, key, value}};
  if (has_view(key)) records.push_back({number, shard->epoch, response.timestamp, intent_of(key), 1});
  auto applied = [this, number, shard, key, response, records,
                  ticket = request.ticket](bool durable) mutable {
    if (durable) {
      for (const Record& record : records) add(*shard, record);
      auto& tickets = shard->tickets[key];
      tickets.erase(tickets.begin(), tickets.upper_bound(ticket));
    } else {
      response.status = Response::Status::unknown;
    }
    finish(number, shard, key, response);
  };
  if (weakness_ == Weakness::acknowledge_early) {
    log_.append(records, [](bool) {});
    return applied(true);
  }
  log_.append(records, guarded(number, shard, std::move(applied)));
}

bool NodeShards::applies(const Shard& shard, const Request& request, Value seen) const {
  switch (request.kind) {
    case Request::Kind::read:
      return false;
    case Request::Kind::write:
    case Request::Kind::add:
      return true;
    case Request::Kind::exchange:
      return seen == request.expected;
    case Request::Kind::put_view_row:
      break;
  }
  const auto tickets = shard.tickets.find(request.key);
  return weakness_ == Weakness::put_late ||
         (tickets != shard.tickets.end() && tickets->second.contains(request.ticket));
}

void NodeShards::finish(uint32_t number, const std::shared_ptr<Shard>& shard, Key key, Response response) {
  auto& queue = shard->queues[key];
  Respond respond = std::move(queue.front().respond);
  queue.pop_front();
  const bool is_idle = queue.empty();
  if (is_idle) shard->queues.erase(key);
  respond(response);
  if (!is_idle)
    executor_.run_after(0, guarded(number, shard, [this, number, shard, key] { run(number, shard, key); }));
  close_if_idle(number, shard);
}

// --- Views

Value NodeShards::value_of(uint32_t shard, Key key) const {
  const auto& cells = shards_.at(shard)->cells;
  const auto cell = cells.find(key);
  return cell == cells.end() ? std::nullopt : Value(cell->second.value);
}

uint64_t NodeShards::issue_ticket(uint32_t shard, Key row) {
  Shard& opened = *shards_.at(shard);
  opened.tickets[row].insert(++opened.last_ticket);
  return opened.last_ticket;
}

std::vector<std::pair<Key, int64_t>> NodeShards::open_intents(uint32_t shard) const {
  std::vector<std::pair<Key, int64_t>> open;
  const auto& cells = shards_.at(shard)->cells;
  for (auto cell = cells.lower_bound(first_intent); cell != cells.end(); ++cell)
    if (cell->second.value == 1) open.emplace_back(cell->first - first_intent, cell->second.timestamp);
  return open;
}

void NodeShards::close_intent(uint32_t shard, Key base, int64_t timestamp) {
  const auto opened = shards_.at(shard);
  const Cell& cell = opened->cells[intent_of(base)];
  if (cell.timestamp != timestamp || cell.value != 1) return;
  // Uses the timestamp of the beginning instead of a newer one, because a change of the base row may be on
  // its way to the log.
  const Record closed{shard, opened->epoch, timestamp, intent_of(base), 0};
  log_.append({closed}, guarded(shard, opened, [opened, closed](bool durable) {
                if (durable) add(*opened, closed);
              }));
}

}  // namespace sibyl::cluster::simulation
