#include "training/fusion.hpp"

#include <bit>

namespace farandole { inline namespace training {

std::vector<std::vector<int>> fuse(const std::vector<Bytes>& sizes, Bytes threshold) {
  std::vector<std::vector<int>> groups;
  Bytes filled;
  for (std::size_t next = 0; next < sizes.size(); ++next) {
    if (groups.empty() || filled + sizes[next] > threshold) {
      groups.emplace_back();
      filled = Bytes(0);
    }
    groups.back().push_back(static_cast<int>(next));
    filled += sizes[next];
  }
  return groups;
}

Seconds adasum_time(const AdasumSite& site, Bytes size) {
  constexpr double reads_and_writes = 5;  // both parts for the products, both and the result for the scaled sum
  const int combiners = (site.ranks + site.ranks_per_combiner - 1) / site.ranks_per_combiner;
  const int rounds = std::bit_width(static_cast<unsigned>(combiners - 1));
  Bytes part = size / site.ranks_per_combiner;
  int group = site.ranks_per_combiner;
  Seconds time;
  for (int round = 0; round < rounds; ++round) {
    part /= 2;
    group *= 2;
    time += site.latency * static_cast<double>(std::bit_width(static_cast<unsigned>(group - 1)));
    time += reads_and_writes * part / site.memory_bandwidth;
  }
  return time;
}

}}  // namespace farandole::training
