#include "scenario/sweep.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace farandole {
namespace {

struct Axis {
  std::string pointer;
  Value where;
  std::vector<Value> values;
};

std::vector<Axis> read_axes(const Value& sweep) {
  std::vector<Axis> axes;
  std::size_t configurations = 1;
  for (const auto& [pointer, values] : sweep.members()) {
    if (pointer == "comment") continue;
    if (!pointer.starts_with('/')) values.fail("a JSON pointer such as \"/platform/ranks\" as key", quoted(pointer));
    axes.push_back({pointer, values, values.elements()});
    if (axes.back().values.empty()) values.fail("at least one value");
    configurations *= axes.back().values.size();
    if (configurations > 100'000) sweep.fail("at most 100,000 configurations", fmt::format("{}", configurations));
  }
  return axes;
}

void apply(Document& document, const Axis& axis, const Value& value) {
  try {
    document.set(axis.pointer, value.node());
  } catch (const InputError&) {
    axis.where.fail("a key that points into the scenario", quoted(axis.pointer));
  }
}

}  // namespace

std::vector<Document> expand_sweep(const Document& document) {
  const auto members = document.root().members();
  const auto sweep = std::ranges::find(members, "sweep", &std::pair<std::string, Value>::first);
  if (sweep == members.end()) return {document};
  std::vector<Document> expanded{document.without("sweep")};
  for (const Axis& axis : read_axes(sweep->second)) {
    std::vector<Document> next;
    for (const Document& partial : expanded) {
      for (const Value& value : axis.values) {
        apply(next.emplace_back(partial), axis, value);
      }
    }
    expanded = std::move(next);
  }
  return expanded;
}

}  // namespace farandole
