// Which of a job's suspects explain what was measured of it, and which measurement would tell the likeliest apart.
//
// Called by `farandole diagnose`. Every suspect is a change of the scenario (suspects.hpp), run for every measurement;
// its likelihood is that of the measurements where it is so (likelihood.hpp), averaged over its severities.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenario/run.hpp"
#include "suspects.hpp"
#include "timeline/bands.hpp"

namespace farandole {

inline constexpr const char* healthy_name = "healthy";
inline constexpr Bytes unit_of_transfers(1024.0 * 1024 * 1024);
inline constexpr Bytes usual_size_of_allreduces(256.0 * 1024 * 1024);

/// A time that was measured, or may be. Kernels are those of one device's computation in a step; writes are from NIC to
/// NIC, by the slowest, and copies from the host to a device, with nothing beside them.
struct Observation {
  enum class Of { step, step_on_synthetic_data, kernels, allreduce, write, copy };
  Of of = Of::step;
  int ranks = 0;  // 0: those of the scenario
  Bytes bytes;    // of what is no step
  double seconds = 0;

  [[nodiscard]] bool is_step() const { return of <= Of::kernels; }
  [[nodiscard]] bool is_transfer() const { return of >= Of::write; }
};

/// What the observations would be, in seconds.
struct PredictedSeverity {
  std::string text;
  std::vector<SetValue> set;
  std::vector<double> seconds;
};

/// A suspect; or that nothing is wrong, which has one severity.
struct Hypothesis {
  std::string name;
  std::string says;
  std::string look;
  double prior = 0;  // probabilities
  double probability = 0;
  std::vector<PredictedSeverity> severities;
  std::size_t best = 0;  // of the severities, by the measurements

  [[nodiscard]] const PredictedSeverity& likeliest() const { return severities[best]; }
};

/// The likeliest hypothesis from another.
struct TellingMeasurement {
  Observation what;
  std::size_t other = 1;
  std::string command;
  double first = 0;  // seconds, by either
  double second = 0;
  double apart = 0;  // logarithm of their ratio, in scales of the error
};

struct Diagnosis {
  std::string model;
  std::string platform;
  std::vector<SetValue> configuration;  // of a sweep, the one that it is of
  std::vector<Observation> observations;
  std::vector<Interval> bands;             // seconds: 80 % intervals where nothing is wrong
  std::vector<Hypothesis> hypotheses;      // likeliest first
  bool is_unexplained = false;             // by any of them
  std::vector<std::string> notes;          // on what a prediction does not see
  std::optional<TellingMeasurement> next;  // none that would tell

  [[nodiscard]] const Hypothesis& healthy() const;
};

struct DiagnosisOptions {
  std::vector<Observation> observations;  // at least one
  std::vector<std::string> ruled_out;     // names of suspects
  RunOptions run;
  Seconds longest_point;
};

/// InputError where the job cannot be run on the ranks of an observation, and where a name that is ruled out is none.
Diagnosis diagnose(const Document& scenario, const Catalogue& catalogue, const DiagnosisOptions& options);

}  // namespace farandole
