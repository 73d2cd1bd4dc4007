// Words a schema violation as we word every other error. Used by check_schema only.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "config/document.hpp"

namespace farandole {

/// A violation as the validator tells it: the keys that lead to the value, and what it says about it.
struct Violation {
  std::vector<std::string> path;
  std::string description;
};

[[noreturn]] void fail_schema(const Document& document, const nlohmann::json& schema, const Violation& violation);

}  // namespace farandole
