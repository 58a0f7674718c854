#include "server/scheduling/load.h"

namespace sibyl::server {

namespace {

template <typename Reactors, typename Count>
size_t sum_of(const Reactors& reactors, Count count) {
  size_t sum = 0;
  for (const auto& reactor : reactors) sum += ((*reactor).*count)();
  return sum;
}

}  // namespace

ReactorLoad& ServerLoad::add_reactor() {
  reactors_.push_back(std::make_unique<ReactorLoad>(limits_.total_requests_in_flight));
  return *reactors_.back();
}

size_t ServerLoad::requests() const {
  return sum_of(reactors_, &ReactorLoad::requests);
}

size_t ServerLoad::request_bytes() const {
  return sum_of(reactors_, &ReactorLoad::request_bytes);
}

size_t ServerLoad::unsent_bytes() const {
  return sum_of(reactors_, &ReactorLoad::unsent_bytes);
}

size_t ServerLoad::held_requests() const {
  return sum_of(reactors_, &ReactorLoad::held_requests);
}

Incoming ServerLoad::incoming() const {
  Incoming sum;
  for (const auto& reactor : reactors_) {
    const Incoming one = reactor->incoming();
    sum.begun += one.begun;
    sum.whole += one.whole;
  }
  return sum;
}

bool ServerLoad::is_full() const {
  return request_bytes() >= limits_.total_bytes_in_flight || requests() >= limits_.total_requests_in_flight;
}

}  // namespace sibyl::server
