#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "config/document.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace config {
namespace {

using Json = nlohmann::json;

// Words a schema violation as we word every other error.

/// A violation as the validator tells it: the keys that lead to the value, and what it says about it.
struct Violation {
  std::vector<std::string> path;
  std::string description;
};

bool has(const Json& schema, const char* key) {
  return schema.is_object() && schema.contains(key);
}

/// Follows references within the schema ("#/definitions/link"); a chain longer than that goes in circles.
const Json& resolved(const Json& root, const Json& schema) {
  constexpr int longest_chain = 16;
  const Json* at = &schema;
  for (int i = 0; i < longest_chain && has(*at, "$ref"); ++i) {
    const auto& target = at->at("$ref");
    if (!target.is_string() || !target.get<std::string>().starts_with("#/")) break;
    const Json::json_pointer pointer(target.get<std::string>().substr(1));
    if (!root.contains(pointer)) break;
    at = &root.at(pointer);
  }
  return *at;
}

/// The part of the schema for a value, where plain properties and items lead there; else null.
Json subschema(const Json& root, const std::vector<std::string>& path) {
  const Json* at = &resolved(root, root);
  for (const std::string& key : path) {
    if (has(*at, "properties") && at->at("properties").contains(key)) {
      at = &at->at("properties").at(key);
    } else if (has(*at, "items")) {
      at = &at->at("items");
    } else if (has(*at, "additionalProperties")) {
      at = &at->at("additionalProperties");
    } else {
      return nullptr;
    }
    at = &resolved(root, *at);
  }
  return *at;
}

std::vector<std::string> strings(const Json& list) {
  return mapped(list.is_array() ? list : Json::array({list}),
                [](const Json& element) { return element.is_string() ? element.get<std::string>() : element.dump(); });
}

std::string type_in_words(const std::string& type) {
  if (type == "boolean") return "true or false";
  if (type == "null") return type;
  const bool vowel = type == "object" || type == "array" || type == "integer";
  return (vowel ? "an " : "a ") + type;
}

std::string types_in_words(const Json& types) {
  std::string result;
  for (const std::string& type : strings(types)) result += (result.empty() ? "" : " or ") + type_in_words(type);
  return result;
}

std::vector<std::string> property_names(const Json& schema) {
  std::vector<std::string> names;
  if (!has(schema, "properties")) return names;
  for (const auto& [name, property] : schema.at("properties").items()) names.push_back(name);
  return names;
}

/// The name between the quotes that end "...: 'rate'." or "... 'rate'."
std::string name_in(const std::string& description) {
  const auto first = description.find('\'', description.rfind(" '"));
  const auto last = description.rfind('\'');
  return first < last ? description.substr(first + 1, last - first - 1) : std::string();
}

/// The value at the end of `path`, or the last one on the way that is there.
Value value_at(Value value, const std::vector<std::string>& path) {
  for (const std::string& key : path) {
    const auto next = value.step(key);
    if (!next) break;
    value = *next;
  }
  return value;
}

[[noreturn]] void fail_unknown_key(const Value& object, const Json& schema) {
  const auto known = property_names(schema);
  for (const auto& [name, member] : object.members()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    member.fail("a known key", quoted(name), suggestion(name, known));
  }
  object.fail("known keys only");
}

[[noreturn]] void fail_pattern(const Value& value, const Json& schema) {
  if (has(schema, "examples") && !schema.at("examples").empty()) {
    value.fail(fmt::format("a text such as {}", quoted(strings(schema.at("examples")).front())));
  }
  if (has(schema, "pattern")) value.fail(fmt::format("a text that matches {}", strings(schema.at("pattern")).front()));
  value.fail("a text that matches the schema's pattern");
}

/// "Expected number greater than or equal to 1.000000" without what is not needed.
std::string bound_in_words(std::string description) {
  description = "a" + description.substr(std::string_view("Expected").size());
  if (description.find('.') != std::string::npos) {
    description.erase(description.find_last_not_of('0') + 1);
    if (description.ends_with('.')) description.pop_back();
  }
  return description;
}

[[noreturn]] void fail_otherwise(const Value& value, const std::string& description) {
  std::string detail = description.substr(0, description.find_last_not_of(". ") + 1);
  if (!detail.empty() && detail.front() >= 'A' && detail.front() <= 'Z') {
    detail.front() = static_cast<char>(detail.front() - 'A' + 'a');
  }
  value.fail(fmt::format("what the schema allows ({})", detail));
}

[[noreturn]] void fail_schema(const Document& document, const Json& schema, const Violation& violation) {
  const std::string& description = violation.description;
  const Json part = subschema(schema, violation.path);
  const Value value = value_at(document.root(), violation.path);
  if (description.starts_with("Missing required property")) {
    value.fail(fmt::format("a key {}", quoted(name_in(description))), "an object without it");
  }
  if (description.starts_with("Object contains a property")) fail_unknown_key(value, part);
  if (description.starts_with("Value type not permitted") && has(part, "type")) {
    value.fail(types_in_words(part.at("type")));
  }
  if (description.starts_with("Failed to match against any enum") && has(part, "enum")) {
    value.fail_unknown("one of the schema's values", strings(part.at("enum")));
  }
  if (description.starts_with("Failed to match regex")) fail_pattern(value, part);
  if (description.starts_with("Expected number")) value.fail(bound_in_words(description));
  fail_otherwise(value, description);
}

using Adapter = valijson::adapters::NlohmannJsonAdapter;

/// The validator matches patterns with std::regex, which recurses once per character and overflows the stack on long
/// texts. No pattern of ours needs more than this to say yes or no.
constexpr std::size_t longest_matched = 1000;

void shorten_strings(nlohmann::json& json) {
  if (json.is_structured()) {
    for (auto& part : json) shorten_strings(part);
  } else if (json.is_string() && json.get_ref<const std::string&>().size() > longest_matched) {
    json = std::string(longest_matched, '?');
  }
}

/// Everything the validator has to say; a schema it cannot use is an error in the schema's file.
valijson::ValidationResults results_of(const nlohmann::json& json, const std::filesystem::path& schema_file) {
  const auto schema = Document::read(schema_file).to_json();
  try {
    valijson::Schema rules;
    valijson::SchemaParser(valijson::SchemaParser::kDraft7).populateSchema(Adapter(schema), rules);
    valijson::ValidationResults results;
    if (valijson::Validator(valijson::Validator::kStrongTypes).validate(rules, Adapter(json), &results)) return {};
    if (results.numErrors() == 0) results.pushError({"<root>"}, "it refuses this document without a reason");
    return results;
  } catch (const std::exception& error) {
    throw InputError(Place{schema_file.string(), 1, ""}, "a JSON Schema", quoted(error.what()));
  }
}

/// The validator names a value by "<root>", "[key]", "[0]", ...
Violation violation_from(const valijson::ValidationResults::Error& error) {
  Violation violation{{}, error.description};
  for (std::size_t i = 1; i < error.context.size(); ++i) {
    const std::string& step = error.context[i];
    violation.path.push_back(step.substr(1, step.size() - 2));
  }
  return violation;
}

/// Of all complaints the innermost tells most; the outer ones only say that an inner one failed.
Violation innermost(const valijson::ValidationResults& results) {
  const valijson::ValidationResults::Error* best = nullptr;
  for (const auto& error : results) {
    if (best == nullptr || error.context.size() > best->context.size()) best = &error;
  }
  return best == nullptr ? Violation{} : violation_from(*best);
}

}  // namespace

void check_schema(const Document& document, const std::filesystem::path& schema_file) {
  auto json = document.to_json();
  shorten_strings(json);
  const auto results = results_of(json, schema_file);
  if (results.numErrors() == 0) return;
  fail_schema(document, Document::read(schema_file).to_json(), innermost(results));
}

}}  // namespace farandole::config
