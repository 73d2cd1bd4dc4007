#include "engine/representatives.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace farandole { inline namespace engine {
namespace {

using ByPlace = Eigen::Map<const Eigen::ArrayXXd>;  // [place][neighbourhood]

/// Of what has to be gone through again.
constexpr Provenance nothing_said{.folded = true};

bool is_uniform(const auto& moments) {
  return (moments == moments(0)).all();
}

}  // namespace

void Representatives::choose(const RankTimes& begin, const RankTimes& factors) {
  stood_ = true;
  neighbourhoods_.clear();
  lines_.clear();
  const std::vector<int> chosen = slowest_and_latest(begin, factors);
  for (const int neighbourhood : chosen) add_neighbours(neighbourhood * meetings_.neighbours, begin, factors);
  chosen_ = std::ssize(lines_);
  are_all_ = gave_up_ || 2 * chosen_ > meetings_.ranks;
  if (are_all_) {
    begin_ = begin;
    factors_ = factors;
    return;
  }
  if (std::ssize(chosen) < neighbourhoods()) add_bound(chosen, begin, factors);
  const Eigen::Map<const Eigen::Array2Xd> lines(lines_.front().data(), 2, std::ssize(lines_));
  begin_ = lines.row(0);
  factors_ = lines.row(1);
}

/// The first of all, some that have the slowest ranks, and at each place the one that begins last.
std::vector<int> Representatives::slowest_and_latest(const RankTimes& begin, const RankTimes& factors) const {
  std::vector<int> order(static_cast<std::size_t>(neighbourhoods()));
  std::iota(order.begin(), order.end(), 0);
  if (slowest_ >= neighbourhoods()) return order;
  const Eigen::ArrayXd slowest =
      ByPlace(factors.data(), meetings_.neighbours, neighbourhoods()).colwise().maxCoeff().transpose();
  std::ranges::partial_sort(order, order.begin() + slowest_, std::ranges::greater(),
                            [&](int own) { return slowest[own]; });
  order.resize(static_cast<std::size_t>(slowest_));
  order.push_back(0);
  const ByPlace begins(begin.data(), meetings_.neighbours, neighbourhoods());
  for (Eigen::Index place = 0; place < meetings_.neighbours; ++place) {
    Eigen::Index latest = 0;
    begins.row(place).maxCoeff(&latest);
    order.push_back(static_cast<int>(latest));
  }
  std::ranges::sort(order);
  order.erase(std::unique(order.begin(), order.end()), order.end());
  return order;
}

void Representatives::add_neighbours(int first, const RankTimes& begin, const RankTimes& factors) {
  const Eigen::Index line = std::ssize(lines_);
  if (meetings_.by_place) {
    for (int rank = first; rank < first + meetings_.neighbours; ++rank) lines_.push_back({begin[rank], factors[rank]});
  } else {
    if (first == 0) lines_.push_back({begin[0], factors[0]});  // whose stages are told
    add_front(first, begin, factors);
    // As early as the first and as fast as the fastest: when it joins as the last do, so do all between.
    lines_.push_back({begin.segment(first, meetings_.neighbours).minCoeff(),
                      factors.segment(first, meetings_.neighbours).minCoeff()});
  }
  neighbourhoods_.emplace_back(line, std::ssize(lines_) - line);
}

/// Those with nobody both later and slower, from the slowest to the latest.
void Representatives::add_front(int first, const RankTimes& begin, const RankTimes& factors) {
  double later = -std::numeric_limits<double>::infinity();
  for (;;) {
    int slowest = -1;
    for (int rank = first; rank < first + meetings_.neighbours; ++rank) {
      if (begin[rank] > later && (slowest < 0 || factors[rank] > factors[slowest] ||
                                  (factors[rank] == factors[slowest] && begin[rank] > begin[slowest]))) {
        slowest = rank;
      }
    }
    if (slowest < 0) return;
    lines_.push_back({begin[slowest], factors[slowest]});
    later = begin[slowest];
  }
}

void Representatives::add_bound(const std::vector<int>& chosen, const RankTimes& begin, const RankTimes& factors) {
  RankTimes latest = RankTimes::Zero(places());
  RankTimes slowest = RankTimes::Zero(places());
  auto next = chosen.begin();
  for (int first = 0; first < meetings_.ranks; first += meetings_.neighbours) {
    if (next != chosen.end() && *next * meetings_.neighbours == first) {
      ++next;
      continue;
    }
    for (int rank = first; rank < first + meetings_.neighbours; ++rank) {
      const Eigen::Index place = meetings_.by_place ? rank - first : 0;
      latest[place] = std::max(latest[place], begin[rank]);
      slowest[place] = std::max(slowest[place], factors[rank]);
    }
  }
  for (Eigen::Index place = 0; place < places(); ++place) lines_.push_back({latest[place], slowest[place]});
  neighbourhoods_.emplace_back(chosen_, places());
}

