// What measured runs of training say of a platform's numbers, and what they do not: from priors to posteriors.
//
// Every unknown number x_j > 0 has a log-normal prior, t_j = log x_j ~ N(c_j, w_j); every run i says
//   log(predicted_i(t) / measured_i) ~ N(0, n_i)
// with the simulator itself as `predicted` and as noise n_i what it was wrong by on published runs of other families
// (scenario/model_error.hpp), with the band of its compute where that is estimated. The posterior is Laplace's: the
// minimum t* of
//   F(t) = sum_i (r_i / n_i)^2 / 2 + sum_j ((t_j - c_j) / w_j)^2 / 2
// by Gauss-Newton with a line search, and the covariance (J' N^-2 J + W^-2)^-1 there. J is made of differences half a
// standard deviation wide, since simulated times have steps and plateaus. Where the runs are missed by more than n, n
// is enlarged until chi^2 is its degrees of freedom (Birge, Phys. Rev. 40, 1932). Where F along the line of the others'
// conditional means is not the parabola that Laplace takes it for, quantiles are those of exp(-F) on that line.
//
// A number of whose variance the runs leave more than nine tenths is not identified: it keeps its prior, median and
// width, and the one run of a short list that would tell most of it is proposed. Called by farandole calibrate.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Core>

#include "calibration/fit.hpp"
#include "calibration/measured_time.hpp"
#include "config/document.hpp"
#include "report/reports.hpp"
#include "scenario/catalogue.hpp"

