#include "calibration/next_measurement.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include <Eigen/LU>
#include <fmt/format.h>

#include "calibration/fit_problem.hpp"
#include "calibration/linear_algebra.hpp"
#include "calibration/predictor.hpp"
#include "collective/algorithms.hpp"
#include "config/section.hpp"
#include "timeline/validation.hpp"
#include "units/format.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace calibration {
namespace {

constexpr std::array possible_node_counts{1, 2, 4, 8};
constexpr int most_ranks = 64;  // which are timed message by message

struct Measurable {
  const char* operation;
  const char* osu;              // the program of the OSU micro-benchmarks; nullptr: IMB has one
  std::array<double, 3> sizes;  // as the program counts them: of a message, of all data, or of one rank's share
  bool is_of_shares;
};
constexpr std::array messages{Measurable{pingpong, "osu_latency", {8, 65536, 4194304}, false},
                              Measurable{exchange, nullptr, {8, 65536, 4194304}, false}};
constexpr std::array collectives{Measurable{"allreduce", "osu_allreduce", {1024, 65536, 67108864}, false},
                                 Measurable{"allgather", "osu_allgather", {16, 4096, 1048576}, true},
                                 Measurable{"alltoall", "osu_alltoall", {16, 4096, 1048576}, true}};

/// Ping-pongs and exchanges inside a node and between two; barriers, allreduces, allgathers and alltoalls of a small, a
/// middle and a large size, on 1, 2, 4 and 8 nodes with one or all devices of each: what the machine has room for.
class PossibleRows {
 public:
  explicit PossibleRows(const Topology& machine) : machine_(machine) {
    add_messages();
    for (const int nodes : possible_node_counts) {
      if (machine.nodes && nodes > *machine.nodes) continue;
      for (const int devices : std::set<int>{1, machine.devices_per_node}) add_collectives(nodes, devices);
    }
  }
  std::vector<PossibleRow> all;

 private:
  [[nodiscard]] MeasuredTime row_of(const char* operation, int ranks, int nodes, double bytes) const {
    MeasuredTime row;
    row.place = {"a proposal", 1, ""};
    row.operation = operation;
    row.ranks = ranks;
    row.nodes = nodes;
    row.bytes = Bytes(bytes);
    return row;
  }

  void add_messages() {
    for (const int nodes : {1, 2}) {
      if ((machine_.nodes && nodes > *machine_.nodes) || (nodes == 1 && machine_.devices_per_node < 2)) continue;
      for (const Measurable& message : messages) {
        for (const double size : message.sizes) add(message, size, row_of(message.operation, 2, nodes, size));
      }
    }
  }

  void add_collectives(int nodes, int devices) {
    const int ranks = nodes * devices;
    if (ranks < 2 || ranks > most_ranks) return;
    MeasuredTime barrier = row_of("barrier", ranks, nodes, 0);
    add({"barrier", "osu_barrier", {}, false}, 0, barrier);
    for (const Measurable& collective : collectives) {
      for (const double size : collective.sizes) {
        const double bytes = collective.is_of_shares ? size * ranks : size;
        add(collective, size, row_of(collective.operation, ranks, nodes, bytes));
        MeasuredTime direct = row_of(collective.operation, ranks, nodes, bytes);
        direct.algorithm = "direct";
        if (find_algorithm(*find_operation(direct.operation), direct.algorithm) != nullptr && !has_library(direct))
          add(collective, size, direct);
      }
    }
  }
  [[nodiscard]] bool has_library(MeasuredTime row) const {
    row.algorithm.clear();
    return library_of(row, machine_) != nullptr && !is_piecewise(row, machine_);
  }

