#include "job_options.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "config/error.hpp"
#include "config/section.hpp"

namespace farandole {
namespace {

std::string python_name(std::string name) {
  std::ranges::replace(name, '-', '_');
  return name;
}

nlohmann::ordered_json json_of_option(const std::string& text) {
  const std::string written = text == "True" ? "true" : text == "False" ? "false" : text;
  auto value = nlohmann::ordered_json::parse(written, nullptr, false);
  return value.is_discarded() ? nlohmann::ordered_json(text) : value;
}

}  // namespace

JobOptions::JobOptions(const std::vector<std::pair<std::string, std::string>>& options) {
  for (const auto& option : options) {
    std::string name = option.first.substr(option.first.find_first_not_of('-'));
    std::ranges::replace(name, '_', '-');
    options_.push_back({name, option.second, text_of(option), fmt::format("{}: --{}", all_, name)});
  }
}

JobOptions::Named* JobOptions::find(std::initializer_list<const char*> names) {
  const auto found = std::ranges::find_if(options_, [&](const Named& option) {
    return !option.is_taken && std::ranges::find(names, option.name) != names.end();
  });
  return found == options_.end() ? nullptr : &*found;
}

std::optional<std::string> JobOptions::take(std::initializer_list<const char*> names) {
  Named* option = find(names);
  if (option == nullptr) return std::nullopt;
  option->is_taken = true;
  return option->value;
}

int JobOptions::take_number(std::initializer_list<const char*> names, int otherwise, int least, int most) {
  const auto text = take(names);
  if (!text) return otherwise;
  int number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc{} || end != text->data() + text->size() || number < least) {
    refuse(names, fmt::format("a whole number of at least {}", least), *text);
  }
  if (number > most) refuse(names, "a whole number of at most " + counted(most), *text);
  return number;
}

bool JobOptions::take_flag(const char* name) {
  const auto value = take({name});
  return value && *value != "False" && *value != "false" && *value != "0" && *value != "no";
}

nlohmann::ordered_json JobOptions::take_all(const std::string& prefix) {
  nlohmann::ordered_json members = nlohmann::ordered_json::object();
  for (Named& option : options_) {
    if (!option.name.starts_with(prefix) || option.is_taken) continue;
    option.is_taken = true;
    members[python_name(option.name)] = json_of_option(option.value);
  }
  return members;
}

std::vector<std::pair<std::string, std::string>> JobOptions::take_dotted() {
  std::vector<std::pair<std::string, std::string>> all;
  for (Named& option : options_) {
    if (option.name.find('.') == std::string::npos || option.is_taken) continue;
    option.is_taken = true;
    std::string pointer = "/" + python_name(option.name);
    std::ranges::replace(pointer, '.', '/');
    all.emplace_back(pointer, option.value.empty() ? "true" : json_of_option(option.value).dump());
  }
  return all;
}

bool JobOptions::has(const std::string& name) const {
  return std::ranges::any_of(options_, [&](const Named& option) { return option.name == name; });
}

std::string JobOptions::where(std::initializer_list<const char*> names) const {
  for (const char* name : names) {
    const auto option = std::ranges::find(options_, name, &Named::name);
    if (option != options_.end()) return option->where;
  }
  return all_;
}

std::string JobOptions::spelled(const std::string& name) const {
  const auto own = names_.find(name);
  return own == names_.end() ? "--" + name : own->second;
}

void JobOptions::refuse(std::initializer_list<const char*> names, const std::string& expected,
                        const std::string& got) const {
  throw InputError(fmt::format("{}: expected {}, got {}", where(names), expected, quoted(got)));
}

std::vector<std::string> JobOptions::left() const {
  std::vector<std::string> texts;
  for (const Named& option : options_) {
    const auto is_it = [&](const Named& other) { return other.is_taken && other.text == option.text; };
    if (option.text.starts_with('-') && std::ranges::none_of(options_, is_it)) texts.push_back(option.text);
  }
  return texts;
}

}  // namespace farandole
