// Collectives drawn at random: a platform, a placement, a schedule, when ranks start, how many bytes.
#pragma once

#include "simulate/folding_kit.hpp"

namespace farandole::test {

inline BytesPerSecond draw_rate(Random& random) {
  return BytesPerSecond(1e9 * draw(random, 1, 4));
}

inline Platform draw_shape(Random& random) {
  const int kind = draw(random, 0, 6);
  if (kind == 6) {
    return split_leaf_spine(draw(random, 2, 4), draw(random, 1, 3), draw(random, 1, 2), draw_rate(random),
                            draw_rate(random), draw(random, 2, 3));
  }
  if (kind == 0) return star(draw(random, 2, 16), draw_rate(random), 2_us);
  if (kind == 1) return two_level(draw(random, 1, 5), draw(random, 2, 4), draw_rate(random), draw_rate(random));
  Platform platform = leaf_spine(draw(random, 1, 4), draw(random, 1, 3), draw(random, 1, 3), draw_rate(random),
                                 draw_rate(random) * draw(random, 1, 3));
  if (platform.devices() < 2) return draw_shape(random);
  if (kind == 3) return half_duplex(platform);
  if (kind == 4) return hub(platform);
  if (kind == 5) platform.links[static_cast<std::size_t>(draw(random, 0, 1))].capacity = draw_rate(random);
  return platform;
}

inline Platform draw_platform(Random& random) {
  Platform platform = draw_shape(random);
  const int far = draw(random, 2, 12);  // every so many links, in one drawing of two
  for (std::size_t link = 0; link < platform.links.size() && far < 8; link += static_cast<std::size_t>(far)) {
    platform.links[link].latency += 40_us;
  }
  if (draw(random, 0, 2) == 0) platform.transport.reduce_rate = draw_rate(random);
  const int limit = draw(random, 0, 3);  // of what is eager: nothing, up to 64 KiB or 200 kB, all
  if (limit != 1)
    platform.transport.message.rendezvous_from = limit == 3 ? Bytes::infinity() : Bytes(200e3 * (limit / 2));
  if (limit == 2) platform.transport.message.rendezvous = 5_us;
  return platform;
}

inline RankTimes draw_start(Random& random, int ranks) {
  RankTimes start = all_at(ranks, Seconds(0));
  const int kind = draw(random, 0, 3);
  for (int rank = 0; rank < ranks; ++rank) {
    if (kind == 1) start[rank] = rank % 2 == 0 ? 0 : 3e-4;  // two groups
    if (kind == 2) start[rank] = rank == ranks - 1 ? 7e-4 : 0;
    if (kind == 3) start[rank] = 1e-4 * draw(random, 0, 2);
  }
  return start;
}

struct Case {
  RoutedSchedule routed;
  RankTimes start;
  Bytes size;
};

inline Case draw_case(Random& random) {
  const Platform platform = draw_platform(random);
  const auto devices = platform.devices();
  const bool sorted = draw(random, 0, 2) > 0;
  const int ranks = draw(random, 0, 2) > 0 ? devices : draw(random, 2, devices);
  const Placement placement = sorted ? in_order(ranks) : shuffled(random, ranks, devices);
  const auto which = static_cast<std::size_t>(draw(random, 0, static_cast<int>(schedules_to_fold().size()) - 1));
  const Schedule schedule = schedules_to_fold()[which](ranks);
  const Bytes size(static_cast<double>(schedule.chunks) * draw(random, 1, 500'000));
  return {RoutedSchedule(schedule, platform, placement), draw_start(random, ranks), size};
}

}  // namespace farandole::test