Answer Representatives::answer(CollectiveClock& clock, const Collective& collective, const RankTimes& start) {
  if (are_all_) return clock.answer(collective.size, start);
  const bool is_within = collective.group == meetings_.within || meetings_.neighbours == meetings_.ranks;
  const std::optional<Answer>& barrier = barrier_of(clock, collective);
  if (!barrier && !is_within && !meetings_.by_place) return meet_in_turn(clock, collective.size, start);
  stood_ = stood_ && barrier;
  if (!stood_) return {start, nothing_said};
  RankTimes last(start.size());
  if (is_within) {
    for (const auto& [first, count] : neighbourhoods_) {
      last.segment(first, count).setConstant(start.segment(first, count).maxCoeff());
    }
  } else if (meetings_.by_place) {
    const RankTimes at_places = ByPlace(start.data(), places(), chosen_ / places()).rowwise().maxCoeff();
    stood_ = (start.tail(places()) <= at_places).all();
    last = at_places.replicate(start.size() / places(), 1);
  } else {
    stood_ = joins_at_once(start);
    last.setConstant(start.head(chosen_).maxCoeff());
  }
  return {last + barrier->ends[0], barrier->provenance};
}

/// All ranks of a neighbourhood.
bool Representatives::joins_at_once(const RankTimes& moments) const {
  return std::ranges::all_of(neighbourhoods_,
                             [&](const auto& own) { return is_uniform(moments.segment(own.first, own.second)); });
}

/// No barrier, of one rank of every neighbourhood.
Answer Representatives::meet_in_turn(CollectiveClock& clock, Bytes size, const RankTimes& start) {
  slowest_ = neighbourhoods();
  Answer all{start, nothing_said};
  stood_ = stood_ && !has_bound() && joins_at_once(start);
  if (!stood_) return all;
  RankTimes joined(std::ssize(neighbourhoods_));
  Eigen::Index next = 0;
  for (const auto& [first, count] : neighbourhoods_) joined[next++] = start[first];
  const std::optional<Answer> answer = clock.answer_of_any_group(size, joined);
  stood_ = answer.has_value();
  if (!answer) return all;
  all.provenance = answer->provenance;
  next = 0;
  for (const auto& [first, count] : neighbourhoods_) all.ends.segment(first, count).setConstant(answer->ends[next++]);
  return all;
}

/// How long after the last has joined all end; empty where it is no barrier, or they do not all end at once.
const std::optional<Answer>& Representatives::barrier_of(CollectiveClock& clock, const Collective& collective) {
  const auto [place, is_new] =
      barriers_.try_emplace({collective.operation, collective.group, collective.hierarchical, collective.size});
  if (!is_new || !clock.is_barrier(collective.size)) return place->second;
  Answer together = clock.answer(collective.size, RankTimes::Zero(meetings_.ranks));
  if (!is_uniform(together.ends)) return place->second;
  return place->second = Answer{together.ends.head(1), together.provenance};
}

void Representatives::look_at(const RankTimes& moments) {
  if (are_all_ || !has_bound()) return;
  stood_ = stood_ && moments.tail(places()).maxCoeff() <= moments.head(chosen_).maxCoeff();
}

bool Representatives::stood_for_all(const RankTimes& synchronised) {
  if (are_all_) return true;
  if (!stood_) return false;
  if (!has_bound()) return joins_at_once(synchronised);
  const ByPlace by_place(synchronised.data(), places(), synchronised.size() / places());
  return (by_place == by_place.col(0).replicate(1, by_place.cols())).all();
}

void Representatives::choose_more_from_now_on() {
  gave_up_ = !has_bound();
  slowest_ = std::min(4 * slowest_, neighbourhoods());
}

RankTimes Representatives::of_all(const RankTimes& synchronised) const {
  if (are_all_) return synchronised;
  if (!has_bound()) {
    RankTimes all(meetings_.ranks);
    int rank = 0;
    for (const auto& [first, count] : neighbourhoods_) {
      all.segment(rank, meetings_.neighbours).setConstant(synchronised[first]);
      rank += meetings_.neighbours;
    }
    return all;
  }
  return synchronised.head(places()).replicate(meetings_.ranks / places(), 1);
}
}}  // namespace farandole::engine
