// Results as text: one function for what each command prints.
#pragma once

#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collective/walk.hpp"
#include "report/facet.hpp"
#include "report/heading.hpp"
#include "timeline/difference.hpp"
#include "timeline/measured.hpp"
#include "timeline/result.hpp"
#include "timeline/validation.hpp"

namespace farandole { inline namespace report {

// Writes the points of `farandole bench`: the nccl-tests table of `farandole collective`, and whether the data was
// right.
//
// After nccl-tests' columns comes #wrong, the number of elements that were not as they should be; "N/A" where an
// operation has none. JSON and CSV list every key of every point, JSON every repetition.

/// Throws std::logic_error where a point holds a number that is not finite, before anything is written.
void write_bench(std::ostream& out, Format format, const Heading& heading, std::span<const MeasuredPoint> points);

// Writes what a fit found: every parameter with its standard error, or why the data cannot identify it and the one
// measurement that would tell most of it, what repeats scatter by, and what is left over.

struct CalibrationLine {
  std::string name;
  std::string pointer;
  std::string before;
  std::string after;
  std::string interval;                       // of 95 %, or why there is none
  std::optional<std::string> unidentified{};  // why it is what it was before
  std::string proposal{};                     // the measurement; empty: none of those that were tried
  double left_after = 1;                      // of its variance, the proposal
};

/// Standard deviation over the mean, of settings of a size class that were measured again.
struct ScatterLine {
  std::string what;  // "between rows", "of repetitions"
  std::string sizes;
  double deviation = 0;
  double standard_error = 0;
  int settings = 0;
};

struct CalibrationSummary {
  int measurements = 0;
  int doubtful = 0;
  double median = 0;  // of the sizes of the relative errors
  double p90 = 0;
  double worst = 0;
  std::optional<HeldOutErrors> held_out{};
  std::vector<ScatterLine> scatter{};
};

void write_calibration(std::ostream& out, Format format, const Heading& heading,
                       const std::vector<CalibrationLine>& lines, const CalibrationSummary& summary);

// Writes what runs of training said of a platform's numbers: prior and posterior of each, the runs that it follows
// from, what they do not identify with the run that would, and every run before and after.

struct NumberLine {
  std::string name;
  std::string pointer;
  std::string prior;  // its 80 %
  std::string posterior;
  std::string middle;  // its median
  std::string informed_by;
  std::string identified;  // "yes", "partly", "no"
  std::string shape;       // why Laplace's normal distribution is not its shape; empty: it is
  std::string proposal;    // the run that would tell most of it
  double left = 1;         // of the prior's variance
  double left_after = 1;   // the proposal
};

struct RunLine {
  std::string family;
  std::string name;
  double seconds = 0;  // of a step, measured
  double before = 0;   // relative errors of the prediction
  double after = 0;
  double noise = 0;
  std::string note;  // why it was not fitted to
};

struct InferenceReport {
  std::vector<NumberLine> numbers;
  std::vector<RunLine> runs;
  double enlarged = 1;  // by which noise was, as the runs are missed by more
  int simulations = 0;
};

void write_inference(std::ostream& out, Format format, const Heading& heading, const InferenceReport& report);

// Writes the points of `farandole collective` (and of `farandole bench`), as a table in the form nccl-tests prints.
//
// Called by the command line. The table's first eight columns are those of nccl-tests: size (bytes), count (elements),
// type, redop, root, time (us), algbw and busbw (GB/s, powers of 1000); properties in which points differ (op,
// algorithm, what a library chose, ranks, fidelity) follow to the right, where scripts that read nccl-tests do not
// look. Settings are '#' lines. JSON and CSV list every key of every point (report/record.hpp).

/// Throws std::logic_error where a point holds a number that is not finite, before anything is written.
void write_collective(std::ostream& out, Format format, const Heading& heading,
                      std::span<const CollectivePoint> points);

// Tables of what jobs cost: the cost itself, break-even, what the years add up to, and which inputs matter.
//
// Called by the table of `farandole run`, after it; points without a cost print nothing. Money is in the currency of
// each offer, energies in kWh.

void write_costs(std::ostream& out, const Facets<TrainingPoint>& facets, std::span<const TrainingPoint> points);

// Tables that explain points: waterfall, critical path, what would help; and those of whole runs.
//
// Called by the table of `farandole run`, after it; points without an explanation or a run print nothing.

void write_whole_runs(std::ostream& out, std::span<const TrainingPoint> points);
void write_explanations(std::ostream& out, std::span<const TrainingPoint> points);

// Writes the points of `farandole bench --training`: measured iterations, and what was predicted beside them.
//
// JSON and CSV list every key of a point of `farandole run`, whose times are measured, and after them backend,
// data_correct, wrong, cpu_busy (left out where too little time passed to tell), predicted_seconds, predicted_fidelity,
// error and, in JSON, every repetition.

/// Throws std::logic_error where a point holds a number that is not finite, before anything is written.
void write_replay(std::ostream& out, Format format, const Heading& heading, std::span<const ReplayedPoint> points);

// Writes the points of `farandole run`.
//
// Called by the command line once all points are there. The table gives the properties that all points share once and
// the others a column each, in milliseconds, samples per second and percent; below it stands where the time of the
// iteration goes, then all that explains it, and last the settings. JSON and CSV list every key of every point
// (report/record.hpp).

/// Throws std::logic_error where a point holds a number that is not finite, before anything is written.
void write_training(std::ostream& out, Format format, const Heading& heading, std::span<const TrainingPoint> points);

/// "exposed communication", and the other parts of an iteration.
std::vector<std::string> breakdown_names();

/// The first line of a table that compares estimated with measured compute times; nothing of any other.
void write_mixed_compute(std::ostream& out, std::span<const TrainingPoint> points);

/// What answers the study's question, a line each, under the title of a table; nothing where it asks nothing.
void write_answer(std::ostream& out, const Heading& heading, std::span<const TrainingPoint> points);

// Writes what an autotuner settled on, as a table; JSON lists what it tried.

/// A row for every point that tuned itself; nothing where none did.
void write_tuning(std::ostream& out, std::span<const TrainingPoint> points);

// Writes the points of `farandole validate`: predicted beside measured, and how far off by family and by size.
//
// Called by the command line. Published runs begin with their differences (report/validation_summary.hpp) and the rows
// that do not count and are missed all the same. The table lists every row, then the median, the 90th percentile and
// the worst of the counted ones' errors: of all, by family, by operation and by size; and, where rows have a band, how
// often the measurement falls inside. JSON has the same under "ratios", "uncounted_misses" and "summary"; CSV has the
// rows alone.

void write_validation(std::ostream& out, Format format, const Heading& heading, std::span<const ValidationPoint> points,
                      const RatioPairs& ratios = {});

/// The largest error of a counted row, as a fraction; 0 without any.
double worst_error(std::span<const ValidationPoint> points);

// Writes what `--fidelity all` gives: the same points timed at several fidelities, side by side.
//
// Called by the command line. The table has one row per configuration and, for each fidelity in the order it first
// appears, the time and how far it lies from `message` (the most detailed level) in percent of message; a line below it
// names each that lies farther than levels do that agree (simulate/fidelity.hpp). JSON and CSV
// list the points one after another, exactly as the plain reports do.

/// Both throw std::logic_error where a point holds a number that is not finite.
void write_training_comparison(std::ostream& out, Format format, const Heading& heading,
                               std::span<const TrainingPoint> points);
void write_collective_comparison(std::ostream& out, Format format, const Heading& heading,
                                 std::span<const CollectivePoint> points);

// An algorithm drawn as a tutorial draws it: ranks as columns, segments as cells, a picture for every round.
//
// Called by `farandole show algorithm --format svg|html`. A cell names the ranks whose contributions are in it and is
// darker the more they are; arrows go from the cell that is sent to the cell that receives it, blue where it is added,
// green where it is taken over; cells that changed have a thick edge. The first picture is the start. Both forms stand
// alone: no file and no network beside them. A click, the arrow keys and, in HTML, buttons and a slider step through.

void write_algorithm_svg(std::ostream& out, const Walk& walk, const std::string& title);
void write_algorithm_html(std::ostream& out, const Walk& walk, const std::string& title);

// The busiest links of points and the jobs that shared them, for people: a few lines of comment below a table.
//
// Called by the writers of points. Points without either write nothing.

void write_busiest_links(std::ostream& out, std::span<const CollectivePoint> points);
void write_busiest_links(std::ostream& out, std::span<const TrainingPoint> points);

/// Jobs that shared the network, and what that cost them.
void write_neighbours(std::ostream& out, std::span<const TrainingPoint> points);

// The columns of a row of nccl-tests for a collective point.
//
// Formats and meanings follow nccl-tests (src/common.cu and doc/PERFORMANCE.md of github.com/NVIDIA/nccl-tests), so
// that scripts that read its tables read ours. The element type is float: sizes here are bytes, and 4 bytes an element
// is what nccl-tests assumes unless told otherwise.

/// The two heading lines, which start with '#'.
std::string nccl_heading_names();
std::string nccl_heading_units();

/// Size, count, type, redop, root, time, algbw and busbw, each as wide as its heading.
std::string nccl_row(const CollectivePoint& point);

}}  // namespace farandole::report
