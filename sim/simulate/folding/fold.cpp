#include "simulate/folding/fold.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "simulate/folding/orbits.hpp"
#include "simulate/folding/parts.hpp"
#include "simulate/invariant.hpp"

namespace farandole { inline namespace simulate {
namespace {

/// Whatever tells vertices apart from the start: what they are, and their start, capacity or phase, latency and so on.
Colouring first_colours(const Incidence& graph, const RoutedSchedule& routed, const RankTimes& start) {
  enum class Kind : std::uint8_t { rank, transfer, link };
  // What it is, its phase, start or latency or capacity, rate of reducing or curve's number, chunks, paths, first
  // repeat; what keeps processors, and where that does, its place among what its sender posts.
  std::map<std::tuple<Kind, std::size_t, double, double, int, int, int, double, double, int>, int> numbers;
  const bool occupied = routed.has_occupancy();
  Colouring colours;
  colours.reserve(static_cast<std::size_t>(graph.vertices()));
  const auto add = [&](Kind kind, double value, std::size_t phase = 0, double rate = 0, int chunks = 0, int paths = 0,
                       int first = 0, const Occupancy& kept = {}, int place = 0) {
    const auto fresh = static_cast<int>(numbers.size());
    const auto number = numbers.try_emplace(
        {kind, phase, value, rate, chunks, paths, first, kept.send.si(), kept.receive.si(), place}, fresh);
    colours.push_back(number.first->second);
  };
  for (const double moment : start) add(Kind::rank, moment);
  for (std::size_t phase = 0; phase < routed.schedule().phases.size(); ++phase) {
    const auto& transfers = routed.schedule().phases[phase].transfers;
    std::vector<int> posted(occupied ? static_cast<std::size_t>(start.size()) : 0);
    for (std::size_t t = 0; t < transfers.size(); ++t) {
      const RoutedSchedule::Leg& leg = routed.legs(phase)[t];
      const int place = occupied ? posted[static_cast<std::size_t>(transfers[t].from)]++ : 0;
      add(Kind::transfer, leg.latency.si(), phase, leg.reduce_rate.si(), transfers[t].count, leg.paths,
          transfers[t].start, leg.occupancy, place);
    }
  }
  std::map<const CongestionCurve*, double> curves{{nullptr, 0}};
  for (std::size_t link = 0; link < routed.capacities().size(); ++link) {
    const CongestionCurve* curve = routed.congestion().empty() ? nullptr : routed.congestion()[link].curve.get();
    const double number = curves.try_emplace(curve, static_cast<double>(curves.size())).first->second;
    add(Kind::link, routed.capacities()[link].si(), 0, number);
  }
  return colours;
}

/// Reads the quotient off a stable colouring.
class Quotient {
 public:
  Quotient(const Incidence& graph, const RoutedSchedule& routed, const Colouring& colours)
      : graph_(graph), routed_(routed), colours_(colours), class_of_(colours.size(), -1) {}

  Folding read() {
    const Schedule& whole = routed_.schedule();
    const int ranks = add_ranks();
    count_received();
    schedule_ = {whole.operation, whole.algorithm, ranks, whole.chunks, {}, whole.rows};
    schedule_.copies = whole.copies;
    for (std::size_t phase = 0; phase < whole.phases.size(); ++phase) add_phase(phase);
    add_links();
    RoutedSchedule quotient(std::move(schedule_), std::move(legs_), std::move(capacities_), routed_.message_cost());
    quotient.congest(std::move(congestion_));
    return {std::move(quotient), std::move(class_of_rank_), std::move(class_of_transfer_)};
  }

 private:
  int& class_of(int vertex) { return class_of_[static_cast<std::size_t>(colours_[static_cast<std::size_t>(vertex)])]; }
  [[nodiscard]] std::size_t colour_of(int transfer) const {
    return static_cast<std::size_t>(colours_[static_cast<std::size_t>(graph_.transfer(transfer))]);
  }

