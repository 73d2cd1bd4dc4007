#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "config/section.hpp"
#include "workload/device.hpp"

namespace farandole { inline namespace workload {
namespace {

TimeBand read_band(const Value& where) {
  const std::vector<Value> ends = where.elements();
  if (ends.size() != 2) where.fail("two factors of the time, the least and the most");
  const TimeBand band{read<double>(ends[0]), read<double>(ends[1])};
  if (!(band.least > 0 && band.least <= 1 && band.most >= 1)) where.fail("a factor up to 1 and one from 1 on");
  return band;
}

}  // namespace

EstimateBands read_estimate_bands(const Value& where) {
  Section section(where);
  EstimateBands bands;
  bands.probability = section.required<double>("probability");
  bands.families = section.required<std::vector<std::string>>("families");
  bands.model = read_band(section.child("model"));
  bands.family = read_band(section.child("family"));
  bands.precision = read_band(section.child("precision"));
  bands.device = read_band(section.child("device"));
  bands.generation = read_band(section.child("generation"));
  bands.constant_share = read_band(section.child("constant_share"));
  const Value doubled = section.child("batch_doubled");
  bands.batch_doubled = read<double>(doubled);
  if (!(bands.batch_doubled >= 1)) doubled.fail("a factor from 1 on");
  section.finish();
  return bands;
}

TimeBand band_beside(const std::vector<int>& batches, int batch, double batch_doubled, const TimeBand& estimate) {
  double doublings = HUGE_VAL;
  for (const int measured : batches) {
    doublings = std::min(doublings, std::abs(std::log2(static_cast<double>(batch) / measured)));
  }
  const double spread = std::pow(batch_doubled, doublings);
  return {std::max(1 / spread, estimate.least), std::min(spread, estimate.most)};
}

std::string describe(const TimeBand& band) {
  return fmt::format("{:+.0f} to {:+.0f} %", 100 * (band.least - 1), 100 * (band.most - 1));
}

}}  // namespace farandole::workload
