#include "config/schema.hpp"

#include <exception>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace farandole { inline namespace config {
namespace {

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
