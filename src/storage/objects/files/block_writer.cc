#include "storage/objects/files/block_writer.h"

#include <algorithm>
#include <future>

#include "storage/objects/files/repeat.h"

namespace sibyl::storage::objects {
namespace {

Mutation mutation_of(uint64_t offset, const base::Bytes& data, bool creates) {
  Mutation mutation;
  if (creates)
    mutation.must_not_exist();
  else
    mutation.if_attribute("sealed", "");
  mutation.write(offset, data);
  return mutation;
}

}  // namespace

BlockWriter::~BlockWriter() {
  std::unique_lock lock(shared_->mutex);
  shared_->changed.wait(lock, [this] { return shared_->in_flight == 0; });
}

Reply BlockWriter::append(base::BytesView data) {
  while (!data.empty() && error_.is_done()) {
    const uint64_t room = block_bytes - size() % block_bytes;
    const base::BytesView part = data.substr(0, room);
    buffer_.append(part);
    data.remove_prefix(part.size());
    if (part.size() < room) break;
    flush_buffer();
    error_ = wait_until(max_blocks_in_flight - 1);
  }
  return error_;
}

Reply BlockWriter::sync() {
  if (!error_.is_done()) return error_;
  if (!buffer_.empty()) flush_buffer();
  return error_ = wait_until(0);
}

// The buffer never crosses the end of a block.
void BlockWriter::flush_buffer() {
  auto piece = std::make_shared<Piece>();
  piece->block = written_ / block_bytes;
  piece->offset = written_ % block_bytes;
  piece->creates = piece->offset == 0;
  written_ += buffer_.size();
  piece->data = std::move(buffer_);
  buffer_.clear();
  send(piece);
}

void BlockWriter::send(const std::shared_ptr<Piece>& piece) {
  {
    const std::lock_guard lock(shared_->mutex);
    ++shared_->in_flight;
  }
  directory_.store().mutate(block_name(id_, piece->block),
                            mutation_of(piece->offset, piece->data, piece->creates),
                            [shared = shared_, piece](Reply reply) {
                              const std::lock_guard lock(shared->mutex);
                              --shared->in_flight;
                              if (!reply.is_done()) shared->failed.emplace_back(piece, reply);
                              shared->changed.notify_all();
                            });
}

// Also finishes pieces with an unknown outcome.
Reply BlockWriter::wait_until(uint64_t max_in_flight) {
  std::unique_lock lock(shared_->mutex);
  for (;;) {
    shared_->changed.wait(lock,
                          [&] { return shared_->in_flight <= max_in_flight || !shared_->failed.empty(); });
    if (shared_->failed.empty()) return {};
    const auto [piece, reply] = shared_->failed.front();
    shared_->failed.pop_front();
    lock.unlock();
    if (const Reply retried = retry(piece, reply); !retried.is_done()) return retried;
    lock.lock();
  }
}

Reply BlockWriter::retry(const std::shared_ptr<Piece>& piece, Reply reply) {
  const std::string object = block_name(id_, piece->block);
  if (reply.outcome == Outcome::unknown && !reply.is_fenced())
    reply = repeat(directory_.store(), object, mutation_of(piece->offset, piece->data, piece->creates),
                   directory_.patience());
  // Either an earlier attempt created the block, or a new owner sealed the file.
  if (reply.is_refused(Reason::exists))
    reply = repeat(directory_.store(), object, mutation_of(piece->offset, piece->data, false),
                   directory_.patience());
  if (reply.is_refused(Reason::mismatch) || reply.is_fenced()) {
    directory_.lose(reply);
    return Reply::refused(Reason::fenced);
  }
  return reply;
}

BlockRead::BlockRead(ObjectStore& store, FileRecord record, uint64_t offset, uint64_t length)
    : store_(store), record_(std::move(record)), offset_(std::min(offset, record_.size)) {
  length_ = std::min(length, record_.size - offset_);
  if (record_.id.empty()) return;
  for (uint64_t at = offset_; at < offset_ + length_;) {
    const uint64_t inside = at % block_bytes;
    const uint64_t size = std::min(block_bytes - inside, offset_ + length_ - at);
    parts_.push_back({at / block_bytes, Read::data(inside, size), {}});
    at += size;
  }
  for (Part& part : parts_) {
    auto promise = std::make_shared<std::promise<ReadReply>>();
    part.answer = promise->get_future();
    store_.read(block_name(record_.id, part.block), part.read,
                [promise](ReadReply answer) { promise->set_value(std::move(answer)); });
  }
}

Reply BlockRead::finish(std::chrono::milliseconds patience, base::Bytes& data) {
  if (record_.id.empty())
    data = record_.inlined.substr(offset_, length_);
  else
    data.clear();
  for (Part& part : parts_) {
    ReadReply answer = part.answer.get();
    if (answer.reply.outcome == Outcome::unknown)
      answer = repeat_read(store_, block_name(record_.id, part.block), part.read, patience);
    if (!answer.reply.is_done()) return answer.reply;
    if (answer.data.size() != part.read.length) return Reply::refused(Reason::failed);
    if (parts_.size() == 1)
      data = std::move(answer.data);
    else
      data += answer.data;
  }
  return {};
}

}  // namespace sibyl::storage::objects
