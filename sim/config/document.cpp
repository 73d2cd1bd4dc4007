#include "config/document.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "config/text.hpp"

namespace farandole { inline namespace config {
namespace {

struct Describe {
  std::string operator()(std::nullptr_t) const { return "null"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const {
    // "1.0" must not be printed as "1": that it is no integer may be the very complaint.
    std::string text = fmt::format("{}", value);
    return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text;
  }
  std::string operator()(const std::string& value) const { return quoted(value); }
  std::string operator()(const Node::Array& value) const { return value.empty() ? "an empty array" : "an array"; }
  std::string operator()(const Node::Object&) const { return "an object"; }
};

}  // namespace

Place Value::place() const {
  return Place{node_->source ? *node_->source : "--set", node_->line, pointer_};
}

std::string Value::describe() const {
  return std::visit(Describe{}, node_->value);
}

void Value::fail(std::string_view expected) const {
  fail(expected, describe());
}

void Value::fail(std::string_view expected, std::string_view got, std::string_view hint) const {
  throw InputError(place(), expected, got, hint);
}

void Value::fail_unknown(std::string_view what, const std::vector<std::string>& known) const {
  const auto* name = std::get_if<std::string>(&node_->value);
  if (name == nullptr) fail(what);
  fail(what, quoted(*name), suggestion(*name, known));
}

std::vector<Value> Value::elements() const {
  const auto* array = std::get_if<Node::Array>(&node_->value);
  if (array == nullptr) fail("an array");
  std::vector<Value> result;
  result.reserve(array->size());
  for (const Node& element : *array) result.emplace_back(element, pointer_ + '/' + std::to_string(result.size()));
  return result;
}

std::vector<std::pair<std::string, Value>> Value::members() const {
  const auto* object = std::get_if<Node::Object>(&node_->value);
  if (object == nullptr) fail("an object");
  std::vector<std::pair<std::string, Value>> result;
  result.reserve(object->size());
  for (const auto& [key, node] : *object) {
    result.emplace_back(key, Value(node, pointer_ + '/' + pointer_token(key)));
  }
  return result;
}

std::optional<Value> Value::member(std::string_view key) const {
  const auto* object = std::get_if<Node::Object>(&node_->value);
  if (object == nullptr) fail("an object");
  const auto found = std::ranges::find(*object, key, &Node::Member::key);
  if (found == object->end()) return std::nullopt;
  return Value(found->node, pointer_ + '/' + pointer_token(key));
}

std::optional<Value> Value::step(std::string_view token) const {
  if (is_object()) return member(token);
  const auto* array = std::get_if<Node::Array>(&node_->value);
  const auto index = array == nullptr ? std::nullopt : array_index(token);
  if (!index || *index >= array->size()) return std::nullopt;
  return Value((*array)[*index], pointer_ + '/' + std::string(token));
}

namespace {

/// `Json` keeps the members of an object in the order of the file, or sorts them.
template <class Json>
struct To {
  Json operator()(const Node::Array& array) const {
    auto result = Json::array();
    for (const Node& element : array) result.push_back(std::visit(*this, element.value));
    return result;
  }
  Json operator()(const Node::Object& object) const {
    auto result = Json::object();
    for (const auto& [key, node] : object) result[key] = std::visit(*this, node.value);
    return result;
  }
  Json operator()(const auto& scalar) const { return scalar; }
};

}  // namespace

Document Document::read(const std::filesystem::path& file) {
  return parse(read_text(file), file.string());
}

nlohmann::json Document::to_json() const {
  return farandole::to_json(root_);
}

nlohmann::ordered_json Document::to_ordered_json() const {
  return std::visit(To<nlohmann::ordered_json>{}, root_.value);
}

nlohmann::json to_json(const Node& node) {
  return std::visit(To<nlohmann::json>{}, node.value);
}

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

[[noreturn]] void refuse_index(const Place& place, std::size_t size, const std::string& key) {
  const auto last =
      size == 0 ? std::string("no index (the array is empty)") : fmt::format("an index up to {}", size - 1);
  throw InputError(place, last, quoted(key));
}

/// An element of an array; a member of an object, which is made, as an empty object, where there is none.
Node& step_into(Node& node, const std::string& key, const Place& place) {
  if (auto* object = std::get_if<Node::Object>(&node.value)) {
    const auto member = std::ranges::find(*object, key, &Node::Member::key);
    if (member != object->end()) return member->node;
    object->push_back({key, {Node::Object(), place.line, std::make_shared<const std::string>(place.source)}});
    return object->back().node;
  }
  if (auto* array = std::get_if<Node::Array>(&node.value)) {
    const auto index = array_index(key);
    if (index && *index < array->size()) return (*array)[*index];
    refuse_index(place, array->size(), key);
  }
  throw InputError(place, fmt::format("an object or array that has {}", quoted(key)), Value(node, "").describe());
}

void put(Node& parent, const std::string& key, const Node& value, const Place& place) {
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
  copy.remove('/' + pointer_token(key));
  return copy;
}

std::optional<Value> Document::find(std::string_view pointer) const {
  std::optional<Value> at = root();
  for (const std::string& key : keys_or_refuse({source(), 0, std::string(pointer)})) {
    if (at) at = at->step(key);
  }
  return at;
}

void Document::remove(std::string_view pointer) {
  if (!find(pointer)) return;
  const auto keys = keys_or_refuse({source(), 0, std::string(pointer)});
  Node* parent = &root_;
  for (std::size_t i = 0; i + 1 < keys.size(); ++i) parent = &step_into(*parent, keys[i], {source(), 0, ""});
  std::erase_if(std::get<Node::Object>(parent->value), [&](const auto& member) { return member.key == keys.back(); });
}

namespace {

std::optional<std::string> key_of(std::string_view token) {
  std::string key;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '~') {
      key += token[i];
      continue;
    }
    ++i;
    if (i == token.size() || (token[i] != '0' && token[i] != '1')) return std::nullopt;
    key += token[i] == '0' ? '~' : '/';
  }
  return key;
}

}  // namespace

std::string pointer_token(std::string_view key) {
  if (key.find_first_of("~/") == std::string_view::npos) return std::string(key);
  std::string token;
  for (const char c : key) token += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return token;
}

std::optional<std::vector<std::string>> split_pointer(std::string_view pointer) {
  if (!pointer.starts_with('/')) return std::nullopt;
  std::vector<std::string> keys;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const auto end = pointer.find('/');
    auto key = key_of(pointer.substr(0, end));
    if (!key) return std::nullopt;
    keys.push_back(std::move(*key));
    pointer = end == std::string_view::npos ? std::string_view{} : pointer.substr(end);
  }
  return keys;
}

bool is_within(std::string_view pointer, std::string_view around) {
  return pointer.starts_with(around) && (pointer.size() == around.size() || pointer[around.size()] == '/');
}

std::optional<std::size_t> array_index(std::string_view token) {
  if (token.size() > 1 && token.front() == '0') return std::nullopt;
  std::size_t index = 0;
  const char* const last = token.data() + token.size();
  const auto [end, error] = std::from_chars(token.data(), last, index);
  if (error != std::errc{} || end != last) return std::nullopt;
  return index;
}

}}  // namespace farandole::config
