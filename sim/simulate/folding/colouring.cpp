#include "simulate/folding/colouring.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

namespace farandole { inline namespace simulate {
namespace {

/// Neighbours counted by bond, all in one number; a vertex has fewer than 2^31 of each kind, and never crosses and
/// receives at once.
using BondCount = std::uint64_t;
BondCount one(Bond bond) {
  return bond == Bond::receives ? BondCount{1} << 32 : BondCount{1};
}

Colouring renumbered(const Colouring& colours) {
  Colouring number(colours.size(), -1);
  Colouring result;
  result.reserve(colours.size());
  int next = 0;
  for (const int colour : colours) {
    if (number[as_index(colour)] < 0) number[as_index(colour)] = next++;
    result.push_back(number[as_index(colour)]);
  }
  return result;
}

class Refinement {
 public:
  Refinement(const Incidence& graph, const Colouring& first)
      : graph_(graph), colour_(renumbered(first)), order_(first.size()), place_(first.size()), count_(first.size(), 0) {
    std::iota(order_.begin(), order_.end(), 0);
    std::ranges::stable_sort(order_, {}, [this](int vertex) { return colour_[as_index(vertex)]; });
    for (std::size_t place = 0; place < order_.size(); ++place) {
      const int vertex = order_[place];
      place_[as_index(vertex)] = static_cast<int>(place);
      if (as_index(colour_[as_index(vertex)]) == classes_.size()) {
        classes_.push_back({static_cast<int>(place), static_cast<int>(place)});
        wait(colour_[as_index(vertex)]);
      }
      ++classes_.back().end;
    }
  }

  void run() {
    while (!waiting_.empty()) {
      const int splitter = waiting_.back();
      waiting_.pop_back();
      classes_[as_index(splitter)].waits = false;
      count_neighbours(splitter);
      for (const int colour : hit_) split(colour);
      hit_.clear();
    }
  }

  [[nodiscard]] const Colouring& colours() const { return colour_; }

 private:
  /// The vertices order_[begin .. end); the last `marked` of them neighbour the class that is being looked at.
  struct Class {
    int begin = 0;
    int end = 0;
    int marked = 0;
    bool waits = false;
  };

  // A class and its neighbours never mix, so marking does not move the vertices that are being walked over.
  void count_neighbours(int splitter) {
    const Class walked = classes_[as_index(splitter)];
    for (int place = walked.begin; place < walked.end; ++place) {
      for (const auto& [vertex, bond] : graph_.neighbours(order_[as_index(place)])) {
        if (count_[as_index(vertex)] == 0) mark(vertex);
        count_[as_index(vertex)] += one(bond);
      }
    }
  }

  void mark(int vertex) {
    Class& own = classes_[as_index(colour_[as_index(vertex)])];
    if (own.marked == 0) hit_.push_back(colour_[as_index(vertex)]);
    const int to = own.end - ++own.marked;
    const int from = place_[as_index(vertex)];
    const int other = order_[as_index(to)];
    std::swap(order_[as_index(from)], order_[as_index(to)]);
    place_[as_index(other)] = from;
    place_[as_index(vertex)] = to;
  }

  /// Cuts the class wherever the counts of its vertices differ.
  void split(int colour) {
    const Class whole = classes_[as_index(colour)];
    classes_[as_index(colour)].marked = 0;
    const auto counted = std::span(order_).subspan(as_index(whole.end - whole.marked), as_index(whole.marked));
    const auto count_of = [this](int vertex) { return count_[as_index(vertex)]; };
    if (std::ranges::adjacent_find(counted, std::ranges::not_equal_to(), count_of) != counted.end()) {
      const auto key = [&](int vertex) { return std::pair(count_of(vertex), vertex); };
      std::ranges::sort(counted, {}, key);
      for (int place = whole.end - whole.marked; place < whole.end; ++place)
        place_[as_index(order_[as_index(place)])] = place;
    }
    const auto first_new = static_cast<int>(classes_.size());
    for (int place = whole.end - 1; place > whole.begin; --place) {
      if (count_of(order_[as_index(place)]) != count_of(order_[as_index(place - 1)])) cut(colour, place);
      if (place < whole.end - whole.marked) break;  // the rest has no neighbour there
    }
    for (const int vertex : counted) count_[as_index(vertex)] = 0;
    await_all_but_largest(colour, first_new);
  }

  /// Makes a new class of all that stands from `begin` on.
  void cut(int colour, int begin) {
    const auto fresh = static_cast<int>(classes_.size());
    classes_.push_back({begin, classes_[as_index(colour)].end});
    classes_[as_index(colour)].end = begin;
    for (int place = begin; place < classes_.back().end; ++place) colour_[as_index(order_[as_index(place)])] = fresh;
  }

  void wait(int colour) {
    if (classes_[as_index(colour)].waits) return;
    classes_[as_index(colour)].waits = true;
    waiting_.push_back(colour);
  }

