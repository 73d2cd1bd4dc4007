#include "engine/company.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "collective/chunk_sizes.hpp"
#include "simulate/message_run.hpp"
#include "simulate/transfer_costs.hpp"

namespace farandole { inline namespace engine {
namespace {

/// A round that stands for the phase: of a pipeline one in the middle, where all take part if they ever do.
int middle(const RoutedSchedule& routed, std::size_t phase) {
  return costs_vary(routed, phase) ? routed.schedule().phases[phase].repeats / 2 : 0;
}

/// What a phase takes by itself.
Seconds time_of(const RoutedSchedule& routed, std::size_t phase, const Eigen::ArrayXd& inverse,
                const ChunkSizes& sizes) {
  const Phase& pattern = routed.schedule().phases[phase];
  const int repeat = middle(routed, phase);
  Eigen::ArrayXd latency(inverse.size());
  for (Eigen::Index t = 0; t < latency.size(); ++t) {
    latency[t] = routed.leg(phase, static_cast<std::size_t>(t), repeat).latency.si();
  }
  const std::vector<std::size_t> all = every_transfer(pattern);
  const TransferCosts costs = transfer_costs(routed, {phase, repeat, all}, {latency, inverse}, sizes);
  if (costs_vary(routed, phase)) return Seconds((costs.sending + costs.reducing).maxCoeff() * pattern.repeats);
  RankTimes moments = all_at(routed.schedule().ranks, Seconds(0));
  carry(moments, routed.schedule(), pattern, costs);
  return latest(moments);
}

}  // namespace

Company::Company(Simulator& simulator, const Platform& platform, Fidelity fidelity)
    : simulator_(simulator),
      fidelity_(fidelity),
      self_(simulator.enlist([this](int event) { on(event); })),
      in_network_(platform.links.size(), -1) {
  for (const Link& link : platform.links) {
    capacities_.push_back(link.capacity);
    congestion_.push_back({link.congestion});
  }
}

Company::~Company() = default;

void Company::take(int link, BytesPerSecond rate) {
  BytesPerSecond& left = capacities_.at(as_index(link));
  left -= rate;
  if (in_network_[as_index(link)] >= 0) simulator_.network().set_capacity(in_network_[as_index(link)], left);
}

int Company::crossed(int link) {
  int& number = in_network_.at(as_index(link));
  if (number < 0) number = simulator_.network().add_link(capacities_[as_index(link)], congestion_[as_index(link)]);
  return number;
}

int Company::crossed_by(Laid& laid, const RoutedSchedule& routed, int link) {
  const auto platforms = static_cast<int>(capacities_.size());
  if (link < platforms) return crossed(link);
  int& number = laid.own_links[as_index(link - platforms)];
  if (number < 0) number = simulator_.network().add_link(routed.capacities()[as_index(link)], {});
  return number;
}

Company::Laid& Company::laid(const Carriage& carriage) {
  const RoutedSchedule& routed = *carriage.routed;
  const auto [place, is_new] = laid_.try_emplace(&routed);
  Laid& laid = place->second;
  if (!is_new) return laid;
  laid.own_links.assign(std::max(routed.capacities().size(), capacities_.size()) - capacities_.size(), -1);
  if (fidelity_ == Fidelity::message) {
    laid.messages = std::make_unique<MessageClock>(routed);
    laid.messages->use(simulator_.shared_network(),
                       [this, &laid, &routed](int link) { return crossed_by(laid, routed, link); });
  } else {
    lay_phases(laid, routed);
  }
  return laid;
}

void Company::lay_phases(Laid& laid, const RoutedSchedule& routed) {
  const Sharing sharing = fidelity_ == Fidelity::analytic ? Sharing::by_load : Sharing::simulated;
  RoutedSchedule alone = routed;
  alone.forget_uncrossed_links();
  for (std::size_t phase = 0; phase < routed.schedule().phases.size(); ++phase) {
    const int repeat = middle(routed, phase);
    const std::vector<std::size_t> all = every_transfer(routed.schedule().phases[phase]);
    laid.inverse.push_back(RoundRates(alone, sharing, NetworkSolver::own).of({phase, repeat, all}).inverse_rate);
    auto& routes = laid.routes.emplace_back();
    for (std::size_t index = 0; index < routed.legs(phase).size(); ++index) {
      const RoutedSchedule::Leg leg = routed.leg(phase, index, repeat);
      std::vector<int> links;
      for (const int link : leg.links) links.push_back(crossed_by(laid, routed, link));
      routes.push_back(simulator_.network().add_route(links, leg.paths));
    }
  }
}

/// `together`: what the clock says of the whole. Phases that overlap take more in the sum than that.
std::vector<Company::Piece> Company::pieces_of(const Laid& laid, const RoutedSchedule& routed, Bytes size,
                                               Seconds together) const {
  const ChunkSizes sizes(size, routed.schedule());
  std::vector<Piece> pieces;
  Seconds sum;
  for (std::size_t phase = 0; phase < laid.inverse.size(); ++phase) {
    Piece& piece = pieces.emplace_back();
    piece.alone = time_of(routed, phase, laid.inverse[phase], sizes);
    const std::vector<std::size_t> all = every_transfer(routed.schedule().phases[phase]);
    piece.bytes = bytes_of_round(routed, {phase, middle(routed, phase), all}, sizes);
    for (Bytes& bytes : piece.bytes) bytes *= active_repeats(routed.schedule().phases[phase]);
    sum += piece.alone;
  }
  const double scale = sum > Seconds(0) ? together / sum : 1;
  for (std::size_t phase = 0; phase < pieces.size(); ++phase) {
    Piece& piece = pieces[phase];
    piece.alone *= scale;
    Seconds sending;
    for (std::size_t t = 0; t < piece.bytes.size(); ++t) {
      sending = std::max(sending, Seconds(piece.bytes[t].si() * laid.inverse[phase][static_cast<Eigen::Index>(t)]));
    }
    const double fits = sending > piece.alone ? piece.alone / sending : 1;
    for (Bytes& bytes : piece.bytes) bytes = Bytes(std::floor(bytes.si() * fits));
    piece.ahead = piece.alone - sending * fits;
  }
  return pieces;
}

void Company::start(const Carriage& carriage, Bytes size, const RankTimes& joins, Done done) {
  const Laid& own = laid(carriage);
  if (under_way_.empty()) next_ = 0;
  const int number = next_++;
  const RankTimes places = in_order(joins, carriage.order) + carriage.launch.si();
  Collective collective{&carriage, &own, std::move(done), {}};
  if (own.messages) return start_messages(number, std::move(collective), size, places);
  collective.alone = carriage.alone->completion_times(size, places);
  carriage.alone->release_network();
  collective.pieces = pieces_of(own, *carriage.routed, size, latest(collective.alone) - latest(places));
  under_way_.emplace(number, std::move(collective));
  simulator_.call_at(latest(places), self_, 3 * number);
}

void Company::start_messages(int number, Collective collective, Bytes size, const RankTimes& joins) {
  MessageClock& messages = *collective.laid->messages;
  Collective& own = under_way_.emplace(number, std::move(collective)).first->second;
  own.first_tag = simulator_.reserve(messages.tags(), [this, number](int tag) {
    MessageClock::Run& run = *under_way_.at(number).run;
    run.handle(tag);
    if (run.is_finished()) finish(number, run.ends());
  });
  own.run = std::make_unique<MessageClock::Run>(messages, size, joins.max(simulator_.now().si()), own.first_tag);
  own.run->begin();
}

void Company::on(int event) {
  const int number = event / 3;
  switch (event % 3) {
    case 0:
      return begin_phase(number);
    case 1:
      return send_phase(number);
    default:
      return end_one(number);
  }
}

void Company::begin_phase(int number) {
  Collective& collective = under_way_.at(number);
  if (collective.phase == collective.pieces.size()) {
    const double late = std::max(0.0, (simulator_.now() - latest(collective.alone)).si());
    return finish(number, collective.alone + late);
  }
  const Piece& piece = collective.pieces[collective.phase];
  collective.open = 2;  // the moment at which it would be over alone, and that of sending
  simulator_.call_at(simulator_.now() + piece.alone, self_, 3 * number + 2);
  simulator_.call_at(simulator_.now() + piece.ahead, self_, 3 * number + 1);
}

void Company::send_phase(int number) {
  Collective& collective = under_way_.at(number);
  const Piece& piece = collective.pieces[collective.phase];
  const auto& routes = collective.laid->routes[collective.phase];
  for (std::size_t t = 0; t < piece.bytes.size(); ++t) {
    if (piece.bytes[t] < 1_B) continue;
    ++collective.open;
    simulator_.start(routes[t], Seconds(0), piece.bytes[t], self_, 3 * number + 2);
  }
  end_one(number);
}

void Company::end_one(int number) {
  Collective& collective = under_way_.at(number);
  if (--collective.open > 0) return;
  ++collective.phase;
  begin_phase(number);
}

void Company::finish(int number, const RankTimes& ends) {
  const Collective collective = std::move(under_way_.extract(number).mapped());
  if (collective.first_tag >= 0) simulator_.give_back(collective.first_tag);
  collective.done(in_ranks(ends, collective.carriage->order));
}

}}  // namespace farandole::engine
