#include "simulate/fidelity.hpp"

#include <vector>

namespace farandole { inline namespace simulate {

std::span<const FidelityRow> fidelities() {
  static const std::vector<FidelityRow> rows{
      {Fidelity::analytic, "analytic", "closed form per round; contention by the most loaded link"},
      {Fidelity::flow, "flow", "SimGrid, one flow per pair and phase; max-min sharing"},
      {Fidelity::message, "message", "SimGrid, every transfer of every round"},
  };
  return rows;
}

std::string name(Fidelity fidelity) {
  for (const FidelityRow& row : fidelities()) {
    if (row.fidelity == fidelity) return row.name;
  }
  return {};
}

}}  // namespace farandole::simulate
