#include "backend/host_description.hpp"

#include <array>
#include <fstream>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>

#include "units/mapped.hpp"

namespace farandole { inline namespace backend {
namespace {

constexpr std::size_t line = 160;
constexpr std::size_t at_once = 6;  // bytes that a double holds exactly as a whole number

}  // namespace

std::string host_name() {
  utsname names{};
  uname(&names);
  return names.nodename;
}

std::string system_of_this_machine() {
  utsname names{};
  uname(&names);
  return fmt::format("{} {} {}", names.sysname, names.release, names.machine);
}

std::string binding() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return "unknown";
  std::string text;
  for (int first = 0; first < CPU_SETSIZE; ++first) {
    if (!CPU_ISSET(static_cast<std::size_t>(first), &allowed)) continue;
    int last = first;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(static_cast<std::size_t>(last + 1), &allowed)) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", first);
    if (last > first) text += fmt::format("-{}", last);
    first = last;
  }
  return text;
}

std::vector<std::string> everyones_text(Endpoint& endpoint, const std::string& text) {
  std::array<char, line> own{};
  text.copy(own.data(), own.size());
  std::vector<std::string> texts(static_cast<std::size_t>(endpoint.ranks()));
  for (std::size_t begin = 0; begin < own.size(); begin += at_once) {
    double packed = 0;
    for (std::size_t i = at_once; i-- > 0;) {
      packed = packed * 256 + (begin + i < own.size() ? static_cast<unsigned char>(own[begin + i]) : 0);
    }
    std::size_t rank = 0;
    for (const double of_a_rank : endpoint.allgather_scalar(packed)) {
      auto rest = static_cast<std::uint64_t>(of_a_rank);
      for (; rest > 0; rest /= 256) texts[rank] += static_cast<char>(rest % 256);
      ++rank;
    }
  }
  return texts;
}

std::vector<int> nodes_by_host(Endpoint& endpoint) {
  std::map<std::string, int> numbers;
  return mapped(everyones_text(endpoint, host_name()), [&](const std::string& host) {
    return numbers.try_emplace(host, static_cast<int>(numbers.size())).first->second;
  });
}

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
