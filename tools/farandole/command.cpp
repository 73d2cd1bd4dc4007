#include "command.hpp"

#include <algorithm>
#include <charconv>

#include "config/section.hpp"
#include "scenario/anchor.hpp"
#include "units/format.hpp"

namespace farandole {

int whole_number(const std::string& option, const std::string& text, int least, int most) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < least) {
    refuse_option(option, "a whole number of at least " + std::to_string(least), text);
  }
  if (number > most) refuse_option(option, "a whole number of at most " + counted(most), text);
  return number;
}

BytesPerSecond rate_option(const std::string& option, const std::string& text) {
  const OptionValue value(option, text);
  const auto rate = read<BytesPerSecond>(value.value());
  if (!(rate > BytesPerSecond(0))) value.value().fail("a rate above zero");
  return rate;
}

Bytes size_option(const std::string& option, const std::string& text) {
  const auto parsed = parse_size(text);
  if (const auto* mismatch = std::get_if<UnitMismatch>(&parsed)) refuse_option(option, mismatch->expected, text);
  return std::get<Bytes>(parsed);
}

std::string document_summary(const Document& document) {
  const auto summary = document.find("/summary");
  return summary ? read<std::string>(*summary) : "";
}

std::string pointer_of(const std::string& assignment) {
  std::string key = assignment.substr(0, assignment.find('='));
  if (key.empty() || key.find('/') != std::string::npos) return key;
  std::ranges::replace(key, '.', '/');
  return "/" + key;
}

void set_value(Document& document, const std::string& assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string::npos) {
    refuse_option("--set", "KEY=VALUE such as platform.ranks=64 or /platform/ranks=64", assignment);
  }
  set_after_measuring(document, pointer_of(assignment), assignment.substr(equals + 1));
}

void ScenarioArguments::add_to(CLI::App& command, const std::string& file_help) {
  command.add_option("scenario", file, file_help)->required()->type_name("SCENARIO.json");
  command.add_option("--set", settings, "replace a value of the scenario, by key or JSON pointer; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  const auto add = [this, &command](const std::vector<std::string>& behind) {
    std::vector<std::string> typed;
    auto set = settings.begin();
    auto other = behind.begin();
    for (const CLI::Option* option : command.parse_order()) {
      if (option->check_lname("set")) typed.push_back(*set++);
      if (option->get_name() == "settings") typed.push_back(*other++);
    }
    settings = std::move(typed);
  };
  command
      .add_option_function<std::vector<std::string>>(
          "settings", add, "what --set would replace, behind the file: platform.ranks=64 strategy.kind=fsdp")
      ->type_name("KEY=VALUE");
}

Document ScenarioArguments::read() const {
  Document document = Document::read(file);
  for (const std::string& assignment : settings) set_value(document, assignment);
  return document;
}

}  // namespace farandole