  /// What a library carries out that picks its ways is fitted apart: there messages and algorithms of a known name tell
  /// of a machine's numbers, which only our own bench runs.
  void add(const Measurable& program, double size, MeasuredTime row) {
    const bool is_message = row.operation == pingpong || row.operation == exchange;
    MeasuredTime allreduce = row_of("allreduce", row.ranks, *row.nodes, size);
    const bool is_benched = is_piecewise(allreduce, machine_) || !row.algorithm.empty();
    if (is_benched && row.algorithm.empty() && !is_message)
      row.algorithm = algorithm_names(*find_operation(row.operation)).front();
    const std::string where = fmt::format(", {} ranks on {} node{}", row.ranks, *row.nodes, *row.nodes == 1 ? "" : "s");
    all.push_back({(is_benched ? benched(row) : by_others(program, size)) + where, std::move(row)});
  }

  static std::string benched(const MeasuredTime& row) {
    std::string command = "farandole bench --op " + row.operation;
    if (!row.algorithm.empty()) command += " --algorithm " + row.algorithm;
    if (row.operation != "barrier") command += fmt::format(" -b {0:.0f} -e {0:.0f}", row.bytes.si());
    return command;
  }
  static std::string by_others(const Measurable& program, double size) {
    if (program.osu == nullptr) return fmt::format("IMB-MPI1 PingPing -msglog {0:.0f}:{0:.0f}", std::log2(size));
    if (size <= 0) return program.osu;
    return fmt::format("{0} -m {1:.0f}:{1:.0f}", program.osu, size);
  }

  const Topology& machine_;
};

constexpr double worth_it = 0.9;  // of the variance, above which a measurement is not worth its time

}  // namespace

Eigen::MatrixXd slopes_of(const Candidates& candidates, const Knowledge& known) {
  Eigen::MatrixXd slopes = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(candidates.list.size()), known.at.size());
  const Eigen::VectorXd here = candidates.log_times(known.topology(known.at));
  for (Eigen::Index j = 0; j < known.at.size(); ++j) {
    if (known.steps[j] <= 0) continue;
    Eigen::VectorXd moved = known.at;
    moved[j] += known.steps[j];
    slopes.col(j) = (candidates.log_times(known.topology(moved)) - here) / known.steps[j];
  }
  return slopes;
}

std::optional<Telling> most_telling(const Candidates& candidates, const Eigen::MatrixXd& slopes,
                                    const Eigen::MatrixXd& covariance, Eigen::Index j) {
  std::optional<Telling> best;
  for (std::size_t i = 0; i < candidates.list.size(); ++i) {
    const Eigen::VectorXd gradient = slopes.row(static_cast<Eigen::Index>(i)).transpose();
    if (!gradient.allFinite()) continue;
    const Eigen::VectorXd towards = covariance * gradient;
    const double noise = candidates.list[i].noise;
    const double after = covariance(j, j) - towards[j] * towards[j] / (noise * noise + gradient.dot(towards));
    if (after > worth_it * covariance(j, j) || (best && after >= best->variance)) continue;
    best = Telling{i, after};
  }
  return best;
}

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

/// Those of a library's pieces, whose numbers are told by the same collective on the same ranks, of another size.
void propose_pieces(const LibraryFit& library, std::span<const MeasuredTime> measurements, const Topology& machine,
                    const Scatter& scatter, std::vector<NextMeasurement>& proposals) {
  for (std::size_t k = 0; k < library.pieces.size(); ++k) {
    const FittedPiece& piece = library.pieces[k];
    const auto rows = those_of(measurements, [&](const MeasuredTime& row) {
      return is_of(row, library, machine) && row.bytes >= piece.least && row.bytes <= piece.most;
    });
    if (rows.empty()) continue;
    if (!piece.latency.unidentified.empty()) proposals.push_back(next_of(library, k, 0, rows, scatter));
    if (!piece.time_per_byte.unidentified.empty()) proposals.push_back(next_of(library, k, 1, rows, scatter));
  }
}

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int most_width_halvings = 8;

/// Half of the least that anything takes, measured or as the file has it, and of the least per byte: as wide is what is
/// believed of a number that the file has nothing of. (A message keeps its sender's and its receiver's processor for no
/// longer than it takes.)
struct Scales {
  double time = std::numeric_limits<double>::infinity();
  double per_byte = std::numeric_limits<double>::infinity();