  int add_ranks() {
    int classes = 0;
    for (int rank = 0; rank < graph_.ranks(); ++rank) {
      int& number = class_of(rank);
      if (number < 0) number = classes++;
      class_of_rank_.push_back(number);
    }
    return classes;
  }

  /// By the first rank that receives one of a class: all others receive as many.
  void count_received() {
    received_.assign(colours_.size(), 0);
    std::vector<int> receiver(colours_.size(), -1);
    int next = 0;
    for (const Phase& phase : routed_.schedule().phases) {
      for (const Transfer& transfer : phase.transfers) {
        const std::size_t colour = colour_of(next++);
        if (receiver[colour] < 0) receiver[colour] = transfer.to;
        if (receiver[colour] == transfer.to) ++received_[colour];
      }
    }
  }

  void add_phase(std::size_t phase) {
    const Phase& whole = routed_.schedule().phases[phase];
    Phase& folded = schedule_.phases.emplace_back(emptied(whole));
    auto& legs = legs_.emplace_back();
    auto& classes = class_of_transfer_.emplace_back();
    for (std::size_t position = 0; position < whole.transfers.size(); ++position) {
      int& number = class_of(graph_.transfer(next_transfer_++));
      if (number < 0) {
        number = static_cast<int>(legs.size());
        const Transfer& first = whole.transfers[position];
        folded.transfers.push_back(
            {class_of(first.from), class_of(first.to), first.chunk, first.action, first.count, first.start});
        const RoutedSchedule::Leg& leg = routed_.legs(phase)[position];
        const bool waits = leg.reduce_rate < BytesPerSecond::infinity() || leg.occupancy.receive > Seconds(0);
        const int alike = waits ? received_[colour_of(next_transfer_ - 1)] : 1;
        legs.push_back({{}, leg.latency, leg.narrowest, 1, leg.reduce_rate / alike, leg.occupancy, alike});
      }
      classes.push_back(number);
    }
  }

  void add_links() {
    leg_of_.assign(colours_.size(), nullptr);
    paths_of_.assign(colours_.size(), 1);
    int transfer = 0;
    for (std::size_t phase = 0; phase < legs_.size(); ++phase) {
      for (std::size_t position = 0; position < class_of_transfer_[phase].size(); ++position) {
        const std::size_t colour = colour_of(transfer++);
        leg_of_[colour] = &legs_[phase][static_cast<std::size_t>(class_of_transfer_[phase][position])];
        paths_of_[colour] = routed_.legs(phase)[position].paths;
      }
    }
    for (int link = 0; link < graph_.links(); ++link) {
      int& number = class_of(graph_.link(link));
      if (number >= 0 || graph_.neighbours(graph_.link(link)).empty()) continue;
      number = static_cast<int>(capacities_.size());
      add_link(link);
    }
  }

  void add_link(int link) {
    std::map<int, int> times;  // of each class of transfers that cross this one link
    for (const auto& crossing : graph_.neighbours(graph_.link(link))) {
      ++times[colours_[static_cast<std::size_t>(crossing.vertex)]];
    }
    int parts = 1;
    for (const auto& [colour, count] : times) parts = std::lcm(parts, paths_of_[static_cast<std::size_t>(colour)]);
    int divisor = 0;
    for (auto& [colour, count] : times) {
      count *= parts / paths_of_[static_cast<std::size_t>(colour)];
      divisor = std::gcd(divisor, count);
    }
    const auto index = static_cast<int>(capacities_.size());
    capacities_.push_back(routed_.capacities()[static_cast<std::size_t>(link)] * parts / divisor);
    if (!routed_.congestion().empty()) {
      // A listing of this link stands for `divisor / parts` flows on the one link.
      const Congestion& whole = routed_.congestion()[static_cast<std::size_t>(link)];
      congestion_.push_back({whole.curve, whole.flows * divisor / parts});
    }
    for (const auto& [colour, count] : times) {
      auto& links = leg_of_[static_cast<std::size_t>(colour)]->links;
      links.insert(links.end(), static_cast<std::size_t>(count / divisor), index);
    }
  }

