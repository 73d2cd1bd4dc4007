#include "workload/profile.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "config/section.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace workload {
namespace {

using LayerNames = std::vector<std::string>;

/// {"conv1": ["0.5 ms", "1.1 ms"], ...}: forward and backward of every layer.
void read_times(const Value& where, const LayerNames& layers, Profile& profile) {
  profile.forward.resize(layers.size());
  profile.backward.resize(layers.size());
  std::vector<bool> timed(layers.size());
  for (const auto& [layer, value] : where.members()) {
    const auto found = std::ranges::find(layers, layer);
    if (found == layers.end())
      value.fail("the times of a layer of this variant", quoted(layer), suggestion(layer, layers));
    const auto place = static_cast<std::size_t>(found - layers.begin());
    const auto times = read<std::vector<Seconds>>(value);
    if (times.size() != 2) value.fail("two times, forward and backward, such as [\"0.5 ms\", \"1.1 ms\"]");
    profile.forward[place] = times[0];
    profile.backward[place] = times[1];
    timed[place] = true;
  }
  const auto missing = std::ranges::find(timed, false);
  if (missing != timed.end()) {
    where.fail("the times of every layer",
               fmt::format("none of {}", quoted(layers[static_cast<std::size_t>(missing - timed.begin())])));
  }
}

Profile read_profile(const Value& where, const LayerNames& layers) {
  Section section(where);
  Profile profile;
  profile.device = section.optional<Text>("device", {}).value;
  profile.measured_on = profile.device;
  if (const auto precision = section.maybe("precision")) profile.precision = read_precision(*precision);
  profile.batch = read_at_least(section.child("batch"), 1);
  profile.source = section.required<Text>("source").value;
  profile.update = section.required<Seconds>("update");
  const Value times = section.child("layers");
  read_times(times, layers, profile);
  const auto is_positive = [](Seconds time) { return time > 0_s; };
  if (std::ranges::none_of(profile.forward, is_positive) && std::ranges::none_of(profile.backward, is_positive)) {
    times.fail("a layer that takes time", "none");
  }
  section.finish();
  return profile;
}

const Profile* find_profile(const std::vector<Profile>& profiles, const std::string& device, Precision precision,
                            int batch) {
  const Profile* best = nullptr;
  for (const Profile& profile : profiles) {
    if (profile.device != device || profile.precision.value_or(precision) != precision) continue;
    if (best == nullptr || std::abs(profile.batch - batch) < std::abs(best->batch - batch)) best = &profile;
  }
  return best;
}

}  // namespace

Seconds Profile::total() const {
  Seconds sum = update;
  for (const Seconds time : forward) sum += time;
  for (const Seconds time : backward) sum += time;
  return sum;
}

std::vector<Profile> read_profiles(const Value& where, const std::vector<Layer>& layers) {
  const LayerNames names = mapped(layers, &Layer::name);
  return mapped(where.elements(), [&](const Value& profile) { return read_profile(profile, names); });
}

std::vector<Profile> profiles_of(const Value& where, const Model& variant) {
  for (const Value& candidate : Section(where).child("variants").elements()) {
    Section section(candidate);
    if (section.required<std::string>("name") != variant.variant) continue;
    const auto profiles = section.maybe("profiles");
    return profiles ? read_profiles(*profiles, variant.layers) : std::vector<Profile>();
  }
  return {};
}

void choose_profiles(std::vector<Profile>& profiles, const Value& where, const std::string& device) {
  const auto chosen = read<std::string>(where);
  LayerNames known{"none"};
  for (const Profile& profile : profiles) {
    if (std::ranges::find(known, profile.device) == known.end()) known.push_back(profile.device);
  }
  if (std::ranges::find(known, chosen) == known.end()) where.fail_unknown("a device the model was profiled on", known);
  std::erase_if(profiles, [&](const Profile& profile) { return profile.device != chosen; });
  for (Profile& profile : profiles) profile.device = device;
}

std::optional<ComputeTimes> profiled_times(const std::vector<Profile>& profiles, const std::string& device,
                                           Precision precision, int batch) {
  const Profile* profile = find_profile(profiles, device, precision, batch);
  if (profile == nullptr) profile = find_profile(profiles, "", precision, batch);
  if (profile == nullptr) return std::nullopt;
  ComputeTimes times{profile->forward, profile->backward, {}, true, {}, {}};
  stretch(times, static_cast<double>(batch) / profile->batch);
  times.update = profile->update;
  const std::string on = profile->measured_on.empty() ? "" : " on " + profile->measured_on;
  times.source = fmt::format("profiled: layer times{} at batch {}, {}", on, profile->batch, profile->source);
  return times;
}

}}  // namespace farandole::workload
