#include "simulate/servers/server_simulation.hpp"

#include <cmath>

namespace farandole {

ServerSimulation::ServerSimulation(const ServerNetwork& layout, MessageNetwork& network)
    : layout_(layout), network_(network), lines_(layout.ways.size()), works_(layout.work.size(), -1) {}

int ServerSimulation::keep(Pending pending) {
  if (free_.empty()) {
    pending_.push_back(pending);
    return static_cast<int>(pending_.size()) - 1;
  }
  const int tag = free_.back();
  free_.pop_back();
  pending_[static_cast<std::size_t>(tag)] = pending;
  return tag;
}

void ServerSimulation::wake_at(Seconds when, Note note) {
  network_.call_at(std::max(when, now()), keep({-1, note}));
}

void ServerSimulation::send(Connection connection, Bytes size, Note note) {
  const int line = (connection.worker * layout_.servers + connection.server) * 2 + (connection.to_server ? 1 : 0);
  const ServerNetwork::Way& way = layout_.way(connection);
  Line& own = lines_[static_cast<std::size_t>(line)];
  if (size == Bytes(0) || way.crossings.empty()) return wake_at(now() + way.latency, note);
  if (own.route < 0) own.route = network_.add_route(way.crossings);
  own.queue.push_back({Bytes(std::ceil(size.si() / way.paths)), note});
  if (!own.is_busy) start_next(line);
}

void ServerSimulation::process(int server, int worker, Bytes traffic, Note note) {
  if (traffic == Bytes(0) || works_.empty()) return wake_at(now(), note);
  const std::size_t groups = layout_.groups.size();
  const std::size_t work = static_cast<std::size_t>(server) * (groups + 1) + static_cast<std::size_t>(worker + 1);
  if (layout_.work[work].crossings.empty()) return wake_at(now(), note);
  int& route = works_[work];
  if (route < 0) route = network_.add_route(layout_.work[work].crossings);
  network_.start(route, Bytes(std::ceil(traffic.si())), keep({-1, note}));
}

void ServerSimulation::start_next(int line) {
  Line& own = lines_[static_cast<std::size_t>(line)];
  own.is_busy = !own.queue.empty();
  if (!own.is_busy) return;
  const Message message = own.queue.front();
  own.queue.pop_front();
  network_.start(own.route, message.size, keep({line, message.note}));
}

void ServerSimulation::end_of_message(int line, Note note) {
  wake_at(now() + layout_.ways[static_cast<std::size_t>(line)].latency, note);
  start_next(line);
}

void ServerSimulation::run(MessageStrategy& strategy) {
  strategy.begin(*this);
  network_.run([&](int tag) {
    const Pending pending = pending_[static_cast<std::size_t>(tag)];
    free_.push_back(tag);
    if (pending.line >= 0) {
      end_of_message(pending.line, pending.note);
    } else {
      strategy.on_note(*this, pending.note);
    }
  });
}

}  // namespace farandole
