#include "scenario/read_distribution.hpp"

#include <fmt/format.h>

#include "config/named.hpp"
#include "config/section.hpp"

namespace farandole { inline namespace scenario {
namespace {

/// Kind and deviation of an object whose mean the caller reads; the deviation is a share of the mean, or a time.
Distribution read_kind_and_deviation(Section& section, Seconds mean) {
  const DistributionKind& kind =
      read_named(section.child("distribution"), "a distribution", distribution_kinds(), &DistributionKind::name);
  if (kind.most_deviation == 0) return {kind.name, 0};
  const Value deviation = section.child("deviation");
  const bool share = mean == Seconds(0) || (deviation.is_string() && read<std::string>(deviation).ends_with('%'));
  const double relative = share ? read<Fraction>(deviation).value : read<Seconds>(deviation) / mean;
  if (relative > kind.most_deviation) {
    deviation.fail(
        fmt::format("at most {:.4g} % of the mean for a {} distribution", kind.most_deviation * 100, kind.name));
  }
  return {kind.name, relative};
}

}  // namespace

double read_share(const Value& where, double most) {
  const double share = read<Fraction>(where).value;
  if (share < 0 || share > most) where.fail(fmt::format("a percentage from 0 % to {} %", most * 100));
  return share;
}

Distribution read_jitter(const Value& where) {
  if (!where.is_object()) return {"normal", read_share(where, distribution_kind("normal").most_deviation)};
  Section section(where);
  Distribution jitter = read_kind_and_deviation(section, Seconds(0));
  section.finish();
  return jitter;
}

TimeDistribution read_time_distribution(const Value& where) {
  if (!where.is_object()) return {read<Seconds>(where), {}};
  Section section(where);
  TimeDistribution time;
  time.mean = section.above_zero<Seconds>("mean");
  time.spread = read_kind_and_deviation(section, time.mean);
  section.finish();
  return time;
}

/// Each is kept for every rank.
constexpr int most_batches_ahead = 1024;

InputSupply read_input(const Value& where) {
  Section section(where);
  InputSupply supply;
  if (const auto access = section.maybe("access")) {
    supply.access = read_choice<Access>(*access, "a way to draw samples",
                                        {{"random", Access::random}, {"partition", Access::partition}});
  }
  supply.sample_size = section.optional("sample_size", 0_B);
  if (const auto rate = section.maybe("storage_bandwidth"))
    supply.storage_bandwidth = read_above_zero<BytesPerSecond>(*rate);
  if (const auto rate = section.maybe("storage_samples_per_second")) {
    supply.storage_samples_per_second = read_above_zero<double>(*rate);
  }
  if (const auto rate = section.maybe("node_bandwidth")) supply.node_bandwidth = read_above_zero<BytesPerSecond>(*rate);
  supply.request_latency = section.optional("request_latency", 0_s);
  if (const auto workers = section.maybe("decode_workers")) supply.decode_workers = read_at_least(*workers, 1);
  if (const auto rate = section.maybe("decode_rate")) supply.decode_rate = read_above_zero<double>(*rate);
  supply.cache = section.optional("cache", 0_B);
  supply.dataset = section.optional("dataset", 0_B);
  if (const auto prefetch = section.maybe("prefetch")) supply.prefetch = read_between(*prefetch, 0, most_batches_ahead);
  if (const auto variation = section.maybe("variation")) supply.variation = read_jitter(*variation);
  section.finish();
  const bool reads =
      supply.storage_bandwidth < BytesPerSecond::infinity() || supply.node_bandwidth < BytesPerSecond::infinity();
  if (reads && supply.sample_size == 0_B) where.fail("a \"sample_size\", for the bandwidths to mean anything");
  if (supply.decode_workers == 0 && (supply.decode_rate > 0 || supply.request_latency > 0_s)) {
    where.fail("\"decode_workers\", which read and decode the samples");
  }
  if (supply.cache > 0_B && supply.dataset == 0_B) where.fail("the size of the \"dataset\", of which a part is cached");
  return supply;
}

}}  // namespace farandole::scenario
