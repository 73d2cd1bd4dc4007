#include "training/strategies/horovod_profile.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace farandole { inline namespace training {
namespace {

using Version = std::array<int, 3>;

std::optional<Version> parse_version(std::string_view text) {
  Version version{};
  for (std::size_t part = 0; part < version.size(); ++part) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version[part]);
    if (error != std::errc{} || version[part] < 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const bool last = part + 1 == version.size();
    if (last ? !text.empty() : !text.starts_with('.')) return std::nullopt;
    if (!last) text.remove_prefix(1);
  }
  return version;
}

struct Release {
  Version from;
  Bytes fusion_threshold;
  Seconds cycle;
  bool sleeps_after_pass;
  bool cycle_time_adjustable;
  int cache_capacity;
};

constexpr Version collective_negotiation{0, 13, 3};
constexpr Version batched_copies{0, 21, 0};
constexpr Version does_not_wait{0, 23, 0};

constexpr std::array releases{
    Release{{0, 9, 0}, 0_MiB, 5_ms, true, false, 0},      Release{{0, 9, 3}, 64_MiB, 5_ms, true, false, 0},
    Release{{0, 13, 3}, 64_MiB, 5_ms, true, true, 0},     Release{{0, 13, 8}, 64_MiB, 5_ms, false, true, 0},
    Release{{0, 16, 2}, 64_MiB, 5_ms, false, true, 1024}, Release{{0, 21, 0}, 128_MiB, 1_ms, false, true, 1024},
};

}  // namespace

bool is_at_least(const std::string& version, const std::string& least) {
  return parse_version(version) >= parse_version(least);
}

HorovodProfile horovod_profile(const std::string& version, const Value& where) {
  const auto wanted = parse_version(version);
  if (!wanted) where.fail("a Horovod version such as \"0.13.8\"", quoted(version));
  if (*wanted < releases.front().from) where.fail("Horovod 0.9.0 or later", quoted(version));
  const Release* found = nullptr;
  for (const Release& release : releases) {
    if (release.from <= *wanted) found = &release;
  }
  HorovodProfile profile{version,
                         found->fusion_threshold,
                         found->cycle,
                         found->sleeps_after_pass,
                         found->cycle_time_adjustable,
                         found->cache_capacity};
  if (*wanted < collective_negotiation) profile.negotiation = Negotiation::point_to_point;
  profile.batched_copies = *wanted >= batched_copies;
  profile.waits_for_data = *wanted < does_not_wait;
  return profile;
}

Bytes rounded_for_nodes(Bytes size, Bytes element, int ranks_per_node) {
  constexpr double atomic_unit = 64;
  const Bytes unit = ranks_per_node * atomic_unit * element;
  return std::ceil(size / unit) * unit;
}

Bytes fusion_buffer(const HorovodProfile& profile, int ranks_per_node) {
  if (!profile.hierarchical_allreduce) return profile.fusion_threshold;
  return rounded_for_nodes(profile.fusion_threshold, 8_B, ranks_per_node);
}

}}  // namespace farandole::training