namespace farandole { inline namespace calibration {

/// What is believed of a number before the runs.
struct Unknown {
  Parameter parameter;  // of the topology's file, or of the runs' scenarios: "/strategy/coordinator_per_message"
  double centre = 0;    // log of the median; of a rate, of the seconds per byte
  double width = 1;     // standard deviation of the log
  std::string source;
};

/// Without a source a number's 80 % are from half to twice what the file has.
inline constexpr double default_factor = 2;

bool is_of_scenario(const Parameter& parameter);

/// Every number of the file that runs may tell of: those of "priors", with the ends that it gives to their 80 %, and
/// those that `calibrate` knows, the device spread and the step jitter where the file has them. `options` are priors
/// from the command line, "/node/nic/host_rate=3 GB/s..15 GB/s", and take the place of the file's.
std::vector<Unknown> unknowns_of(const Document& topology, std::span<const std::string> options);

/// log(predicted / measured) of every run with these logs of the unknowns; not a number where a run cannot be.
using Misfit = std::function<Eigen::VectorXd(const Eigen::VectorXd& logs)>;

enum class Identified : std::uint8_t { yes, partly, no };
/// Of the posterior: as Laplace takes it, or not, or open where it changes nothing to go on in one direction.
enum class PosteriorShape : std::uint8_t { normal, skewed, open_below, open_above };

struct Marginal {
  double low = 0;  // logs of the 10th, 50th and 90th percentile
  double middle = 0;
  double high = 0;
  double left = 1;  // of the prior's variance
  Identified identified = Identified::no;
  PosteriorShape shape = PosteriorShape::normal;
  std::vector<double> shares;  // of every run in what the variance fell by, as leaving it out shows
};

struct Posterior {
  Eigen::VectorXd at;  // logs: the most likely point, medians where the shape is not normal
  Eigen::MatrixXd covariance;
  std::vector<Marginal> marginals;
  Eigen::VectorXd before;  // log(predicted / measured) at the priors' medians
  Eigen::VectorXd after;
  double enlarged = 1;  // by which the noise was
  int evaluations = 0;  // of all runs together
};

Posterior infer(std::span<const Unknown> unknowns, const Misfit& misfit, const Eigen::VectorXd& noise);

// Runs of training, and what the simulator says of them on a platform whose numbers are being tried.

struct TrainingRow {
  std::string family;  // the file's name
  std::string name;    // "vgg16 fp32, 16 ranks, 64 each"
  Document scenario;
  Place place;
  Seconds step;      // measured
  double noise = 0;  // standard deviation of log(predicted / measured)
  std::string note;  // why it is shown and not fitted to; empty: it is
};

/// What the command line says of files of runs.
struct RunSources {
  std::string topology;    // as it was typed
  std::string scenario{};  // of tables of runs (CSV); a file
  bool all_rows = false;   // also those of published files that are kept to compare with
};

/// Whether a file holds runs of training: published ones (published.hpp), a scenario with `workload.measured`, or a
/// table of them (CSV, with columns ranks and samples_per_second or iteration_seconds). Else it is
/// read_measurements()'s.
bool holds_training(const std::filesystem::path& file);

/// All rows of several ranks on that topology. Where a published file has rows with a note that begins with
/// "calibration", only these are fitted to. Of a user's own runs those on the fewest ranks of each batch settle what a
/// device takes (scenario/anchor.hpp), and the others are rows. InputError where there is nothing to fit to.
std::vector<TrainingRow> read_training(std::span<const std::string> files, const RunSources& how,
                                       const Document& topology, const Catalogue& catalogue);

// Where a user's own runs come from: without noise and names yet, which read_training() adds.

/// Those of `workload.measured`.
std::vector<TrainingRow> own_runs(const Document& scenario, int devices_per_node, const std::string& family);

/// Whether the first line names columns of runs.
bool is_run_table(std::string_view text);

/// Columns: ranks or nodes, samples_per_second or iteration_seconds, and as need be batch_per_rank, accumulation,
/// model, variant, precision, gradient_type, and JSON pointers into the scenario.
std::vector<TrainingRow> table_runs(const std::string& file, std::string_view text, const Document& scenario,
                                    int devices_per_node, const std::string& family);

/// The scenario's step on the topology as the document has it.
Seconds step_on(const Document& topology, const Document& scenario, const Catalogue& catalogue);

/// The topology with all the numbers that are its own.
Document with(const Document& topology, std::span<const Unknown> unknowns, const Eigen::VectorXd& logs);

/// InputError at a prior whose pointer no row's scenario takes.
Misfit misfit_of(const Document& topology, std::span<const Unknown> unknowns, const std::vector<TrainingRow>& rows,
                 const Catalogue& catalogue);

/// The measurement that would tell most of a number that is not, or only partly, identified.
struct Proposal {
  std::size_t unknown = 0;
  std::string run;  // "one run of vgg16 on 4 nodes"; empty: none of the list would tell anything
  double left = 1;  // of the prior's variance, after it
};
std::vector<Proposal> propose(const Document& topology, std::span<const Unknown> unknowns, const Posterior& posterior,
                              const std::vector<TrainingRow>& rows, const Catalogue& catalogue);

/// `file` with the posterior's medians in place, and its calibration section with prior, 80 % and rows of each.
Document calibrated_file(const Document& file, std::span<const Unknown> unknowns, const Posterior& posterior,
                         const std::vector<TrainingRow>& rows, const CalibrationSource& provenance);

/// "4.1 GB/s .. 9.9 GB/s" of two logs, the smaller one first.
std::string between(const Parameter& parameter, double low, double high);

/// The rows that a number follows from, with their shares, most first.
std::string informed_by(const Marginal& marginal, const std::vector<TrainingRow>& rows);

// The whole of it, for the command line.

struct Inferred {
  std::vector<Unknown> unknowns;
  std::vector<TrainingRow> fitted;
  std::vector<TrainingRow> shown;  // and not fitted to
  Posterior posterior;
  std::vector<Proposal> proposals;
  Eigen::VectorXd shown_before;  // log(predicted / measured)
  Eigen::VectorXd shown_after;
};
Inferred infer_runs(const Document& topology, std::span<const std::string> files, const RunSources& how,
                    std::vector<Unknown> unknowns, const Catalogue& catalogue);

InferenceReport report_of(const Inferred& found);

}}  // namespace farandole::calibration
