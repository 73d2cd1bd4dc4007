#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "config/listed_members.hpp"
#include "scenario/sweep.hpp"

namespace farandole { inline namespace scenario {
namespace {

void refuse_no_pointer(const std::string& key, const Value& where) {
  if (key.starts_with('/')) return;
  where.fail("a JSON pointer such as \"/platform/ranks\", \"zip\" or \"variants\" as key", quoted(key));
}

std::vector<Node> values_of(const Value& where) {
  if (where.is_object()) return read_range(where);
  std::vector<Node> values;
  for (const Value& element : where.elements()) values.push_back(element.node());
  if (values.empty()) where.fail("at least one value");
  return values;
}

Axis read_pointer_axis(const std::string& pointer, const Value& where) {
  refuse_no_pointer(pointer, where);
  Axis axis;
  for (Node& value : values_of(where)) {
    std::string name = pointer + " " + Value(value, "").describe();
    SweptValue swept{pointer, swept_text(value)};
    axis.push_back({std::move(name), {{pointer, std::move(value), where}}, {std::move(swept)}});
  }
  return axis;
}

/// Appends the settings of `other` to those of `axis`, one to one.
void walk_together(Axis& axis, const Axis& other, const Value& where) {
  if (other.size() != axis.size()) {
    where.fail(fmt::format("{} values, as many as the pointer before it in \"zip\"", axis.size()),
               fmt::format("{}", other.size()));
  }
  for (std::size_t i = 0; i < axis.size(); ++i) {
    axis[i].name += ", " + other[i].name;
    axis[i].assignments.push_back(other[i].assignments.front());
    axis[i].swept.push_back(other[i].swept.front());
  }
}

Axis read_zip(const Value& where) {
  Axis axis;
  int pointers = 0;
  for (const auto& [pointer, values] : listed_members(where)) {
    Axis next = read_pointer_axis(pointer, values);
    if (++pointers == 1) {
      axis = std::move(next);
    } else {
      walk_together(axis, next, values);
    }
  }
  if (pointers < 2) where.fail("at least two pointers whose values change together", fmt::format("{}", pointers));
  return axis;
}

Axis read_variants(const Value& where) {
  Axis axis;
  for (const auto& [name, changes] : listed_members(where)) {
    Setting setting{quoted(name), {}, {{"variants", name}}};
    for (const auto& [pointer, value] : listed_members(changes)) {
      if (!pointer.starts_with('/')) value.fail("a JSON pointer such as \"/platform/ranks\" as key", quoted(pointer));
      setting.assignments.push_back({pointer, value.node(), value});
    }
    axis.push_back(std::move(setting));
  }
  if (axis.empty()) where.fail("at least one variant");
  return axis;
}

}  // namespace

std::string swept_text(const Node& value) {
  const nlohmann::json json = to_json(value);
  return json.is_string() ? json.get<std::string>() : json.dump();
}

std::vector<Axis> read_axes(const Value& sweep) {
  std::vector<Axis> axes;
  for (const auto& [key, where] : listed_members(sweep)) {
    if (key == "variants") {
      axes.push_back(read_variants(where));
    } else if (key == "zip" && where.is_array()) {
      for (const Value& zip : where.elements()) axes.push_back(read_zip(zip));
    } else if (key == "zip") {
      axes.push_back(read_zip(where));
    } else {
      axes.push_back(read_pointer_axis(key, where));
    }
  }
  return axes;
}

}}  // namespace farandole::scenario
