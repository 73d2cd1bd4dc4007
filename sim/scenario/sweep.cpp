#include "scenario/sweep.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "config/section.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace scenario {
namespace {

void refuse_no_pointer(const std::string& key, const Value& where) {
  if (key.starts_with('/')) return;
  where.fail("a JSON pointer such as \"/platform/ranks\", \"zip\" or \"variants\" as key", quoted(key));
}

std::vector<Node> values_of(const Value& where) {
  if (where.is_object()) return read_range(where);
  std::vector<Node> values;
  for (const Value& element : where.elements()) values.push_back(element.node());
  if (values.empty()) where.fail("at least one value");
  return values;
}

Axis read_pointer_axis(const std::string& pointer, const Value& where) {
  refuse_no_pointer(pointer, where);
  Axis axis;
  for (Node& value : values_of(where)) {
    std::string name = pointer + " " + Value(value, "").describe();
    SweptValue swept{pointer, swept_text(value)};
    axis.push_back({std::move(name), {{pointer, std::move(value)}}, {std::move(swept)}});
  }
  return axis;
}

/// Appends the settings of `other` to those of `axis`, one to one.
void walk_together(Axis& axis, const Axis& other, const Value& where) {
  if (other.size() != axis.size()) {
    where.fail(fmt::format("{} values, as many as the pointer before it in \"zip\"", axis.size()),
               fmt::format("{}", other.size()));
  }
  for (std::size_t i = 0; i < axis.size(); ++i) {
    axis[i].name += ", " + other[i].name;
    axis[i].assignments.push_back(other[i].assignments.front());
    axis[i].swept.push_back(other[i].swept.front());
  }
}

Axis read_zip(const Value& where) {
  Axis axis;
  int pointers = 0;
  for (const auto& [pointer, values] : listed_members(where)) {
    Axis next = read_pointer_axis(pointer, values);
    if (++pointers == 1) {
      axis = std::move(next);
    } else {
      walk_together(axis, next, values);
    }
  }
  if (pointers < 2) where.fail("at least two pointers whose values change together", fmt::format("{}", pointers));
  return axis;
}

Axis read_variants(const Value& where) {
  Axis axis;
  for (const auto& [name, changes] : listed_members(where)) {
    Setting setting{quoted(name), {}, {{"variants", name}}};
    for (const auto& [pointer, value] : listed_members(changes)) {
      if (!pointer.starts_with('/')) value.fail("a JSON pointer such as \"/platform/ranks\" as key", quoted(pointer));
      setting.assignments.push_back({pointer, value.node()});
    }
    axis.push_back(std::move(setting));
  }
  if (axis.empty()) where.fail("at least one variant");
  return axis;
}

}  // namespace

std::string swept_text(const Node& value) {
  const nlohmann::json json = to_json(value);
  return json.is_string() ? json.get<std::string>() : json.dump();
}

std::vector<Axis> read_axes(const Value& sweep) {
  std::vector<Axis> axes;
  for (const auto& [key, where] : listed_members(sweep)) {
    if (key == "variants") {
      axes.push_back(read_variants(where));
    } else if (key == "zip" && where.is_array()) {
      for (const Value& zip : where.elements()) axes.push_back(read_zip(zip));
    } else if (key == "zip") {
      axes.push_back(read_zip(where));
    } else {
      axes.push_back(read_pointer_axis(key, where));
    }
  }
  return axes;
}

namespace {

constexpr double rounding_of_steps = 1e-9;  // 10 steps of 0.1 reach 1

/// What stands behind the number: " MiB"; empty for a bare number.
std::string unit_of(const Value& value) {
  const auto* text = std::get_if<std::string>(&value.node().value);
  if (text == nullptr) return "";
  const auto last = text->find_last_of("0123456789.");
  return last == std::string::npos ? *text : text->substr(last + 1);
}

template <class T>
std::optional<double> si_as(std::string_view text) {
  const auto parsed = parse_quantity<T>(text);
  if (const T* quantity = std::get_if<T>(&parsed)) return quantity->si();
  return std::nullopt;
}

using Dimension = std::optional<double> (*)(std::string_view);

std::optional<double> si_of_fraction(std::string_view text) {
  const auto parsed = parse_fraction(text);
  if (const auto* fraction = std::get_if<double>(&parsed)) return *fraction;
  return std::nullopt;
}

constexpr Dimension dimensions[] = {si_as<Bytes>, si_as<Seconds>,       si_as<BytesPerSecond>,
                                    si_as<Flop>,  si_as<FlopPerSecond>, si_of_fraction};

/// Reads numbers as multiples of the unit that `from` is written in.
class Scale {
 public:
  explicit Scale(const Value& from) : unit_(unit_of(from)) {
    if (!from.is_string()) return;
    for (const Dimension dimension : dimensions) {
      if (const auto one = dimension("1" + unit_)) {
        dimension_ = dimension;
        one_ = *one;
        return;
      }
    }
    from.fail("a number, or a quantity such as \"64 MiB\"");
  }

