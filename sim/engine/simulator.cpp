#include "engine/simulator.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace farandole { inline namespace engine {

int Simulator::enlist(Handler handler) {
  handlers_.push_back(std::move(handler));
  return static_cast<int>(handlers_.size()) - 1;
}

void Simulator::call_at(Seconds when, int who, int event) {
  network_->call_at(std::max(when, now()), pending_.keep({who, event}));
}

void Simulator::start(int route, Seconds latency, Bytes size, int who, int event) {
  network_->start(route, latency, size, pending_.keep({who, event}));
}

int Simulator::reserve(int tags, Handler handler) {
  if (reserved_.empty()) next_reserved_ = first_reserved;
  if (tags > std::numeric_limits<int>::max() - next_reserved_) {
    throw std::logic_error("too many collectives without a rest");
  }
  const int first = std::exchange(next_reserved_, next_reserved_ + tags);
  reserved_.emplace(first, std::move(handler));
  return first;
}

void Simulator::run() {
  network_->run([this](int tag) {
    if (tag >= first_reserved) {
      const auto found = reserved_.upper_bound(tag);
      const Handler handler = std::prev(found)->second;  // it may be given back meanwhile
      return handler(tag);
    }
    const Pending pending = pending_.take(tag);
    handlers_[static_cast<std::size_t>(pending.who)](pending.event);
  });
}

}}  // namespace farandole::engine
