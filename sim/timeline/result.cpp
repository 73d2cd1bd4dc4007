#include "timeline/result.hpp"

#include <array>
#include <cstddef>

namespace farandole { inline namespace timeline {
namespace {

/// Where the parts of one breakdown are, and their names.
template <class Part>
struct Parts {
  std::array<Part*, 16> at{};
  std::array<const char*, 16> names{};
  std::size_t count = 0;

  void operator()(const char* name, Part& part) {
    names.at(count) = name;
    at.at(count++) = &part;
  }
};

Parts<Seconds> parts_of(Breakdown& breakdown) {
  Parts<Seconds> parts;
  Breakdown::fields(breakdown, parts);
  return parts;
}

Parts<const Seconds> parts_of(const Breakdown& breakdown) {
  Parts<const Seconds> parts;
  Breakdown::fields(breakdown, parts);
  return parts;
}

}  // namespace

Seconds Breakdown::total() const {
  const auto parts = parts_of(*this);
  Seconds sum;
  for (std::size_t i = 0; i < parts.count; ++i) sum += *parts.at[i];
  return sum;
}

std::vector<WaterfallPart> Breakdown::parts() const {
  const auto parts = parts_of(*this);
  std::vector<WaterfallPart> result;
  for (std::size_t i = 0; i < parts.count; ++i) result.push_back({parts.names[i], *parts.at[i]});
  return result;
}

Breakdown& Breakdown::operator+=(const Breakdown& more) {
  const auto parts = parts_of(*this);
  const auto added = parts_of(more);
  for (std::size_t i = 0; i < parts.count; ++i) *parts.at[i] += *added.at[i];
  return *this;
}

Breakdown operator*(const Breakdown& parts, double factor) {
  Breakdown scaled = parts;
  const auto each = parts_of(scaled);
  for (std::size_t i = 0; i < each.count; ++i) *each.at[i] *= factor;
  return scaled;
}

std::string TrainingPoint::compute_kind() const {
  for (const char* kind : {"estimated", "anchored"}) {
    if (compute_source.starts_with(kind)) return kind;
  }
  return compute_source.empty() ? "" : "measured";
}

}}  // namespace farandole::timeline
