#include <fmt/format.h>

#include "config/document.hpp"
#include "config/pointer.hpp"

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
  for (const Node& element : *array) result.emplace_back(element, fmt::format("{}/{}", pointer_, result.size()));
  return result;
}

std::vector<std::pair<std::string, Value>> Value::members() const {
  const auto* object = std::get_if<Node::Object>(&node_->value);
  if (object == nullptr) fail("an object");
  std::vector<std::pair<std::string, Value>> result;
  result.reserve(object->size());
  for (const auto& [key, node] : *object) {
    result.emplace_back(key, Value(node, fmt::format("{}/{}", pointer_, pointer_token(key))));
  }
  return result;
}

bool Value::is_object() const {
  return std::holds_alternative<Node::Object>(node_->value);
}
bool Value::is_array() const {
  return std::holds_alternative<Node::Array>(node_->value);
}
bool Value::is_string() const {
  return std::holds_alternative<std::string>(node_->value);
}

}}  // namespace farandole::config
