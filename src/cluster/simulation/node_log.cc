#include "cluster/simulation/node_log.h"

#include <memory>
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
constexpr int64_t pause_micros = 50'000;
constexpr uint64_t max_log = 64 << 20;

std::string number(uint64_t value) {
  return value == 0 ? std::string() : std::to_string(value);  // a missing attribute equals 0
}
}  // namespace

void append_record(base::Bytes& out, const Record& record) {
  base::append_varint(out, record.shard);
  base::append_varint(out, record.epoch);
  base::append_varint(out, record.number);
  base::append_varint(out, record.key);
  base::append_signed_varint(out, record.value);
}

std::vector<Record> decode_records(base::BytesView bytes) {
  base::Reader reader(bytes);
  std::vector<Record> records;
  while (!reader.at_end()) {
    Record record;
    uint64_t shard = 0, key = 0;
    const bool ok = reader.varint(shard) && reader.varint(record.epoch) && reader.varint(record.number) &&
                    reader.varint(key) && reader.signed_varint(record.value);
    SIBYL_CHECK(ok);
    record.shard = static_cast<uint32_t>(shard);
    record.key = static_cast<Key>(key);
    records.push_back(record);
  }
  return records;
}

std::string log_object(const MemberId& id) {
  return "log/" + to_string(id);
}

void NodeLog::append(const Record& record, Done done) {
  if (is_sealed_) return done(false);
  append_record(waiting_, record);
  waiting_done_.push_back(std::move(done));
  if (!is_sending_) send();
}

void NodeLog::send() {
  is_sending_ = true;
  sent_ = Mutation();
  if (sequence_ == 0) {
    sent_.must_not_exist();  // sealing creates the object
  } else {
    sent_.if_attribute("sequence", number(sequence_));
    if (weakness_ != Weakness::no_fencing) sent_.if_attribute("sealed", "");
  }
  sent_.append(std::exchange(waiting_, {})).set_attribute("sequence", number(sequence_ + 1));
  sent_done_ = std::exchange(waiting_done_, {});
  repeat();
}

// The guard on the sequence lets the mutation be applied once, whatever happens to its copies.
void NodeLog::repeat() {
  store_.mutate(object_, sent_, [this](Reply reply) {
    if (reply.is_done()) return finish(true);
    if (reply.is_refused(Reason::mismatch) || reply.is_refused(Reason::exists)) return check();
    executor_.run_after(pause_micros, [this] { repeat(); });
  });
}

// Refused: an earlier copy was applied, or a successor has sealed the log.
void NodeLog::check() {
  store_.read(object_, Read::state(), [this](ReadReply found) {
    if (!found.reply.is_done()) return executor_.run_after(pause_micros, [this] { check(); });
    is_sealed_ = weakness_ != Weakness::no_fencing && found.attributes["sealed"] != "";
    finish(!is_sealed_ && found.attributes["sequence"] == number(sequence_ + 1));
  });
}

void NodeLog::finish(bool durable) {
  if (durable) ++sequence_;
  is_sending_ = false;
  for (Done& done : std::exchange(sent_done_, {})) done(durable);
  if (is_sealed_) {
    waiting_.clear();
    for (Done& done : std::exchange(waiting_done_, {})) done(false);
  } else if (!waiting_done_.empty() && !is_sending_) {
    send();
  }
}

namespace {

void read_records(storage::objects::ObjectStore& store, base::Executor& executor, const std::string& object,
                  std::move_only_function<void(std::vector<Record>)> done) {
  store.read(object, Read::data(0, max_log),
             [&store, &executor, object, done = std::move(done)](ReadReply found) mutable {
               if (found.reply.is_done() || found.reply.is_refused(Reason::missing))
                 return done(decode_records(found.data));
               executor.run_after(pause_micros,
                                  [&store, &executor, object, done = std::move(done)]() mutable {
                                    read_records(store, executor, object, std::move(done));
                                  });
             });
}

}  // namespace

void seal_and_read(storage::objects::ObjectStore& store, base::Executor& executor, const MemberId& log,
                   Weakness weakness, std::move_only_function<void(std::vector<Record>)> done) {
  const std::string object = log_object(log);
  if (weakness == Weakness::no_fencing) return read_records(store, executor, object, std::move(done));
  Mutation seal;
  seal.set_attribute("sealed", "1").allow_when_full();
  store.mutate(object, std::move(seal),
               [&store, &executor, log, weakness, object, done = std::move(done)](Reply reply) mutable {
                 if (reply.is_done()) return read_records(store, executor, object, std::move(done));
                 executor.run_after(pause_micros,
                                    [&store, &executor, log, weakness, done = std::move(done)]() mutable {
                                      seal_and_read(store, executor, log, weakness, std::move(done));
                                    });
               });
}

}  // namespace sibyl::cluster::simulation
