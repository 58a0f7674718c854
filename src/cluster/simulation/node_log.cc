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
constexpr uint64_t max_segment = 64 << 20;
constexpr uint64_t appends_per_segment = 5;

std::string number(uint64_t value) {
  return value == 0 ? std::string() : std::to_string(value);  // A missing attribute means 0.
}
}  // namespace

void append_record(base::Bytes& out, const Record& record) {
  base::append_varint(out, record.shard);
  base::append_varint(out, record.epoch);
  base::append_signed_varint(out, record.timestamp);
  base::append_varint(out, record.key);
  base::append_signed_varint(out, record.value);
}

std::vector<Record> decode_records(base::BytesView bytes) {
  base::Reader reader(bytes);
  std::vector<Record> records;
  while (!reader.at_end()) {
    Record record;
    uint64_t shard = 0, key = 0;
    const bool ok = reader.varint(shard) && reader.varint(record.epoch) &&
                    reader.signed_varint(record.timestamp) && reader.varint(key) &&
                    reader.signed_varint(record.value);
    SIBYL_CHECK(ok);
    record.shard = static_cast<uint32_t>(shard);
    record.key = static_cast<Key>(key);
    records.push_back(record);
  }
  return records;
}

std::string log_object(const MemberId& id, uint64_t segment) {
  return "log/" + to_string(id) + "/" + std::to_string(segment);
}

void NodeLog::append(const std::vector<Record>& records, Done done) {
  if (is_sealed_) return done(false);
  for (const Record& record : records) append_record(waiting_, record);
  waiting_done_.push_back(std::move(done));
  if (!is_sending_) send();
}

void NodeLog::send() {
  is_sending_ = true;
  sent_ = Mutation();
  if (segment_ == 0 || appends_ == appends_per_segment) {
    ++segment_;
    appends_ = 0;
    sent_.must_not_exist();  // sealing creates the next segment
  } else {
    sent_.if_attribute("sequence", number(sequence_));
    if (weakness_ != Weakness::no_fencing) sent_.if_attribute("sealed", "");
  }
  sent_.append(std::exchange(waiting_, {})).set_attribute("sequence", number(sequence_ + 1));
  sent_done_ = std::exchange(waiting_done_, {});
  repeat();
}

// The guards let the mutation be applied once, whatever happens to its copies.
void NodeLog::repeat() {
  store_.mutate(log_object(id_, segment_), sent_, [this](Reply reply) {
    if (reply.is_done()) return finish(true);
    if (reply.is_refused(Reason::mismatch) || reply.is_refused(Reason::exists)) return check();
    executor_.run_after(pause_micros, [this] { repeat(); });
  });
}

// Refused: an earlier copy was applied, or a successor has sealed the log.
void NodeLog::check() {
  store_.read(log_object(id_, segment_), Read::state(), [this](ReadReply found) {
    if (!found.reply.is_done()) return executor_.run_after(pause_micros, [this] { check(); });
    is_sealed_ = weakness_ != Weakness::no_fencing && found.attributes["sealed"] != "";
    finish(!is_sealed_ && found.attributes["sequence"] == number(sequence_ + 1));
  });
}

