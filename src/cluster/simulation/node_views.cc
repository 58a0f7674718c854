#include "cluster/simulation/node_views.h"

#include <utility>

namespace sibyl::cluster::simulation {
namespace {

constexpr int64_t patience_micros = 3'000'000, attempt_micros = 400'000, refusal_micros = 20'000;
constexpr int64_t keeping_micros = 1'000'000;
constexpr int64_t reading_micros = 500;  // the duration of a read, in which the process may be stopped

}  // namespace

NodeViews::NodeViews(const Parts& parts, Send send, uint64_t incarnation, Weakness weakness)
    : of_(parts), send_(std::move(send)), weakness_(weakness), last_number_(incarnation << 32) {
  of_.executor.run_after(keeping_micros, [this] { renew_interrupted(); });
}

uint32_t NodeViews::shard_of(Key key) const {
  return key % static_cast<uint32_t>(of_.membership.state()->shards.size());
}

std::optional<uint64_t> NodeViews::serving_epoch(Key key) const {
  return of_.membership.state() ? of_.ownership.serving_epoch(shard_of(key)) : std::nullopt;
}

void NodeViews::renew(Key base, int64_t timestamp, Done done) {
  in_progress_.insert(base);
  begin(std::make_shared<Renewal>(
      Renewal{base, timestamp, false, of_.executor.now_micros() + patience_micros, std::move(done)}));
}

void NodeViews::begin(const RenewalPtr& renewal) {
  const uint64_t number = ++last_number_;
  const Key row = view_row_of(renewal->base, renewal->is_odd);
  await(number, renewal);
  send_(of_.membership.state()->shards[shard_of(row)].owner.name,
        {.kind = ViewMessage::Kind::ask_ticket, .number = number, .row = row});
}

void NodeViews::await(uint64_t number, const RenewalPtr& renewal) {
  attempts_[number] = renewal;
  of_.executor.run_after(attempt_micros, [this, number] {
    if (const RenewalPtr late = take(number)) {
      of_.membership.refresh();
      retry(late);
    }
  });
}

NodeViews::RenewalPtr NodeViews::take(uint64_t number) {
  const auto found = attempts_.find(number);
  if (found == attempts_.end()) return nullptr;
  RenewalPtr renewal = std::move(found->second);
  attempts_.erase(found);
  return renewal;
}

void NodeViews::retry(const RenewalPtr& renewal) {
  if (of_.executor.now_micros() >= renewal->deadline) return finish(renewal, false);
  of_.executor.run_after(refusal_micros, [this, renewal] { begin(renewal); });
}

void NodeViews::finish(const RenewalPtr& renewal, bool is_renewed) {
  in_progress_.erase(in_progress_.find(renewal->base));
  if (is_renewed && serving_epoch(renewal->base))
    of_.shards.close_intent(shard_of(renewal->base), renewal->base, renewal->timestamp);
  renewal->done(is_renewed);
}

void NodeViews::receive(const ViewMessage& message) {
  switch (message.kind) {
    case ViewMessage::Kind::ask_ticket:
      return give_ticket(message);
    case ViewMessage::Kind::ticket:
      return send_put(message);
    case ViewMessage::Kind::put:
      return put(message);
    case ViewMessage::Kind::answer:
      return complete(message);
  }
}

// A server that does not own the row does not answer. The sender learns the owner and tries again.
void NodeViews::give_ticket(const ViewMessage& message) {
  if (!serving_epoch(message.row)) return of_.membership.refresh();
  send_(message.from, {.kind = ViewMessage::Kind::ticket,
                       .number = message.number,
                       .row = message.row,
                       .ticket = of_.shards.issue_ticket(shard_of(message.row), message.row)});
}

// Reads the base row. Another server renews the view rows if this one does not own it any more.
void NodeViews::send_put(const ViewMessage& message) {
  const RenewalPtr renewal = take(message.number);
  if (!renewal) return;
  const Key base = renewal->base;
  const auto epoch = serving_epoch(base);
  if (!epoch) return finish(renewal, false);
  const Value value = view_value(of_.shards.value_of(shard_of(base), base), renewal->is_odd);
  of_.executor.run_after(reading_micros, [this, message, renewal, base, value, epoch = *epoch] {
    if (!of_.ownership.may_answer(shard_of(base), epoch)) return finish(renewal, false);
    await(message.number, renewal);
    send_(of_.membership.state()->shards[shard_of(message.row)].owner.name,
          {.kind = ViewMessage::Kind::put,
           .number = message.number,
           .row = message.row,
           .ticket = message.ticket,
           .value = value.value_or(no_view_row)});
  });
}

void NodeViews::put(const ViewMessage& message) {
  if (!serving_epoch(message.row)) return of_.membership.refresh();
  Request request{.kind = Request::Kind::put_view_row, .key = message.row, .value = message.value};
  request.ticket = message.ticket;
  of_.shards.execute(shard_of(message.row), request, [this, message](const Response& response) {
    if (response.status != Response::Status::done) return;
    send_(message.from, {.kind = ViewMessage::Kind::answer,
                         .number = message.number,
                         .row = message.row,
                         .accepted = response.applied});
  });
}

void NodeViews::complete(const ViewMessage& message) {
  const RenewalPtr renewal = take(message.number);
  if (!renewal) return;
  if (!message.accepted) return retry(renewal);
  if (std::exchange(renewal->is_odd, true)) return finish(renewal, true);
  begin(renewal);
}

void NodeViews::renew_interrupted() {
  of_.executor.run_after(keeping_micros, [this] { renew_interrupted(); });
  if (weakness_ == Weakness::lose_intents || !of_.membership.state()) return;
  const auto count = static_cast<uint32_t>(of_.membership.state()->shards.size());
  for (uint32_t shard = 0; shard < count; ++shard) {
    if (!of_.ownership.serving_epoch(shard)) continue;
    for (const auto& [base, timestamp] : of_.shards.open_intents(shard))
      if (!in_progress_.contains(base)) renew(base, timestamp, [](bool) {});
  }
}

}  // namespace sibyl::cluster::simulation
