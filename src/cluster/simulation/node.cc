#include "cluster/simulation/node.h"

namespace sibyl::cluster::simulation {

// Data members use each other only after the constructor, because there are no callbacks before start().
Node::Node(std::unique_ptr<storage::objects::ObjectStore> store, base::Executor& world,
           const Options& options, Events events)
    : options_(options),
      events_(std::move(events)),
      executor_(world, options.clock_rate),
      store_(std::move(store), executor_),
      log_(store_, executor_, options.id, options.weakness),
      shards_(store_, executor_, log_, options.wall_clock, options.weakness),
      membership_(store_, executor_,
                  {.name = options.id.name,
                   .incarnation = options.id.incarnation,
                   .address = options.id.name,
                   .has_log = true,
                   .max_drift = options.weakness == Weakness::remove_early ? -0.9 : options.max_drift},
                  {.on_state =
                       [this](const State& state) {
                         ownership_.follow(state);
                         collector_.follow(state);
                       },
                   .on_removed =
                       [this] {
                         ownership_.drop_all();
                         events_.on_removed();
                       },
                   .on_left = [this] { events_.on_left(); }}),
      ownership_(store_, executor_, membership_, shards_),
      collector_(store_, membership_,
                 [this](const MemberId& log, LogCollector::Done done) {
                   remove_log(store_, executor_, log, options_.weakness,
                              [done = std::move(done)]() mutable { done({}); });
                 }),
      views_({executor_, shards_, membership_, ownership_}, options.send, options.id.incarnation,
             options.weakness) {
  membership_.start();
}

std::string Node::owner_of(Key key) const {
  const auto& state = membership_.state();
  if (!state) return {};
  return state->shards[key % state->shards.size()].owner.name;
}

void Node::execute(Request request, Respond respond) {
  const auto& state = membership_.state();
  const uint32_t shard = state ? request.key % static_cast<uint32_t>(state->shards.size()) : 0;
  const auto epoch = state ? ownership_.serving_epoch(shard) : std::nullopt;
  if (!epoch) {
    membership_.refresh();
    return respond({.status = Response::Status::moved});
  }
  const bool is_read = request.kind == Request::Kind::read;
  if (has_view(request.key) && !is_read) respond = after_views(request.key, std::move(respond));
  shards_.execute(
      shard, std::move(request),
      [this, shard, epoch = *epoch, is_read, respond = std::move(respond)](Response response) mutable {
        // Reading takes time, in which the process may be stopped.
        executor_.run_after(is_read ? 500 : 0,
                            [this, shard, epoch, is_read, response, respond = std::move(respond)]() mutable {
                              answer(shard, epoch, is_read, response, std::move(respond));
                            });
      });
}

Respond Node::after_views(Key base, Respond respond) {
  return [this, base, respond = std::move(respond)](Response response) mutable {
    if (response.status != Response::Status::done || !response.applied) return respond(response);
    views_.renew(base, response.timestamp, [response, respond = std::move(respond)](bool is_renewed) mutable {
      if (!is_renewed) response.status = Response::Status::unknown;
      respond(response);
    });
  };
}

void Node::answer(uint32_t shard, uint64_t epoch, bool is_read, Response response, Respond respond) {
  const bool reads_only = is_read || (response.status == Response::Status::done && !response.applied);
  if (reads_only && options_.weakness != Weakness::answer_without_lease &&
      !ownership_.may_answer(shard, epoch))
    return respond({.status = Response::Status::moved});
  if (reads_only) events_.on_read(shard, epoch);
  respond(response);
}

}  // namespace sibyl::cluster::simulation
