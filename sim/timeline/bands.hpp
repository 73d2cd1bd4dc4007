// Between which ends a point lies where its compute times are estimated.
//
// Filled by scenario/, printed by report/. Each is the hull of the point and of two runs of it, with compute as fast
// and as slow as the estimate's band has it: not all of it grows or falls with compute.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "timeline/fields.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace timeline {

/// In JSON [low, high]; in CSV two columns.
struct Interval {
  double low = 0;
  double high = 0;
  void hold(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// Where four measurements in five should lie.
struct Band {
  double low = 0;  // of what is compared, in its unit
  double high = 0;

  static void fields(auto& band, auto& visit) {
    visit("band_low", band.low);
    visit("band_high", band.high);
  }
};

/// Of what a point costs, in the currency of its offer.
struct CostBands {
  Interval per_sample;
  std::optional<Interval> per_run;
  // Of the comparison with elsewhere: all ends there with all ends here, or its own where both are one estimate.
  std::optional<Interval> per_sample_elsewhere;
  // From where on it pays; without a low end it never does, without a high one not at every end.
  std::optional<double> break_even_low;
  std::optional<double> break_even_high;

  static void fields(auto& cost, auto& visit) {
    visit("per_sample", cost.per_sample);
    visit("per_run", cost.per_run);
    visit("per_sample_elsewhere", cost.per_sample_elsewhere);
    visit.ends("break_even_utilisation", cost.break_even_low, cost.break_even_high);
  }
};

/// One of the independent things that a step is uncertain by. Two points have it in common where it is `of` the same
/// and of the same one: a number of a platform, the compute time of a model on a device, the simulator's error in a
/// job.
struct BandSource {
  std::string of;     // "compute time", "published runs", or a pointer to a number that nothing has settled
  std::string whose;  // "vgg16 in fp32 on p100", "horovod of vgg16 on roce25-4xp100", "roce25-4xp100"
  std::vector<std::string> between;  // the two ends of such a number, as its file has them
  Interval iteration{1, 1};          // factors of the step, where it is at its first end and at its second

  static void fields(auto& source, auto& visit) {
    visit("of", source.of);
    visit("whose", source.whose);
    visit("between", source.between, {.stated = !source.between.empty()});
    visit("iteration_factors", source.iteration);
  }
};

inline constexpr const char* of_compute_time = "compute time";
inline constexpr const char* of_published_runs = "published runs";

struct Bands {
  double probability = 0;  // that a compute time lies in its band
  Interval compute;        // factors of the point's compute times
  Interval iteration;      // seconds
  Interval samples_per_second;
  Interval scaling_efficiency;
  std::optional<Interval> run;  // seconds
  std::optional<CostBands> cost;
  std::vector<BandSource> sources{};

  static void fields(auto& bands, auto& visit) {
    visit("probability", bands.probability);
    visit("compute", bands.compute);
    visit("iteration_seconds", bands.iteration, {.column = "iteration", .unit = FigureUnit::iteration});
    visit("samples_per_second", bands.samples_per_second, {.column = "samples/s"});
    visit("scaling_efficiency", bands.scaling_efficiency, {.column = "efficiency (%)", .unit = FigureUnit::percent});
    visit("run_seconds", bands.run);
    visit("cost", bands.cost);
    visit("sources", bands.sources, {.stated = !bands.sources.empty(), .in_rows = false});
  }
};

/// How far a prediction of training reaches beyond what was measured. The known step is the predicted one as linear
/// scaling has it: what one device takes for its batch, or of an anchored scenario what the measured run with the
/// nearest batch took, in proportion to the samples.
struct Reach {
  Seconds known;        // step
  int known_ranks = 1;  // of the largest run that it follows from
  std::string platform;
  std::string transport;  // between nodes, with the library on top: "RoCE, nccl-2.3"
  std::string program;    // strategy, with how it runs: "horovod", "parameter_server"
  std::string model;
  Interval compute{1, 1};  // factors of the predicted step between the ends of its compute times' band

  static void fields(auto& reach, auto& visit) {
    visit("known_step", reach.known);
    visit("known_ranks", reach.known_ranks);
    visit("platform", reach.platform);
    visit("transport", reach.transport);
    visit("program", reach.program);
    visit("model", reach.model);
    visit("compute", reach.compute);
  }
};

}}  // namespace farandole::timeline