  void take(const MeasuredTime& row, Seconds taken) {
    time = std::min(time, taken.si() / 2);
    if (row.bytes > Bytes(0)) per_byte = std::min(per_byte, taken.si() / row.bytes.si() / 2);
  }
};

/// The numbers of a fit and what its measurements say of them together.
class FittedNumbers {
 public:
  FittedNumbers(const Fit& fit, std::vector<MeasuredTime> rows) : fit_(fit), rows_(std::move(rows)) {
    for (const FittedParameter& fitted : fit.parameters) {
      parameters_.push_back(fitted.parameter);
      values_.push_back(fitted.value);
    }
  }

  [[nodiscard]] double noise() const { return noise_; }

  Knowledge knowledge(const Scales& scales) {
    VectorXd widths(static_cast<Index>(values_.size()));
    for (std::size_t j = 0; j < values_.size(); ++j) widths[static_cast<Index>(j)] = width_of(j, scales);
    MatrixXd information = MatrixXd::Zero(widths.size(), widths.size());
    if (!rows_.empty()) information = information_of(widths);
    // Scaled by the widths, whose units differ by many powers of ten.
    MatrixXd scaled = widths.asDiagonal() * information * widths.asDiagonal();
    scaled.diagonal().array() += 1;
    const MatrixXd covariance = widths.asDiagonal() * inverse_of(scaled) * widths.asDiagonal();
    VectorXd steps = covariance.diagonal().cwiseSqrt();
    for (std::size_t j = 0; j < values_.size(); ++j) {
      if (fit_.parameters[j].unidentified) steps[static_cast<Index>(j)] = widths[static_cast<Index>(j)];
    }
    return {[this](const VectorXd& numbers) {
              return with(fit_.topology, parameters_, std::vector<double>(numbers.begin(), numbers.end()));
            },
            vector_of(values_), steps, covariance};
  }

 private:
  [[nodiscard]] std::optional<double> width_in_file(const Parameter& parameter) const {
    const auto priors = fit_.topology.find("/priors");
    if (!priors || parameter.kind == ParameterKind::congestion) return std::nullopt;
    for (const auto& [pointer, prior] : priors->members()) {
      if (pointer != parameter.pointer) continue;
      const auto ends = Section(prior).child("between").elements();
      if (ends.size() != 2) return std::nullopt;
      Document changed = fit_.topology;
      double at[2];
      for (std::size_t end = 0; end < 2; ++end) {
        changed.set(pointer, '"' + read<std::string>(ends[end]) + '"');
        at[end] = value_in(changed, parameter);
      }
      return std::abs(at[1] - at[0]) / 2 / to_ninth_decile;
    }
    return std::nullopt;
  }

  [[nodiscard]] double width_of(std::size_t j, const Scales& scales) const {
    if (const auto width = width_in_file(parameters_[j]); width && *width > 0) return *width;
    if (values_[j] > 0) return values_[j] * std::log(2) / to_ninth_decile;
    if (parameters_[j].kind == ParameterKind::time) return scales.time;
    if (parameters_[j].kind == ParameterKind::time_per_byte) return scales.per_byte;
    return parameters_[j].kind == ParameterKind::size ? 65536 : 1;
  }

  /// J' W J / noise^2; narrows the widths of what is not identified to where the rows are linear in it.
  MatrixXd information_of(VectorXd& widths) {
    const FitProblem problem(fit_.topology, rows_, fit_.scatter);
    const VectorXd here = problem.relative(parameters_, values_);
    const MatrixXd jacobian = problem.jacobian(parameters_, values_, here);
    const RobustWeights robust = weights_of((here.array() - 1).matrix(), problem.scatter());
    noise_ = std::max(noise_, robust.deviation);
    for (std::size_t j = 0; j < values_.size(); ++j) {
      const auto column = static_cast<Index>(j);
      for (int halving = 0; fit_.parameters[j].unidentified && halving < most_width_halvings; ++halving) {
        std::vector<double> moved = values_;
        moved[j] += widths[column];
        const VectorXd bent = problem.relative(parameters_, moved) - here - widths[column] * jacobian.col(column);
        if (bent.cwiseAbs().maxCoeff() <= noise_) break;
        widths[column] /= 2;
      }
    }
    return jacobian.transpose() * robust.weights.asDiagonal() * jacobian / (noise_ * noise_);
  }

