#include "storage/objects/object_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>

namespace sibyl::storage::objects {
namespace {

bool is_name(const std::string& name) {
  return !name.empty() && name.size() <= max_name && name.find('\0') == std::string::npos;
}

const char* reason_text(Reason reason) {
  switch (reason) {
    case Reason::none:
      return "no reason";
    case Reason::missing:
      return "it does not exist";
    case Reason::exists:
      return "it exists already";
    case Reason::mismatch:
      return "its state has changed";
    case Reason::locked:
      return "another client holds the lock";
    case Reason::full:
      return "the storage is full";
    case Reason::invalid:
      return "the request is not allowed";
    case Reason::fenced:
      return "this client was fenced";
    case Reason::timed_out:
      return "the storage did not answer in time";
    case Reason::failed:
      return "the storage reported an error";
  }
  return "";
}

template <typename Value>
class Waiter {
 public:
  auto callback() {
    return [this](Value value) { promise_.set_value(std::move(value)); };
  }
  Value wait() { return promise_.get_future().get(); }

 private:
  std::promise<Value> promise_;
};

}  // namespace

std::string to_string(Reply reply) {
  switch (reply.outcome) {
    case Outcome::done:
      return "done";
    case Outcome::refused:
      return fmt::format("refused: {}", reason_text(reply.reason));
    case Outcome::unknown:
      return fmt::format("outcome unknown: {}", reason_text(reply.reason));
  }
  return "";
}

base::Error error_of(Reply reply, const std::string& what) {
  const auto code =
      reply.outcome == Outcome::unknown ? base::ErrorCode::write_timeout : base::ErrorCode::server;
  base::Error error(code, fmt::format("{}: {}", what, reason_text(reply.reason)));
  if (reply.reason == Reason::full)
    return error.with_hint("free space in the object store or add storage nodes");
  if (reply.reason == Reason::fenced)
    return error.with_hint("another server has taken over; restart this server to join again");
  return error;
}

bool Mutation::is_valid() const {
  if (byte_size_ > max_mutation || (actions_.empty() && existence_ == Existence::any)) return false;
  const bool removes =
      std::ranges::any_of(actions_, [](const Action& action) { return action.kind == Kind::remove; });
  if (removes && actions_.size() > 1) return false;
  const auto needs_name = [](Kind kind) {
    return kind == Kind::set_attribute || kind == Kind::set_entry || kind == Kind::erase_entry;
  };
  const auto is_reserved = [](const Action& action) {
    return action.kind == Kind::set_attribute && action.name.starts_with("lock.");
  };
  if (std::ranges::any_of(actions_, is_reserved)) return false;
  return std::ranges::all_of(guards_, [](const Guard& guard) { return is_name(guard.name); }) &&
         std::ranges::all_of(actions_, [&](const Action& action) {
           return !needs_name(action.kind) || is_name(action.name);
         });
}

Reply Blocking::mutate(const std::string& object, Mutation mutation) {
  Waiter<Reply> waiter;
  store_.mutate(object, std::move(mutation), waiter.callback());
  return waiter.wait();
}

ReadReply Blocking::read(const std::string& object, Read what) {
  Waiter<ReadReply> waiter;
  store_.read(object, std::move(what), waiter.callback());
  return waiter.wait();
}

Reply Blocking::lock(const std::string& object, Lock lock) {
  Waiter<Reply> waiter;
  store_.lock(object, std::move(lock), waiter.callback());
  return waiter.wait();
}

Reply Blocking::unlock(const std::string& object, const std::string& name, const std::string& owner) {
  Waiter<Reply> waiter;
  store_.unlock(object, name, owner, waiter.callback());
  return waiter.wait();
}

LockReply Blocking::read_lock(const std::string& object, const std::string& name) {
  Waiter<LockReply> waiter;
  store_.read_lock(object, name, waiter.callback());
  return waiter.wait();
}

Reply Blocking::break_lock(const std::string& object, const std::string& name, LockHolder holder) {
  Waiter<Reply> waiter;
  store_.break_lock(object, name, std::move(holder), waiter.callback());
  return waiter.wait();
}

std::pair<Reply, std::unique_ptr<Watch>> Blocking::watch(const std::string& object, Watcher watcher) {
  using Answer = std::pair<Reply, std::unique_ptr<Watch>>;
  std::promise<Answer> promise;
  store_.watch(object, std::move(watcher), [&promise](Reply reply, std::unique_ptr<Watch> watch) {
    promise.set_value(Answer(reply, std::move(watch)));
  });
  return promise.get_future().get();
}

Reply Blocking::notify(const std::string& object, Bytes message) {
  Waiter<Reply> waiter;
  store_.notify(object, std::move(message), waiter.callback());
  return waiter.wait();
}

Reply Blocking::fence(const std::string& client) {
  Waiter<Reply> waiter;
  store_.fence(client, waiter.callback());
  return waiter.wait();
}

Space Blocking::space() {
  Waiter<Space> waiter;
  store_.space(waiter.callback());
  return waiter.wait();
}

}  // namespace sibyl::storage::objects
