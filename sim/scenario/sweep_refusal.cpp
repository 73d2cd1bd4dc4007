#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "config/pointer.hpp"
#include "scenario/sweep.hpp"

namespace farandole { inline namespace scenario {
namespace {

bool is_option(const Value& value) {
  const auto& source = value.node().source;
  return source && source->starts_with("--");
}

/// The value, or the first part of it, that an option has put there.
std::optional<Value> from_options(const Value& value) {
  if (is_option(value)) return value;
  std::vector<Value> parts;
  if (value.is_array()) parts = value.elements();
  if (value.is_object()) {
    for (auto& [key, part] : value.members()) parts.push_back(part);
  }
  for (const Value& part : parts) {
    if (const auto found = from_options(part)) return found;
  }
  return std::nullopt;
}

bool is_part_of_an_option(const Document& document, const std::string& pointer) {
  const auto parent = document.find(pointer.substr(0, pointer.rfind('/')));
  return parent && is_option(*parent);
}

/// In single quotes, as a shell takes it literally.
std::string in_shell_quotes(const std::string& text) {
  std::string quoted_text = "'";
  for (const char c : text) quoted_text += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted_text + "'";
}

/// "study.json:12", or the option that the sweep itself comes from.
std::string place_text(const Value& value) {
  const Place place = value.place();
  return place.line > 0 ? fmt::format("{}:{}", place.source, place.line) : place.source;
}

/// From here to there, for a search: no list can take its place.
bool is_open_range(const Value& values) {
  if (!values.is_object()) return false;
  const auto is_step = [](const auto& member) { return member.first == "factor" || member.first == "step"; };
  return std::ranges::none_of(values.members(), is_step);
}

/// A list that makes an axis of `values` (or the single setting of a variant) say `value`; empty where no short one
/// does.
std::string replacement(const Value& value, const Value& values, const std::string& kind) {
  const std::string text = to_json(value.node()).dump();
  if (kind != "variants" && is_open_range(values)) return "";
  if (kind == "variants") return text;
  if (kind != "zip") return "[" + text + "]";
  if (!values.is_array()) return "";  // a range, of who knows how many
  std::string list;
  for (std::size_t i = 0; i < values.elements().size(); ++i) list += (i == 0 ? "" : ", ") + text;
  constexpr std::size_t longest = 80;
  return list.size() <= longest ? "[" + list + "]" : "";
}

/// Refuses what options have put where `pointer` leads; `values` are those of the sweep.
void refuse_replaced(const Document& document, const std::string& pointer, const Value& values,
                     const std::string& kind) {
  const auto keys = split_pointer(pointer);
  if (!keys) return;  // refused elsewhere, as no pointer
  const auto replaced = document.find(pointer);
  const auto lost = replaced ? from_options(*replaced) : std::nullopt;
  if (!lost) return;
  const bool is_exact = lost->pointer() == pointer && !is_part_of_an_option(document, pointer);
  const std::string list = is_exact ? replacement(*lost, values, kind) : "";
  const std::string instead = list.empty() ? fmt::format("leave it out, and change {}", quoted(values.pointer()))
                                           : "--set " + in_shell_quotes(values.pointer() + "=" + list);
  lost->fail("a value that no sweep replaces", lost->describe(),
             fmt::format("; {} replaces it: {}", place_text(values), instead));
}

void refuse_replaced_by_members(const Document& document, const Value& axis, const std::string& kind) {
  for (const auto& [pointer, values] : axis.members()) {
    if (pointer != "comment") refuse_replaced(document, pointer, values, kind);
  }
}

}  // namespace

void refuse_what_is_swept(const Document& document, const Value& sweep) {
  for (const auto& [key, axis] : sweep.members()) {
    if (key == "comment") continue;
    if (key == "variants") {
      for (const auto& [name, changes] : axis.members()) {
        if (name != "comment") refuse_replaced_by_members(document, changes, key);
      }
    } else if (key == "zip" && axis.is_array()) {
      for (const Value& zip : axis.elements()) refuse_replaced_by_members(document, zip, key);
    } else if (key == "zip") {
      refuse_replaced_by_members(document, axis, key);
    } else {
      refuse_replaced(document, key, axis, key);
    }
  }
}

}}  // namespace farandole::scenario
