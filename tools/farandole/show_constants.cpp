// farandole show constants NAME: the numbers of a library's, a topology's or a device's file, and where they come from.
#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "command.hpp"
#include "scenario/catalogue.hpp"
#include "show.hpp"
#include "simulate/library/library_file.hpp"

namespace farandole {
namespace {

using Json = nlohmann::ordered_json;

/// What the nearest notes say.
struct ConstantOrigin {
  std::string kind;  // empty: not said
  std::string source;
  std::string range;
};

struct Constant {
  std::string pointer;
  std::string value;
  ConstantOrigin from;
};

/// Of strings: those that begin as a number does, or its sign of less.
std::optional<std::string> number_of(const Value& value) {
  if (!value.is_string()) {
    const auto& node = value.node().value;
    const bool is_number = std::holds_alternative<std::int64_t>(node) || std::holds_alternative<double>(node);
    return is_number ? std::optional(value.describe()) : std::nullopt;
  }
  auto text = read<std::string>(value);
  const std::size_t space = text.find(' ');
  const bool is_number = !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) != 0 &&
                         space != std::string::npos && text.find(' ', space + 1) == std::string::npos;
  return is_number ? std::optional(text) : std::nullopt;
}

std::string text_of(const std::vector<std::pair<std::string, Value>>& members, std::string_view key) {
  const auto found = std::ranges::find(members, key, [](const auto& member) { return std::string_view(member.first); });
  const bool is_text = found != members.end() && found->second.is_string();
  return is_text ? read<std::string>(found->second) : std::string();
}

void list(const Value& value, ConstantOrigin from, std::vector<Constant>& all);

void list_members(const Value& value, ConstantOrigin from, std::vector<Constant>& all) {
  constexpr std::array kinds{"ported", "datasheet", "fitted", "assumed"};  // "kind" says other things of topologies
  const auto members = value.members();
  if (const std::string source = text_of(members, "source"); !source.empty()) {
    const std::string kind = text_of(members, "kind");
    from = {std::ranges::find(kinds, kind) == kinds.end() ? std::string() : kind, source, text_of(members, "range")};
  }
  for (const auto& [key, member] : members) {
    if (key != "calibration") list(member, from, all);  // which says of other numbers what they are
  }
}

void list_elements(const Value& value, const ConstantOrigin& from, std::vector<Constant>& all) {
  std::vector<std::string> numbers;
  const auto elements = value.elements();
  for (const Value& element : elements) {
    if (auto number = number_of(element)) numbers.push_back(std::move(*number));
  }
  if (numbers.size() == elements.size() && !numbers.empty()) {
    all.push_back({value.pointer(), fmt::format("{}", fmt::join(numbers, ", ")), from});
    return;
  }
  for (const Value& element : elements) list(element, from, all);
}

void list(const Value& value, ConstantOrigin from, std::vector<Constant>& all) {
  if (value.is_object()) return list_members(value, std::move(from), all);
  if (value.is_array()) return list_elements(value, from, all);
  if (auto number = number_of(value)) all.push_back({value.pointer(), std::move(*number), std::move(from)});
}

/// Numbers that the file's own calibration names are fitted, whatever the note beside them says.
void mark_fitted(const LibraryFile& file, std::vector<Constant>& all) {
  Section section(file.value());
  const auto calibration = section.maybe("calibration");
  if (!calibration) return;
  for (const Value& parameter : Section(*calibration).child("parameters").elements()) {
    const auto said = parameter.members();
    const auto found = std::ranges::find(all, text_of(said, "pointer"), &Constant::pointer);
    if (found == all.end()) continue;
    found->from.kind = "fitted";
    found->from.range = text_of(said, "between");
  }
}

/// A kind of file: where those of the data are, and what refuses one that is not right.
struct Kind {
  const char* name;
  const char* folder;
  void (*check)(const std::string& file, const Value& where);
};
constexpr std::array listed_kinds{
    Kind{"library", "topologies/libraries", [](const std::string& file, const Value&) { find_library(file); }},
    Kind{"topology", "topologies",
         [](const std::string& file, const Value& where) { static_cast<void>(Catalogue().topology(file, where)); }},
    Kind{"device", "topologies/devices",
         [](const std::string& file, const Value& where) { static_cast<void>(Catalogue().device(file, where)); }}};

/// As its "$schema" says.
const Kind& kind_of_own(const LibraryFile& file) {
  const auto named = Section(file.value()).maybe("$schema");
  const std::string schema = named ? read<std::string>(*named) : std::string();
  for (const Kind& kind : listed_kinds) {
    if (schema.ends_with(std::string(kind.name) + ".schema.json")) return kind;
  }
  named.value_or(file.value()).fail("a \"$schema\" of a library, a topology or a device");
}

/// A file, or a name of one of the folders.
LibraryFile file_of(const std::string& name) {
  const OptionValue where("show constants", name);
  const auto found = [&](const Kind& kind, LibraryFile file, const std::string& path) {
    kind.check(path, where.value());
    return file;
  };
  const Catalogue catalogue;
  for (const Kind& kind : listed_kinds) {
    const auto path = (catalogue.root() / kind.folder / (name + ".json")).string();
    if (auto file = read_library_file(path)) return found(kind, *file, path);
  }
  if (library_path(name) == name) {
    if (auto file = read_library_file(name)) return found(kind_of_own(*file), *file, name);
  }
  std::vector<std::string> known = library_names();
  std::ranges::copy(catalogue.topologies(), std::back_inserter(known));
  std::ranges::copy(catalogue.devices(), std::back_inserter(known));
  refuse_option("show constants", "a library, a topology or a device", name, suggestion(name, known));
}

Json constant_json(const Constant& constant) {
  Json json{{"pointer", constant.pointer}, {"value", constant.value}};
  for (const auto& [key, text] :
       {std::pair("kind", &constant.from.kind), {"source", &constant.from.source}, {"range", &constant.from.range}}) {
    if (!text->empty()) json[key] = *text;
  }
  return json;
}

}  // namespace

Shown show_constants(const ShowRequest& request) {
  const LibraryFile file = file_of(request.name);
  std::vector<Constant> all;
  list(file.value(), {}, all);
  mark_fitted(file, all);
  Shown shown;
  shown.json = Json::array();
  std::string last;
  for (const Constant& constant : all) {
    shown.json.push_back(constant_json(constant));
    const auto& [kind, source, range] = constant.from;
    const std::string note =
        fmt::format("{}{}: {}", kind.empty() ? "kind not said" : kind, range.empty() ? "" : " (" + range + ")",
                    source.empty() ? "no source" : source);
    if (note != last) shown.text += fmt::format("{}{}\n", last.empty() ? "" : "\n", note);
    last = note;
    shown.text += fmt::format("  {:<44} {}\n", constant.pointer, constant.value);
  }
  return shown;
}

}  // namespace farandole