  const Fit& fit_;
  std::vector<MeasuredTime> rows_;
  std::vector<Parameter> parameters_;
  std::vector<double> values_;
  double noise_ = least_noise;
};

/// Those that the machine can run, and how long what they take and what was measured is.
std::vector<PossibleRow> runnable(const Topology& machine, Scales& scales) {
  std::vector<PossibleRow> rows = PossibleRows(machine).all;
  std::erase_if(rows, [&](const PossibleRow& possible) {
    try {
      const Seconds taken = predict(machine, {&possible.row, 1}, NetworkSolver::own).front();
      if (taken > Seconds(0)) scales.take(possible.row, taken);
      return !(taken > Seconds(0));
    } catch (const InputError&) {
      return true;
    }
  });
  return rows;
}

Candidates row_candidates(const std::vector<PossibleRow>& possible, double noise, const Scatter& scatter) {
  Candidates candidates;
  std::vector<MeasuredTime> rows;
  for (const PossibleRow& one : possible) {
    candidates.list.push_back({one.what, std::hypot(noise, scatter.of(one.row))});
    rows.push_back(one.row);
  }
  candidates.log_times = [rows](const Document& topology) {
    const auto times = predict(read_topology(topology.root(), topology.source()), rows, NetworkSolver::own);
    return vector_of(times, [](Seconds time) { return std::log(time.si()); });
  };
  return candidates;
}

void propose_parameters(const Fit& fit, const std::vector<MeasuredTime>& rows, const std::vector<MeasuredTime>& times,
                        std::vector<NextMeasurement>& proposals) {
  const auto is_open = [](const FittedParameter& fitted) { return fitted.unidentified.has_value(); };
  if (std::ranges::none_of(fit.parameters, is_open)) return;
  Scales scales;
  for (const MeasuredTime& row : times) scales.take(row, row.time);
  const auto possible = runnable(read_topology(fit.topology.root(), fit.topology.source()), scales);
  FittedNumbers numbers(fit, rows);
  const Knowledge known = numbers.knowledge(scales);
  const Candidates candidates = row_candidates(possible, numbers.noise(), fit.scatter);
  const MatrixXd slopes = slopes_of(candidates, known);
  for (std::size_t j = 0; j < fit.parameters.size(); ++j) {
    if (!is_open(fit.parameters[j])) continue;
    NextMeasurement next{fit.parameters[j].parameter.pointer, "", std::nullopt, 1};
    const auto column = static_cast<Index>(j);
    if (const auto found = most_telling(candidates, slopes, known.covariance, column)) {
      next.what = possible[found->candidate].what;
      next.row = possible[found->candidate].row;
      next.left = found->variance / known.covariance(column, column);
    }
    proposals.push_back(std::move(next));
  }
}

}  // namespace

std::vector<NextMeasurement> propose_for(const Fit& fit, std::span<const MeasuredTime> measurements) {
  const Topology machine = read_topology(fit.topology.root(), fit.topology.source());
  std::vector<MeasuredTime> counted;
  std::vector<MeasuredTime> of_messages;
  for (const MeasuredTime& row : measurements) {
    if (row.doubt) continue;
    counted.push_back(row);
    if (!is_piecewise(row, machine)) of_messages.push_back(row);
  }
  std::vector<NextMeasurement> proposals;
  if (counted.empty()) return proposals;
  propose_parameters(fit, of_messages, counted, proposals);
  for (const LibraryFit& library : fit.libraries) propose_pieces(library, counted, machine, fit.scatter, proposals);
  return proposals;
}

}}  // namespace farandole::calibration
