// Scenarios drawn at random, changes of them, and relations that must hold between the results.
//
// A relation says what a change of a scenario does to its result: nothing, never more, exactly k times as much. Its
// right answer needs no closed form and no second simulator. Everything follows from a seed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "scenario/run.hpp"

namespace farandole::test {

using Json = nlohmann::ordered_json;

/// The same numbers with every compiler and library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  int between(int least, int most) {
    return least + static_cast<int>(engine_() % static_cast<std::uint64_t>(most - least + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  template <class T>
  const T& one_of(const std::vector<T>& all) {
    return all[static_cast<std::size_t>(between(0, static_cast<int>(all.size()) - 1))];
  }

 private:
  std::mt19937_64 engine_;
};

/// A scenario and how it is run.
struct Case {
  Json scenario;
  double device_rate = 1;  // of its device, which is a file of its own (put_device)
  FoldingPolicy folding = FoldingPolicy::where_exact;
  std::size_t point = 0;        // of its sweep
  bool foreign_locale = false;  // whose numbers have a decimal comma

  [[nodiscard]] Json& topology() { return scenario["platform"]["override"]; }
  [[nodiscard]] const Json& topology() const { return scenario["platform"]["override"]; }
  [[nodiscard]] std::string strategy() const { return scenario["strategy"]["kind"]; }
  [[nodiscard]] std::string fidelity() const { return scenario["measure"]["fidelity"]; }
  /// Whether its text contains it.
  [[nodiscard]] bool has(const std::string& words) const { return scenario.dump().find(words) != std::string::npos; }
};

TrainingPoint run(const Case& of_case, bool explain = false);

/// A device of 10 TFLOP/s and 700 GB/s, all of its rates and its host's times `rate`.
void put_device(Case& of_case, double rate);
/// A model of models/, or the same with other names of everything in it.
std::string model_file(const std::string& name, bool renamed);

Json draw_topology(Random& random);
int devices_of(const Json& topology);
Case draw_case(Random& random);

/// Calls `visit` for every text in it, with the key under which it stands.
void visit_texts(Json& json, const std::string& key, const std::function<void(const std::string&, Json&)>& visit);

enum class Dimension { none, time, rate, size };
Dimension dimension_of(const std::string& text);
/// Times a factor; no unit is changed but to that of the SI.
std::string scaled(const std::string& quantity, double factor);
void scale_all(Json& json, Dimension dimension, double factor);

/// A change of a case that leaves every number of its result as it is; nothing where it does not apply. What may be
/// another one in the result is in `but`, as the beginnings of its pointers.
struct Invariance {
  const char* name;
  std::function<bool(Case&, Random&)> change;
  std::vector<std::string> but{};
  double rounding = 0;  // relative
};
std::span<const Invariance> invariances();

/// What is wrong of a case, of which `own` is the result: empty where nothing is, none where it does not apply.
/// `same` is the case, or one of the same result.
struct Relation {
  const char* name;
  std::function<std::optional<std::string>(const Case& same, const TrainingPoint& own, Random&)> violation;
};
std::span<const Relation> relations();

/// Where two results differ by more than rounding: a line each, empty where nowhere.
std::string difference(const TrainingPoint& one, const TrainingPoint& other, const std::vector<std::string>& but,
                       double rounding);

}  // namespace farandole::test