  [[nodiscard]] double number(const Value& value) const {
    if (dimension_ == nullptr) return read<double>(value);
    if (!value.is_string()) value.fail(fmt::format("a quantity with a unit, as in \"1{}\"", unit_));
    const auto si = dimension_(std::get<std::string>(value.node().value));
    if (!si) value.fail(fmt::format("a quantity of the same dimension as \"1{}\"", unit_));
    return *si / one_;
  }

  [[nodiscard]] Node node(double number, const Value& like, bool whole) const {
    Node node = like.node();
    if (dimension_ != nullptr) {
      node.value = fmt::format("{}{}", number, unit_);
    } else if (whole) {
      node.value = static_cast<std::int64_t>(std::llround(number));
    } else {
      node.value = number;
    }
    return node;
  }

 private:
  std::string unit_;
  Dimension dimension_ = nullptr;
  double one_ = 1;
};

bool is_whole(const Value& value) {
  return std::holds_alternative<std::int64_t>(value.node().value);
}

struct Progression {
  double from = 0;
  double to = 0;
  double change = 0;
  bool multiplies = false;

  [[nodiscard]] double at(std::size_t i) const {
    const auto n = static_cast<double>(i);
    return multiplies ? from * std::pow(change, n) : from + change * n;
  }
  [[nodiscard]] bool ends_before(double value) const { return value > to + rounding_of_steps * std::abs(to); }
};

}  // namespace

std::vector<Node> read_range(const Value& where) {
  Section section(where);
  const Value from = section.child("from");
  const Value to = section.child("to");
  const auto factor = section.maybe("factor");
  const auto step = section.maybe("step");
  section.finish();
  if (factor.has_value() == step.has_value()) where.fail("either a \"factor\" or a \"step\"", factor ? "both" : "none");
  const Scale scale(from);
  Progression range{scale.number(from), scale.number(to), 0, factor.has_value()};
  range.change = factor ? read<double>(*factor) : scale.number(*step);
  if (factor && !(range.change > 1)) factor->fail("a factor above 1");
  if (factor && !(range.from > 0)) from.fail("a value above zero, as a factor multiplies it");
  if (step && !(range.change > 0)) step->fail("a step above zero");
  if (range.ends_before(range.from)) to.fail(fmt::format("at least {}", from.describe()));
  const bool whole = is_whole(from) && is_whole(factor ? *factor : *step);
  std::vector<Node> values;
  for (double value = range.from; !range.ends_before(value); value = range.at(values.size())) {
    if (values.size() == most_configurations) where.fail("at most 100,000 values", "more");
    values.push_back(scale.node(value, from, whole));
  }
  return values;
}

static void refuse_too_many(const std::vector<Axis>& axes, const Value& sweep) {
  std::size_t configurations = 1;
  for (const Axis& axis : axes) {
    configurations *= axis.size();
    if (configurations > most_configurations) {
      sweep.fail("at most 100,000 configurations", fmt::format("{}", configurations));
    }
  }
}

Count count_configurations(const Document& document) {
  Count configurations = 1;
  const auto sweep = document.find("/sweep");
  if (!sweep) return configurations;
  for (const Axis& axis : read_axes(*sweep)) configurations *= axis.size();
  return configurations;
}

Configurations::Configurations(const Document& document) : written_(std::make_shared<const Document>(document)) {
  const auto sweep = written_->root().member("sweep");
  bare_ = sweep ? document.without("sweep") : document;
  if (!sweep) return;
  axes_ = read_axes(*sweep);
  refuse_too_many(axes_, *sweep);
  refuse_what_is_swept(bare_, *sweep);
  // Pointers that lead nowhere are refused before anything is read.
  Document chosen = bare_;
  for (const Axis& axis : axes_) {
    size_ *= axis.size();
    for (const Setting& setting : axis) {
      Document changed = chosen;
      for (const auto& [pointer, value] : setting.assignments) changed.set(pointer, value);
      if (&setting == &axis.back()) chosen = std::move(changed);
    }
  }
}

Configuration Configurations::operator[](std::size_t place) const {
  Configuration result{bare_, "", {}, {}};
  std::size_t behind = size_;  // configurations of one setting of the axis
  for (const Axis& axis : axes_) {
    behind /= axis.size();
    const Setting& setting = axis[place / behind % axis.size()];
    for (const auto& [pointer, value] : setting.assignments) {
      result.document.set(pointer, value);
      result.pointers.push_back(pointer);
    }
    if (!result.name.empty()) result.name += ", ";
    result.name += setting.name;
    result.swept.insert(result.swept.end(), setting.swept.begin(), setting.swept.end());
  }
  return result;
}

bool Configurations::put(const SweptValue& value) const {
  const auto is_it = [&](const SweptValue& swept) {
    return swept.pointer == value.pointer && swept.value == value.value;
  };
  return std::ranges::any_of(axes_, [&](const Axis& axis) {
    return std::ranges::any_of(axis, [&](const Setting& setting) { return std::ranges::any_of(setting.swept, is_it); });
  });
}