  const Incidence& graph_;
  const RoutedSchedule& routed_;
  const Colouring& colours_;
  std::vector<int> class_of_;  // by colour: the rank of the quotient, the position in its phase, or -1
  std::vector<int> class_of_rank_;
  std::vector<std::vector<int>> class_of_transfer_;
  Schedule schedule_;
  std::vector<std::vector<RoutedSchedule::Leg>> legs_;
  std::vector<RoutedSchedule::Leg*> leg_of_;  // by colour of a transfer
  std::vector<int> paths_of_;                 // likewise, of its members
  std::vector<int> received_;                 // likewise: how many a rank receives at the same moment, one by one
  std::vector<BytesPerSecond> capacities_;
  std::vector<Congestion> congestion_;
  int next_transfer_ = 0;
};

}  // namespace

bool is_foldable(const Schedule& schedule) {
  constexpr std::size_t most_lanes = std::size_t{1} << 23;
  const auto is_plain = [](const Phase& phase) {
    const bool has_lanes = phase.fan != 1 || phase.peer_step != 0;
    const bool is_listable = phase.repeats == 1 && phase.window == 0 && transfers_per_round(phase) <= most_lanes;
    return !phase.one_by_one && (!has_lanes || is_listable);
  };
  return schedule.weights.empty() && std::ranges::all_of(schedule.phases, is_plain);
}

RankTimes Folding::of_classes(const RankTimes& of_ranks) const {
  RankTimes result(quotient.schedule().ranks);
  result(class_of_rank) = of_ranks;
  return result;
}

/// The same with a transfer in place of every lane of one.
static std::optional<RoutedSchedule> without_lanes(const RoutedSchedule& routed) {
  const Schedule& whole = routed.schedule();
  if (std::ranges::all_of(whole.phases, [](const Phase& phase) { return phase.fan == 1; })) return std::nullopt;
  Schedule schedule = emptied(whole);
  std::vector<std::vector<RoutedSchedule::Leg>> legs;
  for (std::size_t p = 0; p < whole.phases.size(); ++p) {
    legs.push_back(routed.legs(p));
    Phase& phase = schedule.phases.emplace_back(emptied(whole.phases[p]));
    if (phase.fan == 1) {
      phase.transfers = whole.phases[p].transfers;
      continue;
    }
    phase.fan = 1;
    phase.peer_step = 0;
    for_each_transfer(whole, whole.phases[p], 0,
                      [&](const Transfer& placed, std::size_t) { phase.transfers.push_back(placed); });
  }
  std::vector<BytesPerSecond> capacities(routed.capacities().begin(), routed.capacities().end());
  RoutedSchedule result(std::move(schedule), std::move(legs), std::move(capacities), routed.message_cost());
  result.congest(routed.congestion());
  return result;
}

Folding fold(const RoutedSchedule& routed, const RankTimes& start) {
  if (const auto listed = without_lanes(routed)) return fold(*listed, start);
  const Incidence graph(routed);
  const Colouring colours = coarsest_stable_colouring(graph, first_colours(graph, routed, start));
  if (!is_stable(graph, colours)) throw InvariantError("a folding whose classes do not behave alike");
  return Quotient(graph, routed, colours).read();
}

Folding fold(const RoutedSchedule& routed) {
  return fold(routed, all_at(routed.schedule().ranks, Seconds(0)));
}

std::optional<Folding> fold_before_routing(const RoutedSchedule& routed) {
  std::optional<Folding> folding = fold_by_parts(routed);
  return folding ? std::move(folding) : fold_by_moves(routed);
}

std::optional<Folding> worthwhile_folding(const RoutedSchedule& routed, const RankTimes& start) {
  std::optional<Folding> folding;
  if ((start == start[0]).all()) folding = fold_before_routing(routed);
  if (!folding && is_foldable(routed.schedule())) folding = fold(routed, start);
  if (folding && !folding->is_worthwhile()) folding.reset();
  return folding;
}

}}  // namespace farandole::simulate
