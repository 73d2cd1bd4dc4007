#include <algorithm>
#include <string_view>

#include "config/pointer.hpp"
#include "scenario/anchor.hpp"

namespace farandole { inline namespace scenario {
namespace {

constexpr std::string_view rows_at = "/workload/measured";
constexpr std::string_view kept_at = "/workload/measured_under";

/// What an element of an array is kept with: the array.
std::string object_member(const Document& document, std::string pointer) {
  for (auto slash = pointer.rfind('/'); slash != std::string::npos && slash > 0; slash = pointer.rfind('/')) {
    const auto parent = document.find(pointer.substr(0, slash));
    if (!parent || !parent->is_array()) break;
    pointer.resize(slash);
  }
  return pointer;
}

void put_back(Document& document, const std::string& pointer, const Value& value) {
  if (is_within(pointer, rows_at) || is_within(pointer, kept_at)) value.fail("a setting, not the rows themselves");
  const bool was_there = !std::holds_alternative<std::nullptr_t>(value.node().value);
  if (!was_there && object_member(document, pointer) != pointer)
    value.fail("an array as a whole, or an element's value");
  try {
    was_there ? document.set(pointer, value.node()) : document.remove(pointer);
  } catch (const InputError&) {
    value.fail("a key that points into the scenario", quoted(pointer));
  }
}

}  // namespace

void keep_measured(Document& changed, const Document& before, const std::string& pointer) {
  if (!before.find(rows_at) || is_within(pointer, kept_at)) return;
  if (pointer == rows_at) return changed.remove(kept_at);
  if (is_within(pointer, rows_at) || !changed.find(rows_at) || is_within(rows_at, pointer)) return;
  const std::string at = object_member(before, pointer);
  const auto was = before.find(at);
  Node::Object kept{{at, was ? was->node() : Node{nullptr, 0, {}}}};
  if (const auto earlier = before.find(kept_at)) {
    const auto& members = std::get<Node::Object>(earlier->node().value);
    const auto holds = [&](const Node::Member& member) { return is_within(at, member.key); };
    if (std::ranges::any_of(members, holds)) return;
    kept.insert(kept.end(), members.begin(), members.end());
  }
  changed.set(kept_at, Node{std::move(kept), 0, {}});
}

Document as_measured(const Document& document) {
  Document result = document;
  const auto kept = document.find(kept_at);
  if (!kept) return result;
  result.remove(kept_at);
  for (const auto& [pointer, value] : kept->members()) put_back(result, pointer, value);
  return result;
}

}}  // namespace farandole::scenario
