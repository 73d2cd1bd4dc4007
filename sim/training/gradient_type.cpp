#include "training/gradient_type.hpp"

#include <array>

#include "config/named.hpp"

namespace farandole { inline namespace training {
namespace {

constexpr std::array names_of_types{"fp32", "fp16", "bf16"};  // in the order of GradientType

}  // namespace

std::string name(GradientType type) {
  return names_of_types.at(static_cast<std::size_t>(type));
}

GradientType read_number_type(const Value& where, std::string_view what) {
  return static_cast<GradientType>(read_place(where, what, names_of_types));
}

GradientType read_gradient_type(const Value& where) {
  return read_number_type(where, "a type of gradients");
}

Bytes element_size(GradientType type) {
  return type == GradientType::fp32 ? 4_B : 2_B;
}

}}  // namespace farandole::training
