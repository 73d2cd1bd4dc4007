// How far measurements lie from predictions that were made without them: what the bands of a calibrated topology are.
//
// A fit is repeated with some rows left out, which are then predicted: one size in four; each operation; each number of
// ranks; and of each pair of these, all rows that share either. The errors of what was left out in the same way are
// those to expect of a prediction that is as far from what was fitted. Conformal: of n errors the k-th from either end
// bounds a band, k = (n + 1) / 10, between two where that is no whole number, which a further error of the same kind
// lies in four times of five (Vovk, Gammerman and Shafer, "Algorithmic Learning in a Random World", 2005). Sizes are
// told apart by their class (timeline/validation.hpp), together with their neighbours where a class has few.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "calibration/measured_time.hpp"
#include "calibration/scatter.hpp"
#include "config/document.hpp"
#include "workload/device.hpp"

namespace farandole { inline namespace calibration {

/// So many standard deviations above the median are nine tenths of a normal distribution: the upper end of 80 %.
inline constexpr double to_ninth_decile = 1.2815515655446004;

/// What a prediction has in common with what its topology was fitted to, the most first.
enum class Distance : std::uint8_t { fitted, another_operation, another_scale, another_operation_and_scale };
inline constexpr std::size_t distances = 4;

/// log(measured / predicted), and how much it counts.
using Errors = std::vector<std::pair<double, double>>;

/// From the 10th to the 90th percentile, with 1 among them.
std::optional<TimeBand> band_of_errors(Errors errors);

struct Spread {
  std::set<std::string> operations{};  // that were fitted to
  std::set<int> ranks{};
  std::array<std::vector<std::optional<TimeBand>>, distances> bands{};  // per size class; empty: nothing shows it

  /// Nothing where no measurement could be left out that shows it. Never narrower than what is nearer.
  [[nodiscard]] std::optional<TimeBand> band_of(const MeasuredTime& row) const;
};

/// Predicted / measured of all rows by a fit without some of them; only what is said of these is looked at. Empty where
/// nothing could be fitted to the rest.
using PredictWithout = std::function<std::vector<double>(const std::vector<bool>& left_out)>;

/// Rows with a doubt are not looked at.
Spread spread_of(std::span<const MeasuredTime> rows, const PredictWithout& predict);

/// No band is narrower than four in five of what repeats scatter by: s times 1.28 to either side, of logs.
void widen_by_scatter(Spread& spread, const Scatter& scatter);

/// The "bands" of a calibrated file as JSON text, and read again.
std::string spread_text(const Spread& spread);
Spread read_spread(const Value& value);

}}  // namespace farandole::calibration
