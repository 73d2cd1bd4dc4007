// A small scenario as text, and what reading or running a changed one gives.
#pragma once

#include <string>
#include <vector>

#include "scenario/run.hpp"

namespace farandole::test {

inline constexpr const char* small_scenario = R"({
  "name": "small",
  "workload": { "model": "resnet18", "batch_per_rank": 32 },
  "platform": { "topology": "ethernet-25g", "ranks": 4 },
  "strategy": { "kind": "horovod", "version": "0.19.0" },
  "measure": { "iterations": 5, "warmup": 1, "fidelity": "analytic" }
})";

struct Change {
  std::string pointer;
  std::string value;
};

inline Document changed(const std::vector<Change>& changes) {
  Document document = Document::parse(small_scenario, "small.json");
  for (const auto& [pointer, value] : changes) document.set(pointer, value);
  return document;
}

inline RunResult run(const std::vector<Change>& changes, const RunOptions& options = {}) {
  return run_document(changed(changes), Catalogue(), options);
}

/// The message a user reads, or "no error".
inline std::string error_of(const std::vector<Change>& changes) {
  try {
    run(changes);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace farandole::test
