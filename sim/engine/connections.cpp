#include "engine/connections.hpp"

#include <cmath>
#include <utility>

namespace farandole { inline namespace engine {

Connections::Connections(Simulator& simulator, const ServerNetwork& layout, Company* company,
                         std::function<void(Note)> tell)
    : simulator_(simulator),
      layout_(layout),
      company_(company),
      tell_(std::move(tell)),
      self_(simulator.enlist([this](int event) { on(event); })),
      lines_(layout.ways.size()),
      works_(layout.work.size(), -1) {
  for (std::size_t link = layout.shared; link < layout.capacities.size(); ++link)
    links_.push_back(simulator.network().add_link(layout.capacities[link], layout.congestion[link]));
}

int Connections::add_route(const std::vector<Crossing>& crossings) {
  std::vector<int> links;
  for (const Crossing& crossing : crossings) {
    const auto link = as_index(crossing.link);
    const int number = link < layout_.shared ? company_->crossed(crossing.link) : links_[link - layout_.shared];
    links.insert(links.end(), as_index(crossing.times), number);
  }
  return simulator_.network().add_route(links, 1);
}

void Connections::watched(int line, bool begins) const {
  if (watcher_) watcher_(line / 2 / layout_.servers, begins);
}

void Connections::send(Connection connection, Bytes size, Note note) {
  const int line = (connection.worker * layout_.servers + connection.server) * 2 + (connection.to_server ? 1 : 0);
  const ServerNetwork::Way& way = layout_.way(connection);
  Line& own = lines_[static_cast<std::size_t>(line)];
  if (size == Bytes(0) || way.crossings.empty()) return tell_at(simulator_.now() + way.latency, note);
  if (own.route < 0) own.route = add_route(way.crossings);
  own.queue.push_back({Bytes(std::ceil(size.si() / way.paths)), note});
  if (!own.is_busy) start_next(line);
}

void Connections::process(int server, int worker, Bytes traffic, Note note) {
  if (traffic == Bytes(0) || works_.empty()) return tell_at(simulator_.now(), note);
  const std::size_t groups = layout_.groups.size();
  const std::size_t work = static_cast<std::size_t>(server) * (groups + 1) + static_cast<std::size_t>(worker + 1);
  if (layout_.work[work].crossings.empty()) return tell_at(simulator_.now(), note);
  int& route = works_[work];
  if (route < 0) route = add_route(layout_.work[work].crossings);
  simulator_.start(route, Seconds(0), Bytes(std::ceil(traffic.si())), self_, pending_.keep({-1, note}));
}

void Connections::start_next(int line) {
  Line& own = lines_[static_cast<std::size_t>(line)];
  own.is_busy = !own.queue.empty();
  if (!own.is_busy) return;
  const Message message = own.queue.front();
  own.queue.pop_front();
  watched(line, true);
  simulator_.start(own.route, Seconds(0), message.size, self_, pending_.keep({line, message.note}));
}

void Connections::on(int event) {
  const Pending pending = pending_.take(event);
  if (pending.line < 0) return tell_(pending.note);
  watched(pending.line, false);
  tell_at(simulator_.now() + layout_.ways[static_cast<std::size_t>(pending.line)].latency, pending.note);
  start_next(pending.line);
}

}}  // namespace farandole::engine
