#include "simulate/folding/colouring.hpp"

namespace farandole { inline namespace simulate {
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
