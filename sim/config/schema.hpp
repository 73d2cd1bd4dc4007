// Checks a document against one of our JSON Schemas (valijson), so that editors and the program agree.
//
// The typed readers are the law and give the better messages; the schema is for editors, for `farandole check`, and
// for tests that hold the two together.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "config/document.hpp"

namespace farandole { inline namespace config {

/// Throws InputError for the first violation, with its file, line and pointer.
void check_schema(const Document& document, const std::filesystem::path& schema_file);

// Words a schema violation as we word every other error. Used by check_schema only.

/// A violation as the validator tells it: the keys that lead to the value, and what it says about it.
struct Violation {
  std::vector<std::string> path;
  std::string description;
};

}}  // namespace farandole::config
