#include "json_help.hpp"

#include <algorithm>
#include <sstream>

#include <nlohmann/json.hpp>

#include "report/heading.hpp"

namespace farandole {
namespace {

using Json = nlohmann::ordered_json;

/// "N" of "N:INT in [1 - 1024]": the validators' words are a note.
std::string before_colon(const std::string& type) {
  return type.starts_with("/") ? type : type.substr(0, type.find(':'));
}

std::vector<std::string> written_names(const CLI::Option& option) {
  if (option.get_positional()) return {option.get_name()};
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

/// In the order in which help lists them: CLI11 keeps a set of addresses.
Json others(const CLI::App& command, const std::set<CLI::Option*>& set) {
  Json names = Json::array();
  for (CLI::Option* option : const_cast<CLI::App&>(command).get_options()) {
    if (set.contains(option)) names.push_back(written_names(*option).back());
  }
  return names;
}

Json option_json(const CLI::App& command, const CLI::Option& option) {
  Json value{{"names", written_names(option)}, {"description", option.get_description()}};
  const bool takes_value = option.get_items_expected_max() > 0;
  value["value"] = takes_value ? Json(before_colon(option.get_type_name())) : Json(nullptr);
  value["default"] = takes_value && !option.get_default_str().empty() ? Json(option.get_default_str()) : Json(nullptr);
  value["required"] = option.get_required();
  value["repeats"] = option.get_items_expected_max() > 1;
  value["excludes"] = others(command, option.get_excludes());
  value["needs"] = others(command, option.get_needs());
  return value;
}

/// "farandole run [OPTIONS] scenario", as help says it.
std::string usage_of(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  std::istringstream text(command.help(parent ? parent->get_name() : std::string()));
  const std::string heading = "Usage: ";
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with(heading)) return line.substr(heading.size());
  }
  return {};
}

Json command_json(const CLI::App& command) {
  Json value{{"name", command.get_name()}, {"summary", command.get_description()}, {"usage", usage_of(command)}};
  value["positionals"] = Json::array();
  value["options"] = Json::array();
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    value[option->get_positional() ? "positionals" : "options"].push_back(option_json(command, *option));
  }
  value["more"] = command.get_footer();
  return value;
}

}  // namespace

std::string json_help(const CLI::App& app) {
  Json value{{"$schema", "urn:farandole:schema:0.1:help"}, {"version", version()}};
  value.update(command_json(app));
  value["commands"] = Json::array();
  for (const CLI::App* command : app.get_subcommands({})) value["commands"].push_back(command_json(*command));
  return value.dump(2) + "\n";
}

}  // namespace farandole
