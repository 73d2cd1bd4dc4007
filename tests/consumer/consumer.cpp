// Runs a scenario of its own text with the installed data, and prints each point's ranks and samples per second.
#include <iostream>

#include "scenario/catalogue.hpp"
#include "scenario/run.hpp"

int main() {
  const auto document = farandole::Document::parse(R"({
    "name": "consumer",
    "workload": {"model": "resnet50", "batch_per_rank": 64},
    "platform": {"topology": "dgx-a100", "ranks": 16},
    "strategy": {"kind": "ddp"},
    "measure": {"fidelity": "analytic"}
  })",
                                                   "consumer");
  const farandole::Catalogue catalogue;
  for (const auto& point : farandole::run_document(document, catalogue, {}).points)
    std::cout << point.ranks << " " << point.samples_per_second << "\n";
}