  // What the whole class and all but one of its parts say about the others, the last part says too.
  void await_all_but_largest(int colour, int first_new) {
    int largest = colour;
    const auto size = [this](int c) { return classes_[as_index(c)].end - classes_[as_index(c)].begin; };
    const auto last = static_cast<int>(classes_.size());
    if (!classes_[as_index(colour)].waits) {
      for (int part = first_new; part < last; ++part) largest = size(part) > size(largest) ? part : largest;
      if (largest != colour) wait(colour);
    }
    for (int part = first_new; part < last; ++part) {
      if (part != largest) wait(part);
    }
  }

  const Incidence& graph_;
  Colouring colour_;
  std::vector<int> order_;  // vertices, class by class
  std::vector<int> place_;  // of each vertex in order_
  std::vector<Class> classes_;
  std::vector<BondCount> count_;  // neighbours in the class that is being looked at
  std::vector<int> waiting_;      // classes to look at
  std::vector<int> hit_;          // classes with marks
};

/// Counts of neighbours by colour and bond, to be compared with another vertex's.
class Neighbourhood {
 public:
  Neighbourhood(const Incidence& graph, const Colouring& colours)
      : graph_(graph), colours_(colours), counts_(colours.size(), 0) {}

  bool is_same(int vertex, int other) {
    count(vertex, one_more);
    count(other, one_less);
    const auto is_even = [this](const auto& neighbour) {
      return counts_[as_index(colours_[as_index(neighbour.vertex)])] == 0;
    };
    const bool same = std::ranges::all_of(graph_.neighbours(vertex), is_even) &&
                      std::ranges::all_of(graph_.neighbours(other), is_even);
    for (const int v : {vertex, other}) {
      for (const auto& neighbour : graph_.neighbours(v)) counts_[as_index(colours_[as_index(neighbour.vertex)])] = 0;
    }
    return same;
  }

 private:
  static constexpr BondCount one_more = 1;
  static constexpr BondCount one_less = ~BondCount{0};

  void count(int vertex, BondCount sign) {
    for (const auto& neighbour : graph_.neighbours(vertex)) {
      counts_[as_index(colours_[as_index(neighbour.vertex)])] += sign * one(neighbour.bond);
    }
  }

  const Incidence& graph_;
  const Colouring& colours_;
  std::vector<BondCount> counts_;
};

}  // namespace

Colouring coarsest_stable_colouring(const Incidence& graph, const Colouring& first) {
  Refinement refinement(graph, first);
  refinement.run();
  return renumbered(refinement.colours());
}

bool is_stable(const Incidence& graph, const Colouring& colours) {
  Neighbourhood neighbourhood(graph, colours);
  std::vector<int> first_of(colours.size(), -1);
  for (int vertex = 0; vertex < graph.vertices(); ++vertex) {
    int& first = first_of[as_index(colours[as_index(vertex)])];
    if (first < 0) {
      first = vertex;
    } else if (!neighbourhood.is_same(first, vertex)) {
      return false;
    }
  }
  return true;
}

namespace {

int transfers_of(const Schedule& schedule) {
  std::size_t sum = 0;
  for (const Phase& phase : schedule.phases) sum += phase.transfers.size();
  return static_cast<int>(sum);
}

/// Calls `visit(transfer, vertex, bond)` for every edge; `transfer` counts through all phases.
template <class Visit>
void for_each_edge(const RoutedSchedule& routed, int first_link, Visit visit) {
  int number = 0;
  for (std::size_t phase = 0; phase < routed.schedule().phases.size(); ++phase) {
    const auto& transfers = routed.schedule().phases[phase].transfers;
    for (std::size_t position = 0; position < transfers.size(); ++position, ++number) {
      visit(number, transfers[position].from, Bond::sends);
      visit(number, transfers[position].to, Bond::receives);
      for (const int link : routed.legs(phase)[position].links) visit(number, first_link + link, Bond::crosses);
    }
  }
}

}  // namespace

Incidence::Incidence(const RoutedSchedule& routed)
    : ranks_(routed.schedule().ranks), transfers_(transfers_of(routed.schedule())) {
  const int first_link = link(0);
  const std::size_t count = static_cast<std::size_t>(first_link) + routed.capacities().size();
  // Counted first, then filled in from the back: afterwards offsets_[v] is where v's neighbours begin.
  offsets_.assign(count + 1, 0);
  for_each_edge(routed, first_link, [&](int number, int vertex, Bond /*bond*/) {
    ++offsets_[static_cast<std::size_t>(transfer(number))];
    ++offsets_[static_cast<std::size_t>(vertex)];
  });
  for (std::size_t v = 1; v <= count; ++v) offsets_[v] += offsets_[v - 1];
  neighbours_.resize(offsets_[count]);
  for_each_edge(routed, first_link, [&](int number, int vertex, Bond bond) {
    neighbours_[--offsets_[static_cast<std::size_t>(transfer(number))]] = {vertex, bond};
    neighbours_[--offsets_[static_cast<std::size_t>(vertex)]] = {transfer(number), bond};
  });
}

}}  // namespace farandole::simulate
