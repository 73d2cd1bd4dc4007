#include <algorithm>

#include <fmt/format.h>

#include "config/document.hpp"
#include "config/pointer.hpp"
#include "config/text.hpp"

namespace farandole { inline namespace config {
namespace {

/// A command line has no lines.
void forget_lines(Node& node) {
  node.line = 0;
  if (auto* array = std::get_if<Node::Array>(&node.value)) {
    for (Node& element : *array) forget_lines(element);
  } else if (auto* object = std::get_if<Node::Object>(&node.value)) {
    for (auto& member : *object) forget_lines(member.node);
  }
}

Node node_from(std::string_view text, const Place& place) {
  if (!is_utf8(text)) throw InputError(place, "text in UTF-8", quoted(text));
  Node node;
  try {
    node = Document::parse(text, place.source).root().node();
  } catch (const InputError&) {
    // Not JSON, so the text itself is meant.
    node.value = std::string(text);
    node.source = std::make_shared<const std::string>(place.source);
  }
  forget_lines(node);
  return node;
}

std::vector<std::string> keys_of(const Node::Object& object) {
  std::vector<std::string> keys;
  keys.reserve(object.size());
  for (const auto& member : object) keys.push_back(member.key);
  return keys;
}

Node* find_member(Node::Object& object, const std::string& key) {
  const auto found = std::find_if(object.begin(), object.end(), [&](const auto& member) { return member.key == key; });
  return found == object.end() ? nullptr : &found->node;
}

[[noreturn]] void refuse_index(const Place& place, std::size_t size, const std::string& key) {
  const auto last =
      size == 0 ? std::string("no index (the array is empty)") : fmt::format("an index up to {}", size - 1);
  throw InputError(place, last, quoted(key));
}

/// The member or element that is there already, for every key of the pointer but the last.
Node& step_into(Node& node, const std::string& key, const Place& place) {
  if (auto* object = std::get_if<Node::Object>(&node.value)) {
    if (Node* member = find_member(*object, key)) return *member;
    throw InputError(place, "a key that exists", quoted(key), suggestion(key, keys_of(*object)));
  }
  if (auto* array = std::get_if<Node::Array>(&node.value)) {
    const auto index = array_index(key);
    if (index && *index < array->size()) return (*array)[*index];
    refuse_index(place, array->size(), key);
  }
  throw InputError(place, fmt::format("an object or array that has {}", quoted(key)), Value(node, "").describe());
}

void put(Node& parent, const std::string& key, const Node& value, const Place& place) {
  auto* object = std::get_if<Node::Object>(&parent.value);
  if (object != nullptr && find_member(*object, key) == nullptr) {
    object->push_back({key, value});
    return;
  }
  auto* array = std::get_if<Node::Array>(&parent.value);
  if (array != nullptr && (key == "-" || array_index(key) == array->size())) {
    array->push_back(value);
    return;
  }
  step_into(parent, key, place) = value;
}

std::vector<std::string> keys_or_refuse(const Place& place) {
  auto keys = is_utf8(place.pointer) ? split_pointer(place.pointer) : std::nullopt;
  if (keys) return *keys;
  const bool lacks_slash = !place.pointer.empty() && !place.pointer.starts_with('/');
  const auto hint = lacks_slash ? fmt::format("; did you mean {}?", quoted("/" + place.pointer)) : std::string();
  throw InputError(fmt::format("{}: expected a JSON pointer such as \"/workload/model\", got {}{}", place.source,
                               quoted(place.pointer), hint));
}

}  // namespace

void Document::set(std::string_view pointer, std::string_view text) {
  const Place place{"--set", 0, std::string(pointer)};
  set(pointer, node_from(text, place));
}

void Document::set(std::string_view pointer, const Node& value) {
  const Place place{value.source ? *value.source : "--set", value.line, std::string(pointer)};
  const auto keys = keys_or_refuse(place);
  // The value may be a part of this very document, which the assignment would destroy.
  const Node copy = value;
  Node* parent = &root_;
  for (std::size_t i = 0; i + 1 < keys.size(); ++i) parent = &step_into(*parent, keys[i], place);
  put(*parent, keys.back(), copy, place);
}

Document Document::without(std::string_view key) const {
  Document copy = *this;
  if (auto* object = std::get_if<Node::Object>(&copy.root_.value)) {
    std::erase_if(*object, [&](const auto& member) { return member.key == key; });
  }
  return copy;
}

std::optional<Value> Document::find(std::string_view pointer) const {
  const auto keys = keys_or_refuse({source(), 0, std::string(pointer)});
  Value at = root();
  for (const std::string& key : keys) {
    if (at.is_array()) {
      const auto elements = at.elements();
      const auto index = array_index(key);
      if (!index || *index >= elements.size()) return std::nullopt;
      at = elements[*index];
      continue;
    }
    if (!at.is_object()) return std::nullopt;
    const auto members = at.members();
    const auto next = std::ranges::find(members, key, &std::pair<std::string, Value>::first);
    if (next == members.end()) return std::nullopt;
    at = Value(next->second);
  }
  return at;
}

void Document::remove(std::string_view pointer) {
  if (!find(pointer)) return;
  const auto keys = keys_or_refuse({source(), 0, std::string(pointer)});
  Node* parent = &root_;
  for (std::size_t i = 0; i + 1 < keys.size(); ++i)
    parent = find_member(std::get<Node::Object>(parent->value), keys[i]);
  std::erase_if(std::get<Node::Object>(parent->value), [&](const auto& member) { return member.key == keys.back(); });
}

}}  // namespace farandole::config
