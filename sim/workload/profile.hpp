// What a profiler measured of a model on a device: the time of every layer, instead of the roofline.
//
// Part of a variant in a model file, written by the exporters or by hand; read by scenarios. Times are of one pass with
// `batch` samples; other batches take them in proportion, but for the update, which does not depend on it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/document.hpp"
#include "workload/compute_time.hpp"

namespace farandole { inline namespace workload {

struct Profile {
  std::string device;       // of which device its times are: a name in topologies/devices, any other, or empty: of all
  std::string measured_on;  // the same, unless a scenario takes one device's times for another's
  std::optional<Precision> precision;  // empty: of all
  int batch = 1;
  std::string source;
  std::vector<Seconds> forward;   // per layer, in execution order
  std::vector<Seconds> backward;  // per layer, in execution order
  Seconds update;

  [[nodiscard]] Seconds total() const;  // of one iteration
};

/// `where` is the list. Every profile must time every layer, and no other; one must take time.
std::vector<Profile> read_profiles(const Value& where, const std::vector<Layer>& layers);

/// Those of a variant of the model file whose root `where` is.
std::vector<Profile> profiles_of(const Value& where, const Model& variant);

/// Leaves those that were measured on the device that `where` names, and takes them for `device`'s; with "none", none.
void choose_profiles(std::vector<Profile>& profiles, const Value& where, const std::string& device);

/// Of the profile of this device and precision whose batch is nearest, the first of equals; where there is none, of one
/// that is of all devices; nothing where there is none either.
std::optional<ComputeTimes> profiled_times(const std::vector<Profile>& profiles, const std::string& device,
                                           Precision precision, int batch);

}}  // namespace farandole::workload
