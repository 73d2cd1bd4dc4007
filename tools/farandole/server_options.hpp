// The options of a collective that say what every rank has: parameter servers, their shards, unequal contributions.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "scenario/collective_run.hpp"

namespace farandole {

/// Refuses --servers where the algorithm has none, or not so many.
void require_servers(const Algorithm& algorithm, int ranks, int servers);

struct ServerOptions {
  std::string servers = "0";
  std::string model;
  std::string sharding;
  std::string messages = "fused";
  std::string key;

  void add_to(CLI::App& command);
  /// Refuses options that go with nothing else that was asked for.
  [[nodiscard]] ServerRequest request(const Algorithm& algorithm, int ranks) const;
  /// Refuses any of them that was given: an algorithm from a file has all that it needs in it.
  void require_unused() const;
  /// All tensors of --model, where that was given: the size to run with unless another is asked for.
  [[nodiscard]] Bytes bytes_of_model() const;
  /// Those that were given, as they are typed.
  [[nodiscard]] std::string typed() const;
};

/// "1,2.5,0": one for each rank, or of an alltoall one for each pair of ranks, sender by sender. Of an alltoall one for
/// each rank will do too, each in equal parts to all. Empty where the text is.
std::vector<double> contributions(const std::string& text, const Algorithm& algorithm, int ranks);

}  // namespace farandole
