#include <array>
#include <fstream>
#include <numeric>
#include <string>

#include "backend/host_description.hpp"

namespace farandole { inline namespace backend {
namespace {

// The columns of the first line of /proc/stat, man 5 proc.
enum Column : std::size_t { user, nice, system_mode, idle, input_output, interrupts, soft_interrupts, stolen, columns };

constexpr std::int64_t enough = 20;  // ticks of a hundredth of a second: fewer are mostly rounding

}  // namespace

ProcessorLoad::Ticks ProcessorLoad::count() {
  std::ifstream file("/proc/stat");
  std::string name;
  std::array<std::int64_t, columns> ticks{};
  file >> name;
  for (std::int64_t& number : ticks) file >> number;
  if (!file) return {};
  const std::int64_t all = std::accumulate(ticks.begin(), ticks.end(), std::int64_t{0});
  return {all - ticks[idle] - ticks[input_output] - ticks[stolen], all};
}

std::optional<double> ProcessorLoad::share() const {
  const Ticks now = count();
  const std::int64_t all = now.all - begin_.all;
  if (all < enough) return std::nullopt;
  return static_cast<double>(now.busy - begin_.busy) / static_cast<double>(all);
}

}}  // namespace farandole::backend
