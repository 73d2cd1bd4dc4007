// "sweep": one scenario file, many configurations.
//
//   "sweep": {
//     "/workload/model": ["vgg16", "resnet101"],
//     "/strategy/fusion_threshold": { "from": "1 MiB", "to": "256 MiB", "factor": 2 },
//     "zip": { "/platform/ranks": [1, 4, 16], "/workload/batch_per_rank": [64, 64, 32] },
//     "variants": { "ring": { "/collectives/allreduce": "ring" }, "tree": { "/collectives/allreduce": "double_tree" } }
//   }
//
// gives the product of all axes, the last axis changing fastest. An axis is one pointer with its values, pointers that
// change together ("zip", an object or an array of such objects), or named sets of values ("variants"). Values replace
// what the file says before anything is checked; what --set says they may not replace (refuse_what_is_swept).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/document.hpp"
#include "timeline/result.hpp"
#include "units/count.hpp"

namespace farandole { inline namespace scenario {

/// One configuration: a document without "sweep", and which one it is, as a user would say it.
struct Configuration {
  Document document;
  std::string name;  // `/workload/model "vgg16", /platform/ranks 4`; empty where nothing is swept
  std::vector<SweptValue> swept;
  std::vector<std::string> pointers;  // where its axes put values, in their order

  [[nodiscard]] Value root() const { return document.root(); }
};

/// How many configurations there are, before there is anything for each; 1 where nothing is swept.
Count count_configurations(const Document& document);

// The axes of a sweep, as its object in a scenario file lists them.
//
// Called by scenario/sweep.hpp alone. What is malformed (no pointer, no value, a zip of unequal lengths, a range that
// never ends) is an InputError at its place; whether a pointer leads anywhere is not known here.

inline constexpr std::size_t most_configurations = 100'000;

/// One value put at one place. `where` is blamed for a pointer that leads nowhere.
struct Assignment {
  std::string pointer;
  Node value;
};

/// One step along an axis: what it replaces, its name in messages, and what results say of it.
struct Setting {
  std::string name;
  std::vector<Assignment> assignments;
  std::vector<SweptValue> swept;
};

using Axis = std::vector<Setting>;

/// A value as results say it: a string as it is, anything else as JSON.
std::string swept_text(const Node& value);

/// In the order of the file; every axis has at least one setting. `sweep` must outlive them.
std::vector<Axis> read_axes(const Value& sweep);

/// All configurations in order, of which each is made when it is asked for: a study of many thousands keeps none of
/// them.
class Configurations {
 public:
  /// See expand_sweep.
  explicit Configurations(const Document& document);

  [[nodiscard]] std::size_t size() const { return size_; }
  /// InputError where a pointer of the sweep leads nowhere in this one.
  [[nodiscard]] Configuration operator[](std::size_t place) const;
  [[nodiscard]] Configuration front() const { return (*this)[0]; }
  [[nodiscard]] Configuration back() const { return (*this)[size_ - 1]; }
  /// Whether some of them have this value at this pointer.
  [[nodiscard]] bool put(const SweptValue& value) const;

  class Iterator {
   public:
    Iterator(const Configurations& all, std::size_t place) : all_(&all), place_(place) {}
    Configuration operator*() const { return (*all_)[place_]; }
    Iterator& operator++() {
      ++place_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return place_ == other.place_; }

   private:
    const Configurations* all_;
    std::size_t place_;
  };
  [[nodiscard]] Iterator begin() const { return {*this, 0}; }
  [[nodiscard]] Iterator end() const { return {*this, size_}; }

 private:
  std::shared_ptr<const Document> written_;  // of which the axes speak
  Document bare_;
  std::vector<Axis> axes_;
  std::size_t size_ = 1;
};

/// All configurations in order; the document itself where it sweeps nothing. More than 100,000 are refused.
inline Configurations expand_sweep(const Document& document) {
  return Configurations(document);
}

// A range of values: {"from": "1 MiB", "to": "256 MiB", "factor": 2} or {"from": 8, "to": 64, "step": 8}.
//
// Called by scenario/sweep.hpp. From `from` on, multiplied by `factor` or increased by `step`, as long as `to` is
// not exceeded (but for rounding). Bounds are numbers, or texts with a unit of one dimension; values come in the unit
// of `from`, and as integers where all that they are made of are. Anything else is an InputError at its place.

/// At least one value, in ascending order.
std::vector<Node> read_range(const Value& where);

// Refuses options that a sweep would silently replace.
//
// `--set`, `--launch` and `--seed` change the scenario before a sweep puts its values there, so what they say about a
// swept value would be lost. The rule: no value from the command line is ever replaced, be it the swept value itself,
// a part of it, or a part of the object around it. Called by scenario/sweep.hpp for "sweep" and by study/search for
// "over".

/// `sweep` is the object whose keys are pointers, "zip" and "variants"; `document` is what it changes.
void refuse_what_is_swept(const Document& document, const Value& sweep);

// "question": what a study was made to answer.
//
//   "question": {
//     "ask": "What would 100 Gbit/s change?",
//     "from": { "/platform/override/~1node~1nic~1rate": "25 Gbit/s" },
//     "to": { "/platform/override/~1node~1nic~1rate": "100 Gbit/s" }
//   }
//
// Pages answer it in their first line; nothing that is simulated depends on it.

/// None where the document asks nothing. InputError where "from" and "to" name different pointers, or values that no
/// configuration of the sweep has.
std::optional<Question> read_question(const Document& document, const Configurations& configurations);

}}  // namespace farandole::scenario
