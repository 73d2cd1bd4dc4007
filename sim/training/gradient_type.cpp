#include "training/gradient_type.hpp"

#include <array>

#include "config/named.hpp"

namespace farandole { inline namespace training {
namespace {

constexpr std::array gradient_types{GradientType::fp32, GradientType::fp16, GradientType::bf16};

}  // namespace

std::string name(GradientType type) {
  constexpr std::array names{"fp32", "fp16", "bf16"};
  return names.at(static_cast<std::size_t>(type));
}

GradientType read_number_type(const Value& where, std::string_view what) {
  return read_named(where, what, gradient_types, [](GradientType type) { return name(type); });
}

GradientType read_gradient_type(const Value& where) {
  return read_number_type(where, "a type of gradients");
}

Bytes element_size(GradientType type) {
  return type == GradientType::fp32 ? 4_B : 2_B;
}

}}  // namespace farandole::training
