#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include <Eigen/Core>
#include <Eigen/LU>
#include <fmt/format.h>

#include "calibration/next_measurement.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace calibration {
namespace {

constexpr double widest = 0.5409;  // ln 2 over the ninth decile: a factor of two either way eight times in ten
constexpr double smallest_size = 8;
constexpr double largest_size = 0x1p33;  // what a device has room for twice

/// "all_reduce_perf": what nccl-tests calls the program of an operation.
std::string program_of(const std::string& operation) {
  if (operation == "allreduce") return "all_reduce_perf";
  return (operation == "allgather" ? "all_gather" : operation) + "_perf";
}

bool is_of(const MeasuredTime& row, const LibraryFit& library, const Topology& machine) {
  const Library* found = library_of(row, machine);
  return found != nullptr && found->name == library.library && row.operation == library.operation &&
         row.ranks == library.ranks && row.nodes.value_or(library.nodes) == library.nodes;
}

/// Rows of one piece: time = latency + size * time_per_byte.
class Piece {
 public:
  Piece(const FittedPiece& piece, const std::vector<MeasuredTime>& rows, const Scatter& scatter)
      : values_(piece.latency.value, piece.time_per_byte.value) {
    Eigen::MatrixXd slopes(static_cast<Eigen::Index>(rows.size()), 2);
    Eigen::VectorXd residuals(slopes.rows());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      const Eigen::Vector2d columns(1 / rows[i].time.si(), rows[i].bytes.si() / rows[i].time.si());
      slopes.row(row) = columns.transpose();
      residuals[row] = columns.dot(values_) - 1;
      noise_ = std::max(noise_, scatter.of(rows[i]));
    }
    const RobustWeights robust = huber_weights(residuals, least_noise);
    noise_ = std::max(noise_, robust.deviation);
    // Either number within a factor of two; a latency of nothing within that of the shortest time.
    Eigen::Vector2d widths = widest * values_;
    if (widths[0] <= 0) widths[0] = widest * rows.front().time.si();
    const Eigen::MatrixXd scaled = slopes * widths.asDiagonal();
    Eigen::Matrix2d information = scaled.transpose() * robust.weights.asDiagonal() * scaled / (noise_ * noise_);
    information.diagonal().array() += 1;
    covariance_ = widths.asDiagonal() * information.inverse() * widths.asDiagonal();
  }

  [[nodiscard]] Candidate candidate(std::string what) const { return {std::move(what), noise_}; }
  [[nodiscard]] Eigen::RowVector2d slopes(double bytes) const {
    return Eigen::RowVector2d(1, bytes) / (values_[0] + bytes * values_[1]);
  }
  [[nodiscard]] const Eigen::MatrixXd& covariance() const { return covariance_; }

 private:
  Eigen::Vector2d values_;
  double noise_ = least_noise;
  Eigen::MatrixXd covariance_;
};

/// Sizes of a piece that could be measured, in powers of two.
std::vector<double> sizes_of(const LibraryFit& library, std::size_t k) {
  const double from = library.pieces[k].from.si();
  const bool is_last = k + 1 == library.pieces.size();
  const double below = is_last ? 2 * largest_size : library.pieces[k + 1].from.si();
  std::vector<double> sizes;
  for (double size = smallest_size; size <= largest_size; size *= 2) {
    if (size >= from && size < below) sizes.push_back(size);
  }
  return sizes;
}

NextMeasurement next_of(const LibraryFit& library, std::size_t k, Eigen::Index number,
                        const std::vector<MeasuredTime>& rows, const Scatter& scatter) {
  const Piece piece(library.pieces[k], rows, scatter);
  const std::vector<double> sizes = sizes_of(library, k);
  Candidates candidates;
  Eigen::MatrixXd slopes(static_cast<Eigen::Index>(sizes.size()), 2);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    candidates.list.push_back(piece.candidate(fmt::format("{0} -b {1:.0f} -e {1:.0f}, {2} ranks on {3} node{4}",
                                                          program_of(library.operation), sizes[i], library.ranks,
                                                          library.nodes, library.nodes == 1 ? "" : "s")));
    slopes.row(static_cast<Eigen::Index>(i)) = piece.slopes(sizes[i]);
  }
  NextMeasurement next{fmt::format("{}/pieces/{}/{}", library.pointer, k, number == 0 ? "latency" : "rate"), "",
                       std::nullopt, 1};
  if (const auto found = most_telling(candidates, slopes, piece.covariance(), number)) {
    next.what = candidates.list[found->candidate].what;
    next.row = rows.front();
    next.row->bytes = Bytes(sizes[found->candidate]);
    next.left = found->variance / piece.covariance()(number, number);
  }
  return next;
}

}  // namespace

void propose_pieces(const LibraryFit& library, std::span<const MeasuredTime> measurements, const Topology& machine,
                    const Scatter& scatter, std::vector<NextMeasurement>& proposals) {
  for (std::size_t k = 0; k < library.pieces.size(); ++k) {
    const FittedPiece& piece = library.pieces[k];
    std::vector<MeasuredTime> rows;
    for (const MeasuredTime& row : measurements) {
      if (is_of(row, library, machine) && row.bytes >= piece.least && row.bytes <= piece.most) rows.push_back(row);
    }
    if (rows.empty()) continue;
    if (!piece.latency.unidentified.empty()) proposals.push_back(next_of(library, k, 0, rows, scatter));
    if (!piece.time_per_byte.unidentified.empty()) proposals.push_back(next_of(library, k, 1, rows, scatter));
  }
}

}}  // namespace farandole::calibration
