#include "scenario/sweep.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace farandole::inline scenario {
namespace {

void apply(Document& document, const Assignment& assignment) {
  try {
    document.set(assignment.pointer, assignment.value);
  } catch (const InputError&) {
    assignment.where.fail("a key that points into the scenario", quoted(assignment.pointer));
  }
}

Configuration with(const Configuration& partial, const Setting& setting) {
  Configuration next = partial;
  for (const Assignment& assignment : setting.assignments) apply(next.document, assignment);
  if (!next.name.empty()) next.name += ", ";
  next.name += setting.name;
  next.swept.insert(next.swept.end(), setting.swept.begin(), setting.swept.end());
  for (const Assignment& assignment : setting.assignments) next.pointers.push_back(assignment.pointer);
  return next;
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

std::vector<Configuration> expand_sweep(const Document& document) {
  const auto members = document.root().members();
  const auto sweep = std::ranges::find(members, "sweep", &std::pair<std::string, Value>::first);
  if (sweep == members.end()) return {{document, "", {}, {}}};
  const std::vector<Axis> axes = read_axes(sweep->second);
  refuse_too_many(axes, sweep->second);
  refuse_what_is_swept(document.without("sweep"), sweep->second);
  std::vector<Configuration> expanded{{document.without("sweep"), "", {}, {}}};
  for (const Axis& axis : axes) {
    std::vector<Configuration> next;
    for (const Configuration& partial : expanded) {
      for (const Setting& setting : axis) next.push_back(with(partial, setting));
    }
    expanded = std::move(next);
  }
  return expanded;
}

}  // namespace farandole::inline scenario
