#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "calibration/fit_problem.hpp"
#include "calibration/library_fit.hpp"
#include "calibration/linear_algebra.hpp"
#include "timeline/quantile.hpp"

namespace farandole { inline namespace calibration {
namespace {

constexpr int most_line_rounds = 20;
constexpr int most_pieces = 5;
constexpr double least_error = 5e-3;  // mean relative; below it, pieces are not told apart

using Samples = std::span<const TimedSize>;

/// latency + size * time_per_byte through some samples.
struct Line {
  double latency = 0;
  double time_per_byte = 0;
  Eigen::MatrixXd columns;  // of the relative problem
  Eigen::VectorXd residuals;
  Eigen::VectorXd weights;
  LibraryWay way;
  bool at_the_wire = false;
  [[nodiscard]] double error() const { return residuals.cwiseAbs().sum(); }
};

Eigen::MatrixXd relative_columns(Samples samples) {
  Eigen::MatrixXd columns(std::ssize(samples), 2);
  columns.col(0) = vector_of(samples, [](const TimedSize& sample) { return 1 / sample.time.si(); });
  columns.col(1) = vector_of(samples, [](const TimedSize& sample) { return sample.size.si() / sample.time.si(); });
  return columns;
}

/// Fits those of the two that are not given; the rest of the time per byte is the wire's.
Line line_through(Samples samples, const LibraryWay& way, std::optional<double> latency,
                  std::optional<double> time_per_byte) {
  Line line;
  line.way = way;
  line.columns = relative_columns(samples);
  line.weights = Eigen::VectorXd::Ones(line.columns.rows());
  const double wire = 1 / way.wire.si();
  const double known_latency = latency.value_or(0);
  const double known_rate = time_per_byte.value_or(wire);
  Eigen::MatrixXd free = line.columns;
  if (latency) free.col(0).setZero();
  if (time_per_byte) free.col(1).setZero();
  const Eigen::VectorXd target = Eigen::VectorXd::Ones(line.columns.rows()) - line.columns.col(0) * known_latency -
                                 line.columns.col(1) * known_rate;
  Eigen::VectorXd last;
  for (int round = 0; round < most_line_rounds; ++round) {
    const Eigen::VectorXd x = non_negative_least_squares(free, target, line.weights);
    const bool is_settled = round > 0 && (free * (x - last)).cwiseAbs().maxCoeff() < converged;
    last = x;
    line.latency = latency ? known_latency : x[0];
    line.time_per_byte = time_per_byte ? known_rate : wire + x[1];
    line.at_the_wire = !time_per_byte && x[1] <= 0;
    line.residuals = line.columns.col(0) * line.latency + line.columns.col(1) * line.time_per_byte -
                     Eigen::VectorXd::Ones(line.columns.rows());
    line.weights = huber_weights(line.residuals, least_deviation).weights;
    if (is_settled) break;
  }
  return line;
}

Bytes middle_of(Samples samples) {
  const double least = std::max(1.0, samples.front().size.si());
  return Bytes(std::round(std::sqrt(least * std::max(1.0, samples.back().size.si()))));
}

/// The library's own way, unless the samples are so fast that another fits clearly better.
Line best_line(Samples samples, const LibraryWays& ways) {
  const auto possible = ways(middle_of(samples));
  Line best = line_through(samples, possible.front(), {}, {});
  if (!best.at_the_wire) return best;
  const double clearly = least_error * static_cast<double>(samples.size());
  const double own = best.error();
  for (std::size_t i = 1; i < possible.size(); ++i) {
    Line other = line_through(samples, possible[i], {}, {});
    if (other.error() < std::min(best.error(), own - clearly)) best = std::move(other);
  }
  return best;
}

/// Where pieces begin: indices into the samples, the first is 0.
using Beginnings = std::vector<std::size_t>;

/// The best ways to cut the samples into pieces, by how many there are.
class Cuts {
 public:
  Cuts(Samples samples, const LibraryWays& ways) : samples_(samples) {
    const std::size_t n = samples.size();
    costs_.assign(n + 1, std::vector<double>(n + 1, std::numeric_limits<double>::infinity()));
    for (std::size_t first = 0; first < n; ++first) {
      for (std::size_t end = first + 1; end <= n; ++end) {
        if (is_piece(first, end)) costs_[first][end] = best_line(samples.subspan(first, end - first), ways).error();
      }
    }
  }

  [[nodiscard]] Beginnings best() const {
    const auto n = static_cast<double>(samples_.size());
    std::vector<double> errors = costs_.front();
    std::vector<Beginnings> begun(samples_.size() + 1, Beginnings{0});
    Beginnings best{0};
    double least = std::numeric_limits<double>::infinity();
    for (int pieces = 1; pieces <= most_pieces; ++pieces) {
      if (pieces > 1 && 3.0 * pieces - 1 >= n) break;
      const double criterion =
          n * std::log(std::max(errors.back() / n, least_error)) + (3.0 * pieces - 1) / 2 * std::log(n);
      if (criterion < least) best = begun.back();
      least = std::min(least, criterion);
      add_piece(errors, begun);
    }
    return best;
  }

