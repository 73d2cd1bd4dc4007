#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "config/section.hpp"
#include "scenario/sweep.hpp"
#include "units/parse.hpp"

namespace farandole { inline namespace scenario {
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

double read_factor(const Value& where, const Value& from, double first) {
  const double factor = read<double>(where);
  if (!(factor > 1)) where.fail("a factor above 1");
  if (!(first > 0)) from.fail("a value above zero, as a factor multiplies it");
  return factor;
}

double read_step(const Value& where, const Scale& scale) {
  const double step = scale.number(where);
  if (!(step > 0)) where.fail("a step above zero");
  return step;
}

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
  range.change = factor ? read_factor(*factor, from, range.from) : read_step(*step, scale);
  if (range.ends_before(range.from)) to.fail(fmt::format("at least {}", from.describe()));
  const bool whole = is_whole(from) && is_whole(factor ? *factor : *step);
  std::vector<Node> values;
  for (double value = range.from; !range.ends_before(value); value = range.at(values.size())) {
    if (values.size() == most_configurations) where.fail("at most 100,000 values", "more");
    values.push_back(scale.node(value, from, whole));
  }
  return values;
}

}}  // namespace farandole::scenario
