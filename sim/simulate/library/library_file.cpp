#include "simulate/library/library_file.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "config/data_folder.hpp"
#include "config/text.hpp"
#include "platform/mpi_transport.hpp"

namespace farandole { inline namespace simulate {
namespace {

constexpr std::array kinds{"ported", "datasheet", "fitted", "assumed"};

Node* member_of(Node::Object& object, std::string_view key) {
  const auto found = std::ranges::find(object, key, &Node::Member::key);
  return found == object.end() ? nullptr : &found->node;
}

Node changed_by(Node known, const Node& changes, const std::string& pointer) {
  const auto* differing = std::get_if<Node::Object>(&changes.value);
  auto* members = std::get_if<Node::Object>(&known.value);
  if (differing == nullptr || members == nullptr) return changes;
  const auto says_source = [](const Node::Member& member) { return member.key == "source"; };
  if (std::ranges::any_of(*members, says_source) && std::ranges::none_of(*differing, says_source)) {
    throw InputError(Place{*changes.source, changes.line, pointer}, "a \"source\" of what differs", "none");
  }
  for (const auto& [key, node] : *differing) {
    Node* own = member_of(*members, key);
    if (std::holds_alternative<std::nullptr_t>(node.value)) {
      std::erase_if(*members, [&](const Node::Member& member) { return member.key == key; });
    } else if (own == nullptr) {
      members->push_back({key, node});
    } else {
      *own = changed_by(std::move(*own), node, fmt::format("{}/{}", pointer, key));
    }
  }
  known.line = changes.line;
  known.source = changes.source;
  return known;
}

std::filesystem::path folder() {
  return data_folder() / "topologies/libraries";
}

/// Adds the file's text.
Node read_file(const std::string& name, std::map<std::filesystem::path, std::string>& texts) {
  const auto own = library_path(name);
  const auto text = texts.emplace(own, read_text(own)).first;
  const Document document = Document::parse(text->second, own.string());
  const auto like = document.find("/like");
  if (!like) return document.root().node();
  const auto other = read<std::string>(*like);
  const auto file = library_path(other);
  std::error_code none;
  if (!std::filesystem::exists(file, none)) like->fail("a library", quoted(other), suggestion(other, library_names()));
  if (texts.contains(file)) like->fail("a library that is not like this one");
  return changed_by(read_file(other, texts), document.root().node(), "");
}

}  // namespace

std::vector<std::string> library_names() {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder(), none)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names, [](const auto& a, const auto& b) { return strverscmp(a.c_str(), b.c_str()) < 0; });
  return names;
}

std::filesystem::path library_path(const std::string& name) {
  return library_name(name) != name ? std::filesystem::path(name) : folder() / (name + ".json");
}

std::optional<LibraryFile> read_library_file(const std::string& name) {
  LibraryFile file{library_name(name)};
  std::error_code none;
  if (!std::filesystem::exists(library_path(name), none)) return std::nullopt;
  file.root = std::make_shared<const Node>(read_file(name, file.texts));
  return file;
}

Section read_block(const Value& value) {
  Section section(value);
  const auto kind = read_place(section.child("kind"), "a kind of number", kinds);
  static_cast<void>(section.required<std::string>("source"));
  const bool is_assumed = kinds.at(kind) == std::string_view("assumed");
  if (is_assumed) static_cast<void>(section.required<std::string>("range"));
  return section;
}

double number_in(const Value& value, std::string_view unit) {
  if (unit.empty()) {
    const auto number = read<double>(value);
    if (number < 0) value.fail("a number of at least 0");
    return number;
  }
  const auto text = read<std::string>(value);
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc{} && std::isfinite(number) && number >= 0;
  if (!is_number || std::string_view(rest) != fmt::format(" {}", unit)) {
    value.fail(fmt::format("a number with its unit, such as \"4.4 {}\"", unit));
  }
  return number;
}

}}  // namespace farandole::simulate