 private:
  /// At least two sizes, unless that is all there is; all times of a size are in one piece.
  [[nodiscard]] bool is_piece(std::size_t first, std::size_t end) const {
    const bool is_whole = first == 0 && end == samples_.size();
    const bool cuts_a_size = (first > 0 && samples_[first].size == samples_[first - 1].size) ||
                             (end < samples_.size() && samples_[end].size == samples_[end - 1].size);
    return is_whole || (!cuts_a_size && samples_[first].size < samples_[end - 1].size);
  }

  void add_piece(std::vector<double>& errors, std::vector<Beginnings>& begun) const {
    std::vector<double> next(errors.size(), std::numeric_limits<double>::infinity());
    std::vector<Beginnings> next_begun(errors.size());
    for (std::size_t end = 1; end < errors.size(); ++end) {
      for (std::size_t first = 1; first < end; ++first) {
        const double error = errors[first] + costs_[first][end];
        if (error >= next[end]) continue;
        next[end] = error;
        next_begun[end] = begun[first];
        next_begun[end].push_back(first);
      }
    }
    errors = std::move(next);
    begun = std::move(next_begun);
  }

  Samples samples_;
  std::vector<std::vector<double>> costs_;  // of a piece of the samples from .. below
};

double line_standard_error(const Line& line, Eigen::Index column, double deviation) {
  return deviation * std::sqrt(std::max(0.0, covariance(line.columns, line.weights)(column, column)));
}

/// The robust deviation round all pieces, for as many degrees of freedom as are left.
double deviation_of(const std::vector<Line>& lines) {
  std::vector<double> sizes;
  for (const Line& line : lines) sizes.insert(sizes.end(), line.residuals.begin(), line.residuals.end());
  for (double& size : sizes) size = std::abs(size);
  const auto n = static_cast<double>(sizes.size());
  const double free = std::max(1.0, n - 2.0 * static_cast<double>(lines.size()));
  return std::max(least_deviation, 1.4826 * median(sizes) * std::sqrt(n / free));
}

std::string why_not(double error, double value) {
  return fmt::format("its standard error is {:.0f} % of it", 100 * error / value);
}

/// Whether a value may as well be nothing as what was found, and may as well be the library's own.
bool is_open(const PieceValue& found, double own) {
  constexpr double confident = 2;  // standard errors
  return found.value > 0 && found.standard_error > found.value &&
         std::abs(own - found.value) <= confident * found.standard_error;
}

/// What the samples do not settle is the library's own, and the other is fitted again.
FittedPiece settled_piece(Samples samples, const Line& line, double deviation) {
  FittedPiece piece;
  piece.least = samples.front().size;
  piece.most = samples.back().size;
  piece.measurements = static_cast<int>(samples.size());
  piece.way = line.way;
  piece.latency = {line.latency, line_standard_error(line, 0, deviation), {}};
  piece.time_per_byte = {line.time_per_byte, line_standard_error(line, 1, deviation), {}};
  const double own_rate = 1 / std::min(line.way.rate, line.way.wire).si();
  const double own_latency = line.way.latency.si();
  if (is_open(piece.time_per_byte, own_rate)) {
    const std::string why = why_not(piece.time_per_byte.standard_error, piece.time_per_byte.value);
    const Line again = line_through(samples, line.way, {}, own_rate);
    piece.latency = {again.latency, line_standard_error(again, 0, deviation), {}};
    piece.time_per_byte = {own_rate, 0, why};
  } else if (is_open(piece.latency, own_latency)) {
    const std::string why = why_not(piece.latency.standard_error, piece.latency.value);
    const Line again = line_through(samples, line.way, own_latency, {});
    piece.latency = {own_latency, 0, why};
    piece.time_per_byte = {again.time_per_byte, line_standard_error(again, 1, deviation), {}};
  }
  return piece;
}

/// The first size of the upper piece.
Bytes meeting(const FittedPiece& below, const FittedPiece& above) {
  const double slope = below.time_per_byte.value - above.time_per_byte.value;
  const double crossing = slope == 0 ? 0 : (above.latency.value - below.latency.value) / slope;
  if (crossing > below.most.si() && crossing < above.least.si()) return Bytes(std::ceil(crossing));
  return Bytes(std::floor(std::sqrt(std::max(1.0, below.most.si()) * above.least.si())) + 1);
}

}  // namespace

std::vector<FittedPiece> fit_pieces(Samples samples, const LibraryWays& ways) {
  const Beginnings beginnings = Cuts(samples, ways).best();
  std::vector<Line> lines;
  std::vector<Samples> parts;
  for (std::size_t k = 0; k < beginnings.size(); ++k) {
    const std::size_t end = k + 1 < beginnings.size() ? beginnings[k + 1] : samples.size();
    parts.push_back(samples.subspan(beginnings[k], end - beginnings[k]));
    lines.push_back(best_line(parts.back(), ways));
  }
  const double deviation = deviation_of(lines);
  std::vector<FittedPiece> pieces;
  for (std::size_t k = 0; k < lines.size(); ++k) {
    pieces.push_back(settled_piece(parts[k], lines[k], deviation));
    if (k > 0) pieces[k].from = std::min(meeting(pieces[k - 1], pieces[k]), pieces[k].least);
  }
  return pieces;
}

}}  // namespace farandole::calibration
