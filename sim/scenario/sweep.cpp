#include "scenario/sweep.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace farandole { inline namespace scenario {
namespace {

void apply(Document& document, const Assignment& assignment) {
  try {
    document.set(assignment.pointer, assignment.value);
  } catch (const InputError&) {
    assignment.where.fail("a key that points into the scenario", quoted(assignment.pointer));
  }
}

void add_setting(Configuration& configuration, const Setting& setting) {
  for (const Assignment& assignment : setting.assignments) apply(configuration.document, assignment);
  if (!configuration.name.empty()) configuration.name += ", ";
  configuration.name += setting.name;
  configuration.swept.insert(configuration.swept.end(), setting.swept.begin(), setting.swept.end());
  for (const Assignment& assignment : setting.assignments) configuration.pointers.push_back(assignment.pointer);
}

void refuse_too_many(const std::vector<Axis>& axes, const Value& sweep) {
  std::size_t configurations = 1;
  for (const Axis& axis : axes) {
    configurations *= axis.size();
    if (configurations > most_configurations) {
      sweep.fail("at most 100,000 configurations", fmt::format("{}", configurations));
    }
  }
}

}  // namespace

Count count_configurations(const Document& document) {
  Count configurations = 1;
  const auto sweep = document.find("/sweep");
  if (!sweep) return configurations;
  for (const Axis& axis : read_axes(*sweep)) configurations *= axis.size();
  return configurations;
}

Configurations::Configurations(const Document& document) : written_(std::make_shared<const Document>(document)) {
  const auto members = written_->root().members();
  const auto sweep = std::ranges::find(members, "sweep", &std::pair<std::string, Value>::first);
  bare_ = sweep == members.end() ? document : document.without("sweep");
  if (sweep == members.end()) return;
  axes_ = read_axes(sweep->second);
  refuse_too_many(axes_, sweep->second);
  refuse_what_is_swept(bare_, sweep->second);
  // Pointers that lead nowhere are refused before anything is read.
  Document chosen = bare_;
  for (const Axis& axis : axes_) {
    size_ *= axis.size();
    for (const Setting& setting : axis) {
      Document changed = chosen;
      for (const Assignment& assignment : setting.assignments) apply(changed, assignment);
      if (&setting == &axis.back()) chosen = std::move(changed);
    }
  }
}

Configuration Configurations::operator[](std::size_t place) const {
  Configuration result{bare_, "", {}, {}};
  std::size_t behind = size_;  // configurations of one setting of the axis
  for (const Axis& axis : axes_) {
    behind /= axis.size();
    add_setting(result, axis[place / behind % axis.size()]);
  }
  return result;
}

bool Configurations::put(const SweptValue& value) const {
  const auto is_it = [&](const SweptValue& swept) {
    return swept.pointer == value.pointer && swept.value == value.value;
  };
  return std::ranges::any_of(axes_, [&](const Axis& axis) {
    return std::ranges::any_of(axis, [&](const Setting& setting) { return std::ranges::any_of(setting.swept, is_it); });
  });
}

}}  // namespace farandole::scenario