void NodeLog::finish(bool durable) {
  if (durable) {
    ++sequence_;
    ++appends_;
  }
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

// Seals and reads one segment after the other. Its callbacks keep it alive.
class Sealing : public std::enable_shared_from_this<Sealing> {
 public:
  // `end`: the number of the segment that ends the log.
  using Finished = std::move_only_function<void(std::vector<Record> records, uint64_t end)>;
  Sealing(storage::objects::ObjectStore& store, base::Executor& executor, const MemberId& log,
          Weakness weakness, Finished done)
      : store_(store), executor_(executor), log_(log), weakness_(weakness), done_(std::move(done)) {}

  void seal() {
    if (weakness_ == Weakness::no_fencing) return read();
    Mutation seal;
    seal.must_exist().set_attribute("sealed", "1").allow_when_full();
    mutate(std::move(seal), [](Sealing& self, Reply reply) {
      if (reply.is_done()) return self.read();
      if (!reply.is_refused(Reason::missing)) return self.retry();
      if (self.weakness_ == Weakness::seal_existing_only) return self.finish();
      self.create_end();
    });
  }

 private:
  // The writer of the log, or another server that seals it, may have created this segment first.
  void create_end() {
    Mutation create;
    create.must_not_exist().create().set_attribute("sealed", "1").set_attribute("end", "1").allow_when_full();
    mutate(std::move(create), [](Sealing& self, Reply reply) {
      if (reply.is_done()) return self.finish();
      if (reply.is_refused(Reason::exists)) return self.seal();
      self.retry();
    });
  }

  void read() {
    Read all = Read::data(0, max_segment);
    all.attributes = true;
    store_.read(log_object(log_, segment_), std::move(all),
                [self = shared_from_this()](const ReadReply& found) {
                  if (found.reply.is_refused(Reason::missing)) return self->finish();
                  if (!found.reply.is_done()) return self->retry();
                  for (const Record& record : decode_records(found.data)) self->records_.push_back(record);
                  if (found.attributes.contains("end")) return self->finish();
                  ++self->segment_;
                  self->seal();
                });
  }

  template <typename Then>
  void mutate(Mutation mutation, Then then) {
    store_.mutate(log_object(log_, segment_), std::move(mutation),
                  [self = shared_from_this(), then](Reply reply) { then(*self, reply); });
  }
  void retry() {
    executor_.run_after(pause_micros, [self = shared_from_this()] { self->seal(); });
  }
  void finish() { done_(std::move(records_), segment_); }

  storage::objects::ObjectStore& store_;
  base::Executor& executor_;
  const MemberId log_;
  const Weakness weakness_;
  Finished done_;
  uint64_t segment_ = 1;
  std::vector<Record> records_;
};

}  // namespace

void seal_and_read(storage::objects::ObjectStore& store, base::Executor& executor, const MemberId& log,
                   Weakness weakness, std::move_only_function<void(std::vector<Record>)> done) {
  const auto sealing = std::make_shared<Sealing>(
      store, executor, log, weakness,
      [done = std::move(done)](std::vector<Record> records, uint64_t) mutable { done(std::move(records)); });
  sealing->seal();
}

namespace {

void remove_down(storage::objects::ObjectStore& store, base::Executor& executor, const MemberId& log,
                 uint64_t segment, std::move_only_function<void()> done) {
  if (segment == 0) return done();
  store.mutate(log_object(log, segment), Mutation().remove().allow_when_full(),
               [&store, &executor, log, segment, done = std::move(done)](Reply reply) mutable {
                 const bool is_gone = reply.is_done() || reply.is_refused(Reason::missing);
                 if (is_gone) return remove_down(store, executor, log, segment - 1, std::move(done));
                 executor.run_after(pause_micros,
                                    [&store, &executor, log, segment, done = std::move(done)]() mutable {
                                      remove_down(store, executor, log, segment, std::move(done));
                                    });
               });
}

// Removes the data of the last segment, and the segments before it.
void empty(storage::objects::ObjectStore& store, base::Executor& executor, const MemberId& log,
           uint64_t segment, std::move_only_function<void()> done) {
  store.mutate(log_object(log, segment), Mutation().must_exist().replace({}).allow_when_full(),
               [&store, &executor, log, segment, done = std::move(done)](Reply reply) mutable {
                 const bool is_empty = reply.is_done() || reply.is_refused(Reason::missing);
                 if (is_empty) return remove_down(store, executor, log, segment - 1, std::move(done));
                 executor.run_after(pause_micros,
                                    [&store, &executor, log, segment, done = std::move(done)]() mutable {
                                      empty(store, executor, log, segment, std::move(done));
                                    });
               });
}

}  // namespace

void remove_log(storage::objects::ObjectStore& store, base::Executor& executor, const MemberId& log,
                Weakness weakness, std::move_only_function<void()> done) {
  auto remove = [&store, &executor, log, weakness, done = std::move(done)](const std::vector<Record>&,
                                                                           uint64_t end) mutable {
    if (weakness == Weakness::remove_ends) return remove_down(store, executor, log, end, std::move(done));
    if (end == 1) return done();
    empty(store, executor, log, end - 1, std::move(done));
  };
  std::make_shared<Sealing>(store, executor, log, weakness, std::move(remove))->seal();
}

}  // namespace sibyl::cluster::simulation
