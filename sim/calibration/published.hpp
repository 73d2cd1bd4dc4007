// Published runs beside predictions: files that hold a scenario and what somebody published of it, row by row.
//
// Called by `farandole validate --published`. A file names its scenario (a file beside scenarios/published/, or an
// object in place) and has "rows": each says what it changes (model, variant, batch_per_rank, precision, topology,
// ranks, or any value by its JSON pointer under "set") and what was published, "images_per_second" of all ranks
// together or "scaling_efficiency". What stands in the file itself holds for all its rows. A row with a "note" is
// shown, not counted; neither are rows of one rank, which are inputs, nor rows of devices whose rate is only estimated.
// Where the scenario has `workload.measured` (scenario/anchor.hpp), the row is predicted from these runs, and a row at
// the ranks and the batch of one of them is an input too.
//
// Training is compared by the time of a step, in seconds. The baseline is plain linear scaling: a step takes what it
// takes on one device, batch / published single-device rate; of an anchored row, what the measured run with the nearest
// batch takes, in proportion to the batch. Collectives (scenarios/published/collectives) have none.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/document.hpp"
#include "scenario/catalogue.hpp"
#include "scenario/run.hpp"
#include "timeline/difference.hpp"
#include "timeline/result.hpp"
#include "timeline/validation.hpp"

namespace farandole { inline namespace calibration {

struct PublishedRow {
  std::string family;  // the file's name
  std::string source;  // as the file says
  Document scenario;
  std::optional<double> samples_per_second;  // of all ranks together; or
  std::optional<double> efficiency;          // against as many times one device
  std::string note;                          // why it is not counted; empty: it is
  std::string software{};                    // the first word of what the file says: "TensorFlow"
};

/// The rows of one file, in its order. InputError where the file is not what it should be.
std::vector<PublishedRow> read_published(const Document& file, const std::string& family, const Catalogue& catalogue);

/// The rows of all files of scenarios/published, by family in order of name.
std::vector<PublishedRow> published_rows(const Catalogue& catalogue);

/// Whether the run that it is of is one of those that it is predicted from.
bool is_an_anchor(const Scenario& scenario);

/// Runs a row.
ValidationPoint validate(const PublishedRow& row, const Catalogue& catalogue);

/// A table of nccl-tests beside what the library it names takes on its topology, each size timed in closed form,
/// without what the topology's library times have from that very table.
std::vector<ValidationPoint> validate_published_collectives(const Document& file, const std::string& family,
                                                            const Catalogue& catalogue);

/// All tables of scenarios/published/collectives that were measured on that topology.
std::vector<ValidationPoint> validate_published_collectives_on(const std::string& topology, const Catalogue& catalogue);

struct PublishedRequest {
  std::vector<std::string> families;       // empty: all
  std::function<void(Document&)> adapt;    // applied to each row's scenario before it is read; may be empty
  std::function<void(int, int)> progress;  // called before each row of training with (rows done, rows in all)
  bool cold = false;                       // tables: without what others say of their machines
  RatioPairs* ratios = nullptr;            // filled with pairs of these rows, where there is one
};

/// Every run of scenarios/published and every table of scenarios/published/collectives, by family in order of name,
/// training first. Files of other kinds are left alone. InputError for a family that is not there.
std::vector<ValidationPoint> validate_published(const Catalogue& catalogue, const PublishedRequest& request = {});

/// Measured differences beside predicted ones: pairs of published runs of one source that differ in one kind of thing.
/// The first row of a pair is taken as a user's own measurement (scenario/anchor.hpp), the second is predicted from it
/// by setting what differs, as a sweep would: compared is the ratio of two throughputs, of which the simulator knew
/// one. A batch that comes with another precision, model or number of ranks is no kind of its own. `points` are the
/// rows' own results, in their order.
RatioPairs ratios_of(const std::vector<PublishedRow>& rows, const std::vector<ValidationPoint>& points,
                     const Catalogue& catalogue);

// Published runs for the reader of a run: marks beside its curves, and how well the platform's own are predicted.
//
// Called by the command line for pages.

struct PublishedBeside {
  std::vector<PublishedMark> marks;
  bool of_this_platform = false;        // else of all platforms, as there are none of this one
  std::vector<ValidationPoint> points;  // training only
};

/// A published run marks the curve of a point whose scenario is the same but for its ranks, its name and how it is
/// measured. Rows on a topology that the plan uses are run; where there are none, the counted rows of all platforms are
/// as topologies/errors/training_rows.json has them.
PublishedBeside published_beside(const RunPlan& plan, const Catalogue& catalogue);

}}  // namespace farandole::calibration