namespace {

bool is_option(const Value& value) {
  const auto& source = value.node().source;
  return source && source->starts_with("--");
}

/// The value, or the first part of it, that an option has put there.
std::optional<Value> from_options(const Value& value) {
  if (is_option(value)) return value;
  std::vector<Value> parts;
  if (value.is_array()) parts = value.elements();
  if (value.is_object()) {
    for (auto& [key, part] : value.members()) parts.push_back(part);
  }
  for (const Value& part : parts) {
    if (const auto found = from_options(part)) return found;
  }
  return std::nullopt;
}

bool is_part_of_an_option(const Document& document, const std::string& pointer) {
  const auto parent = document.find(pointer.substr(0, pointer.rfind('/')));
  return parent && is_option(*parent);
}

/// In single quotes, as a shell takes it literally.
std::string in_shell_quotes(const std::string& text) {
  std::string quoted_text = "'";
  for (const char c : text) quoted_text += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted_text + "'";
}

/// "study.json:12", or the option that the sweep itself comes from.
std::string place_text(const Value& value) {
  const Place place = value.place();
  return place.line > 0 ? fmt::format("{}:{}", place.source, place.line) : place.source;
}

/// From here to there, for a search: no list can take its place.
bool is_open_range(const Value& values) {
  if (!values.is_object()) return false;
  const auto is_step = [](const auto& member) { return member.first == "factor" || member.first == "step"; };
  return std::ranges::none_of(values.members(), is_step);
}

/// A list that makes an axis of `values` (or the single setting of a variant) say `value`; empty where no short one
/// does.
std::string replacement(const Value& value, const Value& values, const std::string& kind) {
  const std::string text = to_json(value.node()).dump();
  if (kind != "variants" && is_open_range(values)) return "";
  if (kind == "variants") return text;
  if (kind != "zip") return "[" + text + "]";
  if (!values.is_array()) return "";  // a range, of who knows how many
  std::string list;
  for (std::size_t i = 0; i < values.elements().size(); ++i) list += (i == 0 ? "" : ", ") + text;
  constexpr std::size_t longest = 80;
  return list.size() <= longest ? "[" + list + "]" : "";
}

/// Refuses what options have put where `pointer` leads; `values` are those of the sweep.
void refuse_replaced(const Document& document, const std::string& pointer, const Value& values,
                     const std::string& kind) {
  const auto keys = split_pointer(pointer);
  if (!keys) return;  // refused elsewhere, as no pointer
  const auto replaced = document.find(pointer);
  const auto lost = replaced ? from_options(*replaced) : std::nullopt;
  if (!lost) return;
  const bool is_exact = lost->pointer() == pointer && !is_part_of_an_option(document, pointer);
  const std::string list = is_exact ? replacement(*lost, values, kind) : "";
  const std::string instead = list.empty() ? fmt::format("leave it out, and change {}", quoted(values.pointer()))
                                           : "--set " + in_shell_quotes(values.pointer() + "=" + list);
  lost->fail("a value that no sweep replaces", lost->describe(),
             fmt::format("; {} replaces it: {}", place_text(values), instead));
}

void refuse_replaced_by_members(const Document& document, const Value& axis, const std::string& kind) {
  for (const auto& [pointer, values] : axis.members()) {
    if (pointer != "comment") refuse_replaced(document, pointer, values, kind);
  }
}

}  // namespace

void refuse_what_is_swept(const Document& document, const Value& sweep) {
  for (const auto& [key, axis] : sweep.members()) {
    if (key == "comment") continue;
    if (key == "variants") {
      for (const auto& [name, changes] : axis.members()) {
        if (name != "comment") refuse_replaced_by_members(document, changes, key);
      }
    } else if (key == "zip" && axis.is_array()) {
      for (const Value& zip : axis.elements()) refuse_replaced_by_members(document, zip, key);
    } else if (key == "zip") {
      refuse_replaced_by_members(document, axis, key);
    } else {
      refuse_replaced(document, key, axis, key);
    }
  }
}

namespace {

std::vector<SweptValue> read_values(const Value& where, const Configurations& configurations) {
  std::vector<SweptValue> values;
  for (const auto& [pointer, value] : listed_members(where)) {
    values.push_back({pointer, swept_text(value.node())});
    if (!configurations.put(values.back())) value.fail("a value that \"sweep\" puts there");
  }
  if (values.empty()) where.fail("at least one pointer of \"sweep\" with its value");
  return values;
}

}  // namespace

std::optional<Question> read_question(const Document& document, const Configurations& configurations) {
  const auto where = document.find("/question");
  if (!where || std::holds_alternative<std::nullptr_t>(where->node().value)) return std::nullopt;
  Section section(*where);
  Question question;
  question.ask = section.required<std::string>("ask");
  question.from = read_values(section.child("from"), configurations);
  const Value to = section.child("to");
  question.to = read_values(to, configurations);
  section.finish();
  const auto same = [](const SweptValue& a, const SweptValue& b) { return a.pointer == b.pointer; };
  if (!std::ranges::is_permutation(question.from, question.to, same)) to.fail("the same pointers as in \"from\"");
  return question;
}

}}  // namespace farandole::scenario
