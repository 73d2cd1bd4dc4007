// What the options of a launcher and its program say of a job, for those who make a scenario of it: `farandole new`.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "platform/launch_line.hpp"

namespace farandole {

/// Options of the launcher and the program by their names without dashes, "-" for "_"; each is taken once.
class JobOptions {
 public:
  explicit JobOptions(const std::vector<std::pair<std::string, std::string>>& options) {
    for (const auto& option : options) {
      std::string name = option.first.substr(option.first.find_first_not_of('-'));
      std::ranges::replace(name, '_', '-');
      options_.push_back({name, option.second, text_of(option)});
    }
  }

  /// The first of them that is there; empty for an option without a value.
  std::optional<std::string> take(std::initializer_list<const char*> names) {
    for (Named& option : options_) {
      if (std::ranges::find(names, option.name) == names.end() || option.is_taken) continue;
      option.is_taken = true;
      return option.value;
    }
    return std::nullopt;
  }

  [[nodiscard]] bool has(const std::string& name) const {
    return std::ranges::any_of(options_, [&](const Named& option) { return option.name == name; });
  }

  /// `--name`, `--name True`; not `--name False`.
  bool take_flag(const char* name) {
    const auto value = take({name});
    return value && *value != "False" && *value != "false" && *value != "0" && *value != "no";
  }

  /// All whose names begin so, as members of a JSON object.
  nlohmann::ordered_json take_all(const std::string& prefix) {
    nlohmann::ordered_json members = nlohmann::ordered_json::object();
    for (Named& option : options_) {
      if (!option.name.starts_with(prefix) || option.is_taken) continue;
      option.is_taken = true;
      members[python_name(option.name)] = json_of(option.value);
    }
    return members;
  }

  /// "--training.seq_len 4096" as ("/training/seq_len", "4096").
  std::vector<std::pair<std::string, std::string>> take_dotted() {
    std::vector<std::pair<std::string, std::string>> all;
    for (Named& option : options_) {
      if (option.name.find('.') == std::string::npos || option.is_taken) continue;
      option.is_taken = true;
      std::string pointer = "/" + python_name(option.name);
      std::ranges::replace(pointer, '.', '/');
      all.emplace_back(pointer, option.value.empty() ? "true" : json_of(option.value).dump());
    }
    return all;
  }

  /// But for what was taken where it stood before, and files that were read for the number of ranks, without dashes.
  [[nodiscard]] std::vector<std::string> left() const {
    std::vector<std::string> texts;
    for (const Named& option : options_) {
      const auto is_it = [&](const Named& other) { return other.is_taken && other.text == option.text; };
      if (option.text.starts_with('-') && std::ranges::none_of(options_, is_it)) texts.push_back(option.text);
    }
    return texts;
  }

 private:
  struct Named {
    std::string name;
    std::string value;
    std::string text;
    bool is_taken = false;
  };

  static std::string python_name(std::string name) {
    std::ranges::replace(name, '-', '_');
    return name;
  }

  static nlohmann::ordered_json json_of(const std::string& text) {
    const std::string written = text == "True" ? "true" : text == "False" ? "false" : text;
    auto value = nlohmann::ordered_json::parse(written, nullptr, false);
    return value.is_discarded() ? nlohmann::ordered_json(text) : value;
  }

  std::vector<Named> options_;
};

}  // namespace farandole
